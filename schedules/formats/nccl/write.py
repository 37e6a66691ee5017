"""NCCL tuner tables: a choice among NCCL's own algorithms by size.

NCCL runs its own rings and trees, not the exported schedule.  The table is for calls that no
exported program replaces; a comment names the sizes at which the schedule is faster than all of
NCCL's algorithms.  Times are those of the cost model, for N ranks of bandwidth B and hop latency
alpha; they favor NCCL, whose rings and trees get all of B on any topology:

* ring, c passes (2 for an allreduce): c (N - 1) (alpha + M / (N B));
* tree, allreduce only: 2 ceil(log2 N) alpha + 2 M / B, a double binary tree up and down;
* if the topology states latencies, n - 1 hops of a ring and ceil(log2 n) levels of a tree join
  the n machines, and take the latency between machines; all other hops take that inside;
* protocol ``simple`` unchanged; protocol ``ll`` has a flag beside every word of data, so
  half the bandwidth, and its latency is taken as half.

Each row covers the sizes at which its line is the lowest; lines cross at exact fractions.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from math import ceil, isqrt
from typing import NamedTuple

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.transfers import require_plain
from topoloom.schedules.formats.nccl.hops import Hops, stated_hops
from topoloom.schedules.formats.nccl.program import COLLECTIVES, MAX_CHANNELS, MAX_SIZE, Row
from topoloom.schedules.model.schedule import (
    Collective,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.schedules.simulate import Judge, Network, tree_depth
from topoloom.schedules.verify import require_valid, step_cost, tree_inverse_rate
from topoloom.synth.topology.rates import node_capacity
from topoloom.synth.topology.topology import Topology

_BYTES_PER_CHANNEL = 20 * 10**9
"""Assumed bytes per second of one channel, a thread block."""

_SIZES = [2**power for power in range(8, 37)]
"""Sizes at which the schedule is compared: 256 bytes to 64 GiB."""


class _Line(NamedTuple):
    """Seconds as ``start + slope * bytes``."""

    start: Fraction
    slope: Fraction
    algorithm: str
    protocol: str


def render(
    schedule: Schedule,
    topology: Topology,
    *,
    alpha_seconds: Fraction | None,
    unit_bytes_per_second: Fraction,
    ranks_per_node: int | None = None,
    channels: int | None = None,
) -> Iterator[str]:
    """Yield the table for the collective of a schedule on its topology, line by line.

    Args:
        alpha_seconds: Latency of one hop, positive; None: the latencies that the topology states.
        unit_bytes_per_second: Bytes per second of one unit of capacity of the topology; positive.
        ranks_per_node: The number of ranks on a machine; rows are then for this number of machines
            only.
        channels: The number of NCCL's channels, 1 to `MAX_CHANNELS`.  The default is at least 2,
            and enough for a rank's traffic at 20 GB/s per channel.

    Raises:
        NotExportable: The collective is another, shards are not equal among all compute nodes, or
            the ranks do not fill whole machines.

    >>> from topoloom.schedules.model.schedule import Tree
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> speed = {"alpha_seconds": Fraction(1, 10**5), "unit_bytes_per_second": Fraction(10**9)}
    >>> print(*list(render(both, pair, **speed))[-2:], sep="", end="")
    allgather,0,10000,ring,ll,2,-1,2
    allgather,10001,18446744073709551615,ring,simple,2,-1,2
    """
    require_valid(schedule, topology)
    require_plain(schedule)
    if schedule.collective is Collective.ALL_TO_ALL:
        raise NotExportable("/collective", "NCCL has no choice of algorithms for all-to-all")
    ranks = len(topology.compute_nodes)
    rate = node_capacity(topology) * unit_bytes_per_second
    numbers = _numbers(ranks, rate, ranks_per_node, channels)
    hops = _hops(alpha_seconds) if alpha_seconds is not None else stated_hops(topology)
    lines = _lines(schedule.collective, ranks, hops, rate)
    envelope = list(_lowest(lines))
    faster = _faster_sizes(schedule, topology, lines, alpha_seconds, unit_bytes_per_second)
    return _table(schedule, envelope, numbers, faster, hops)


def beside(
    collectives: Iterable[Collective],
    notes: Iterable[str],
    ranks: int,
    *,
    alpha_seconds: Fraction,
    bytes_per_second: Fraction,
    ranks_per_node: int | None = None,
    channels: int | None = None,
    least_channels: int = 1,
) -> Iterator[str]:
    """Yield one table for the calls that NCCL still runs beside exported programs.

    Args:
        collectives: Collectives without a choice in NCCL are skipped.
        notes: Lines before the rows: the sizes of each program.
        bytes_per_second: Most bytes per second that a rank sends; positive.
        least_channels: Minimum if ``channels`` is omitted, as required by the programs.

    Raises:
        NotExportable: The ranks do not fill whole machines, or the number of channels is out of
            range.

    >>> speed = {"alpha_seconds": Fraction(1, 10**5), "bytes_per_second": Fraction(10**9)}
    >>> lines = beside([Collective.ALLGATHER], ["no program"], 2, least_channels=4, **speed)
    >>> print(*list(lines)[1:3], sep="", end="")
    # no program
    allgather,0,10000,ring,ll,4,-1,2
    """
    numbers = _numbers(ranks, bytes_per_second, ranks_per_node, channels, least_channels)
    yield "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
    for note in notes:
        yield f"# {note}\n"
    for collective in collectives:
        if collective in COLLECTIVES:
            lines = _lines(collective, ranks, _hops(alpha_seconds), bytes_per_second)
            yield from _rows(collective, list(_lowest(lines)), numbers)


def _numbers(
    ranks: int,
    rate: Fraction,
    ranks_per_node: int | None,
    channels: int | None,
    least_channels: int = 1,
) -> tuple[int, int, int]:
    """Return the last fields of every row: channels, machines, ranks."""
    nodes = -1
    if ranks < 2:
        raise NotExportable("/ranks", "a table needs at least 2 ranks")
    if ranks_per_node is not None:
        nodes, rest = divmod(ranks, ranks_per_node)
        if rest:
            raise NotExportable("/ranks_per_node", f"must divide the {ranks} ranks")
    if channels is None:
        wanted = max(2, least_channels, ceil(rate / _BYTES_PER_CHANNEL))
        channels = min(MAX_CHANNELS, wanted)
    if not 1 <= channels <= MAX_CHANNELS:
        raise NotExportable("/channels", f"must be 1 to {MAX_CHANNELS}")
    return channels, nodes, ranks


def _hops(alpha_seconds: Fraction) -> Hops:
    return Hops(alpha_seconds, alpha_seconds)


def _lines(collective: Collective, ranks: int, hops: Hops, rate: Fraction) -> list[_Line]:
    """Return the times of NCCL's algorithms."""
    passes = 2 if collective is Collective.ALLREDUCE else 1
    slope = passes * (ranks - 1) / (ranks * rate)
    lines = [_Line(passes * hops.ring_seconds(ranks), slope, "ring", "simple")]
    if collective is Collective.ALLREDUCE:
        lines.append(_Line(2 * hops.tree_seconds(ranks), 2 / rate, "tree", "simple"))
    return lines + [
        line._replace(start=line.start / 2, slope=line.slope * 2, protocol="ll") for line in lines
    ]


