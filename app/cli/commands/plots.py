"""`topoloom plot`: draw frontiers, message-size times, link loads and trees."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli import cache_lookup
from topoloom.app.cli.common import command_context, source_of, with_tasks
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import Reading, reads_topology
from topoloom.app.requests.options import cluster, sweeps_and_jobs

if TYPE_CHECKING:
    from topoloom.app.requests.designs import FrontierRequest
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.synth.topology.topology import Topology

app = typer.Typer(
    help="Draw frontiers, times, link loads and trees, as PNG or SVG.", no_args_is_help=True
)

Out = Annotated[
    Path, typer.Option(metavar="FILE", help="output file, .png or .svg; - is standard output")
]
ScheduleFile = Annotated[Path, typer.Argument(metavar="SCHEDULE", help="schedule/1 file")]
TopologyOption = Annotated[
    str, typer.Option(metavar="FILE_OR_RECIPE", help="topology that the schedule runs on")
]


@app.command()
@request_options(cluster.NODES, cluster.DEGREE, cluster.LINKS, cluster.SCHEDULE)
def frontier(fields: dict[str, Any], out: Out) -> None:
    """Draw the Pareto frontier of latency and bandwidth."""
    from topoloom.app.plots import canvas
    from topoloom.app.plots import frontier as plot
    from topoloom.app.requests.designs import FrontierRequest

    canvas.require_drawable(out)
    document = _frontier(FrontierRequest.model_validate(fields))
    with canvas.saved_figure(out, *plot.size(document)) as figure:
        plot.draw(figure, document)
    _done(out)


@app.command()
@request_options(
    cluster.NODES,
    cluster.DEGREE,
    cluster.COLLECTIVE,
    cluster.WORKLOAD,
    cluster.PRESET,
    sweeps_and_jobs.LEAST_BYTES,
    sweeps_and_jobs.MOST_BYTES,
    cluster.LINKS,
    cluster.SCHEDULE,
    cluster.NODE_GBPS,
    cluster.PORT_GBPS,
    cluster.ALPHA_US,
)
def sizes(fields: dict[str, Any], out: Out) -> None:
    """Draw time by data size: the best topologies, the baselines and the lower bound."""
    from topoloom.app.config import Settings
    from topoloom.app.plots import canvas
    from topoloom.app.plots import message_sizes as plot
    from topoloom.app.requests.message_sizes import SizesRequest

    canvas.require_drawable(out)
    request = SizesRequest.model_validate(with_tasks(fields, Settings()))
    document = _frontier(request.frontier())
    with canvas.saved_figure(out, *plot.SIZE) as figure:
        plot.draw(figure, document, request)
    _done(out)


@app.command()
@reads_topology
def load(reading: Reading, schedule: ScheduleFile, topology: TopologyOption, out: Out) -> None:
    """Draw the load of a schedule on each link."""
    from topoloom.app.plots import canvas
    from topoloom.app.plots import link_load as plot

    canvas.require_drawable(out)
    read, loaded = _schedule(schedule, topology, reading)
    with canvas.saved_figure(out, *plot.SIZE) as figure:
        plot.draw(figure, read, loaded)
    _done(out)


@app.command()
@reads_topology
def tree(
    reading: Reading,
    schedule: ScheduleFile,
    topology: TopologyOption,
    root: Annotated[str, typer.Option(help="id of the rank whose shard is drawn")],
    out: Out,
    number: Annotated[
        int, typer.Option("--tree", help="number of the tree of the root, heaviest first")
    ] = 1,
    part: Annotated[
        int | None, typer.Option(help="number of the part of an allreduce; default: the last")
    ] = None,
) -> None:
    """Draw a tree of a schedule, or the path of a shard through its steps."""
    from topoloom.app.plots import broadcasts, canvas
    from topoloom.app.plots import tree as plot

    canvas.require_drawable(out)
    read, loaded = _schedule(schedule, topology, reading)
    broadcast = broadcasts.broadcast_of(read, root, number, part)
    with canvas.saved_figure(out, *plot.size(broadcast), arrange=False) as figure:
        plot.draw(figure, broadcast, loaded)
    _done(out)


def _frontier(request: "FrontierRequest") -> dict[str, Any]:
    if (answer := cache_lookup.answer("frontier", request.canonical())) is not None:
        return answer.document()
    from topoloom.app.services import frontiers

    with command_context() as context:
        return frontiers.frontier(context, request).document()


def _schedule(path: Path, topology: str, reading: Reading) -> "tuple[Schedule, Topology]":
    from topoloom.app.files.local_files import read_json
    from topoloom.app.services import schedules, topologies

    with command_context() as context:
        loaded = topologies.load(context, source_of(topology, reading, context)).topology
        return schedules.read(read_json(path, context.settings), loaded), loaded


def _done(out: Path) -> None:
    from topoloom.app.files.local_files import is_stream

    if not is_stream(out):
        typer.echo(f"plot: written to {out}")
