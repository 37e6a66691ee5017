"""Map a schedule to moves of chunks between buffers, in one order for all GPUs.

A *move* takes neighboring chunks from one GPU to another in one message.  `transfers` defines the
sends and their order; this module assigns their places in buffers.

Places.  Chunk c of shard i is number g = i * C + c.

* Allgather.  Out of place, a GPU sends its own shard from its input and everything
  else from the output, where it stores received chunks.  In place, everything is in
  the output.
* Reduce-scatter.  A GPU sends its contribution from the input if nothing was added
  to it; the owner keeps sums in the output (in place: in the input) and the other GPUs keep
  them in scratch, so that no foreign part of the user's input is changed.
* Allreduce.  Sums and results are in the output; out of place, contributions to
  which nothing was added are read from the input.
* Broadcast and reduce.  As allgather and reduce-scatter, with all of the data as the root's shard.
* GPUs that take no part.  Forwarded data has its own place in their scratch.
* Allreduce in one pass.  See `single_pass_allreduce_moves`.
* All-to-all.  See `all_to_all_moves`.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.lowering.all_to_all_moves import Relays
from topoloom.schedules.formats.lowering.chunk_moves import Move, MovePlan, Place
from topoloom.schedules.formats.lowering.single_pass_allreduce_moves import Folds
from topoloom.schedules.formats.lowering.transfers import (
    NOWHERE,
    Transfer,
    least_messages,
    require_few_hops,
    shard_bounds,
    transfers,
)
from topoloom.schedules.model.schedule import (
    Collective,
    RouteSchedule,
    Schedule,
    StepSchedule,
    TreeSchedule,
    schedule_parts,
)
from topoloom.synth.topology.topology import NodeId

MAX_MESSAGES = 1 << 18


def plan(
    schedule: Schedule,
    ranks: tuple[NodeId, ...],
    inplace: bool,
    longest: int | None = None,
    instances: int = 1,
) -> MovePlan:
    """Return the moves of a valid schedule, each after the moves that it depends on.

    Args:
        ranks: The GPUs, in order.
        inplace: Selects the places above.
        longest: Most chunks of one move.
        instances: Chunks are cut into this number of parts, and every move into a multiple of this
            number, so that the parts can travel on separate channels at once.

    Raises:
        As `transfers`, or there are more than `MAX_MESSAGES` moves, which make a file of hundreds
        of megabytes.
    """
    if schedule.collective is Collective.ALL_TO_ALL and inplace:
        raise NotExportable("/inplace", "an all-to-all needs an output of its own")
    chunks, found = transfers(schedule, ranks, instances)
    folds = isinstance(schedule, StepSchedule) and schedule.in_one_pass
    if schedule.collective is Collective.ALL_TO_ALL:
        memory = Relays(len(ranks), chunks)
    elif folds:
        memory = Folds(len(ranks), chunks, inplace)
    else:
        bounds = shard_bounds(schedule, ranks, chunks)
        memory = _Memory(schedule.collective, bounds, inplace, found)
    joined = _joined(memory.moves(found))
    pieces = _split(joined, longest or MAX_MESSAGES, instances)
    moves = tuple(islice(pieces, MAX_MESSAGES + 1))
    if len(moves) > MAX_MESSAGES:
        raise _too_many()
    scratch, uneven = tuple(memory.scratch), _uneven(schedule, ranks, chunks)
    collective, count = schedule.collective, len(ranks)
    return MovePlan(collective, count, chunks, inplace, scratch, moves, folds, *uneven)


def _uneven(
    schedule: Schedule, ranks: tuple[NodeId, ...], chunks: int
) -> tuple[tuple[int, ...], frozenset[int]]:
    """Return the bounds of unequal shards (empty for equal shards), and the GPUs that are idle."""
    first = None if isinstance(schedule, RouteSchedule) else schedule_parts(schedule)[0]
    if not isinstance(first, TreeSchedule) or not (first.shards or first.idle):
        return (), frozenset()
    idle = frozenset(at for at, node in enumerate(ranks) if node in set(first.idle))
    return shard_bounds(schedule, ranks, chunks), idle


def require_few_messages(schedule: Schedule) -> None:
    """Raise `NotExportable` if a schedule has more moves than a plan can hold.

    The number follows from the schedule's arrays, without making a plan.
    """
    require_few_hops(schedule)
    if least_messages(schedule, joined=True) > MAX_MESSAGES:
        raise _too_many()


def _too_many() -> NotExportable:
    return NotExportable(
        "/messages", f"at most {MAX_MESSAGES} messages are written; more are needed"
    )


class _Memory:
    """Places of the chunks on each GPU, while the transfers run in order."""

    def __init__(
        self,
        collective: Collective,
        bounds: tuple[int, ...],
        inplace: bool,
        transfers: Iterable[Transfer],
    ) -> None:
        self.collective, self.bounds, self.inplace = collective, bounds, inplace
        gpus = len(bounds) - 1
        self.owner = np.repeat(np.arange(gpus), np.diff(bounds))
        # Whether a GPU received data of a chunk: a part of its sum, or its result.
        self.received = np.zeros((gpus, bounds[-1]), dtype=np.bool_)
        self.slots: NDArray[np.int64] | None = None
        self.scratch = [0] * gpus
        # By number of a place on the way: its first chunk in scratch.
        self.passing: dict[int, int] = {}
        if collective.inward:
            kept = np.zeros_like(self.received)
            for transfer in transfers:
                ends = transfer.passed_to == NOWHERE
                if ends and transfer.target != self.owner[transfer.chunk]:
                    kept[transfer.target, transfer.chunk : transfer.chunk + transfer.length] = True
            # Slots in chunk order, so that neighboring chunks stay neighbors.
            self.slots = np.cumsum(kept, axis=1) - 1
            self.scratch = kept.sum(axis=1).tolist()

    def moves(self, transfers: Iterable[Transfer]) -> Iterator[Move]:
        """Yield the moves of the transfers, cut where places or operands change."""
        for transfer in transfers:
            start, end = transfer.chunk, transfer.chunk + transfer.length
            sent = self.received[transfer.source, start:end]
            kept = self.received[transfer.target, start:end]
            came, goes = self.passing.pop(transfer.passed_from, None), None
            if transfer.passed_to != NOWHERE:
                goes = self.passing[transfer.passed_to] = self.scratch[transfer.target]
                self.scratch[transfer.target] += transfer.length
            changes = np.flatnonzero(np.diff(sent) | np.diff(kept)) + 1
            for low, high in pairwise([0, *changes.tolist(), end - start]):
                chunk, operand = start + low, None
                if came is None:
                    origin = self._held(transfer.source, chunk, bool(sent[low]))
                else:
                    origin = "s", came + low
                goal = self._sum(transfer.target, chunk) if goes is None else ("s", goes + low)
                if transfer.reduce:
                    operand = goal if kept[low] else self._own(transfer.target, chunk)
                yield Move(
                    transfer.source, transfer.target, chunk, high - low, origin, goal, operand
                )
            if goes is None:
                kept[:] = True

    def _own(self, gpu: int, chunk: int) -> Place:
        """Return the place of a GPU's own contribution."""
        if self.collective is Collective.ALLREDUCE and self.inplace:
            return "o", chunk
        return "i", chunk

    def _sum(self, gpu: int, chunk: int) -> Place:
        """Return the place where a GPU keeps its received data of a chunk."""
        if self.slots is None:
            return "o", chunk
        if gpu != self.owner[chunk]:
            return "s", int(self.slots[gpu, chunk])
        return ("i", chunk) if self.inplace else ("o", chunk - self.bounds[gpu])

    def _held(self, gpu: int, chunk: int, received: bool) -> Place:
        """Return the place from which a GPU sends a chunk."""
        if self.collective.outward:
            if gpu == self.owner[chunk] and not self.inplace:
                return "i", chunk - self.bounds[gpu]
            return "o", chunk
        return self._sum(gpu, chunk) if received else self._own(gpu, chunk)


def _joined(moves: Iterator[Move]) -> Iterator[Move]:
    """Join neighboring chunks of consecutive moves between the same two GPUs."""
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


def _split(moves: Iterable[Move], longest: int, instances: int) -> Iterator[Move]:
    """Cut moves evenly to at most ``longest`` chunks, into a multiple of ``instances``."""
    for move in moves:
        pieces = instances * -(-move.length // (longest * instances))
        cuts = [move.length * index // pieces for index in range(pieces + 1)]
        for low, high in pairwise(cuts):
            yield move._replace(
                chunk=move.chunk + low,
                length=high - low,
                origin=(move.origin[0], move.origin[1] + low),
                goal=(move.goal[0], move.goal[1] + low),
                operand=move.operand and (move.operand[0], move.operand[1] + low),
            )
