"""Run the nodes of Chakra traces in an order that their dependencies allow.

Subclasses of `Run` define the values of bytes for one kind of collective.  `Run` moves the values
and records the messages that delivered them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.order_checks import Key, key_of
from topoloom.schedules.formats.chakra.program import RECEIVE, SEND, Region, Step, Traces
from topoloom.schedules.model.transcript import Message, Span

_Values = TypeVar("_Values")


class Run(ABC, Generic[_Values]):
    """One run of all traces.

    ``shards`` are the bounds of the transcript; ``messages`` are the sent messages, in order.
    """

    shards: list[int]

    def __init__(self, traces: Traces) -> None:
        self.traces = traces
        self.sent: dict[Key, _Values] = {}
        self.messages: list[Message] = []
        # By message: its number.  By rank and node: the messages that the node's output depends
        # on.  A node that waits for a send waits for no data.
        self.numbers: dict[Key, int] = {}
        self.brought: list[dict[int, frozenset[int]]] = [{} for _ in traces.ranks]

    def finish(self) -> None:
        """Run until no node can run, then check the postcondition."""
        moved = True
        waiting = [list(range(len(trace.steps))) for trace in self.traces.ranks]
        finished: list[set[int]] = [set() for _ in self.traces.ranks]
        while moved:
            moved = False
            for rank, trace in enumerate(self.traces.ranks):
                left = []
                for at in waiting[rank]:
                    if self._ready(rank, trace.steps[at], finished[rank]):
                        self._work(rank, at, trace.steps[at])
                        finished[rank].add(at)
                        moved = True
                    else:
                        left.append(at)
                waiting[rank] = left
        stuck = [rank for rank, left in enumerate(waiting) if left]
        if stuck:
            raise InvalidProgram(
                f"/ranks/{stuck[0]}",
                f"must not wait for ever: ranks {stuck[:8]} do, for each other",
            )
        self._require_result()

    def _ready(self, rank: int, step: Step, finished: set[int]) -> bool:
        arrived = step.kind != RECEIVE or key_of(rank, step) in self.sent
        return arrived and finished.issuperset(step.before)

    def _work(self, rank: int, at: int, step: Step) -> None:
        brought = self.brought[rank]
        needs = frozenset().union(*(brought[before] for before in step.before))
        brought[at] = frozenset()
        if step.kind == SEND:
            values = self.sent[key_of(rank, step)] = self._read(rank, step.reads[0])
            self.numbers[key_of(rank, step)] = len(self.messages)
            self.messages.append(
                Message(rank, step.peer, tuple(self._spans(values)), tuple(sorted(needs)))
            )
        elif step.kind == RECEIVE:
            brought[at] = frozenset((self.numbers[key_of(rank, step)],))
            self._write(rank, step.writes[0], self.sent.pop(key_of(rank, step)))
        else:
            brought[at] = needs
            self._added(rank, step)

    @abstractmethod
    def _read(self, rank: int, region: Region) -> _Values:
        """Return the values in a region of a rank."""

    @abstractmethod
    def _write(self, rank: int, region: Region, values: _Values) -> None:
        """Store received or added values in a region of a rank."""

    @abstractmethod
    def _added(self, rank: int, step: Step) -> None:
        """Run an addition."""

    @abstractmethod
    def _spans(self, values: _Values) -> Iterator[Span]:
        """Return the spans of a message."""

    @abstractmethod
    def _require_result(self) -> None:
        """Raise unless every rank ends with the result of the collective."""
