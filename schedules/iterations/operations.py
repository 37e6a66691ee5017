"""Operations of an iteration: computations and communications, with their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.errors import NoSchedule


class Operation(NamedTuple):
    """One computation or communication.

    Attributes:
        stream: Operations of one stream run one after another, in the order of the list.
        name: Description for timelines.
        seconds: Duration of a computation.  Of a communication: its latency, in which it uses no
            link.
        after: Indices of operations that end before this one starts.
        traffic: Of a communication: its row in the link shares.  All operations of a row are in one
            stream.
        transfer: Seconds on the links after the latency, if no other communication shares a link.
        kind: Phase that the operation belongs to, such as ``forward`` or ``tensor``.
        stage: Pipeline stage.
    """

    stream: str
    name: str
    seconds: Fraction
    after: tuple[int, ...] = ()
    traffic: int | None = None
    transfer: Fraction = Fraction(0)
    kind: str = ""
    stage: int = 0


class Order(NamedTuple):
    """For every operation: how many operations it waits for, and those that wait for it."""

    waits: list[int]
    followers: list[list[int]]


def order_of(operations: Sequence[Operation]) -> Order:
    """Return the order of operations, by ``after`` and by streams.

    Raises:
        NoSchedule: An index does not exist.

    >>> order_of([Operation("a", "x", Fraction(1)), Operation("a", "y", Fraction(1))])
    Order(waits=[0, 1], followers=[[1], []])
    """
    last: dict[str, int] = {}
    waits, followers = [0] * len(operations), [list[int]() for _ in operations]
    for index, one in enumerate(operations):
        before = set(one.after)
        if any(not 0 <= other < len(operations) for other in before):
            raise NoSchedule(f"/operations/{index}/after", "must be indices of operations")
        if one.stream in last:
            before.add(last[one.stream])
        last[one.stream] = index
        waits[index] = len(before)
        for other in before:
            followers[other].append(index)
    return Order(waits, followers)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Start and end of every operation in ticks.

    >>> Timeline([0], [3], 2).seconds
    Fraction(3, 2)
    """

    starts: Sequence[int]
    ends: Sequence[int]
    ticks_per_second: int

    @property
    def seconds(self) -> Fraction:
        """End of the last operation."""
        return Fraction(max(self.ends, default=0), self.ticks_per_second)

    def start(self, index: int) -> Fraction:
        """Return the start of an operation, in seconds."""
        return Fraction(self.starts[index], self.ticks_per_second)

    def end(self, index: int) -> Fraction:
        """Return the end of an operation, in seconds."""
        return Fraction(self.ends[index], self.ticks_per_second)
