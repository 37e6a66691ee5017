"""The buffers of all GPUs while an exported program runs on symbolic values.

A chunk's value is its position in the whole data and the GPUs whose contributions it includes.
Each chunk also records its last writer and the readers since, so that unordered accesses are
detected.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript, merge_spans

_NONE: frozenset[int] = frozenset()


class Value(NamedTuple):
    """The value of a chunk: its number in the whole, and its contributions, a bit for each GPU.

    ``messages`` delivered the value to this GPU, or delivered parts that were added there.
    """

    number: int
    contributions: int
    messages: frozenset[int] = _NONE


Clock: TypeAlias = NDArray[np.int32]
"""By thread block of the program: its last step known to precede, or -1."""


@dataclass(slots=True)
class Actor:
    """A thread block: its number in the program, its GPU, and its current step.

    ``steps`` is the format's word for steps, in error texts.
    """

    index: int
    gpu: int
    place: str
    clock: Clock
    done: int = 0
    steps: str = "step"

    def error(self, rule: str) -> InvalidProgram:
        """Return the error that the current step breaks a rule."""
        return InvalidProgram(f"{self.place}/{self.steps}/{self.done}", rule)


@dataclass(slots=True)
class _Chunk:
    value: Value | None = None
    writer: tuple[int, int] | None = None
    readers: dict[int, int] = field(default_factory=dict)


def symbolic_sum(actor: Actor, one: Value, other: Value) -> Value:
    """Return the sum of two values: the same chunk, of different contributors."""
    if one.number != other.number:
        raise actor.error(f"adds chunk {one.number} to chunk {other.number}")
    if one.contributions & other.contributions:
        raise actor.error(f"adds a contribution to chunk {one.number} twice")
    return Value(one.number, one.contributions | other.contributions, one.messages | other.messages)


class Messages:
    """The messages between GPUs, in order."""

    def __init__(self) -> None:
        self._sent: list[Message] = []

    def add(self, source: int, target: int, values: Iterable[Value]) -> list[Value]:
        """Record a message; return its values, marked with the number of the message."""
        held, came = list(values), frozenset((len(self._sent),))
        needs = sorted(_NONE.union(*(value.messages for value in held)))
        spans = merge_spans(
            Span(value.number, value.number + 1, value.contributions) for value in held
        )
        self._sent.append(Message(source, target, tuple(spans), tuple(needs)))
        return [Value(value.number, value.contributions, came) for value in held]

    def transcript(
        self,
        collective: Collective,
        bounds: tuple[int, ...],
        idle: frozenset[int] = frozenset(),
    ) -> Transcript:
        """Return the transcript of all messages; ``bounds`` and ``idle`` as in `Memory`."""
        times = len(bounds) - 1 if collective is Collective.ALL_TO_ALL else 1
        scaled = tuple(times * bound for bound in bounds)
        return Transcript(collective, scaled, tuple(self._sent), tuple(sorted(idle)))


class Memory:
    """Buffers, loaded with the precondition of the collective.

    In place the smaller of input and output is the GPU's part of the larger one; in an allreduce, a
    broadcast and a reduce they are the same.
    """

    def __init__(
        self,
        collective: Collective,
        bounds: tuple[int, ...],
        inplace: bool,
        idle: frozenset[int] = frozenset(),
    ) -> None:
        """Load the buffers of GPUs whose shards are chunks [bounds[i], bounds[i + 1]).

        In a broadcast and a reduce all chunks are the root's; in an all-to-all a shard is the block
        of one GPU for another.  GPUs that are ``idle`` hold nothing before and after.
        """
        self.collective, self.bounds, self.inplace, self.idle = collective, bounds, inplace, idle
        self.gpus, self.whole = len(bounds) - 1, bounds[-1]
        self.all_contributions = sum(1 << gpu for gpu in range(self.gpus) if gpu not in idle)
        self._chunks: list[dict[tuple[str, int], _Chunk]] = [{} for _ in range(self.gpus)]
        for gpu in set(range(self.gpus)) - idle:
            start = bounds[gpu] if collective.outward else 0
            if collective is Collective.ALL_TO_ALL:
                start = gpu * self.whole
            for offset in range(self._share(gpu) if collective.outward else self.whole):
                self._at(gpu, "i", offset).value = Value(start + offset, 1 << gpu)

    def read(self, actor: Actor, buffer: str, offset: int, gpu: int | None = None) -> Value:
        """Return the value of a chunk, by default of the actor's GPU, and record the reader."""
        chunk = self._at(actor.gpu if gpu is None else gpu, buffer, offset)
        self._require_after(actor, chunk.writer, buffer, offset)
        if chunk.value is None:
            raise actor.error(f"reads {buffer}[{offset}], which was never written")
        chunk.readers[actor.index] = actor.done
        return chunk.value

    def write(
        self, actor: Actor, buffer: str, offset: int, value: Value, gpu: int | None = None
    ) -> None:
        """Set the value of a chunk, by default of the actor's GPU, and record the writer."""
        if buffer == "i" and not self.inplace:
            raise actor.error("the input of a call out of place must not change")
        chunk = self._at(actor.gpu if gpu is None else gpu, buffer, offset)
        for access in (chunk.writer, *chunk.readers.items()):
            self._require_after(actor, access, buffer, offset)
        chunk.value, chunk.writer, chunk.readers = value, (actor.index, actor.done), {}

    def cell(self, gpu: int, buffer: str, offset: int) -> tuple[str, int]:
        """Return the canonical name of a place: one name if buffers overlap in place."""
        if not self.inplace or buffer == "s":
            return buffer, offset
        if self.collective is Collective.ALLGATHER and buffer == "i":
            return "o", self.bounds[gpu] + offset
        if self.collective is Collective.REDUCE_SCATTER and buffer == "o":
            return "i", self.bounds[gpu] + offset
        return ("i" if self.collective.inward else "o"), offset

    def require_result(self, ends: Sequence[Clock] | None = None) -> None:
        """Raise unless the output holds the result of the collective.

        ``ends`` holds the steps that each GPU knows to precede its end; then each chunk must have
        been written before the end of the GPU that holds it.
        """
        scatters = self.collective.inward
        for gpu in sorted(set(range(self.gpus)) - self.idle):
            end = None if ends is None else ends[gpu]
            for offset in range(self._share(gpu) if scatters else self.whole):
                self._require_end(gpu, offset, self._wanted(gpu, offset), end)

    def _share(self, gpu: int) -> int:
        return self.bounds[gpu + 1] - self.bounds[gpu]

    def _wanted(self, gpu: int, offset: int) -> Value:
        """Return the final value of a chunk of a GPU's output."""
        if self.collective is Collective.ALLREDUCE:
            return Value(offset, self.all_contributions)
        if self.collective.inward:
            return Value(self.bounds[gpu] + offset, self.all_contributions)
        source = bisect_right(self.bounds, offset) - 1
        if self.collective is Collective.ALL_TO_ALL:
            part = self.bounds[gpu] + offset - self.bounds[source]
            return Value(source * self.whole + part, 1 << source)
        return Value(offset, 1 << source)

    def _require_end(self, gpu: int, offset: int, value: Value, end: Clock | None) -> None:
        chunk = self._at(gpu, "o", offset)
        if chunk.value is None or chunk.value[:2] != value[:2]:
            raise InvalidProgram(
                f"/gpu/{gpu}", f"o[{offset}] must end as chunk {value.number}, complete"
            )
        if end is not None and chunk.writer and end[chunk.writer[0]] < chunk.writer[1]:
            raise InvalidProgram(f"/gpu/{gpu}", f"may end before o[{offset}] has been written")

    def _at(self, gpu: int, buffer: str, offset: int) -> _Chunk:
        return self._chunks[gpu].setdefault(self.cell(gpu, buffer, offset), _Chunk())

    def _require_after(
        self, actor: Actor, access: tuple[int, int] | None, buffer: str, offset: int
    ) -> None:
        # One step reads and writes in this order, chunk by chunk.
        if access is None or access == (actor.index, actor.done):
            return
        if actor.clock[access[0]] < access[1]:
            raise actor.error(f"races for {buffer}[{offset}] with another access to it")
