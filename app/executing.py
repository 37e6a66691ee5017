"""The command that runs a schedule between local processes and says whether it came out right."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, StrictInt
from rich.console import Console

from app.extras import require_extra
from app.files import read_json
from app.quantities import Bytes
from app.request_base import Request
from schedules.errors import ExecutionFailed
from schedules.execute.limits import MAX_PIPELINE_CHUNKS, MAX_RANKS, MAX_REPEAT, MAX_SECONDS
from schedules.model import Schedule

if TYPE_CHECKING:
    from app.schemas import TopologySource
    from app.services.context import Context
    from schedules.execute import Execution

__all__ = ["ExecutionOptions", "run", "show"]

_MAX_MISTAKES = 10


class ExecutionOptions(Request):
    """How a schedule shall be run."""

    ranks: StrictInt | None = Field(None, ge=1, le=MAX_RANKS)
    bytes: Bytes = 1 << 20
    repeat: StrictInt = Field(1, ge=1, le=MAX_REPEAT)
    pipeline_chunks: StrictInt = Field(4, ge=1, le=MAX_PIPELINE_CHUNKS)
    timeout: float = Field(60.0, gt=0, le=MAX_SECONDS, allow_inf_nan=False)


def run(
    context: "Context", path: Path, source: "TopologySource | None", options: ExecutionOptions
) -> dict[str, Any]:
    """Run a schedule/1 file; return the execution/1 document.

    Against a topology the schedule is verified first.  Without one it is run as it is.

    Raises
    ------
    MissingExtra
        PyTorch is not installed.
    ExecutionFailed
        The schedule has another number of ranks, or did not run to its end.
    ScheduleError
        As `schedules.execute.execute`.
    """
    require_extra("torch", "execute")
    from schedules.execute import execute, ranks_of

    schedule = _schedule(context, path, source)
    found = len(ranks_of(schedule))
    if options.ranks not in (None, found):
        rule = f"must be {found}, the ranks that the schedule has; not {options.ranks}"
        raise ExecutionFailed("/ranks", rule)
    done = execute(
        schedule,
        size_bytes=options.bytes,
        repeat=options.repeat,
        pipeline_chunks=options.pipeline_chunks,
        timeout_seconds=options.timeout,
    )
    return _document(schedule, done)


def _schedule(context: "Context", path: Path, source: "TopologySource | None") -> Schedule:
    document = read_json(path, context.settings)
    if source is None:
        from schedules.execute.infer_topology import infer_topology
        from schedules.formats.schedule.write import from_document

        return from_document(document, infer_topology(document))
    from app.services import schedules, topologies

    return schedules.read(document, topologies.load(context, source).topology)


def _document(schedule: Schedule, done: "Execution") -> dict[str, Any]:
    return {
        "schema": "execution/1",
        "collective": schedule.collective.value,
        "topology_digest": schedule.topology,
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
    """Print an execution/1 document for people."""
    runs = len(document["seconds"])
    lines = [
        f"{document['collective']} of {document['bytes']} bytes between {document['ranks']} "
        f"processes: {document['rounds']} rounds, {document['messages']} messages, "
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
        Console().print(line, soft_wrap=True, highlight=False, markup=False)


def _span(seconds: list[float]) -> str:
    least, most = (
        f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
        for value in (min(seconds), max(seconds))
    )
    return least if least == most else f"{least} to {most}"
