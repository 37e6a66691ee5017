"""From a schedule to moves of chunks between buffers, in one order for all GPUs.

A *move* takes neighbouring chunks from one GPU to another in one message.  Moves
carry a stage: a move needs only what moves of earlier stages brought.  For steps the
stage is the step, for trees the depth of the edge (counted backwards in a
reduce-scatter).

Where chunks lie.  Chunk c of shard i is number g = i * C + c.

* Allgather.  Out of place, a GPU sends its own shard from its input and everything
  else from the output, where what it receives is stored.  In place, everything is in
  the output.
* Reduce-scatter.  A GPU sends its contribution from the input if nothing was added
  to it; sums are kept in the output (in place: in the input) by the owner and in
  scratch by the others, so that no foreign part of the user's input is changed.
* Allreduce.  Sums and results are in the output; out of place, contributions to
  which nothing was added are read from the input.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedules.errors import NotExportable
from schedules.model import (
    REDUCE,
    Collective,
    Schedule,
    StepSchedule,
    TreeSchedule,
    parts_of,
)
from synth.topology import NodeId

__all__ = [
    "MAX_MESSAGES",
    "Move",
    "Place",
    "Plan",
    "Transfer",
    "chunks_per_shard",
    "plan",
    "require_plain",
    "transfers",
]

MOVED = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)
MAX_CELLS = 1 << 27
MAX_MESSAGES = 1 << 18

Place: TypeAlias = tuple[str, int]
"""Buffer (``i``, ``o`` or ``s``) and first chunk in it."""


class Move(NamedTuple):
    """``length`` chunks from ``source`` to ``target``; ``chunk`` is the first one's number.

    ``origin`` is where the sender reads, ``goal`` where the receiver stores.  If the
    receiver adds them to what it has, ``operand`` is where that lies; else it is None.
    """

    source: int
    target: int
    chunk: int
    length: int
    origin: Place
    goal: Place
    operand: Place | None


@dataclass(frozen=True, slots=True)
class Plan:
    """All moves in order, and the sizes of the buffers in chunks."""

    collective: Collective
    gpus: int
    chunks_per_shard: int
    inplace: bool
    scratch: tuple[int, ...]
    moves: tuple[Move, ...]


class Transfer(NamedTuple):
    """``length`` chunks sent at one stage; the target adds them if ``reduce``.

    ``in_step`` tells whether the stage is a step, not a depth in trees that are pipelined.
    """

    stage: int
    source: int
    target: int
    chunk: int
    length: int
    reduce: bool
    in_step: bool


def plan(
    schedule: Schedule, ranks: tuple[NodeId, ...], inplace: bool, longest: int | None = None
) -> Plan:
    """Return the moves of a valid schedule, ordered so that none needs a later one.

    Parameters
    ----------
    ranks : tuple of NodeId
        The GPUs, in order.
    inplace : bool
        Where chunks lie, see above.
    longest : int, optional
        Most chunks of one move.

    Raises
    ------
    NotExportable
        As `transfers`, or more than `MAX_MESSAGES` moves: the file would have
        hundreds of megabytes.
    """
    chunks, found = transfers(schedule, ranks)
    memory = _Memory(schedule.collective, len(ranks), chunks, inplace, found)
    joined = _joined(memory.moves(found))
    moves = tuple(islice(_split(joined, longest) if longest else joined, MAX_MESSAGES + 1))
    if len(moves) > MAX_MESSAGES:
        raise NotExportable(
            "/messages", f"at most {MAX_MESSAGES} messages are written; more are needed"
        )
    return Plan(schedule.collective, len(ranks), chunks, inplace, memory.scratch, moves)


def transfers(schedule: Schedule, ranks: tuple[NodeId, ...]) -> tuple[int, list[Transfer]]:
    """Return the chunks of a shard and all that is sent, in one order for all GPUs.

    A transfer needs only what transfers of earlier stages brought; they are sorted by
    stage.

    Raises
    ------
    NotExportable
        It is another collective than these are made for, or the chunks on all GPUs are
        too many to follow.
    """
    require_plain(schedule)
    parts = parts_of(schedule)
    chunks = chunks_per_shard(schedule)
    cells = len(ranks) ** 2 * chunks
    if cells > MAX_CELLS:
        raise NotExportable(
            "/chunks_per_shard",
            f"at most {MAX_CELLS} chunks on all GPUs are followed; {cells} are needed",
        )
    found: list[Transfer] = []
    stage = 0
    for part in parts:
        made = _sent(part, ranks, chunks, _grain(part)[0], stage)
        found += made
        stage = 1 + max((transfer.stage for transfer in made), default=stage)
    found.sort()
    return chunks, found


def chunks_per_shard(schedule: Schedule) -> int:
    """Return into how few equal chunks a shard can be cut for this schedule.

    >>> from schedules.model import Tree
    >>> trees = (Tree(0, 4, ((0, 1),)), Tree(1, 2, ((1, 0),)), Tree(1, 2, ((1, 0),)))
    >>> chunks_per_shard(TreeSchedule(Collective.ALLGATHER, "sha256:0", (0, 1), 4, trees))
    2
    """
    parts = parts_of(schedule)
    return lcm(*(total // grain for total, grain in map(_grain, parts)))


def require_plain(schedule: Schedule) -> None:
    """Raise unless moves are made for such schedules.

    Raises
    ------
    NotExportable
        It is another collective, or not of equal shards among all compute nodes.
    """
    if schedule.collective not in MOVED:
        names = ", ".join(MOVED)
        raise NotExportable("/collective", f"must be one of {names} for this format")
    parts = parts_of(schedule)
    if any(isinstance(part, TreeSchedule) and (part.shards or part.idle) for part in parts):
        raise NotExportable("/shards", "must be equal, and of all compute nodes, for this format")


def _grain(part: StepSchedule | TreeSchedule) -> tuple[int, int]:
    """Return the chunks of a shard and the largest unit that all sends are made of."""
    if isinstance(part, TreeSchedule):
        total = part.trees_per_root
        return total, gcd(total, *(tree.weight for tree in part.trees))
    total = grain = part.chunks_per_shard
    for step in part.steps:
        for field in ("first", "count"):
            grain = gcd(grain, int(np.gcd.reduce(step[field], initial=0)))
    return total, grain


def _sent(
    part: StepSchedule | TreeSchedule,
    ranks: tuple[NodeId, ...],
    chunks: int,
    total: int,
    stage: int,
) -> list[Transfer]:
    """Return what a part sends, in units of 1 / ``chunks`` of a shard."""
    if isinstance(part, StepSchedule):
        return [
            Transfer(
                stage + number,
                source,
                target,
                shard * chunks + first * chunks // total,
                count * chunks // total,
                op == REDUCE,
                True,
            )
            for number, step in enumerate(part.steps)
            for source, target, shard, first, count, _, op in step.tolist()
        ]
    rank = {node: index for index, node in enumerate(ranks)}
    outward = part.collective is Collective.ALLGATHER
    served = dict.fromkeys(ranks, 0)
    found = []
    for tree in part.trees:
        chunk = rank[tree.root] * chunks + served[tree.root] * chunks // total
        served[tree.root] += tree.weight
        depth = {tree.root: 0}
        for edge in tree.edges:
            near, far = (edge[0], edge[-1]) if outward else (edge[-1], edge[0])
            depth[far] = depth[near] + 1
            when = depth[far] if outward else len(ranks) - depth[far]
            ends = rank[edge[0]], rank[edge[-1]]
            found.append(
                Transfer(
                    stage + when, *ends, chunk, tree.weight * chunks // total, not outward, False
                )
            )
    return found


class _Memory:
    """Where each chunk lies on each GPU while the transfers run in order."""

    def __init__(
        self,
        collective: Collective,
        gpus: int,
        chunks: int,
        inplace: bool,
        transfers: Iterable[Transfer],
    ) -> None:
        self.collective, self.chunks, self.inplace = collective, chunks, inplace
        # Whether a GPU received something of a chunk: a part of its sum, or its result.
        self.received = np.zeros((gpus, gpus * chunks), dtype=np.bool_)
        self.slots: NDArray[np.int64] | None = None
        self.scratch = (0,) * gpus
        if collective is Collective.REDUCE_SCATTER:
            kept = np.zeros_like(self.received)
            for transfer in transfers:
                if transfer.target != transfer.chunk // chunks:
                    kept[transfer.target, transfer.chunk : transfer.chunk + transfer.length] = True
            # Slots in order of the chunks, so that neighbours stay neighbours.
            self.slots = np.cumsum(kept, axis=1) - 1
            self.scratch = tuple(kept.sum(axis=1).tolist())

    def moves(self, transfers: Iterable[Transfer]) -> Iterator[Move]:
        """Yield the moves of the transfers, cut where places or operands change."""
        for transfer in transfers:
            start, end = transfer.chunk, transfer.chunk + transfer.length
            sent = self.received[transfer.source, start:end]
            kept = self.received[transfer.target, start:end]
            changes = np.flatnonzero(np.diff(sent) | np.diff(kept)) + 1
            for low, high in pairwise([0, *changes.tolist(), end - start]):
                chunk = start + low
                goal = self._sum(transfer.target, chunk)
                operand = None
                if transfer.reduce:
                    operand = goal if kept[low] else self._own(transfer.target, chunk)
                yield Move(
                    transfer.source,
                    transfer.target,
                    chunk,
                    high - low,
                    self._held(transfer.source, chunk, bool(sent[low])),
                    goal,
                    operand,
                )
            kept[:] = True

    def _own(self, gpu: int, chunk: int) -> Place:
        """Return where a GPU's own contribution lies."""
        if self.collective is Collective.ALLREDUCE and self.inplace:
            return "o", chunk
        return "i", chunk

    def _sum(self, gpu: int, chunk: int) -> Place:
        """Return where what a GPU receives of a chunk is kept."""
        if self.collective is not Collective.REDUCE_SCATTER:
            return "o", chunk
        if self.slots is not None and gpu != chunk // self.chunks:
            return "s", int(self.slots[gpu, chunk])
        return ("i", chunk) if self.inplace else ("o", chunk % self.chunks)

    def _held(self, gpu: int, chunk: int, received: bool) -> Place:
        """Return where a GPU reads a chunk that it sends."""
        if self.collective is Collective.ALLGATHER:
            if gpu == chunk // self.chunks and not self.inplace:
                return "i", chunk % self.chunks
            return "o", chunk
        return self._sum(gpu, chunk) if received else self._own(gpu, chunk)


