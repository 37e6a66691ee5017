"""`topoloom sweep`: frontiers, designs, iterations or gaps for many sizes; traces."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from topoloom.app.cli import cache_lookup
from topoloom.app.cli.common import command_context, is_file, show, with_tasks
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.output.text_table import print_note
from topoloom.app.cli.shared_options import AsCsv, AsJson
from topoloom.app.requests.options import cluster, iterations, network_curves, sweeps_and_jobs

app = typer.Typer(
    no_args_is_help=True,
    help="Compute frontiers, designs, iterations or gaps for many sizes at once.",
)

Plot = Annotated[
    Path | None, typer.Option(metavar="FILE", help="also draw a plot: .png or .svg file")
]

_SIZES = (sweeps_and_jobs.SWEEP_NODES, sweeps_and_jobs.SWEEP_DEGREES)
_SEARCH = (
    cluster.LINKS,
    cluster.PARALLEL_LINKS,
    cluster.VERTEX_TRANSITIVE,
    cluster.FAMILIES,
    cluster.MAX_STEPS,
)
_SPEED = (
    cluster.NODE_GBPS,
    cluster.PORT_GBPS,
    cluster.ALPHA_US,
    cluster.MESSAGE_US,
    cluster.CHUNK_US,
)


@app.command()
@request_options(*_SIZES, *_SEARCH, cluster.ALL_TO_ALL)
def sizes(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the frontier for each number of hosts and ports."""
    _swept("sizes", fields, as_json, as_csv)


@app.command()
@request_options(*_SIZES, *cluster.RUN, *_SEARCH, *_SPEED)
def workload(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the best design for a workload, for each number of hosts and ports."""
    from topoloom.app.config import Settings

    _swept("workload", with_tasks(fields, Settings()), as_json, as_csv)


@app.command()
@request_options(*_SIZES, sweeps_and_jobs.SWEEP_TOPOLOGIES, *iterations.OF_SWEEPS)
def iteration(
    jobs: Annotated[
        list[str],
        typer.Argument(
            metavar="JOB...", help="presets of `topoloom catalog presets`, or model files"
        ),
    ],
    fields: dict[str, Any],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    plot: Plot = None,
) -> None:
    """Simulate the training iteration of each job, for each number of hosts and ports."""
    from topoloom.app.config import Settings
    from topoloom.app.files.model_files import read_model_file
    from topoloom.app.plots import canvas

    if plot is not None:
        canvas.require_drawable(plot, beside=True)
    settings = Settings()
    fields["jobs"] = [read_model_file(Path(job), settings) if is_file(job) else job for job in jobs]
    document = _swept("iteration", fields, as_json, as_csv)
    for note in document["notes"]:
        print_note(note)
    if plot is not None:
        from topoloom.app.plots import iteration_sweep

        with canvas.saved_figure(plot, *iteration_sweep.size(document)) as figure:
            iteration_sweep.draw(figure, document)
        typer.echo(f"plot: written to {plot}", err=True)


_AXES = ("nodes", "degrees", "jobs", "topologies")


def _swept(kind: str, fields: dict[str, Any], as_json: bool, as_csv: bool) -> dict[str, Any]:
    """Print the sweep of a kind, and return its document."""
    from topoloom.app.requests.sweeps import SweepRequest

    chosen = {name: fields.pop(name) for name in _AXES if name in fields}
    request = SweepRequest.model_validate({"kind": kind, **chosen, "template": fields})
    answer = cache_lookup.answer("sweep", request.canonical())
    if answer is None:
        from topoloom.app.services import sweeps

        with command_context() as context:
            answer = sweeps.create(context, request)
    show(answer, as_json, as_csv)
    return answer.document()


@app.command()
@request_options(
    sweeps_and_jobs.SWEEP_NODES,
    sweeps_and_jobs.SWEEP_DEGREES,
    cluster.LINKS,
    cluster.PARALLEL_LINKS,
    cluster.VERTEX_TRANSITIVE,
    cluster.FAMILIES,
    cluster.SCHEDULE,
)
def gaps(fields: dict[str, Any], as_csv: AsCsv = False, plot: Plot = None) -> None:
    """Find the gaps between the best topologies of each size and the lower bounds."""
    from topoloom.app.cli.output.sweeps import gap_table
    from topoloom.app.plots import canvas
    from topoloom.app.plots import gaps as panels
    from topoloom.app.requests.sweeps import SweepRequest
    from topoloom.app.services import gaps as services

    if plot is not None:
        canvas.require_drawable(plot, beside=True)
    chosen = {name: fields.pop(name) for name in ("nodes", "degrees") if name in fields}
    request = SweepRequest.model_validate({"kind": "sizes", **chosen, "template": fields})
    with command_context() as context:
        rows = services.gaps(context, request)
    gap_table(rows).print(as_csv)
    if plot is not None:
        with canvas.saved_figure(plot, *panels.SIZE) as figure:
            panels.draw(figure, rows)
        typer.echo(f"plot: written to {plot}", err=True)


_File = Path | None


@app.command()
@request_options(*network_curves.OF_TRACES)
def network(
    instances: Annotated[
        Path,
        typer.Argument(
            help="CSV of the collectives that NCCL ran: collective_instances.csv; .gz is read too"
        ),
    ],
    fields: dict[str, Any],
    rings: Annotated[_File, typer.Option(help="CSV of NCCL's rings: comm_ring_info.csv")] = None,
    kernel_times: Annotated[
        _File, typer.Option(help="JSON of measured reductions and copies by bytes, of NPKit")
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    plot: Plot = None,
) -> None:
    """Find the time of a traced program over latency and bandwidth of the network."""
    from topoloom.app.cli.output.network_curves import curve_table, show_curves
    from topoloom.app.files.local_files import read_json, read_text
    from topoloom.app.plots import canvas
    from topoloom.app.requests.network_curves import NetworkCurvesRequest
    from topoloom.app.services import network_curves as services

    if plot is not None:
        canvas.require_drawable(plot, beside=True)
    with command_context() as context:
        fields["instances"] = read_text(instances, context.settings)
        if rings is not None:
            fields["rings"] = read_text(rings, context.settings)
        if kernel_times is not None:
            fields["kernel_times"] = read_json(kernel_times, context.settings)
        request = NetworkCurvesRequest.model_validate(fields)
        answer = services.curves_document(context, request)
        context.note(*answer["notes"])
        if as_json:
            typer.echo(json.dumps(answer, separators=(",", ":")))
        elif as_csv:
            curve_table(answer).print(as_csv)
        else:
            show_curves(answer)
    if plot is not None:
        from topoloom.app.plots import network_curves as panels

        with canvas.saved_figure(plot, *panels.SIZE) as figure:
            panels.draw(figure, answer)
        typer.echo(f"plot: written to {plot}", err=True)
