"""How far the frontiers of many sizes are from the bounds; each frontier is stored by itself."""

from dataclasses import dataclass

from app.design_requests import FrontierRequest
from app.services import searches
from app.services.cached_sources import CachedSources
from app.services.context import Context
from app.sweep_request import SweepRequest
from schedules.errors import TookTooLong
from synth.errors import SynthError
from synth.gaps import Gaps, gaps_of
from synth.progress import tell

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
        found = searches.answer(context, asked, CachedSources(context).keep).value.found
    except TookTooLong:
        raise
    except SynthError as none:
        return SizeGaps(asked, problem=str(none))
    missed = gaps_of(point.gap(found.bounds) for point in found.points)
    return SizeGaps(asked, found.bounds.steps, missed)
