r"""Read the collectives that NCCL ran, as tables: one row per collective and rank.

The table of collectives has the columns that `COLUMNS` lists; further columns are ignored.  The
table of rings has a row per communicator, channel and rank: ``commId``, ``channelId``, ``myRank``,
``nextRank`` and ``nodeId``.  Kernel times are a JSON object of NPKit's events, each an object from
bytes to a list of measured nanoseconds.

References:
    github.com/tommasobo/SC26_ProvisioningAINetworks: ``collective_instances.csv``,
    ``comm_ring_info.csv`` and ``npkit_alps_simple.json``, written from the reports of Nsight
    Systems.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.network_curves.network import KernelTimes
from topoloom.schedules.network_curves.program import Program, Stream
from topoloom.schedules.network_curves.ring_collective import (
    LINE_BYTES,
    Channel,
    RingCollective,
    shortest_period,
    step_messages,
)

COLUMNS = "goal_rank", "stream", "start", "end", "collective", "algo", "proto"
_SIZES = "data_size", "nranks", "channels", "chunkSteps", "sliceSteps", "stepSize"
_RING = "commId", "channelId", "myRank", "nextRank", "nodeId"
_COLLECTIVES = {
    "allreduce": Collective.ALLREDUCE,
    "allgather": Collective.ALLGATHER,
    "reducescatter": Collective.REDUCE_SCATTER,
}
_REDUCE, _COPY = "NPKIT_EVENT_GPU_RECV_REDUCE_SEND", "NPKIT_EVENT_GPU_DIRECT_RECV_COPY_SEND"
_MOST = 2**53

Ring = tuple[tuple[int, bool], ...]
"""The ranks in the order of a ring, each with whether its hop leaves the host."""
Rings = Mapping[str, Sequence[Ring]]
"""The rings of each communicator."""
Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The rank whose collectives count, and the facts that the tables may lack.

    With ``separate_channels`` each channel has the whole bandwidth of an interface, as in the
    linear programs of the source; otherwise channels that leave a host at one rank share it.
    """

    rank: int = 0
    accelerators_per_host: int = 4
    separate_channels: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """The program of a rank; what the reader took for granted; collectives of fixed length."""

    program: Program
    fixed: Mapping[str, int]
    without_ring: int


def read_trace(text: str, rings: Rings, options: TraceOptions, place: str = "/instances") -> Trace:
    """Return what one rank of a table of collectives runs.

    Collectives that are no ring allreduce, allgather or reduce-scatter keep their measured length.
    A communicator without rings has one in the order of its ranks.

    Raises:
        NoSchedule: The text is no such table, or the rank runs no collective.
    """
    runs = _runs(text, options.rank, place)
    # Collectives that never overlap run in the order of time, whatever their stream.
    overlap = any(after.start < before.end for before, after in pairwise(runs))
    in_streams: dict[str, list[_Run]] = defaultdict(list)
    for run in runs:
        in_streams[run.row["stream"] if overlap else ""].append(run)
    fixed: Counter[str] = Counter()
    without_ring = 0
    streams: list[Stream] = []
    for of_stream in in_streams.values():
        length, before = 0, runs[0].start
        collectives: Counter[RingCollective] = Counter()
        for run in of_stream:
            length += max(0, run.start - before)
            before = max(before, run.end)
            made = _ring_collective(run.row, rings, options, run.line, place)
            if made is None:
                fixed[f"{run.row['collective'][:50]} {run.row['algo'][:50]}"] += 1
                length += run.end - run.start
            else:
                collectives[made] += 1
                without_ring += run.row.get("commId", "") not in rings
        streams.append(Stream(length, collectives))
    measured = max(run.end for run in runs) - runs[0].start
    return Trace(Program(tuple(streams), measured), fixed, without_ring)


class _Run(NamedTuple):
    """A collective of the rank: its nanoseconds, and its row."""

    start: int
    end: int
    line: int
    row: Row


def _runs(text: str, rank: int, place: str) -> list[_Run]:
    """Return the collectives of a rank in the order of their start."""
    found = [
        _Run(_whole(row, "start", line, place), _whole(row, "end", line, place), line, row)
        for line, row in _rows(text, COLUMNS, place)
        if row["goal_rank"].strip() == str(rank)
    ]
    if not found:
        rule = "must have a collective in the column 'goal_rank' of the instances"
        raise NoSchedule("/rank", rule)
    for run in found:
        if run.end < run.start:
            raise NoSchedule(place, f"line {run.line}: end must be at least start")
    return sorted(found, key=lambda run: run[:3])


def read_rings(text: str, place: str = "/rings") -> Rings:
    r"""Return the rings of a table of rings.

    Raises:
        NoSchedule: The text is no such table, or the next ranks of a channel are no ring.

    >>> rows = "0,0,0,1,a\n0,0,1,2,a\n0,0,2,0,b\n"
    >>> read_rings("commId,channelId,myRank,nextRank,nodeId\n" + rows)
    {'0': [((0, False), (1, True), (2, True))]}
    """
    found: dict[tuple[str, int], dict[int, tuple[int, str]]] = defaultdict(dict)
    for number, row in _rows(text, _RING, place):
        channel, mine, following = (
            _whole(row, name, number, place) for name in ("channelId", "myRank", "nextRank")
        )
        # A trace of several processes states a rank more than once.
        found[row["commId"], channel].setdefault(mine, (following, row["nodeId"].strip()))
    rings: dict[str, list[Ring]] = defaultdict(list)
    for (communicator, channel), after in sorted(found.items()):
        rank = start = min(after)
        ring: list[tuple[int, bool]] = []
        while rank in after and len(ring) < len(after):
            following, host = after[rank]
            ring.append((rank, following not in after or after[following][1] != host))
            rank = following
        if rank != start or len({one for one, _ in ring}) < len(after):
            rule = f"channel {channel} of communicator {communicator[:50]} must be one ring"
            raise NoSchedule(place, rule)
        rings[communicator].append(tuple(ring))
    return dict(rings)


