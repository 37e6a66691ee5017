"""Commands that make, check and run schedules."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.answers import described, listed, opened, source_of, write
from app.cli.options import (
    AnyCollective,
    AsJson,
    MaxGap,
    Out,
    Participants,
    Reading,
    Root,
    Shards,
    Source,
    given,
    reads_topology,
)

__all__ = ["app"]

app = typer.Typer()

Program = Annotated[
    Path,
    typer.Argument(metavar="SCHEDULE", help="schedule/1, MSCCL XML, MSCCL++ JSON or Chakra traces"),
]


@app.command()
@reads_topology
def schedule(
    reading: Reading,
    source: Source,
    collective: AnyCollective,
    algorithm: Annotated[
        str | None,
        typer.Option(help="bfb, forestcoll, lifted or mcf; left out, bfb where it applies"),
    ] = None,
    root: Root = None,
    shards: Shards = None,
    participants: Participants = None,
    trees_per_root: Annotated[
        int | None, typer.Option(help="forestcoll: trees that each shard is cut into")
    ] = None,
    max_gap: MaxGap = None,
    max_chunks: Annotated[
        int | None, typer.Option(help="bfb: cut each shard into at most so many chunks")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="json, msccl-xml, mscclpp-json, chakra-et, nccl-tuner-csv, dot or graphml",
        ),
    ] = "json",
    dialect: Annotated[str | None, typer.Option(help="dialect of MSCCL XML")] = None,
    inplace: Annotated[
        bool | None,
        typer.Option("--inplace", help="msccl-xml, mscclpp-json: for calls in place"),
    ] = None,
    ranks_per_node: Annotated[
        int | None, typer.Option(help="mscclpp-json, nccl-tuner-csv: ranks of one machine")
    ] = None,
    size: Annotated[
        str | None, typer.Option("--bytes", help="chakra-et: size of the data, such as 1MiB")
    ] = None,
    alpha_us: Annotated[
        str | None, typer.Option(help="nccl-tuner-csv: latency of one hop, microseconds")
    ] = None,
    node_gbps: Annotated[
        str | None, typer.Option(help="nccl-tuner-csv: bandwidth of one host, Gbit/s")
    ] = None,
    out: Out = None,
) -> None:
    """Generate a schedule, verify it, and write it."""
    from app.schemas import ExportRequest, ScheduleRequest
    from app.services import schedules

    said = given(
        dialect=dialect,
        inplace=inplace,
        ranks_per_node=ranks_per_node,
        bytes=size,
        alpha_us=alpha_us,
        node_gbps=node_gbps,
    )
    options = schedules.Options(**ExportRequest.model_validate(said).model_dump())
    schedules.require_options(form, options)
    with opened() as context:
        asked: dict[str, Any] = {
            "topology": source_of(source, reading, context),
            "collective": collective,
        }
        asked |= given(
            algorithm=algorithm,
            trees_per_root=trees_per_root,
            max_gap=max_gap,
            max_chunks=max_chunks,
            root=root,
            shards=listed(shards, context),
            participants=listed(participants, context),
        )
        artefact = schedules.create(context, ScheduleRequest.model_validate(asked))
        exported = schedules.export(context, artefact, form, options)
        write(exported, out, described(artefact.summary))


@app.command()
@reads_topology
def verify(
    reading: Reading,
    schedule: Annotated[
        Path,
        typer.Argument(
            metavar="SCHEDULE",
            help="schedule/1, MSCCL XML, MSCCL++ JSON, Chakra traces or NCCL tuner table",
        ),
    ],
    topology: Annotated[str, typer.Option(help="as FILE_OR_RECIPE of other commands")],
    dialect: Annotated[str | None, typer.Option(help="dialect of MSCCL XML")] = None,
) -> None:
    """Check a schedule against a topology, independently of how it was made."""
    from app.exported import exported_files
    from app.files import read_json
    from app.services import schedules, topologies

    with opened() as context:
        loaded = topologies.load(context, source_of(topology, reading, context))
        form, files = exported_files(schedule, context.settings)
        if dialect is not None:
            schedules.require_options(form, schedules.Options(dialect=dialect))
        if form == "json":
            found = schedules.check(read_json(schedule, context.settings), loaded.topology)
        else:
            found = schedules.check_exported(form, files, loaded.topology, dialect)
    for violation in found:
        typer.echo(violation)
    if found:
        typer.echo(f"invalid: {len(found)} violation{'s' if len(found) > 1 else ''}")
        raise typer.Exit(1)
    typer.echo("valid")


@app.command()
@reads_topology
def execute(
    reading: Reading,
    schedule: Program,
    ranks: Annotated[
        int | None, typer.Option(help="processes; as many as the schedule has ranks")
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(help="verify it first; as FILE_OR_RECIPE"),
    ] = None,
    size: Annotated[str, typer.Option("--bytes", help="size of the data, such as 1MiB")] = "1MiB",
    repeat: Annotated[int, typer.Option(help="runs, each on fresh data")] = 1,
    pipeline_chunks: Annotated[int, typer.Option(help="pieces of each tree's data")] = 4,
    timeout: Annotated[float, typer.Option(help="seconds after which all is given up")] = 60.0,
    dialect: Annotated[str | None, typer.Option(help="dialect of MSCCL XML")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a schedule between processes on this machine and compare every bit."""
    from app import executing

    asked = {
        "ranks": ranks,
        "bytes": size,
        "repeat": repeat,
        "pipeline_chunks": pipeline_chunks,
        "timeout": timeout,
    }
    options = executing.ExecutionOptions.model_validate(asked)
    if topology is None and reading != Reading():
        raise typer.BadParameter("must be given to read or change one", param_hint="--topology")
    with opened() as context:
        source = None if topology is None else source_of(topology, reading, context)
        document = executing.run(context, schedule, source, options, dialect)
    if as_json:
        typer.echo(json.dumps(document))
    else:
        executing.show(document)
    if not document["exact"]:
        raise typer.Exit(1)


