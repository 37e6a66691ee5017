"""Commands about schedules: schedule, verify, execute, probe, simulate."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topoloom.app.cli.common import (
    command_context,
    is_beside,
    schedule_summary,
    source_of,
    with_lists,
    write,
)
from topoloom.app.cli.option_parameters import request_options
from topoloom.app.cli.shared_options import AsJson, Out, Reading, Source, reads_topology
from topoloom.app.requests.options import cluster, collectives, exports
from topoloom.app.requests.options import simulations as replaying

if TYPE_CHECKING:
    from topoloom.app.services.program_files import ProgramFile
    from topoloom.schedules.formats import Files, Options

app = typer.Typer()

ScheduleFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCHEDULE",
        help="file: schedule/1, MSCCL XML, MSCCL++ JSON, GOAL, Chakra traces or NCCL tuner table",
    ),
]
Program = Annotated[
    Path,
    typer.Argument(
        metavar="SCHEDULE", help="file: schedule/1, MSCCL XML, MSCCL++ JSON, GOAL or Chakra traces"
    ),
]
RunsOn = Annotated[
    str, typer.Option(metavar="FILE_OR_RECIPE", help="topology that the schedule runs on")
]

_OF_FORMATS = (
    *exports.OF_PROGRAMS,
    exports.EXPORT_BYTES,
    exports.EXPORT_ALPHA_US,
    exports.EXPORT_NODE_GBPS,
)
_SPEEDS = ("bytes", "alpha_us", "node_gbps")
"""Options of some formats, and of the printed speed of every schedule."""


@app.command()
@reads_topology
@request_options(
    collectives.GROUPED_COLLECTIVE,
    collectives.ALGORITHM,
    collectives.ROOT,
    collectives.SHARDS,
    collectives.PARTICIPANTS,
    collectives.TREES_PER_ROOT,
    collectives.MAX_GAP,
    collectives.MAX_HEIGHT,
    collectives.MAX_CHUNKS,
    collectives.STEPS,
    collectives.GROUPS,
    collectives.GROUP,
    collectives.TRAFFIC,
    exports.SCHEDULE_FORMAT,
    *_OF_FORMATS,
)
def schedule(reading: Reading, source: Source, fields: dict[str, Any], out: Out = None) -> None:
    """Generate, verify and write a schedule; print its speed."""
    from topoloom.app.cli.commands.group_schedules import schedule_groups
    from topoloom.app.cli.output.program_sets import show_requirements
    from topoloom.app.cli.output.schedule_speed import show_speed
    from topoloom.app.documents.schedule import SCHEDULE
    from topoloom.app.requests.schedules import ExportRequest, ScheduleRequest
    from topoloom.app.services import schedule_speed, schedules, topologies
    from topoloom.app.services.program_files import requirements_of
    from topoloom.schedules.formats import FORMATS, PROGRAMS, Options, require_options

    form = fields.pop("format")
    given = {option.name: fields.pop(option.name, None) for option in _OF_FORMATS}
    on = ExportRequest.model_validate({n: value for n, value in given.items() if value is not None})
    of_format = FORMATS[form].options if form in FORMATS else ()
    used = {n: v for n, v in on.model_dump().items() if n in of_format or n not in _SPEEDS}
    options = Options(**used)
    require_options(form, options)
    if "groups" in fields or "traffic" in fields:
        schedule_groups(reading, source, fields, on, form, options, out)
        return
    with command_context() as context:
        members = with_lists(fields, context.settings)
        members["topology"] = source_of(source, reading, context)
        request = ScheduleRequest.model_validate(members)
        artefact = schedules.create(context, request)
        exported = schedules.export(context, artefact, form, options)
        if form in PROGRAMS:
            exported = "".join(exported)
        if "alpha_us" in of_format:
            subject = topologies.load_subject(context, SCHEDULE.read(artefact).subject)
            topologies.note_speeds(context, subject.topology, on.alpha_us, on.node_gbps)
        write(exported, out, schedule_summary(artefact.summary))
        written = _written(form, exported, options)
        show_speed(
            lambda: schedule_speed.speed(context, artefact, request, on, written),
            form,
            beside=is_beside(out),
        )
        if isinstance(exported, str):
            needs = requirements_of(form, exported, options)
            show_requirements(needs, beside=is_beside(out))


def _written(
    form: str, exported: "Iterable[str] | Files", options: "Options"
) -> "ProgramFile | None":
    """Return the written program; None for a format that sends no messages."""
    from topoloom.app.services.program_files import ProgramFile
    from topoloom.schedules.formats import SENDING, Options

    if form not in SENDING:
        return None
    several = isinstance(exported, Mapping)
    files = list(exported.values()) if several else ["".join(exported).encode()]
    # The default dialect of the writer is msccl.
    dialect = "msccl" if form == "msccl-xml" and not options.runtime else None
    read = Options(dialect=options.dialect or dialect, runtime=options.runtime)
    return ProgramFile(form, files, read)


@app.command()
@reads_topology
@request_options(exports.READ_DIALECT, exports.RUNTIME)
def verify(
    reading: Reading, schedule: ScheduleFile, topology: RunsOn, fields: dict[str, Any]
) -> None:
    """Verify a schedule on a topology, with code independent of the generators."""
    from topoloom.app.files.local_files import read_json
    from topoloom.app.services import schedules, topologies
    from topoloom.app.services.program_files import ProgramFile
    from topoloom.schedules.formats import Options

    options = Options(dialect=fields.get("dialect"), runtime=fields.get("runtime"))
    with command_context() as context:
        loaded = topologies.load(context, source_of(topology, reading, context))
        program = ProgramFile.at(schedule, options, context.settings)
        if program.form == "json":
            violations = schedules.check(read_json(schedule, context.settings), loaded.topology)
        else:
            violations = program.violations(loaded.topology)
            context.note(*program.remarks("--dialect"))
    for violation in violations:
        typer.echo(violation)
    if violations:
        typer.echo(f"invalid: {len(violations)} violation{'s' if len(violations) > 1 else ''}")
        raise typer.Exit(1)
    typer.echo("valid")


@app.command()
@reads_topology
@request_options(
    replaying.RANKS,
    replaying.EXECUTED_BYTES,
    replaying.REPEAT,
    replaying.PIPELINE_CHUNKS,
    replaying.TIMEOUT,
    exports.READ_DIALECT,
    exports.RUNTIME,
)
def execute(
    reading: Reading,
    schedule: Program,
    fields: dict[str, Any],
    topology: Annotated[
        str | None,
        typer.Option(metavar="FILE_OR_RECIPE", help="first verify the schedule on this topology"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a schedule between local processes and compare every bit of the result."""
    from topoloom.app.cli.commands import execute_schedule
    from topoloom.schedules.formats import Options

    read = Options(dialect=fields.pop("dialect", None), runtime=fields.pop("runtime", None))
    options = execute_schedule.ExecutionOptions.model_validate(fields)
    if topology is None and reading != Reading():
        raise typer.BadParameter(
            "must be given with options that read or change a topology", param_hint="--topology"
        )
    with command_context() as context:
        source = None if topology is None else source_of(topology, reading, context)
        document = execute_schedule.execute_file(context, schedule, source, options, read)
    if as_json:
        typer.echo(json.dumps(document))
    else:
        execute_schedule.show(document)
    if not document["exact"]:
        raise typer.Exit(1)


