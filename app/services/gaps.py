"""How far the frontiers of many sizes are from the bounds; each frontier is stored by itself."""

from dataclasses import dataclass
from fractions import Fraction

from app.schemas import FrontierRequest
from app.services import frontiers
from app.services.context import Context
from app.sweep_request import SweepRequest
from schedules.errors import TookTooLong
from schedules.progress import tell
from synth.cost import Cost
from synth.errors import SynthError
from synth.gaps import Gaps, gaps_of

__all__ = ["SizeGaps", "gaps"]


@dataclass(frozen=True, slots=True)
class SizeGaps:
    """A size, its bound on steps and its gaps; of a size without topologies, the reason."""

    asked: FrontierRequest
    bound_steps: int | None = None
    gaps: Gaps | None = None
    problem: str = ""


def gaps(context: Context, request: SweepRequest) -> list[SizeGaps]:
    """Return the gaps of the sizes of a sweep over sizes, in its order.

    What was found by the time it is stopped is stored: asked again, it goes on there.
    """
    sizes, found = list(request.hosts_asked()), []
    for number, asked in enumerate(sizes):
        tell("gaps", number, len(sizes))
        assert isinstance(asked, FrontierRequest)
        found.append(_of_size(context, asked))
    return found


def _of_size(context: Context, asked: FrontierRequest) -> SizeGaps:
    try:
        document = frontiers.frontier(context, asked).document()
    except TookTooLong:
        raise
    except SynthError as none:
        return SizeGaps(asked, problem=str(none))
    missed = (point["gap"] for point in document["frontier"])
    costs = (Cost(gap["steps"], Fraction(gap["bandwidth"])) for gap in missed)
    return SizeGaps(asked, document["bounds"]["steps"], gaps_of(costs))