@app.command()
@reads_topology
def simulate(
    reading: Reading,
    schedule: Program,
    topology: Annotated[str, typer.Option(help="as FILE_OR_RECIPE of other commands")],
    size: Annotated[str, typer.Option("--bytes", help="size of the data, such as 64MiB")],
    alpha_us: Annotated[str, typer.Option(help="latency of one hop, microseconds")] = "10",
    node_gbps: Annotated[
        str | None, typer.Option(help="bandwidth of one host, Gbit/s; left out, the topology's")
    ] = None,
    link_gbps: Annotated[
        str | None, typer.Option(help="instead: what one unit of capacity carries, Gbit/s")
    ] = None,
    overhead_us: Annotated[
        str, typer.Option(help="how long a message keeps a link busy beside its bytes")
    ] = "0",
    channels: Annotated[
        int | None, typer.Option(help="links a host sends on at a time; left out, all")
    ] = None,
    chunks: Annotated[
        int | None, typer.Option(help="pieces each message is cut into; left out, the best")
    ] = None,
    synchronous: Annotated[
        bool, typer.Option("--synchronous", help="all wait for the slowest of each step")
    ] = False,
    dialect: Annotated[str | None, typer.Option(help="dialect of MSCCL XML")] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a schedule message by message: its time, and how busy the links are."""
    from app.exported import exported_files
    from app.files import read_json
    from app.printing import PRINTERS
    from app.schemas import SimulationRequest
    from app.services import schedules, simulations, topologies

    asked = {"bytes": size, "alpha_us": alpha_us, "overhead_us": overhead_us}
    asked |= given(node_gbps=node_gbps, link_gbps=link_gbps, channels=channels, chunks=chunks)
    request = SimulationRequest.model_validate(asked | {"synchronous": synchronous})
    with opened() as context:
        loaded = topologies.load(context, source_of(topology, reading, context))
        form, files = exported_files(schedule, context.settings)
        if dialect is not None:
            schedules.require_options(form, schedules.Options(dialect=dialect))
        if form == "json":
            document = read_json(schedule, context.settings)
            found = dict(simulations.of_document(document, loaded.topology, request))
        else:
            found = dict(simulations.of_exported(form, files, loaded.topology, request, dialect))
    if as_json:
        typer.echo(json.dumps(found, separators=(",", ":")))
    else:
        PRINTERS["simulation"](found)