@app.command()
@request_options(replaying.PROBED_RANKS, replaying.ROUND_TRIPS, replaying.TIMEOUT)
def probe(fields: dict[str, Any], out: Out = None, as_json: AsJson = False) -> None:
    """Measure latency and rate between processes, for `design --measured`."""
    from topoloom.app.cli.commands import probe as probing
    from topoloom.app.cli.commands.execute_schedule import ProbeOptions
    from topoloom.app.files.local_files import is_stream, write_text

    options = ProbeOptions.model_validate(fields)
    rows = probing.measured_times(options.ranks, options.repeat, options.timeout)
    if not rows:
        return
    document = probing.document_of(rows)
    if out is not None:
        text = json.dumps(document) if out.suffix == ".json" else probing.csv_of(document)
        write_text(out, [text])
    if is_stream(out):
        return
    typer.echo(json.dumps(document) if as_json else probing.summary_line(document))


@app.command()
@reads_topology
@request_options(
    replaying.SIMULATED_BYTES,
    replaying.SIMULATED_ALPHA_US,
    replaying.SIMULATED_NODE_GBPS,
    replaying.LINK_GBPS,
    replaying.OVERHEAD_US,
    cluster.CHUNK_US,
    replaying.CHANNELS,
    replaying.CHUNKS,
    replaying.SYNCHRONOUS,
    exports.READ_DIALECT,
    exports.RUNTIME,
)
def simulate(
    reading: Reading,
    schedule: Program,
    topology: RunsOn,
    fields: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Simulate a schedule message by message: time and use of the links."""
    from topoloom.app.cli.output import PRINTERS
    from topoloom.app.files.local_files import read_json
    from topoloom.app.requests.schedules import SimulationRequest
    from topoloom.app.services import simulations, topologies
    from topoloom.app.services.program_files import ProgramFile
    from topoloom.schedules.formats import Options

    read = Options(dialect=fields.pop("dialect", None), runtime=fields.pop("runtime", None))
    request = SimulationRequest.model_validate(fields)
    with command_context() as context:
        loaded = topologies.load(context, source_of(topology, reading, context))
        program = ProgramFile.at(schedule, read, context.settings)
        if program.form == "json":
            content = read_json(schedule, context.settings)
            document = dict(simulations.of_document(content, loaded.topology, request))
        else:
            found = simulations.of_program(program, loaded.topology, request, "--dialect")
            document = dict(found)
        context.note(*document.get("notes", ()))
        speeds = (request.alpha_us, request.node_gbps, request.link_gbps)
        topologies.note_speeds(context, loaded.topology, *speeds)
    if as_json:
        typer.echo(json.dumps(document, separators=(",", ":")))
    else:
        PRINTERS["simulation"](document)
