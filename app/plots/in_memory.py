"""Plots of values: a frontier, or a schedule on its topology, without a database."""

from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.app.plots import canvas

if TYPE_CHECKING:
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.synth.search.frontier import Frontier
    from topoloom.synth.topology.topology import NodeId, Topology


def draw_frontier(found: "Frontier", path: Path) -> None:
    """Draw the Pareto frontier of latency and bandwidth to a file.

    Raises:
        MissingExtra, UnusableFile: As `canvas.require_drawable`.
    """
    canvas.require_drawable(path)
    from topoloom.app.documents.frontier import FrontierAnswer, Stored, of
    from topoloom.app.plots import frontier as plot
    from topoloom.app.requests.designs import FrontierRequest

    hosts = {"nodes": found.nodes, "degree": found.degree, "links": found.links.value}
    request = FrontierRequest.model_validate(hosts)
    # The document needs ids, which no plot shows.
    no_id = "0" * 64
    stored = tuple(Stored(no_id, str(point.recipe)[:80]) for point in found.points)
    document = of(FrontierAnswer(request.canonical(), found, stored), no_id)
    with canvas.saved_figure(path, *plot.size(document)) as figure:
        plot.draw(figure, document)


def draw_schedule(
    schedule: "Schedule", topology: "Topology", path: Path, root: "NodeId | None" = None
) -> None:
    """Draw the link loads of a schedule, or the heaviest tree of a root, to a file.

    Raises:
        InvalidSchedule: The schedule is not valid on the topology.
        NoSchedule, TooLarge: The schedule has no such rank, or too many ranks to draw.
        MissingExtra, UnusableFile: As `canvas.require_drawable`.
    """
    canvas.require_drawable(path)
    from topoloom.app.plots import broadcasts, link_load, tree
    from topoloom.schedules.verify import require_valid

    require_valid(schedule, topology)
    if root is None:
        with canvas.saved_figure(path, *link_load.SIZE) as figure:
            link_load.draw(figure, schedule, topology)
        return
    broadcast = broadcasts.broadcast_of(schedule, str(root))
    with canvas.saved_figure(path, *tree.size(broadcast), arrange=False) as figure:
        tree.draw(figure, broadcast, topology)