def _joined(moves: Iterator[Move]) -> Iterator[Move]:
    """Join neighbouring chunks of neighbouring moves between the same two GPUs."""
    last: Move | None = None
    for move in moves:
        if last is not None and _continues(last, move):
            last = last._replace(length=last.length + move.length)
            continue
        if last is not None:
            yield last
        last = move
    if last is not None:
        yield last


def _continues(last: Move, move: Move) -> bool:
    def follows(one: Place | None, other: Place | None) -> bool:
        if one is None or other is None:
            return one is other
        return one[0] == other[0] and one[1] + last.length == other[1]

    return (
        (last.source, last.target) == (move.source, move.target)
        and last.chunk + last.length == move.chunk
        and follows(last.origin, move.origin)
        and follows(last.goal, move.goal)
        and follows(last.operand, move.operand)
    )


def _split(moves: Iterable[Move], longest: int) -> Iterator[Move]:
    """Cut moves to the most chunks that one may carry, evenly."""
    for move in moves:
        pieces = -(-move.length // longest)
        cuts = [move.length * index // pieces for index in range(pieces + 1)]
        for low, high in pairwise(cuts):
            yield move._replace(
                chunk=move.chunk + low,
                length=high - low,
                origin=(move.origin[0], move.origin[1] + low),
                goal=(move.goal[0], move.goal[1] + low),
                operand=move.operand and (move.operand[0], move.operand[1] + low),
            )
