"""Drawings of `topoloom plot` as SVG, cached like every other answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from topoloom.app.documents.plot import PLOT, Drawing
from topoloom.app.documents.schedule import SCHEDULE, Kept
from topoloom.app.documents.sweep import kind_of
from topoloom.app.extras import require_extra
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.requests.evaluations import (
    FaultPlotRequest,
    IterationPlotRequest,
    LoadPlotRequest,
    TreePlotRequest,
)
from topoloom.app.requests.message_sizes import SizesRequest, sizes
from topoloom.app.requests.sweeps import SweepKind
from topoloom.app.services import frontiers, topologies
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Answer, Artefact, Asked
from topoloom.schedules.errors import NoSchedule, TooLarge

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from topoloom.synth.topology.topology import Topology


class DocumentPlot(Protocol):
    """A module that draws a document."""

    def size(self, document: Any, /) -> tuple[float, float]:
        """Return width and height in inches."""
        ...

    def draw(self, figure: "Figure", document: Any, /) -> None:
        """Draw the document."""
        ...


MAX_TIMES = 10_000
"""Most sizes times tasks of a drawing: each is timed on every topology and baseline."""


def draw_frontier(context: Context, request: FrontierRequest) -> Artefact:
    """Return the stored drawing of a Pareto frontier."""
    from topoloom.app.plots import frontier as plot

    return _of_document(context, "frontier", frontiers.frontier(context, request), plot)


def draw_sizes(context: Context, request: SizesRequest) -> Artefact:
    """Return the stored drawing of times over the size of the data.

    Raises:
        TooLarge: There are more than `MAX_TIMES` sizes times tasks.
    """
    if len(sizes(*request.range)) * len(request.tasks) > MAX_TIMES:
        raise TooLarge("/workload", f"must have at most {MAX_TIMES} tasks times sizes to be drawn")
    found = frontiers.frontier(context, request.frontier())

    def compute() -> Drawing:
        from topoloom.app.plots import message_sizes as plot

        document = found.document()
        return _drawn("sizes", lambda figure: plot.draw(figure, document, request), *plot.SIZE)

    asked = {"plot": "sizes", "of": {"frontier": [found.id]}, "request": request.canonical()}
    return _kept(context, asked, compute)


def draw_load(context: Context, request: LoadPlotRequest) -> Artefact:
    """Return the stored drawing of the link loads of a stored schedule."""
    kept = context.stored(SCHEDULE, request.schedule_id)

    def compute() -> Drawing:
        from topoloom.app.plots import link_load as plot

        topology = _topology(context, kept)
        schedule = kept.value.load()
        return _drawn("load", lambda figure: plot.draw(figure, schedule, topology), *plot.SIZE)

    return _kept(context, {"plot": "load", "of": {"schedule": [kept.id]}}, compute)


def draw_faults(context: Context, request: FaultPlotRequest) -> Artefact:
    """Return the stored drawing of a stored fault analysis.

    Raises:
        NoSchedule: The sweep is no fault analysis.
    """
    from topoloom.app.plots import faults as plot

    found = _sweep(context, request.sweep_id, "fault-analysis", "a fault analysis")
    return _of_document(context, "survey", found, plot)


def draw_iterations(context: Context, request: IterationPlotRequest) -> Artefact:
    """Return the stored drawing of a stored sweep of iterations.

    Raises:
        NoSchedule: The sweep is over something else.
    """
    from topoloom.app.plots import iteration_sweep as plot

    found = _sweep(context, request.sweep_id, "iteration", "a sweep of iterations")
    return _of_document(context, "iterations", found, plot)


def _sweep(context: Context, identity: str, kind: SweepKind, what: str) -> Artefact:
    """Return a stored sweep of a kind."""
    found = context.read("sweep", identity)
    if (other := kind_of(found.document())) != kind:
        raise NoSchedule("/sweep_id", f"must be of {what}; not of a sweep over {other}")
    return found


def draw_tree(context: Context, request: TreePlotRequest) -> Artefact:
    """Return the stored drawing of the moves of the shard of a rank."""
    kept = context.stored(SCHEDULE, request.schedule_id)

    def compute() -> Drawing:
        from topoloom.app.plots import broadcasts
        from topoloom.app.plots import tree as plot

        way = broadcasts.broadcast_of(kept.value.load(), request.root, request.tree, request.part)
        topology = _topology(context, kept)
        size = plot.size(way)
        return _drawn("tree", lambda figure: plot.draw(figure, way, topology), *size, arrange=False)

    said = request.canonical_part(("root", "tree", "part"))
    return _kept(context, {"plot": "tree", "of": {"schedule": [kept.id]}} | said, compute)


def _of_document(context: Context, name: str, found: Artefact, plot: "DocumentPlot") -> Artefact:
    """Return the stored drawing of a document by a module with its size and its drawing."""

    def compute() -> Drawing:
        document = found.document()
        return _drawn(name, lambda figure: plot.draw(figure, document), *plot.size(document))

    return _kept(context, {"plot": name, "of": {found.kind: [found.id]}}, compute)


def _kept(context: Context, asked: Asked, compute: Callable[[], Drawing]) -> Artefact:
    return context.answer(PLOT, asked, compute).artefact


def _drawn(
    name: str,
    draw: "Callable[[Figure], None]",
    width: float,
    height: float,
    *,
    arrange: bool = True,
) -> Drawing:
    require_extra("matplotlib", "plots")
    from topoloom.app.plots import canvas

    return Drawing(name, canvas.svg(draw, width, height, arrange=arrange))


def _topology(context: Context, kept: Answer[Kept]) -> "Topology":
    return topologies.load_subject(context, kept.value.subject).topology
