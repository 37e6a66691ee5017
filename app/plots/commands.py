"""`topoloom plot …`: parses, asks the services, draws."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.answers import opened, source_of
from app.cli.options import Collective, Degree, LinkKind, Nodes, Reading, reads_topology

if TYPE_CHECKING:
    from app.schemas import FrontierRequest
    from schedules.model import Schedule
    from synth.topology import Topology

__all__ = ["app"]

app = typer.Typer(
    help="Draw frontiers, times, link loads and trees, as PNG or SVG.", no_args_is_help=True
)

Out = Annotated[Path, typer.Option(help="file to write, .png or .svg")]
ScheduleFile = Annotated[Path, typer.Argument(metavar="SCHEDULE", help="schedule/1 file")]
TopologyOption = Annotated[
    str, typer.Option(help="what it runs on, as FILE_OR_RECIPE of other commands")
]


@app.command()
def frontier(nodes: Nodes, degree: Degree, out: Out, links: LinkKind = "unidirectional") -> None:
    """Draw the Pareto frontier of latency and bandwidth."""
    from app.plots import canvas
    from app.plots import frontier as plot
    from app.schemas import FrontierRequest

    canvas.require_drawable(out)
    asked = {"nodes": nodes, "degree": degree, "links": links}
    document = _frontier(FrontierRequest.model_validate(asked))
    with canvas.drawn(out, *plot.size(document)) as figure:
        plot.draw(figure, document)
    _done(out)


@app.command()
def sizes(
    nodes: Nodes,
    degree: Degree,
    collective: Collective,
    out: Out,
    links: LinkKind = "unidirectional",
    least: Annotated[str, typer.Option("--from", help="smallest size")] = "1KiB",
    most: Annotated[str, typer.Option("--to", help="largest size")] = "1GiB",
    node_gbps: Annotated[str, typer.Option(help="bandwidth of one host, Gbit/s")] = "100",
    alpha_us: Annotated[str, typer.Option(help="latency of one hop, microseconds")] = "10",
) -> None:
    """Draw the time of a collective over the size of its data, beside baselines and bound."""
    from app.documents.questions import frontier_request, hosts_of
    from app.plots import canvas
    from app.plots import sizes as plot

    canvas.require_drawable(out)
    request = plot.SizesRequest.model_validate(
        {
            "nodes": nodes,
            "degree": degree,
            "links": links,
            "collective": collective,
            "from": least,
            "to": most,
            "node_gbps": node_gbps,
            "alpha_us": alpha_us,
        }
    )
    document = _frontier(frontier_request(hosts_of(request)))
    with canvas.drawn(out, *plot.SIZE) as figure:
        plot.draw(figure, document, request)
    _done(out)


@app.command()
@reads_topology
def load(reading: Reading, schedule: ScheduleFile, topology: TopologyOption, out: Out) -> None:
    """Draw how busy a schedule keeps each link."""
    from app.plots import canvas
    from app.plots import load as plot

    canvas.require_drawable(out)
    read, loaded = _schedule(schedule, topology, reading)
    with canvas.drawn(out, *plot.SIZE) as figure:
        plot.draw(figure, read, loaded)
    _done(out)


@app.command()
@reads_topology
def tree(
    reading: Reading,
    schedule: ScheduleFile,
    topology: TopologyOption,
    root: Annotated[str, typer.Option(help="id of the rank whose shard is followed")],
    out: Out,
    number: Annotated[
        int, typer.Option("--tree", help="which tree of the root, heaviest first")
    ] = 1,
    part: Annotated[
        int | None, typer.Option(help="which part of an allreduce; left out, the last")
    ] = None,
) -> None:
    """Draw a tree of a schedule, or the way of a shard through its steps."""
    from app.plots import broadcasts, canvas
    from app.plots import tree as plot

    canvas.require_drawable(out)
    read, loaded = _schedule(schedule, topology, reading)
    broadcast = broadcasts.broadcast_of(read, root, number, part)
    with canvas.drawn(out, *plot.size(broadcast), arrange=False) as figure:
        plot.draw(figure, broadcast, loaded)
    _done(out)


def _frontier(request: "FrontierRequest") -> dict[str, Any]:
    from app.services import frontiers

    with opened() as context:
        return frontiers.frontier(context, request).document()


def _schedule(path: Path, topology: str, reading: Reading) -> "tuple[Schedule, Topology]":
    from app.files import read_json
    from app.services import schedules, topologies

    with opened() as context:
        loaded = topologies.load(context, source_of(topology, reading, context)).topology
        return schedules.read(read_json(path, context.settings), loaded), loaded


def _done(out: Path) -> None:
    typer.echo(f"plot: written to {out}")
