"""The command line: parses, calls one service function, prints.

Exit codes: 0 done, 1 the answer is "no", 2 bad input, said in one line on stderr; 130
interrupted.
Documents go to stdout and nothing else does when ``--json`` is given.
"""

import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli_io import described, listed, opened, show, source_of, tasks_of, write
from app.cli_options import (
    Alike,
    AnyCollective,
    AsJson,
    Collective,
    Degree,
    Families,
    LinkKind,
    MaxGap,
    MaxSteps,
    Nodes,
    Out,
    Parallel,
    Participants,
    Reading,
    Root,
    Shards,
    Source,
    given,
    reads_topology,
)
from app.complaints import explained
from app.plots.commands import app as plots

__all__ = ["app", "main"]

INTERRUPTED = 130
"""What shells, and typer, call the end by Ctrl-C."""

app = typer.Typer(
    name="topoloom",
    help="Topologies for directly wired hosts, schedules that match them, and wiring plans.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(plots, name="plot")


@app.command()
def design(
    nodes: Nodes,
    degree: Degree,
    collective: Collective = None,
    size: Annotated[
        str | None, typer.Option("--bytes", help="size of the data, such as 1MiB")
    ] = None,
    workload: Annotated[
        Path | None, typer.Option(help="instead: JSON list of collective, bytes and count")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="instead: a workload that `topoloom presets` lists")
    ] = None,
    links: LinkKind = "unidirectional",
    node_gbps: Annotated[str, typer.Option(help="bandwidth of one host, Gbit/s")] = "100",
    alpha_us: Annotated[str, typer.Option(help="latency of one hop, microseconds")] = "10",
    parallel_links: Parallel = False,
    vertex_transitive: Alike = False,
    family: Families = None,
    max_steps: MaxSteps = None,
    as_json: AsJson = False,
) -> None:
    """Find the best topology for a workload, with a verified schedule."""
    from app.schemas import DesignRequest
    from app.services import designs

    with opened() as context:
        run = {"collective": collective, "bytes": size, "preset": preset}
        run["workload"] = tasks_of(workload, context)
        request = DesignRequest.model_validate(
            {
                "nodes": nodes,
                "degree": degree,
                "links": links,
                "node_gbps": node_gbps,
                "alpha_us": alpha_us,
                "parallel_links": parallel_links,
                "vertex_transitive": vertex_transitive,
                **{name: value for name, value in run.items() if value is not None},
                **given(families=family, max_steps=max_steps),
            }
        )
        show(designs.create(context, request), as_json)