def read_kernel_times(document: Any, place: str = "/kernel_times") -> KernelTimes:
    """Return the mean times of reductions and copies of a document of NPKit's events.

    Raises:
        NoSchedule: An event is missing, or an entry is no list of times.

    >>> read_kernel_times({_REDUCE: {"64": [3, 5]}, _COPY: {"64": [2]}}).reduction(64)
    4
    """
    tables: list[dict[int, int]] = []
    for name in (_REDUCE, _COPY):
        entry = document.get(name) if isinstance(document, dict) else None
        if not isinstance(entry, dict) or not entry:
            raise NoSchedule(f"{place}/{name}", "must be an object from bytes to nanoseconds")
        tables.append(
            {
                _size(size, f"{place}/{name}"): _mean(times, f"{place}/{name}/{size}")
                for size, times in entry.items()
            }
        )
    return KernelTimes(*tables)


def _size(text: Any, place: str) -> int:
    if not (isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 16):
        raise NoSchedule(place, "must have whole numbers of bytes as names")
    return int(text)


def _mean(times: Any, place: str) -> int:
    if not isinstance(times, list) or not times:
        raise NoSchedule(place, "must be a list of nanoseconds")
    if not all(isinstance(one, int | float) and 0 <= one < _MOST for one in times):
        raise NoSchedule(place, "must be numbers of nanoseconds, at least 0")
    return round(sum(times) / len(times))


def _rows(text: str, columns: Iterable[str], place: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows with their line numbers; raise if a column is missing."""
    table = csv.DictReader(io.StringIO(text))
    try:
        present = table.fieldnames or ()
        missing = [name for name in columns if name not in present]
        if missing:
            raise NoSchedule(place, f"line 1: must have the column '{missing[0]}'")
        for row in table:
            if any(row[name] is None for name in columns):
                raise NoSchedule(place, f"line {table.line_num}: must have a field per column")
            yield table.line_num, row
    except csv.Error as error:
        raise NoSchedule(place, f"line {table.line_num}: {error}") from None


def _whole(row: Row, name: str, number: int, place: str) -> int:
    """Return a whole number of a column."""
    text = (row.get(name) or "").strip()
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise NoSchedule(
            place, f"line {number}: '{name}' must be a whole number of at most 18 digits"
        )
    return int(text)


def _ring_collective(
    row: Row, rings: Rings, options: TraceOptions, number: int, place: str
) -> RingCollective | None:
    """Return the collective of a row, or None if no model of this module covers it."""
    collective = _COLLECTIVES.get(row["collective"].strip().lower().replace("_", ""))
    protocol = row["proto"].strip().lower()
    if collective is None or row["algo"].strip().lower() != "ring" or protocol not in LINE_BYTES:
        return None
    missing = [name for name in _SIZES if row.get(name) is None]
    if missing:
        raise NoSchedule(place, f"line 1: must have the column '{missing[0]}'")
    size, ranks, channels, chunk_steps, slice_steps, step = (
        _whole(row, name, number, place) for name in _SIZES
    )
    if min(size, ranks, channels, slice_steps, step) < 1 or chunk_steps < slice_steps:
        rule = f"line {number}: sizes must be at least 1, and 'chunkSteps' at least 'sliceSteps'"
        raise NoSchedule(place, rule)
    if channels > 1024 or ranks > 2**17:
        raise NoSchedule(place, f"line {number}: must have at most 1024 channels and 131072 ranks")
    works = _per_channel(row, "channel_work_bytes", channels, -(-size // channels), number, place)
    chunks = _per_channel(row, "channel_chunk_bytes", channels, chunk_steps * step, number, place)
    known = rings.get(row.get("commId", "")) or [_by_rank(ranks, options.accelerators_per_host)]
    if any(len(ring) != ranks for ring in known):
        raise NoSchedule(
            place, f"line {number}: 'nranks' must be the ranks of the communicator's rings"
        )
    ring_of = [known[at if at < len(known) else 0] for at in range(channels)]
    sharing = Counter(rank for ring in ring_of for rank, leaves in ring if leaves)
    if options.separate_channels:
        sharing = Counter({*sharing})
    slices = chunk_steps // slice_steps
    return RingCollective(
        collective,
        ranks,
        tuple(
            Channel(
                shortest_period(tuple(leaves and sharing[rank] for rank, leaves in ring)),
                step_messages(collective, ranks, work, chunk, slices, protocol),
            )
            for ring, work, chunk in zip(ring_of, works, chunks, strict=True)
        ),
    )


def _per_channel(
    row: Row, name: str, channels: int, default: int, number: int, place: str
) -> list[int]:
    """Return a number of each channel: stated, or the default."""
    stated = (row.get(name) or "").split(",")
    if stated == [""]:
        return [default] * channels
    found = [_whole({name: one}, name, number, place) for one in stated]
    if len(found) != channels or min(found) < 1:
        rule = f"line {number}: '{name}' must have a number of at least 1 for each channel"
        raise NoSchedule(place, rule)
    return found


def _by_rank(ranks: int, per_host: int) -> Ring:
    """Return a ring in the order of the ranks.

    >>> _by_rank(4, 2)
    ((0, False), (1, True), (2, False), (3, True))
    """
    after = [*range(1, ranks), 0]
    return tuple((rank, rank // per_host != after[rank] // per_host) for rank in range(ranks))