def _lowest(lines: list[_Line]) -> Iterator[tuple[int, int, _Line]]:
    """Yield the first and last size of each range in which a line is the lowest, and the line."""
    best, first = min(lines, key=lambda line: line[:2]), 0
    while True:
        flatter = [line for line in lines if line.slope < best.slope]
        crossings = [
            ((line.start - best.start) / (best.slope - line.slope), line) for line in flatter
        ]
        if not crossings:
            yield first, MAX_SIZE, best
            return
        # Of several lines that cross at one size the flattest stays below.
        size, line = min(crossings, key=lambda crossing: (crossing[0], crossing[1].slope))
        last = size.numerator // size.denominator
        if last >= MAX_SIZE:
            yield first, MAX_SIZE, best
            return
        if last >= first:
            yield first, last, best
            first = last + 1
        best = line


def _faster_sizes(
    schedule: Schedule,
    topology: Topology,
    lines: list[_Line],
    alpha: Fraction | None,
    unit: Fraction,
) -> list[int]:
    """Return the sizes of `_SIZES` at which the schedule beats every line."""
    if alpha is None:
        judge = Judge(schedule, topology, Network(None, unit), in_rounds=True)
        times = [lambda size: judge.time(size).seconds]
    else:
        apart = not (isinstance(schedule, SequenceSchedule) and schedule.together)
        parts = schedule_parts(schedule) if apart else [schedule]
        times = [_time(part, topology, alpha, unit) for part in parts]
    return [
        size
        for size in _SIZES
        if sum(time(size) for time in times) < min(line.start + line.slope * size for line in lines)
    ]


def _time(
    part: Schedule, topology: Topology, alpha: Fraction, unit: Fraction
) -> Callable[[int], Fraction]:
    """Return a function from size to seconds of a part; the part is costed once."""
    if isinstance(part, StepSchedule):
        cost = step_cost(part, topology)
        slope = cost.bandwidth / (node_capacity(topology) * unit)
        return lambda size: cost.steps * alpha + slope * size
    rate = tree_inverse_rate(part, topology) / len(topology.compute_nodes) / unit
    trees = [each for each in schedule_parts(part) if isinstance(each, TreeSchedule)]
    ahead = sum(map(tree_depth, trees)) - 1

    def piped(size: int) -> Fraction:
        # (h - 1 + P) (alpha + T / P) for the best whole number P of pieces, or the one below.
        pieces = max(1, isqrt(int(ahead * rate * size / alpha)))
        return (ahead + pieces) * (alpha + rate * size / pieces)

    return piped


def _table(
    schedule: Schedule,
    envelope: list[tuple[int, int, _Line]],
    numbers: tuple[int, int, int],
    faster: list[int],
    hops: Hops,
) -> Iterator[str]:
    name = COLLECTIVES[schedule.collective]
    yield f"# {name} of {numbers[-1]} ranks, topology {schedule.topology}\n"
    if hops.machines > 1 or hops.inside < hops.between:
        inside, between = (f"{float(each * 10**6):g} us" for each in hops[:2])
        yield f"# a hop takes {inside} inside each of {hops.machines} machines, else {between}\n"
    yield "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
    if faster:
        yield f"# the schedule is faster than all rows from {faster[0]} to {faster[-1]} bytes\n"
    else:
        yield f"# of sizes from {_SIZES[0]} to {_SIZES[-1]} bytes the schedule is faster at none\n"
    yield from _rows(schedule.collective, envelope, numbers)


def _rows(
    collective: Collective, envelope: list[tuple[int, int, _Line]], numbers: tuple[int, int, int]
) -> Iterator[str]:
    for first, last, line in envelope:
        yield f"{Row(collective, first, last, line.algorithm, line.protocol, *numbers)}\n"
