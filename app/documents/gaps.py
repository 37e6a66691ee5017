"""Gaps of a size to the bounds of its frontier, as `topoloom gaps` and plots show them."""

from dataclasses import dataclass

from topoloom.app.requests.designs import FrontierRequest
from topoloom.synth.evaluation.gaps import Gaps


@dataclass(frozen=True, slots=True)
class SizeGaps:
    """A size, its bound on steps and its gaps; of a size without topologies, the reason."""

    asked: FrontierRequest
    bound_steps: int | None = None
    gaps: Gaps | None = None
    problem: str = ""
