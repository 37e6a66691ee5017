"""Replay an MSCCL program on symbolic values, and check that it computes its collective.

Every chunk holds a value: its position in the whole data, and the set of GPUs whose contributions
it includes.  Thread blocks run one after another as far as they can.  Accesses whose order could
differ on real hardware are reported as a race, so one order of execution suffices.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.msccl.program import RECEIVES, SENDS, Block, Instruction, Program
from topoloom.schedules.formats.msccl.read import parse
from topoloom.schedules.formats.symbolic_buffers import (
    Actor,
    Clock,
    Memory,
    Messages,
    Value,
    symbolic_sum,
)
from topoloom.schedules.formats.targets.runtimes import Runtime
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Transcript

_Connection: TypeAlias = tuple[int, int, int]


def replay(text: str, runtime: Runtime | str, *, slots: int = 2) -> Program:
    """Run a program in every mode it allows; return it if it computes its collective.

    Args:
        text: The file.
        runtime: The runtime whose rules and names apply; a text is a dialect, as in `read.parse`.
        slots: Messages that a connection buffers; with 0 a sender waits until its message is
            received, as large messages do.

    Raises:
        InvalidProgram: A rule of the format is broken, messages do not match, the program
            deadlocks, two steps race for a chunk, a contribution is added twice, a chunk is read
            before it is written, the input of a call out of place is changed, or the result is
            wrong.

    Order of events: steps of a block in sequence, a step after its dependency, a receive after
    its send.  Two accesses to a chunk, one of them a write, must be ordered by these.  If all
    are, every legal order computes the same result.  Blocks that wait only for messages and free
    slots deadlock in every order or in none.  Clocks of all B blocks take O(B) time and memory
    a step.

    >>> replay("<algo>", "msccl")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /line/1: must not end here: algo must be closed
    """
    return _replayed(text, runtime, slots)[0]


def transcript(text: str, runtime: Runtime | str) -> Transcript:
    """Replay a program; return the messages of its GPUs, in units of chunks."""
    program, messages = _replayed(text, runtime, 2)
    return messages.transcript(program.collective, _bounds(program))


def _replayed(text: str, runtime: Runtime | str, slots: int) -> tuple[Program, Messages]:
    """Return the program and its messages, which are the same in every mode."""
    program = parse(text, runtime)
    _check_messages(program)
    runs = [_Run(program, inplace, slots) for inplace in program.modes]
    for run in runs:
        run.finish()
    return program, runs[0].messages


def _bounds(program: Program) -> tuple[int, ...]:
    """Return the bounds of the shard of each GPU, in chunks of the whole."""
    gpus = len(program.gpus)
    return tuple(program.chunks * gpu // gpus for gpu in range(gpus + 1))


def _check_messages(program: Program) -> None:
    """Raise unless the n-th send and the n-th receive of each connection agree."""
    counts: dict[_Connection, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for gpu, block in _blocks(program):
        for step in block.steps:
            if step.type in SENDS:
                counts[gpu, block.send, block.channel][0].append(step.count)
            if step.type in RECEIVES:
                counts[block.recv, gpu, block.channel][1].append(step.count)
    for (source, target, channel), (sent, taken) in sorted(counts.items()):
        if sent != taken:
            raise InvalidProgram(
                f"/gpu/{source}",
                f"messages to GPU {target} on channel {channel} must agree in number and "
                f"cnt: {len(sent)} are sent, {len(taken)} received",
            )


def _blocks(program: Program) -> Iterator[tuple[int, Block]]:
    for index, gpu in enumerate(program.gpus):
        for block in gpu.blocks:
            yield index, block


@dataclass(slots=True)
class _Message:
    values: list[Value]
    clock: Clock


@dataclass(slots=True)
class _Worker(Actor):
    """The state of a thread block.

    ``outgoing`` is computed by its step and not yet sent; ``posted`` is a sent message that it
    waits to see received; ``finished`` holds the clocks of steps that others wait for.
    """

    block: Block = field(kw_only=True)
    outgoing: list[Value] | None = None
    posted: _Message | None = None
    finished: dict[int, Clock] = field(default_factory=dict)


class _Run:
    """One run of a program in one mode."""

    def __init__(self, program: Program, inplace: bool, slots: int) -> None:
        self.slots, self.messages = slots, Messages()
        sharded = program.collective is not Collective.ALLREDUCE
        if sharded and program.chunks % len(program.gpus):
            raise InvalidProgram("/algo/nchunksperloop", "must be a multiple of ngpus")
        self.memory = Memory(program.collective, _bounds(program), inplace)
        self.queues: dict[_Connection, deque[_Message]] = defaultdict(deque)
        self.workers: list[list[_Worker]] = []
        total = sum(len(gpu.blocks) for gpu in program.gpus)
        index = 0
        for at, gpu in enumerate(program.gpus):
            self.workers.append([])
            for number, block in enumerate(gpu.blocks):
                clock = np.full(total, -1, dtype=np.int32)
                place = f"/gpu/{at}/tb/{number}"
                self.workers[-1].append(_Worker(index, at, place, clock, block=block))
                index += 1

    def finish(self) -> None:
        """Run until no block can run, then check the postcondition."""
        active = [worker for group in self.workers for worker in group]
        moved = True
        while moved and active:
            moved = False
            for worker in active:
                while self._advance(worker):
                    moved = True
            active = [worker for worker in active if worker.done < len(worker.block.steps)]
        if active:
            stuck = ", ".join(f"{worker.place}/step/{worker.done}" for worker in active[:5])
            raise InvalidProgram(
                active[0].place,
                f"the program must not get stuck; {len(active)} thread blocks wait: {stuck}",
            )
        self.memory.require_result()

    def _advance(self, worker: _Worker) -> bool:
        """Run the next part of a block's next step; return whether anything ran."""
        if worker.done == len(worker.block.steps):
            return False
        step = worker.block.steps[worker.done]
        if worker.posted is not None:
            connection = (worker.gpu, worker.block.send, worker.block.channel)
            if any(message is worker.posted for message in self.queues[connection]):
                return False
            self._complete(worker)
            return True
        begins = worker.outgoing is None
        if begins and not self._begin(worker, step):
            return False
        if step.type in SENDS and not self._post(worker):
            # A step that received and now waits to send has freed a slot.
            return begins
        if worker.posted is None:
            self._complete(worker)
        return True

    def _begin(self, worker: _Worker, step: Instruction) -> bool:
        """Wait, receive and compute; return False if a dependency or message is missing."""
        waited: Clock | None = None
        if step.wait_block >= 0:
            other = self.workers[worker.gpu][step.wait_block]
            if step.wait_step not in other.finished:
                return False
            waited = other.finished[step.wait_step]
        message: _Message | None = None
        if step.type in RECEIVES:
            queue = self.queues[worker.block.recv, worker.gpu, worker.block.channel]
            if not queue:
                return False
            message = queue.popleft()
        for clock in (waited, message.clock if message else None):
            if clock is not None:
                np.maximum(worker.clock, clock, out=worker.clock)
        worker.clock[worker.index] = worker.done
        worker.outgoing = self._compute(worker, step, message)
        return True

    def _compute(self, worker: _Worker, step: Instruction, message: _Message | None) -> list[Value]:
        """Read, add and write; return the values that this step sends."""
        values = message.values if message else []
        if step.reads:
            held = self._held(worker, step.source_buffer, step.source_offset, step.count)
            if step.type in ("s", "cpy"):
                values = held
            else:
                if step.type == "re":
                    values = self._held(worker, step.target_buffer, step.target_offset, step.count)
                values = [symbolic_sum(worker, *pair) for pair in zip(values, held, strict=True)]
        if step.writes and not self._is_idle(worker, step):
            for at, value in enumerate(values, step.target_offset):
                self.memory.write(worker, step.target_buffer, at, value)
        return values

    def _held(self, worker: _Worker, buffer: str, offset: int, count: int) -> list[Value]:
        return [self.memory.read(worker, buffer, offset + at) for at in range(count)]

    def _is_idle(self, worker: _Worker, step: Instruction) -> bool:
        """Return whether a step copies a place to itself, as is possible in place."""
        return step.type == "cpy" and self.memory.cell(
            worker.gpu, step.source_buffer, step.source_offset
        ) == self.memory.cell(worker.gpu, step.target_buffer, step.target_offset)

    def _post(self, worker: _Worker) -> bool:
        queue = self.queues[worker.gpu, worker.block.send, worker.block.channel]
        if len(queue) >= max(1, self.slots):
            return False
        sent = self.messages.add(worker.gpu, worker.block.send, worker.outgoing or [])
        message = _Message(sent, worker.clock.copy())
        queue.append(message)
        if self.slots == 0:
            worker.posted = message
        return True

    def _complete(self, worker: _Worker) -> None:
        if worker.block.steps[worker.done].is_awaited:
            worker.finished[worker.done] = worker.clock.copy()
        worker.done += 1
        worker.outgoing = worker.posted = None
