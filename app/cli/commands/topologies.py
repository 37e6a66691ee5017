"""Commands about topologies: design, files, frontier, topology, measure, optimum."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli import cache_lookup
from topoloom.app.cli.box_designs import design_boxes
from topoloom.app.cli.common import (
    command_context,
    show,
    source_of,
    with_bases,
    with_groups,
    with_lists,
    with_tasks,
    with_times,
    with_wiring,
    write,
)
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsCsv, AsJson, Out, Reading, Source, reads_topology
from topoloom.app.requests.options import boxes, cluster, collectives, exports, patch_plans

if TYPE_CHECKING:
    from topoloom.app.requests.designs import DesignRequest

app = typer.Typer()

Explain = Annotated[
    bool, typer.Option("--explain", help="explain every point and the lower bounds")
]

_HOSTS = (cluster.NODES, cluster.DEGREE)
_TODAY = (
    patch_plans.DESIGN_PANELS,
    patch_plans.DESIGN_PLANT,
    patch_plans.DESIGN_CURRENT_WIRING,
    patch_plans.DESIGN_HOST_ASSIGNMENT,
    patch_plans.DESIGN_USE_SPARE_PORTS,
    patch_plans.DESIGN_OBJECTIVE,
    patch_plans.MAX_MOVES,
    patch_plans.MAX_REWIRING_SECONDS,
    patch_plans.MAX_DRAINED,
)


def _design_request(fields: dict[str, Any]) -> "DesignRequest":
    """Return the design request, with the files of its options read."""
    from topoloom.app.config import Settings
    from topoloom.app.requests.designs import DesignRequest

    settings = Settings()
    fields = with_times(with_bases(with_tasks(fields, settings), settings), settings)
    return DesignRequest.model_validate(with_wiring(fields, settings))


@app.command()
@request_options(*_HOSTS, *cluster.RUN, *cluster.SEARCH, *cluster.SPEED, *_TODAY, *boxes.OF_BOXES)
def design(fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """Find the best topology for a workload, with verified schedules.

    With --box, each host is a box of accelerators.  `topoloom iteration` finds the topology of
    least time for a whole training iteration.
    """
    if design_boxes(fields, as_json, as_csv):
        return
    request = _design_request(fields)
    answer = cache_lookup.answer("design", request.canonical())
    if answer is None:
        from topoloom.app.services import designs

        with command_context() as context:
            answer = designs.create(context, request)
    show(answer, as_json, as_csv)


@app.command()
@request_options(
    *(*_HOSTS, *cluster.RUN, *cluster.SEARCH, *cluster.SPEED, *_TODAY),
    *(exports.FILES_FORMAT, *exports.OF_PROGRAMS),
)
def files(
    fields: dict[str, Any],
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="new or empty folder, or FILE.zip; - writes a zip file to stdout"
        ),
    ],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Write the programs that run a design, for all data sizes."""
    from topoloom.app.cli.output.formatting import speed
    from topoloom.app.cli.output.program_sets import files_table
    from topoloom.app.documents.program_set import INDEX
    from topoloom.app.files.local_files import is_stream
    from topoloom.app.files.zip_archives import write_folder
    from topoloom.app.requests.schedules import ExportRequest
    from topoloom.app.services import designs
    from topoloom.app.services import program_sets as service
    from topoloom.app.services.exports import options_of

    form = fields.pop("format")
    names = [option.name for option in exports.OF_PROGRAMS if option.name in fields]
    options = options_of(ExportRequest.model_validate({name: fields.pop(name) for name in names}))
    service.require_available(form, options)
    request = _design_request(fields)
    with command_context() as context:
        programs = service.of_design(context, designs.create(context, request), form, options)
    write_folder(out, programs)
    if is_stream(out):
        return
    index = json.loads(programs[INDEX])
    if as_json:
        typer.echo(json.dumps(index, separators=(",", ":")))
        return
    files_table(index).print(as_csv)
    if not as_csv:
        for program in index["left_out"]:
            typer.echo(
                f"skipped  {program['algorithm']}, {program['collective']}: {program['why']}"
            )
        typer.echo(f"sizes for {speed(index)}")
        typer.echo(f"{len(programs)} files written to {out}")