@app.command()
def frontier(
    nodes: Nodes,
    degree: Degree,
    links: LinkKind = "unidirectional",
    parallel_links: Parallel = False,
    vertex_transitive: Alike = False,
    family: Families = None,
    max_steps: MaxSteps = None,
    all_to_all: Annotated[
        bool, typer.Option("--all-to-all", help="measure all-to-all on every point, too")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the Pareto frontier of latency and bandwidth."""
    from app.schemas import FrontierRequest
    from app.services import designs

    request = FrontierRequest.model_validate(
        {
            "nodes": nodes,
            "degree": degree,
            "links": links,
            "parallel_links": parallel_links,
            "vertex_transitive": vertex_transitive,
            **given(families=family, max_steps=max_steps, all_to_all=all_to_all or None),
        }
    )
    with opened() as context:
        show(designs.frontier(context, request), as_json)


@app.command()
@reads_topology
def topology(
    reading: Reading,
    source: Source,
    out: Out = None,
    form: Annotated[str, typer.Option("--format", help="json, graphml, dot or edgelist")] = "json",
) -> None:
    """Build a topology, or read one in any format, and write it."""
    from app.services import topologies

    topologies.require_available(form)
    with opened() as context:
        artefact = topologies.create(context, source_of(source, reading, context))
        write(topologies.export(artefact, form), out, artefact.summary["name"] or source)


@app.command()
@reads_topology
def measure(reading: Reading, source: Source, as_json: AsJson = False) -> None:
    """Measure the exact cost of a topology, and of its transpose."""
    from app.services import costs

    with opened() as context:
        show(costs.measure(context, source_of(source, reading, context)), as_json)


@app.command()
@reads_topology
def optimum(
    reading: Reading,
    source: Source,
    collective: AnyCollective = "allgather",
    root: Root = None,
    shards: Shards = None,
    participants: Participants = None,
    trees_per_root: Annotated[
        int | None, typer.Option(help="best rate of so many trees; left out, of any number")
    ] = None,
    max_gap: MaxGap = None,
    as_json: AsJson = False,
) -> None:
    """Find the best any collective could do, with the cut that proves it."""
    from app.schemas import OptimumRequest
    from app.services import costs

    with opened() as context:
        asked = given(
            collective=collective,
            trees_per_root=trees_per_root,
            max_gap=max_gap,
            root=root,
            shards=listed(shards, context),
            participants=listed(participants, context),
        )
        request = OptimumRequest.model_validate(asked)
        show(costs.optimum(context, source_of(source, reading, context), request), as_json)


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
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="schedule/1 file")],
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
        document = executing.run(context, schedule, source, options)
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
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE", help="schedule/1 file")],
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
    as_json: AsJson = False,
) -> None:
    """Simulate a schedule message by message: its time, and how busy the links are."""
    from app.files import read_json
    from app.printing import PRINTERS
    from app.schemas import SimulationRequest
    from app.services import simulations, topologies

    asked = {"bytes": size, "alpha_us": alpha_us, "overhead_us": overhead_us}
    asked |= given(node_gbps=node_gbps, link_gbps=link_gbps, channels=channels, chunks=chunks)
    request = SimulationRequest.model_validate(asked | {"synchronous": synchronous})
    with opened() as context:
        loaded = topologies.load(context, source_of(topology, reading, context))
        document = read_json(schedule, context.settings)
    found = simulations.of_document(document, loaded.topology, request)
    if as_json:
        typer.echo(json.dumps(found, separators=(",", ":")))
    else:
        PRINTERS["simulation"](found)


@app.command()
@reads_topology
def patch(
    reading: Reading,
    source: Source,
    panels: Annotated[str, typer.Option(help="per-port or single")] = "per-port",
    present: Annotated[
        Path | None,
        typer.Option(help="today's wiring: JSON pairs, CSV, or an earlier patch-plan/1"),
    ] = None,
    hosts: Annotated[int | None, typer.Option(help="hosts cabled to the panels")] = None,
    lanes: Annotated[int | None, typer.Option(help="ports cabled of each host")] = None,
    form: Annotated[str, typer.Option("--format", help="json or csv")] = "json",
    out: Out = None,
) -> None:
    """Plan which port to plug where, with few moves from today's wiring."""
    from app.schemas import PatchPlanRequest
    from app.services import patch_plans

    patch_plans.require_available(form)
    with opened() as context:
        asked: dict[str, Any] = {"topology": source_of(source, reading, context), "panels": panels}
        asked |= given(hosts=hosts, lanes=lanes)
        if present is not None:
            asked["present"] = patch_plans.read_present_file(present, context.settings)
        artefact = patch_plans.create(context, PatchPlanRequest.model_validate(asked))
        write(patch_plans.export(artefact, form), out, "patch plan")


@app.command()
def discover(
    nodes: Annotated[str, typer.Option(help="numbers of hosts, such as 64 or 16-32,48")],
    degree: Annotated[str, typer.Option(help="ports of each host, such as 4 or 2-8")],
    seconds: Annotated[float, typer.Option(help="how long to search")],
    links: LinkKind = "unidirectional",
    seed: Annotated[int, typer.Option(help="rounds of equal seed and number are equal")] = 0,
    atlas: Annotated[
        Path | None,
        typer.Option(help="file of finds: read if there, searched on from, kept up to date"),
    ] = None,
) -> None:
    """Search for better base topologies: Cayley digraphs and lifts, by annealing."""
    from app.discovering import search

    search(nodes, degree, links, seconds=seconds, seed=seed, path=atlas)


@app.command()
def families() -> None:
    """List the families of bases that recipes are made of."""
    from synth.bases import FAMILIES

    for member in FAMILIES:
        typer.echo(f"{member.name}({', '.join(member.parameters)}): {member.title}")


@app.command()
def presets() -> None:
    """List the workloads that are known by name."""
    from schedules.workloads.presets import PRESETS

    for name, known in PRESETS.items():
        typer.echo(f"{name}: {known.title}; {known.model.source}")


@app.command()
def fabrics() -> None:
    """List the fabrics known by name; a capital letter stands for a number."""
    from synth.fabrics import FABRICS

    for name in FABRICS:
        typer.echo(name)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="port; 0: a free one")] = None,
) -> None:
    """Run the service."""
    import uvicorn

    from app.config import Settings
    from app.db import open_database
    from app.main import create_app

    settings = Settings()
    # Opened here once, so that a database that is not ready is said in one line.
    open_database(settings.database_url).dispose()
    uvicorn.run(
        create_app(settings),
        host=settings.host if host is None else host,
        port=settings.port if port is None else port,
    )


@app.command()
def migrate(
    revision: Annotated[str, typer.Option(help="revision to go to; base removes all")] = "head",
) -> None:
    """Bring the database's tables to the newest revision."""
    from app.config import Settings
    from app.db import current_revision, open_engine
    from app.db import migrate as move

    engine = open_engine(Settings().database_url)
    try:
        move(engine, revision)
        shown = engine.url.render_as_string(hide_password=True)
        typer.echo(f"{shown}: at revision {current_revision(engine)}")
    finally:
        engine.dispose()


@app.command()
def warm() -> None:
    """Compile every kernel, so that the first question need not wait for it."""
    from app.services.warming import warm as compile_kernels

    compile_kernels()


def main() -> None:
    """Run the command line and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = app(arguments, prog_name="topoloom", standalone_mode=False)
    except typer.Exit as exit_:
        return exit_.exit_code
    except typer.Abort:
        return 2
    except BrokenPipeError:
        # The reader has seen enough; closing stdout at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        code, line = explained(error)
        print(f"topoloom: {line}", file=sys.stderr)
    if code == INTERRUPTED:
        print("topoloom: interrupted; nothing was kept", file=sys.stderr)
    return code or 0
