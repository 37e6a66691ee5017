"""`topoloom execute`: run a schedule between local processes and check the result."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import StrictInt

from topoloom.app.cli.output.formatting import number_of
from topoloom.app.cli.output.text_table import say
from topoloom.app.extras import require_extra
from topoloom.app.files.local_files import read_json
from topoloom.app.requests.base import Bytes, Request
from topoloom.app.requests.options import simulations
from topoloom.app.services.program_files import ProgramFile
from topoloom.schedules.errors import ExecutionFailed
from topoloom.schedules.formats import Options
from topoloom.schedules.model.schedule import Schedule

if TYPE_CHECKING:
    from topoloom.app.requests.topology_source import TopologySource
    from topoloom.app.services.context import Context
    from topoloom.schedules.execute import Execution
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.synth.topology.topology import Topology

_MAX_MISTAKES = 10


class ExecutionOptions(Request):
    """Options of an execution."""

    ranks: StrictInt | None = simulations.RANKS.field()
    bytes: Bytes = simulations.EXECUTED_BYTES.field()
    repeat: StrictInt = simulations.REPEAT.field()
    pipeline_chunks: StrictInt = simulations.PIPELINE_CHUNKS.field()
    timeout: float = simulations.TIMEOUT.field(allow_inf_nan=False)


class ProbeOptions(Request):
    """Options of a probe."""

    ranks: StrictInt = simulations.PROBED_RANKS.field()
    repeat: StrictInt = simulations.ROUND_TRIPS.field()
    timeout: float = simulations.TIMEOUT.field(allow_inf_nan=False)


def execute_file(
    context: "Context",
    path: Path,
    source: "TopologySource | None",
    options: ExecutionOptions,
    read: Options,
) -> dict[str, Any]:
    """Run a schedule/1 file or an exported program; return the execution/1 document.

    With a topology, the schedule is verified first.  Without a topology, a schedule/1 file runs
    unverified.  Programs are always replayed, since only a replay yields their messages.

    Raises:
        MissingExtra: PyTorch is not installed.
        ExecutionFailed: The schedule has another number of ranks, or the execution did not finish.
        ScheduleError: As `schedules.execute.execute`.
    """
    require_extra("torch", "execute")
    from topoloom.schedules.execute import execute, ranks_of
    from topoloom.schedules.model.transcript import Transcript

    program = ProgramFile.at(path, read, context.settings)
    topology = None
    if source is not None:
        from topoloom.app.services import topologies

        topology = topologies.load(context, source).topology
    if program.form == "json":
        schedule = _schedule(context, path, topology)
    else:
        schedule = program.transcript(topology)
        context.note(*program.remarks("--dialect"))
    ranks = len(schedule.ranks if isinstance(schedule, Transcript) else ranks_of(schedule))
    if options.ranks not in (None, ranks):
        rule = f"must be {ranks}, the number of ranks of the schedule; not {options.ranks}"
        raise ExecutionFailed("/ranks", rule)
    execution = execute(
        schedule,
        size_bytes=options.bytes,
        repeat=options.repeat,
        pipeline_chunks=options.pipeline_chunks,
        timeout_seconds=options.timeout,
    )
    return _document(schedule, topology, execution)


def _schedule(context: "Context", path: Path, topology: "Topology | None") -> Schedule:
    document = read_json(path, context.settings)
    if topology is None:
        from topoloom.schedules.execute.infer_topology import infer_topology
        from topoloom.schedules.formats.schedule.read import from_document

        return from_document(document, infer_topology(document))
    from topoloom.app.services import schedules

    return schedules.read(document, topology)


def _document(
    schedule: "Schedule | Transcript", topology: "Topology | None", done: "Execution"
) -> dict[str, Any]:
    # A program has no topology digest.
    digest = getattr(schedule, "topology", topology.digest if topology else None)
    return {
        "schema": "execution/1",
        "collective": schedule.collective.value,
        "topology_digest": digest,
        "ranks": len(done.ranks),
        "bytes": done.size_bytes,
        "rounds": done.rounds,
        "messages": done.messages,
        "bytes_moved": done.bytes_moved,
        "exact": done.exact,
        "mistakes": [
            {
                "rank": done.ranks[mistake.rank],
                "shard": done.ranks[mistake.shard],
                "elements": mistake.wrong,
                "first": mistake.first,
            }
            for mistake in done.mistakes
        ],
        "seconds": list(done.seconds),
    }


def show(document: dict[str, Any]) -> None:
    """Print an execution/1 document as text."""
    runs = len(document["seconds"])
    lines = [
        f"{document['collective']} of {document['bytes']} bytes between {document['ranks']} "
        f"processes: {number_of(document['rounds'], 'round')}, "
        f"{number_of(document['messages'], 'message')}, "
        f"{document['bytes_moved']} bytes moved"
    ]
    wrong = document["mistakes"]
    lines += [
        f"wrong at rank {mistake['rank']!r}: {mistake['elements']} elements of shard "
        f"{mistake['shard']!r}, from element {mistake['first']} on"
        for mistake in wrong[:_MAX_MISTAKES]
    ]
    if len(wrong) > _MAX_MISTAKES:
        lines.append(f"and {len(wrong) - _MAX_MISTAKES} more")
    times = f"{runs} run{'s' if runs > 1 else ''} of {_span(document['seconds'])} on this machine"
    lines.append(f"{'wrong' if wrong else 'exact'}: {times}")
    for line in lines:
        say(line)


def _span(seconds: list[float]) -> str:
    least, most = (
        f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
        for value in (min(seconds), max(seconds))
    )
    return least if least == most else f"{least} to {most}"