@app.command()
@request_options(*_HOSTS, *cluster.SEARCH, cluster.ALL_TO_ALL)
def frontier(
    fields: dict[str, Any], as_json: AsJson = False, as_csv: AsCsv = False, explain: Explain = False
) -> None:
    """Find the Pareto frontier of latency and bandwidth."""
    from topoloom.app.config import Settings
    from topoloom.app.requests.designs import FrontierRequest

    if explain and (as_json or as_csv):
        raise typer.BadParameter(
            "must not be combined with --json or --csv", param_hint="--explain"
        )
    request = FrontierRequest.model_validate(with_bases(fields, Settings()))
    answer = cache_lookup.answer("frontier", request.canonical())
    if answer is None:
        from topoloom.app.services import frontiers

        with command_context() as context:
            answer = frontiers.frontier(context, request)
    show(answer, as_json, as_csv)
    if explain:
        from topoloom.app.cli.output.frontier_explanation import explanation_lines
        from topoloom.app.cli.output.text_table import say

        for line in explanation_lines(answer.document()):
            say(line)


@app.command()
@reads_topology
@request_options(
    patch_plans.TOPOLOGY_FORMAT, exports.SIMULATOR_ALPHA_US, exports.SIMULATOR_NODE_GBPS
)
def topology(reading: Reading, source: Source, fields: dict[str, Any], out: Out = None) -> None:
    """Build a topology, or read a file in any format, and write the topology."""
    form = fields.pop("format")
    plain = form == "json" and not fields
    answer = cache_lookup.about_topology("topology", source, reading) if plain else None
    if answer is not None:
        write(answer.text(), out, answer.summary["name"] or source)
        return
    from topoloom.app.documents import topology as documents
    from topoloom.app.requests.schedules import ExportRequest
    from topoloom.app.services import topologies

    options = ExportRequest.model_validate(fields)
    documents.require_available(form, options)
    with command_context() as context:
        artefact = topologies.create(context, source_of(source, reading, context))
        if form in documents.SIMULATOR_MEDIA_TYPES:
            built = documents.TOPOLOGY.read(artefact).topology
            # Phantora has no latency of links.
            on, timed = (options.alpha_us, options.node_gbps), form != "phantora"
            topologies.note_speeds(context, built, *on, timed=timed)
        write(documents.export(artefact, form, options), out, artefact.summary["name"] or source)


@app.command()
@reads_topology
def measure(
    reading: Reading, source: Source, as_json: AsJson = False, as_csv: AsCsv = False
) -> None:
    """Measure the exact cost of a topology and of its transpose."""
    answer = cache_lookup.about_topology("cost", source, reading)
    if answer is None:
        from topoloom.app.services import costs

        with command_context() as context:
            answer = costs.measure(context, source_of(source, reading, context))
    show(answer, as_json, as_csv)


@app.command()
@reads_topology
@request_options(
    collectives.OPTIMUM_COLLECTIVE,
    collectives.ROOT,
    collectives.SHARDS,
    collectives.PARTICIPANTS,
    collectives.TREES_PER_ROOT,
    collectives.MAX_GAP,
    collectives.VALUES,
    collectives.GROUPS,
    collectives.GROUP,
    collectives.TRAFFIC,
)
def optimum(
    reading: Reading, source: Source, fields: dict[str, Any], as_json: AsJson = False
) -> None:
    """Find the optimal throughput of a collective on a fabric, with the cut that proves it."""
    from topoloom.app.config import Settings
    from topoloom.app.requests.schedules import OptimumRequest

    request = OptimumRequest.model_validate(with_groups(with_lists(fields, Settings()), Settings()))
    plain = request == OptimumRequest()
    answer = cache_lookup.about_topology("optimum", source, reading) if plain else None
    if answer is None:
        from topoloom.app.services import costs

        with command_context() as context:
            answer = costs.optimum(context, source_of(source, reading, context), request)
    show(answer, as_json)
