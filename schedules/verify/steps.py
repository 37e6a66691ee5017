"""Verification of step schedules: follow every chunk along every send.

Each shard is cut into *intervals* where the range of some send starts or ends.  A send covers
whole intervals, and all chunks of an interval behave alike.  The state is one bit for each
(rank, interval).
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import COPY, REDUCE, Collective, StepSchedule
from topoloom.schedules.verify.findings import Findings
from topoloom.schedules.verify.sends import flat_sends, sends_off_links
from topoloom.synth.kernels.scalars import int64
from topoloom.synth.topology.topology import Topology

MAX_STATE_BITS = 1 << 34
MAX_LOOKS = 1 << 36
"""Maximum number of (send, interval) pairs to follow."""

# NumPy integers instead of literals: Numba compiles a kernel per literal.
UNSENT, TWICE, NEVER, OWNER, AGAIN, LATE, SILENT = np.arange(7)
_NO_SEND = int64(-1)
_SENTENCES = {
    UNSENT: "rank {source!r} sends chunk {chunk} of shard {shard!r} before it holds it",
    TWICE: "chunk {chunk} of shard {shard!r} arrives at rank {target!r}, which holds it already",
    NEVER: "chunk {chunk} of shard {shard!r} never arrives at rank {source!r}",
    OWNER: "rank {source!r} sends away chunk {chunk} of the shard it must end up with",
    AGAIN: "rank {source!r} sends its part of chunk {chunk} of shard {shard!r} a second time",
    LATE: "a part of chunk {chunk} of shard {shard!r} reaches rank {target!r} no earlier than "
    "that rank sends its own",
    SILENT: "rank {source!r} never sends its part of chunk {chunk} of shard {shard!r}",
}


class _Intervals(NamedTuple):
    shard: NDArray[np.int32]
    """Owner's rank, by interval; the entry after the last of a shard is a guard."""
    first: NDArray[np.int64]
    """First chunk, by interval; ``chunks_per_shard`` for the guard."""
    low: NDArray[np.int64]
    """First interval, by send."""
    high: NDArray[np.int64]
    """One past the last interval, by send."""


