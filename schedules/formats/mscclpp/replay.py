"""Replay an MSCCL++ plan on symbolic values, and check that it computes its collective.

Every chunk holds a value: its position in the whole data, and the set of GPUs whose contributions
it includes.  Thread blocks run one after another as far as they can.  Accesses whose order could
differ on real hardware are reported as a race, so one order of execution suffices.

Order.  The threads of a block run independently: an operation precedes a later operation of its
block only if a ``nop`` stands between.  A signal, or the release of a semaphore, publishes all
operations before the last ``nop`` of its block; the waiting block sees them after its next
``nop``.  A relaxed signal publishes only that its GPU has begun.  A write to a GPU requires the
knowledge that the GPU has begun: before, its buffers belong to earlier work.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.mscclpp.program import (
    EVERY_GPU,
    WAITS,
    Block,
    ChannelType,
    Chunks,
    Operation,
    Program,
)
from topoloom.schedules.formats.mscclpp.read import parse
from topoloom.schedules.formats.mscclpp.semaphores import (
    End,
    check_semaphores,
    check_signals,
    joined_ends,
)
from topoloom.schedules.formats.symbolic_buffers import (
    Actor,
    Clock,
    Memory,
    Messages,
    Value,
    symbolic_sum,
)
from topoloom.schedules.formats.targets.runtimes import Runtime
from topoloom.schedules.model.transcript import Transcript


def replay(text: str, runtime: Runtime | None = None) -> Program:
    """Run a plan; return it if it computes its collective and keeps the rules of a runtime.

    Raises:
        InvalidProgram: A rule of the format is broken, signals and waits do not match in number, a
            semaphore does not end with its initial value, the plan deadlocks, two accesses race for
            a chunk, a GPU is written to before it has begun, a contribution is added twice, a chunk
            is read before it is written, the input of a call out of place is changed, or the result
            is wrong or arrives after the end of a GPU.

    One thread block sends the signals of a channel, and one waits for them; likewise for the
    releases of a semaphore.  Then signals and waits match in the same way in every order.  Clocks
    of all B blocks take O(B) time and memory for each ``nop``, signal and release.

    >>> replay("[]")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: : must be an object
    """
    return _replayed(text, runtime)[0]


def transcript(text: str, runtime: Runtime | None = None) -> Transcript:
    """Replay a plan; return the stores of its GPUs in each other's buffers, in chunks."""
    program, messages = _replayed(text, runtime)
    return messages.transcript(program.collective, program.bounds, program.idle)


def _replayed(text: str, runtime: Runtime | None) -> tuple[Program, Messages]:
    program = parse(text, runtime)
    ends = joined_ends(program)
    check_signals(program, ends)
    check_semaphores(program)
    run = _Run(program, ends)
    run.finish()
    return program, run.messages


@dataclass(slots=True)
class _News:
    """The content of a signal or release; ``begun``: GPUs known to have begun."""

    clock: Clock
    begun: NDArray[np.bool_]


@dataclass(slots=True)
class _Worker(Actor):
    """The state of a thread block.

    ``clock`` is its knowledge at its last ``nop``, its own operations included; ``heard`` is the
    content of the signals received since; ``touched``: all its threads have accessed data since.
    """

    block: Block = field(kw_only=True)
    begun: NDArray[np.bool_] = field(kw_only=True)
    heard: list[_News] = field(default_factory=list)
    touched: bool = False

    def synchronize(self) -> None:
        """Share the received signals with all threads, and record that all threads are here."""
        for news in self.heard:
            np.maximum(self.clock, news.clock, out=self.clock)
            self.begun |= news.begun
        self.heard.clear()
        self.clock[self.index] = self.done
        self.touched = False


