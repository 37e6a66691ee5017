"""Gaps between a frontier and its bounds, for `topoloom sweep gaps` and plots."""

from dataclasses import dataclass

from topoloom.app.requests.designs import FrontierRequest
from topoloom.synth.evaluation.gaps import Gaps


@dataclass(frozen=True, slots=True)
class SizeGaps:
    """A size with its step bound and gaps; ``problem`` is the reason if there is no topology."""

    asked: FrontierRequest
    bound_steps: int | None = None
    gaps: Gaps | None = None
    problem: str = ""