def check_steps(
    schedule: StepSchedule, topology: Topology, findings: Findings, prefix: str = ""
) -> None:
    """Add the violations of an allgather, a reduce-scatter or an allreduce in one pass.

    Allgather, and allreduce in one pass, whose shards are contributions: a rank may send the
    data that it holds before the step; every chunk reaches every rank exactly once, except its
    owner, which holds it from the start.

    Reduce-scatter, for one chunk with owner i: the owner never sends it; every other
    rank r sends it exactly once, in step s(r), to t(r); and a rank receives it only
    in steps before its own send.  Then t(r) = i or s(t(r)) > s(r), so iterating t
    ends at i: the sends form an in-tree to i.  Rank r sends its own contribution and all
    earlier arrivals, and nothing arrives later.  By induction along s, r sends the sum over its
    subtree, each rank counted once, and the owner ends with the sum over all.
    """
    if schedule.chunks_per_shard < 1:
        findings.add(f"{prefix}/chunks_per_shard", "must be at least 1")
        return
    sends, starts = flat_sends(schedule)
    before = len(findings.found)
    _check_fields(schedule, topology, sends, starts, findings, prefix)
    if len(findings.found) > before or not findings.room:
        return
    ranks = len(schedule.ranks)
    cuts = _intervals(ranks, schedule.chunks_per_shard, sends)
    width = len(cuts.first)
    if ranks * width > MAX_STATE_BITS:
        raise TooLarge("/steps", f"the check needs {ranks * width} bits, over {MAX_STATE_BITS}")
    looks = int((cuts.high - cuts.low).sum())
    if looks > MAX_LOOKS:
        raise TooLarge("/steps", f"the check needs {looks} looks at chunks, over {MAX_LOOKS}")
    state = np.zeros((ranks, (width + 7) // 8), dtype=np.uint8)
    problems = np.empty((findings.room, 4), dtype=np.int64)
    reduces = schedule.collective is Collective.REDUCE_SCATTER
    follow = _follow_sums if reduces else _follow_copies
    count = follow(
        np.ascontiguousarray(sends["source"]),
        np.ascontiguousarray(sends["target"]),
        np.ascontiguousarray(sends["shard"]),
        cuts.low,
        cuts.high,
        starts,
        cuts.shard,
        cuts.first == schedule.chunks_per_shard,
        state,
        problems,
    )
    for kind, send, rank, interval in problems[:count].tolist():
        owner = int(cuts.shard[interval])
        target = schedule.ranks[int(sends["target"][send])] if send >= 0 else None
        details = {"shard": schedule.ranks[owner], "chunk": int(cuts.first[interval])}
        findings.add(
            _place(prefix, starts, send) if send >= 0 else f"{prefix}/steps",
            _SENTENCES[kind].format(source=schedule.ranks[rank], target=target, **details),
            rank=target if kind in (TWICE, LATE) else schedule.ranks[rank],
            **details,
        )


def _check_fields(
    schedule: StepSchedule,
    topology: Topology,
    sends: NDArray[Any],
    starts: NDArray[np.int64],
    findings: Findings,
    prefix: str,
) -> None:
    ranks = len(schedule.ranks)
    first, count = sends["first"].astype(np.int64), sends["count"].astype(np.int64)
    unjoined, unchosen, _ = sends_off_links(topology, sends)
    op = REDUCE if schedule.collective is Collective.REDUCE_SCATTER else COPY
    name = "copy" if op == COPY else "reduce"
    chunks = schedule.chunks_per_shard
    rules = (
        (unjoined, "no link joins source and target"),
        (unchosen, "link must be the index of one of the links between source and target"),
        ((sends["shard"] < 0) | (sends["shard"] >= ranks), "shard must be a rank"),
        (
            (first < 0) | (count < 1) | (first + count > chunks),
            f"the chunks must lie in [0, {chunks})",
        ),
        (sends["op"] != op, f"op must be {name} in {schedule.collective}"),
    )
    for broken, sentence in rules:
        for send in np.flatnonzero(broken)[: findings.room].tolist():
            source = int(sends["source"][send])
            rank = schedule.ranks[source] if 0 <= source < ranks else None
            findings.add(_place(prefix, starts, send), sentence, rank=rank)


def _place(prefix: str, starts: NDArray[np.int64], send: int) -> str:
    step = int(np.searchsorted(starts, send, side="right")) - 1
    return f"{prefix}/steps/{step}/{send - int(starts[step])}"


def _intervals(ranks: int, chunks: int, sends: NDArray[Any]) -> _Intervals:
    base = sends["shard"].astype(np.int64) * (chunks + 1)
    low = base + sends["first"]
    high = low + sends["count"]
    ends = np.arange(ranks, dtype=np.int64) * (chunks + 1)
    keys = np.unique(np.concatenate([low, high, ends, ends + chunks]))
    return _Intervals(
        (keys // (chunks + 1)).astype(np.int32),
        keys % (chunks + 1),
        np.searchsorted(keys, low),
        np.searchsorted(keys, high),
    )


@njit(cache=True, nogil=True)
def _bit(state, rank, interval):  # pragma: no cover
    return (state[rank, interval >> 3] >> (interval & 7)) & 1


@njit(cache=True, nogil=True)
def _set(state, rank, interval):  # pragma: no cover
    state[rank, interval >> 3] |= np.uint8(1 << (interval & 7))


@njit(cache=True, nogil=True)
def _note(problems, count, kind, send, rank, interval):  # pragma: no cover
    problems[count, 0], problems[count, 1] = kind, send
    problems[count, 2], problems[count, 3] = rank, interval
    return count + 1


@njit(cache=True, nogil=True)
def _lacking(state, owners, guard, kind, problems, count):  # pragma: no cover
    """Note every (rank, interval) whose bit is not set."""
    for rank in range(state.shape[0]):
        for interval in range(len(owners)):
            if guard[interval] or _bit(state, rank, interval):
                continue
            if count == len(problems):
                return count
            count = _note(problems, count, kind, _NO_SEND, rank, interval)
    return count


@njit(cache=True, nogil=True)
def _follow_copies(
    source, target, shard, low, high, starts, owners, guard, held, problems
):  # pragma: no cover
    """Allgather: bit = this rank holds this interval."""
    count = int64(0)
    for interval in range(len(owners)):
        _set(held, owners[interval], interval)
    for step in range(len(starts) - 1):
        for send in range(starts[step], starts[step + 1]):
            for interval in range(low[send], high[send]):
                if not _bit(held, int64(source[send]), interval):
                    if count == len(problems):
                        return count
                    count = _note(problems, count, UNSENT, send, int64(source[send]), interval)
                    break
        for send in range(starts[step], starts[step + 1]):
            twice = False
            for interval in range(low[send], high[send]):
                if _bit(held, int64(target[send]), interval) and not twice:
                    if count == len(problems):
                        return count
                    count = _note(problems, count, TWICE, send, int64(source[send]), interval)
                    twice = True
                _set(held, target[send], interval)
    return _lacking(held, owners, guard, NEVER, problems, count)


@njit(cache=True, nogil=True)
def _follow_sums(
    source, target, shard, low, high, starts, owners, guard, sent, problems
):  # pragma: no cover
    """Reduce-scatter: bit = this rank has sent its part of this interval."""
    count = int64(0)
    for step in range(len(starts) - 1):
        for send in range(starts[step], starts[step + 1]):
            wrong = False
            for interval in range(low[send], high[send]):
                owned = source[send] == shard[send]
                if (owned or _bit(sent, int64(source[send]), interval)) and not wrong:
                    if count == len(problems):
                        return count
                    kind = OWNER if owned else AGAIN
                    count = _note(problems, count, kind, send, int64(source[send]), interval)
                    wrong = True
                _set(sent, source[send], interval)
        for send in range(starts[step], starts[step + 1]):
            if target[send] == shard[send]:
                continue
            for interval in range(low[send], high[send]):
                if _bit(sent, int64(target[send]), interval):
                    if count == len(problems):
                        return count
                    count = _note(problems, count, LATE, send, int64(source[send]), interval)
                    break
    for interval in range(len(owners)):
        _set(sent, owners[interval], interval)
    return _lacking(sent, owners, guard, SILENT, problems, count)