class _Run:
    """One run of a plan."""

    def __init__(self, program: Program, ends: dict[End, End]) -> None:
        self.program, self.ends, self.messages = program, ends, Messages()
        self.memory = Memory(program.collective, program.bounds, program.inplace, program.idle)
        self.signals: dict[End, deque[_News]] = defaultdict(deque)
        self.releases: dict[tuple[int, int], deque[_News]] = defaultdict(deque)
        total = sum(len(gpu.blocks) for gpu in program.gpus)
        self.workers: list[_Worker] = []
        for at, gpu in enumerate(program.gpus):
            begun = np.arange(len(program.gpus)) == at
            nothing = _News(np.full(total, -1, dtype=np.int32), begun)
            for number, value in enumerate(gpu.semaphores):
                self.releases[at, number].extend([nothing] * min(value, 1 << 16))
            for number, block in enumerate(gpu.blocks):
                clock = np.full(total, -1, dtype=np.int32)
                place = f"/gpus/{at}/threadblocks/{number}"
                self.workers.append(
                    _Worker(
                        len(self.workers),
                        at,
                        place,
                        clock,
                        steps="ops",
                        block=block,
                        begun=begun.copy(),
                    )
                )

    def finish(self) -> None:
        """Run until no block can run, then check the postcondition."""
        active = [worker for worker in self.workers if worker.block.operations]
        moved = True
        while moved and active:
            moved = False
            for worker in active:
                while worker.done < len(worker.block.operations) and self._advance(worker):
                    moved = True
            active = [worker for worker in active if worker.done < len(worker.block.operations)]
        if active:
            stuck = ", ".join(f"{worker.place}/ops/{worker.done}" for worker in active[:5])
            raise InvalidProgram(
                active[0].place,
                f"the plan must not get stuck; {len(active)} thread blocks wait: {stuck}",
            )
        ends = [np.full(len(self.workers), -1, dtype=np.int32) for _ in self.program.gpus]
        for worker in self.workers:
            worker.synchronize()
            np.maximum(ends[worker.gpu], worker.clock, out=ends[worker.gpu])
        self.memory.require_result(ends)

    def _advance(self, worker: _Worker) -> bool:
        """Run a block's next operation; return False while it must wait."""
        operation = worker.block.operations[worker.done]
        if operation.name == "nop":
            worker.synchronize()
        elif operation.name in WAITS:
            queue = self.signals[worker.gpu, *_channel(operation)]
            if not queue:
                return False
            worker.heard.append(queue.popleft())
        elif operation.name == "sem_acquire":
            queues = [self.releases[worker.gpu, number] for number in operation.semaphores]
            if not all(queues):
                return False
            worker.heard += [queue.popleft() for queue in queues]
        else:
            self._work(worker, operation)
        worker.done += 1
        return True

    def _work(self, worker: _Worker, operation: Operation) -> None:
        """Run an operation that never waits: data first, then signals."""
        if operation.target is not None:
            self._move(worker, operation.sources, operation.target)
            worker.touched |= operation.channel is None
        if operation.name == "sem_release":
            for number in operation.semaphores:
                self.releases[worker.gpu, number].append(self._news(worker))
        elif operation.channel is not None:
            news = self._news(worker)
            if operation.name == "rlxsignal":
                news.clock = np.full_like(news.clock, -1)
            elif operation.target is not None and not worker.touched:
                # One thread puts and signals: the data arrives before the signal.
                news.clock[worker.index] = worker.done
            self.signals[self.ends[worker.gpu, *operation.channel]].append(news)

    def _news(self, worker: _Worker) -> _News:
        return _News(worker.clock.copy(), worker.begun.copy())

    def _move(self, worker: _Worker, sources: tuple[Chunks, ...], target: Chunks) -> None:
        if target.gpu == EVERY_GPU:
            self._switched(worker, sources[0], target)
            return
        if not worker.begun[target.gpu]:
            raise worker.error(f"writes to GPU {target.gpu} before it is known to have begun")
        same = [self._cell(source) == self._cell(target) for source in sources]
        if same == [True]:
            return
        if target.gpu != worker.gpu:
            self._store(worker, sources[0], target)
            return
        for at in range(target.count):
            value: Value | None = None
            for source in sources:
                found = self.memory.read(worker, source.buffer, source.first + at)
                value = found if value is None else symbolic_sum(worker, value, found)
            if value is not None:
                place = target.buffer, target.first + at
                self.memory.write(worker, *place, value)

    def _store(self, worker: _Worker, source: Chunks, target: Chunks) -> None:
        """Store chunks in a buffer of another GPU: one message."""
        places = range(source.first, source.first + source.count)
        values = [self.memory.read(worker, source.buffer, place) for place in places]
        sent = self.messages.add(worker.gpu, target.gpu, values)
        for place, value in enumerate(sent, target.first):
            self.memory.write(worker, target.buffer, place, value, target.gpu)

    def _switched(self, worker: _Worker, source: Chunks, target: Chunks) -> None:
        """Store chunks of one GPU, or the sum of chunks of all, at one place of all GPUs."""
        if not worker.begun.all():
            gpu = int(np.flatnonzero(~worker.begun)[0])
            raise worker.error(f"writes to GPU {gpu} before it is known to have begun")
        adds = source.gpu == EVERY_GPU
        total: list[Value] = []
        for gpu in range(len(self.program.gpus)) if adds else (worker.gpu,):
            places = range(source.first, source.first + source.count)
            values = [self.memory.read(worker, source.buffer, place, gpu) for place in places]
            if gpu != worker.gpu:
                values = self.messages.add(gpu, worker.gpu, values)
            pairs = zip(total, values, strict=True)
            total = [symbolic_sum(worker, *pair) for pair in pairs] if total else values
        for gpu in range(len(self.program.gpus)):
            sent = total if gpu == worker.gpu else self.messages.add(worker.gpu, gpu, total)
            for place, value in enumerate(sent, target.first):
                self.memory.write(worker, target.buffer, place, value, gpu)

    def _cell(self, chunks: Chunks) -> tuple[int, str, int]:
        return chunks.gpu, *self.memory.cell(chunks.gpu, chunks.buffer, chunks.first)


def _channel(operation: Operation) -> tuple[ChannelType, int]:
    # The reader gives a channel to every operation that signals or waits.
    return operation.channel or (ChannelType.PORT, -1)
