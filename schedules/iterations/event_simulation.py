"""Event simulation of operations: streams in order, links shared by max-min fair speeds.

The clock counts ticks.  The tick divides the duration of every operation that runs alone, and
5,040 ticks or more make a femtosecond.  A duration at a shared speed rounds up to a whole tick.
"""

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.link_sharing import LinkShares
from topoloom.schedules.iterations.operations import Operation, Span, require_operations

TICKS_PER_SECOND = 5040 * 10**15
"""Least ticks of a second.  5,040 is divisible by 1 to 10: even shares of few are exact."""


def simulate(operations: Sequence[Operation], shares: LinkShares) -> list[Span]:
    """Return the start and end of every operation.

    An operation starts when all operations in ``after`` and the previous operation of its stream
    have ended.  O(n log n) for n operations, and one computation of speeds for each set of
    communications that share links at the same time.

    Raises
    ------
    NoSchedule
        Operations wait for each other in a circle.

    Examples
    --------
    >>> from topoloom.schedules.iterations.link_sharing import Row
    >>> one = Fraction(1)
    >>> work = [
    ...     Operation("compute", "layer", one),
    ...     Operation("data", "bucket", Fraction(0), (0,), 0, one * 2),
    ...     Operation("compute", "layer", one),
    ... ]
    >>> [(str(span.start), str(span.end)) for span in simulate(work, LinkShares([Row.of(1)]))]
    [('0', '1'), ('1', '3'), ('1', '2')]
    """
    require_operations(operations)
    return _Run(operations, shares).spans()


class _Run:
    """The state of a simulation."""

    def __init__(self, operations: Sequence[Operation], shares: LinkShares) -> None:
        self.operations, self.shares = operations, shares
        self.tick = _ticks_per_second(operations)
        self.waiting, self.next = _order(operations)
        self.start = [0] * len(operations)
        self.end = [0] * len(operations)
        # Events: (tick, operation, version); version -1 ends a latency or a computation.
        self.events: list[tuple[int, int, int]] = []
        self.active = 0
        # By row: operation, ticks left at speed 1, tick of the last change, version, speed.
        self.sent: dict[int, tuple[int, int, int, int, Fraction]] = {}
        self.versions = 0

    def spans(self) -> list[Span]:
        done = 0
        for index, count in enumerate(self.waiting):
            if count == 0:
                self._begin(index, 0)
        while self.events:
            now, index, version = heapq.heappop(self.events)
            one = self.operations[index]
            if version >= 0:
                assert one.traffic is not None
                if self.sent.get(one.traffic, (0, 0, 0, -1))[3] != version:
                    continue
                self._leave(one.traffic, now)
            elif one.traffic is not None and one.transfer:
                self._enter(index, one.traffic, now)
                continue
            self.end[index] = now
            done += 1
            for other in self.next[index]:
                self.waiting[other] -= 1
                if not self.waiting[other]:
                    self._begin(other, now)
        if done < len(self.operations):
            stuck = next(one for one, count in enumerate(self.waiting) if count)
            raise NoSchedule(f"/operations/{stuck}", "must not wait for itself in a circle")
        second = self.tick
        return [
            Span(Fraction(start, second), Fraction(end, second))
            for start, end in zip(self.start, self.end, strict=True)
        ]

    def _begin(self, index: int, now: int) -> None:
        self.start[index] = now
        seconds = self.operations[index].seconds
        ticks = seconds.numerator * (self.tick // seconds.denominator)
        heapq.heappush(self.events, (now + ticks, index, -1))

    def _enter(self, index: int, row: int, now: int) -> None:
        """Start the transfer of a communication."""
        transfer = self.operations[index].transfer
        left = transfer.numerator * (self.tick // transfer.denominator)
        self.active |= 1 << row
        self.sent[row] = index, left, now, -1, Fraction(0)
        self._share(self.shares.component(1 << row, self.active), now)

    def _leave(self, row: int, now: int) -> None:
        """End the transfer of a communication."""
        joined = self.shares.component(1 << row, self.active) & ~(1 << row)
        self.active &= ~(1 << row)
        del self.sent[row]
        while joined:
            part = self.shares.component(joined & -joined, self.active)
            self._share(part, now)
            joined &= ~part

    def _share(self, part: int, now: int) -> None:
        """Give the communications of a component their new speeds."""
        for row, speed in self.shares.component_speeds(part).items():
            index, left, since, _, before = self.sent[row]
            if speed == before:
                continue
            left -= (now - since) * before.numerator // before.denominator
            self.versions += 1
            self.sent[row] = index, left, now, self.versions, speed
            ends = now - (-left * speed.denominator // speed.numerator)
            heapq.heappush(self.events, (ends, index, self.versions))


def _ticks_per_second(operations: Sequence[Operation]) -> int:
    found = 1
    for one in {time for each in operations for time in (each.seconds, each.transfer)}:
        found = lcm(found, one.denominator)
    return found * -(-TICKS_PER_SECOND // found // 5040) * 5040


def _order(operations: Sequence[Operation]) -> tuple[list[int], list[list[int]]]:
    """Return for every operation how many it waits for, and the operations that wait for it."""
    last: dict[str, int] = {}
    waiting, following = [0] * len(operations), [list[int]() for _ in operations]
    for index, one in enumerate(operations):
        before = set(one.after)
        if one.stream in last:
            before.add(last[one.stream])
        last[one.stream] = index
        waiting[index] = len(before)
        for other in before:
            following[other].append(index)
    return waiting, following
