"""`topoloom compare`: stored designs, stored schedules, algorithms, baselines or tree heights."""

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import command_context, source_of, with_lists
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson, Out, Reading, Source, reads_topology
from topoloom.app.requests.options import cluster, collectives, exports, simulations

if TYPE_CHECKING:
    from topoloom.app.requests.evaluations import ComparisonRequest


app = typer.Typer(
    no_args_is_help=True, help="Compare designs, schedules, algorithms or baselines side by side."
)

Ids = Annotated[
    list[str],
    typer.Argument(metavar="ID...", help="2 to 20 ids, or the first 6 or more characters of each"),
]
SHOWN_SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 30)
"""Data sizes of the table; the JSON document has more."""
_SPEEDS = (
    simulations.COMPARED_BYTES,
    simulations.COMPARED_ALPHA_US,
    simulations.SIMULATED_NODE_GBPS,
    cluster.MESSAGE_US,
    cluster.CHUNK_US,
)


@app.command()
def designs(ids: Ids, as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Compare stored designs."""
    from topoloom.app.requests.evaluations import ComparisonRequest

    _show_stored(ComparisonRequest.model_validate({"designs": ids}), as_json, as_csv)


@app.command()
@request_options(*_SPEEDS)
def schedules(
    ids: Ids, fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False
) -> None:
    """Compare stored schedules."""
    from topoloom.app.requests.evaluations import ComparisonRequest

    _show_stored(ComparisonRequest.model_validate({"schedules": ids, **fields}), as_json, as_csv)


def _show_stored(request: "ComparisonRequest", as_json: bool, as_csv: bool) -> None:
    from topoloom.app.cli.output.best import comparison_table
    from topoloom.app.services import comparisons

    with command_context() as context:
        answer = comparisons.create(context, request)
    if as_json:
        typer.echo(answer.text())
    else:
        comparison_table(answer.document()).print(as_csv)


@app.command()
@reads_topology
@request_options(collectives.COMPARED_COLLECTIVE, collectives.ROOT, *_SPEEDS)
def algorithms(
    reading: Reading,
    source: Source,
    fields: dict[str, Any],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Compare all algorithms for a collective on a fabric; name the fastest for each size."""
    from topoloom.app.cli.output.best import algorithm_notes, algorithm_table
    from topoloom.app.requests.evaluations import ComparisonRequest
    from topoloom.app.services import comparisons

    with command_context() as context:
        members = {**fields, "topology": source_of(source, reading, context)}
        request = ComparisonRequest.model_validate(members)
        with context.watch():
            answer = comparisons.create(context, request)
    if as_json:
        typer.echo(answer.text())
        return
    document = answer.document()
    if not as_csv and request.bytes is None:
        sizes = document["fabric"]["sizes"]
        document["fabric"]["sizes"] = [size for size in sizes if size["bytes"] in SHOWN_SIZES]
    algorithm_table(document).print(as_csv)
    if not as_csv:
        typer.echo()
        for line in algorithm_notes(document):
            typer.echo(line)


@app.command()
@reads_topology
@request_options(
    collectives.RUN_COLLECTIVE,
    simulations.SIMULATED_BYTES,
    simulations.SIMULATED_ALPHA_US,
    simulations.SIMULATED_NODE_GBPS,
    simulations.LINK_GBPS,
    simulations.OVERHEAD_US,
    cluster.CHUNK_US,
    simulations.OPPONENT,
)
def baselines(
    reading: Reading,
    source: Source,
    fields: dict[str, Any],
    out: Out = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Time NCCL's algorithms on a fabric; with --baseline, write the schedule of one algorithm."""
    from topoloom.app.cli.commands import baselines as timing
    from topoloom.app.cli.output.best import judge_notes
    from topoloom.app.files.local_files import is_stream, write_text
    from topoloom.app.requests.schedules import SimulationRequest
    from topoloom.app.services import topologies

    collective, name = fields.pop("collective"), fields.pop("opponent", None)
    if (out is None) != (name is None):
        raise typer.BadParameter("--baseline and --out must be given together")
    request = SimulationRequest.model_validate(fields)
    with command_context() as context:
        topology = topologies.load(context, source_of(source, reading, context)).topology
        speeds = (request.alpha_us, request.node_gbps, request.link_gbps)
        topologies.note_speeds(context, topology, *speeds)
    entries = timing.baselines_on(topology, collective, request)
    if out is not None and name is not None:
        write_text(out, timing.schedule_text(entries, name))
    if is_stream(out):
        return
    document = timing.document_of(topology, collective, request, entries)
    if as_json:
        typer.echo(json.dumps(document))
    else:
        timing.table_of(document).print(as_csv)
        if not as_csv:
            for line in judge_notes(document["opponents"]):
                typer.echo(line)
            for one in document["left_out"]:
                typer.echo(f"not {one['name']}: {one['reason']}")


_HEIGHT_SPEEDS = (
    exports.HEIGHT_BYTES,
    exports.HEIGHT_ALPHA_US,
    simulations.SIMULATED_NODE_GBPS,
)


@app.command()
@reads_topology
@request_options(
    *(
        collectives.RUN_COLLECTIVE,
        collectives.ROOT,
        collectives.SHARDS,
        collectives.PARTICIPANTS,
        collectives.TREES_PER_ROOT,
    ),
    *_HEIGHT_SPEEDS,
)
def heights(
    reading: Reading, source: Source, fields: dict[str, Any], as_csv: AsCsv = False
) -> None:
    """Compare the best rates found for each tree height; name the fastest for a data size."""
    from topoloom.app.cli.output.tree_heights import heights_table
    from topoloom.app.requests.schedules import ExportRequest, ScheduleRequest
    from topoloom.app.services import topologies
    from topoloom.app.services.tree_heights import curve

    names = [option.name for option in _HEIGHT_SPEEDS if option.name in fields]
    on = ExportRequest.model_validate({name: fields.pop(name) for name in names})
    with command_context() as context:
        members = with_lists(fields, context.settings)
        members["topology"] = source_of(source, reading, context)
        request = ScheduleRequest.model_validate(members)
        loaded = topologies.load(context, request.topology)
        with context.watch():
            points = curve(context, loaded, request, on)
    heights_table(points, loaded.topology.bandwidth_unit).print(as_csv)
    if on.bytes is not None and not as_csv:
        best = min(points, key=lambda point: point.seconds or Fraction(0))
        typer.echo(f"fastest for {on.bytes} bytes: --max-height {best.height}")
