"""Rounds of a schedule: the messages between ranks, in order, derived from the schedule alone.

A schedule becomes *rounds*.  In a round a rank packs its messages, at most one for each other
rank, then waits for the messages to it, then unpacks them.  So a rank sends data that it held
before the round, and a rank that has finished round i waits only for messages that others send in
their round i + 1: by induction no rank waits forever.

Steps: one round each.  Trees: each tree's part of a shard is cut into ``pipeline_chunks``
pieces that follow one another down (or up) the tree; piece p crosses an edge at depth k
from the root in round k + p, or h - 1 - k + p towards the root, h being the depth of all.
An edge over switches is one message: switches hold no data.

Trees that run together: every shard is cut into ``pipeline_chunks`` slices, and each slice is
split between the trees of a part by their weights.  The spread of slice p begins in round H + p,
when its root has its whole sum; H is the depth of the first part.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule, TooLarge
from topoloom.schedules.execute.limits import MAX_PIECES
from topoloom.schedules.model.schedule import (
    COPY,
    REDUCE,
    Schedule,
    SequenceSchedule,
    StepSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.synth.topology.topology import NodeId

Rows = NDArray[np.int64]
"""One row for each moved piece of data: round, source, target, first, past, op."""


class Message(NamedTuple):
    """A message between two ranks in a round; ``ranges`` has rows (first, past, op)."""

    source: int
    target: int
    ranges: NDArray[np.int64]

    @property
    def elements(self) -> int:
        """The number of elements in the message."""
        return int((self.ranges[:, 1] - self.ranges[:, 0]).sum())


Round = tuple[Message, ...]


class Share(NamedTuple):
    """The data of a tree: parts ``before`` to ``after`` of ``weight`` of a shard's elements."""

    start: int
    length: int
    before: int
    after: int
    weight: int

    def pieces(self, count: int) -> list[tuple[int, int]]:
        """Return the range cut into ``count`` pieces.

        >>> Share(0, 12, 1, 2, 2).pieces(2)
        [(6, 9), (9, 12)]
        """
        low, high = self._within(self.start, self.length)
        cuts = [low + (high - low) * piece // count for piece in range(count + 1)]
        return list(pairwise(cuts))

    def slices(self, count: int) -> list[tuple[int, int]]:
        """Return the range in each of ``count`` slices of the shard.

        >>> Share(0, 12, 1, 2, 2).slices(2)
        [(3, 6), (9, 12)]
        """
        cuts = [self.start + self.length * piece // count for piece in range(count + 1)]
        return [self._within(low, high - low) for low, high in pairwise(cuts)]

    def _within(self, start: int, length: int) -> tuple[int, int]:
        ends = (self.before, self.after)
        low, high = (start + length * end // self.weight for end in ends)
        return low, high


class ExecutionPlan(NamedTuple):
    """All rounds, and the bounds of shards: rank i has elements [bounds[i], bounds[i + 1])."""

    rounds: tuple[Round, ...]
    bounds: tuple[int, ...]


def plan(schedule: Schedule, elements: int, pipeline_chunks: int = 1) -> ExecutionPlan:
    """Return the rounds in which ranks exchange the ``elements`` of the data.

    Args:
        schedule: Its parts have the same ranks.  An invalid schedule has a plan, too.
        elements: Elements of the whole data, at least 0.  Shards, chunks and the parts of trees
            that are no whole number of elements are rounded down at both ends, so that they still
            join.
        pipeline_chunks: Pieces of each tree's data, at least 1.

    Raises:
        InvalidSchedule: A send or an edge names a node that is no rank, chunks lie outside their
            shard, or the edges of a tree do not follow one another.
        TooLarge: Edges times ``pipeline_chunks`` are more than `limits.MAX_PIECES`.

    O(P log P) for P moved pieces: sends, or edges times ``pipeline_chunks``.

    >>> from topoloom.schedules.model.schedule import Collective, Tree
    >>> chain = Tree(0, 1, ((0, "switch", 1), (1, 2)))
    >>> trees = TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1, 2), 1, (chain,))
    >>> found = plan(trees, 30, pipeline_chunks=2)
    >>> [[(m.source, m.target, m.ranges.tolist()) for m in rounds] for rounds in found.rounds]
    [[(0, 1, [[0, 5, 0]])], [(0, 1, [[5, 10, 0]]), (1, 2, [[0, 5, 0]])], [(1, 2, [[5, 10, 0]])]]
    """
    parts = schedule_parts(schedule)
    bounds = shard_bounds(parts[0], elements) if parts else (0,)
    if isinstance(schedule, SequenceSchedule) and schedule.together:
        return ExecutionPlan(tuple(_together(parts, bounds, pipeline_chunks)), bounds)
    rounds: list[Round] = []
    for index, part in enumerate(parts):
        place = f"/parts/{index}" if isinstance(schedule, SequenceSchedule) else ""
        if isinstance(part, StepSchedule):
            rows, count = _step_rows(part, bounds, place), len(part.steps)
        else:
            rows, count = _tree_rows(part, bounds, pipeline_chunks, place)
        rounds += group_messages(rows, count)
    return ExecutionPlan(tuple(rounds), bounds)


def shard_bounds(part: StepSchedule | TreeSchedule, elements: int) -> tuple[int, ...]:
    """Return the bounds of the shards.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> shard_bounds(StepSchedule(Collective.ALLGATHER, "sha256:0", (0, 1, 2), 1, ()), 10)
    (0, 3, 6, 10)
    """
    sizes = _sizes(part)
    total = max(1, sum(sizes))
    return tuple(elements * end // total for end in accumulate(sizes, initial=0))


def _sizes(part: StepSchedule | TreeSchedule) -> tuple[int, ...]:
    return part.sizes if isinstance(part, TreeSchedule) else (1,) * len(part.ranks)


def _step_rows(part: StepSchedule, bounds: tuple[int, ...], place: str) -> Rows:
    chunks, starts = part.chunks_per_shard, np.array(bounds, dtype=np.int64)
    found = [np.zeros((0, 6), dtype=np.int64)]
    for index, sends in enumerate(part.steps):
        ends = np.stack([sends[name] for name in ("source", "target", "shard")])
        past = sends["first"].astype(np.int64) + sends["count"]
        if len(sends) and not 0 <= ends.min() <= ends.max() < len(part.ranks):
            raise InvalidSchedule(f"{place}/steps/{index}", "every send must be between ranks")
        if len(sends) and not (sends["first"].min() >= 0 and past.max() <= chunks):
            raise InvalidSchedule(f"{place}/steps/{index}", "chunks must lie in their shard")
        first, length = starts[sends["shard"]], np.diff(starts)[sends["shard"]]
        columns = (
            np.full(len(sends), index),
            sends["source"],
            sends["target"],
            first + length * sends["first"] // chunks,
            first + length * past // chunks,
            sends["op"],
        )
        found.append(np.stack(columns, axis=1).astype(np.int64))
    return np.concatenate(found)


def _together(
    parts: Sequence[StepSchedule | TreeSchedule], bounds: tuple[int, ...], pieces: int
) -> list[Round]:
    """Return the rounds of trees that run together: parts follow each other slice by slice."""
    found, begin, rounds = [], 0, 0
    for index, part in enumerate(parts):
        if not isinstance(part, TreeSchedule):
            raise InvalidSchedule(f"/parts/{index}", "must be by trees, where parts run together")
        rows, count = _tree_rows(part, bounds, pieces, f"/parts/{index}", sliced=True)
        rows[:, 0] += begin
        found.append(rows)
        rounds = max(rounds, begin + count)
        begin += max(0, count - pieces + 1)
    return group_messages(np.concatenate(found), rounds)


def _tree_rows(
    part: TreeSchedule, bounds: tuple[int, ...], pieces: int, place: str, *, sliced: bool = False
) -> tuple[Rows, int]:
    """Return the rows of all trees, and the number of rounds.

    A tree has one range of its root's shard, cut into pieces, or one range in each slice.
    """
    rank = {node: index for index, node in enumerate(part.ranks)}
    outward, total = part.collective.outward, part.trees_per_root
    depths = [_depths(tree.edges, tree.root, outward, f"{place}/trees/{at}")
              for at, tree in enumerate(part.trees)]  # fmt: skip
    height = 1 + max((depth for each in depths for depth in each), default=-1)
    if pieces * sum(map(len, depths)) > MAX_PIECES:
        raise TooLarge("/pipeline_chunks", f"must leave at most {MAX_PIECES} pieces in all")
    served = dict.fromkeys(part.ranks, 0)
    rows: list[tuple[int, ...]] = []
    for at, (tree, levels) in enumerate(zip(part.trees, depths, strict=True)):
        if tree.root not in rank:
            raise InvalidSchedule(f"{place}/trees/{at}/root", "must be a rank")
        start, size = bounds[rank[tree.root]], _sizes(part)[rank[tree.root]]
        length, weight = bounds[rank[tree.root] + 1] - start, max(1, total * size)
        before = served[tree.root]
        served[tree.root] += tree.weight
        if served[tree.root] > total * size:
            raise InvalidSchedule(f"{place}/trees/{at}/weight", "must leave the shard whole")
        share = Share(start, length, before, served[tree.root], weight)
        ranges = share.slices(pieces) if sliced else share.pieces(pieces)
        for edge, depth in zip(tree.edges, levels, strict=True):
            if edge[0] not in rank or edge[-1] not in rank:
                raise InvalidSchedule(f"{place}/trees/{at}/edges", "must join ranks")
            ends = rank[edge[0]], rank[edge[-1]]
            begin = depth if outward else height - 1 - depth
            rows += [
                (begin + piece, *ends, low, high, COPY if outward else REDUCE)
                for piece, (low, high) in enumerate(ranges)
            ]
    rounds = height + pieces - 1 if rows else 0
    return np.array(rows, dtype=np.int64).reshape(-1, 6), rounds


def _depths(
    edges: tuple[tuple[NodeId, ...], ...], root: NodeId, outward: bool, place: str
) -> list[int]:
    """Return the number of edges between the root and each edge."""
    depth, found = {root: 0}, []
    for index, edge in enumerate(edges):
        near, far = (edge[0], edge[-1]) if outward else (edge[-1], edge[0])
        if near not in depth:
            raise InvalidSchedule(f"{place}/edges/{index}", "must follow an earlier edge")
        found.append(depth[near])
        depth[far] = depth[near] + 1
    return found


def group_messages(rows: Rows, rounds: int) -> list[Round]:
    """Join rows into one message for each round and pair of ranks; empty ranges are dropped."""
    rows = rows[rows[:, 3] < rows[:, 4]]
    rows = rows[np.lexsort((rows[:, 3], rows[:, 2], rows[:, 1], rows[:, 0]))]
    changes = np.flatnonzero((np.diff(rows[:, :3], axis=0) != 0).any(axis=1)) + 1
    found: list[list[Message]] = [[] for _ in range(rounds)]
    for group in np.split(rows, changes) if len(rows) else []:
        at, source, target = group[0, :3].tolist()
        found[at].append(Message(source, target, _joined(group[:, 3:])))
    return [tuple(messages) for messages in found]


def _joined(ranges: NDArray[Any]) -> NDArray[np.int64]:
    """Join ranges that touch and have the same op."""
    apart = (ranges[1:, 0] != ranges[:-1, 1]) | (ranges[1:, 2] != ranges[:-1, 2])
    first = np.concatenate([[True], apart])
    last = np.concatenate([apart, [True]])
    return np.stack([ranges[first, 0], ranges[last, 1], ranges[first, 2]], axis=1)
