"""The gaps between the frontiers of many sizes and their bounds; each frontier is stored."""

from topoloom.app.documents.gaps import SizeGaps
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.sweeps import SweepRequest
from topoloom.app.services import frontiers
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import RecipeTopologies
from topoloom.schedules.errors import TookTooLong
from topoloom.synth.errors import SynthError
from topoloom.synth.evaluation.gaps import gaps_of
from topoloom.synth.progress import report_progress


def gaps(context: Context, request: SweepRequest) -> list[SizeGaps]:
    """Return the gaps of the sizes of a sweep over sizes, in its order.

    An interrupted call keeps its stored frontiers; a repeated call computes only the others.
    """
    sizes, found = list(request.host_requests()), []
    for number, asked in enumerate(sizes):
        report_progress("gaps", number, len(sizes))
        assert isinstance(asked, FrontierRequest)
        found.append(_of_size(context, asked))
    return found


def _of_size(context: Context, asked: FrontierRequest) -> SizeGaps:
    try:
        found = frontiers.answer(context, asked.hosts, RecipeTopologies(context)).value.found
    except TookTooLong:
        raise
    except SynthError as none:
        return SizeGaps(asked, problem=str(none))
    missed = gaps_of(point.gap(found.bounds) for point in found.points)
    return SizeGaps(asked, found.bounds.steps, missed)
