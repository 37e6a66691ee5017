"""Event simulation of operations: streams in order, links shared by max-min fair speeds.

The clock counts ticks.  The tick divides the duration of every operation that runs alone, and
5,040 ticks or more make a femtosecond.  A duration at a shared speed rounds up to a whole tick.
"""

import heapq
from collections.abc import Sequence
from math import lcm

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.link_sharing import LinkShares
from topoloom.schedules.iterations.operations import Operation, Order, Timeline, order_of

TICKS_PER_SECOND = 5040 * 10**15
"""Least ticks of a second.  5,040 is divisible by 1 to 10: even shares of few are exact."""


def simulate(
    operations: Sequence[Operation], shares: LinkShares, order: Order | None = None
) -> Timeline:
    """Return the start and end of every operation.

    An operation starts when all operations in ``after`` and the previous operation of its stream
    have ended.  O(n log n) for n operations, and one computation of speeds for each set of
    communications that share links at the same time.

    Args:
        shares: Rows of the communications.
        order: `order_of` the operations, if known.

    Raises:
        NoSchedule: A time is negative, two streams use one row, or operations wait for each other
            in a circle.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.iterations.link_sharing import Row
    >>> one = Fraction(1)
    >>> work = [
    ...     Operation("compute", "layer", one),
    ...     Operation("data", "bucket", Fraction(0), (0,), 0, one * 2),
    ...     Operation("compute", "layer", one),
    ... ]
    >>> found = simulate(work, LinkShares([Row.of(1)]))
    >>> [(str(found.start(place)), str(found.end(place))) for place in range(3)]
    [('0', '1'), ('1', '3'), ('1', '2')]
    """
    return _Run(operations, shares, order or order_of(operations)).timeline()


class _Run:
    """The state of a simulation."""

    def __init__(self, operations: Sequence[Operation], shares: LinkShares, order: Order) -> None:
        self.operations, self.shares = operations, shares
        self.tick = _ticks_per_second(operations)
        self.waiting, self.next = list(order.waits), order.followers
        self.start = [0] * len(operations)
        self.end = [0] * len(operations)
        # Events: (tick, operation, version); version -1 ends a latency or a computation.
        self.events: list[tuple[int, int, int]] = []
        self.active = 0
        # By row: operation, ticks left at speed 1, tick of the last change, version, speed.
        self.sent: dict[int, tuple[int, int, int, int, tuple[int, int]]] = {}
        self.streams: dict[int, str] = {}
        self.versions = 0

    def timeline(self) -> Timeline:
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
            elif one.traffic is not None and one.transfer.numerator:
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
        return Timeline(self.start, self.end, self.tick)

    def _begin(self, index: int, now: int) -> None:
        self.start[index] = now
        seconds = self.operations[index].seconds
        ticks = seconds.numerator * (self.tick // seconds.denominator)
        heapq.heappush(self.events, (now + ticks, index, -1))

    def _enter(self, index: int, row: int, now: int) -> None:
        """Start the transfer of a communication."""
        transfer, stream = self.operations[index].transfer, self.operations[index].stream
        if self.streams.setdefault(row, stream) != stream:
            raise NoSchedule(
                f"/operations/{index}/traffic", f"must not be a row of {stream!r}, too"
            )
        left = transfer.numerator * (self.tick // transfer.denominator)
        self.active |= 1 << row
        self.sent[row] = index, left, now, -1, (0, 1)
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
        for row, speed in self.shares.component_ratios(part):
            index, left, since, _, before = self.sent[row]
            if speed == before:
                continue
            left -= (now - since) * before[0] // before[1]
            self.versions += 1
            self.sent[row] = index, left, now, self.versions, speed
            ends = now - (-left * speed[1] // speed[0])
            heapq.heappush(self.events, (ends, index, self.versions))


def _ticks_per_second(operations: Sequence[Operation]) -> int:
    """Return the ticks of a second; raise for a negative time."""
    denominators = set[int]()
    for index, one in enumerate(operations):
        for time in (one.seconds, one.transfer):
            denominators.add(time.denominator)
            if time.numerator < 0:
                raise NoSchedule(f"/operations/{index}", "must not take negative time")
    found = lcm(*denominators)
    return found * -(-TICKS_PER_SECOND // found // 5040) * 5040
