"""Event simulation of operations: streams in order, links shared by max-min fair speeds.

The clock counts ticks that divide the duration of every operation that runs alone; 5,040 ticks or
more make a femtosecond.  A duration at a shared speed rounds up to a whole tick.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.link_sharing import LinkShares
from topoloom.schedules.iterations.operations import Operation, Order, Timeline, order_of

TICKS_PER_SECOND = 5040 * 10**15
"""Least ticks of a second.  5,040 is divisible by 1 to 10: even shares of few are exact."""


def in_ticks(operations: Sequence[Operation]) -> tuple[int, list[tuple[int, int]]]:
    """Return the ticks of a second, and the ticks of every operation: seconds, transfer.

    Raises:
        NoSchedule: A time is negative.
    """
    times = {id(time): time for one in operations for time in (one.seconds, one.transfer)}
    found = lcm(*{time.denominator for time in times.values()})
    second = found * -(-TICKS_PER_SECOND // found // 5040) * 5040
    known = {key: time.numerator * (second // time.denominator) for key, time in times.items()}
    ticks = [(known[id(one.seconds)], known[id(one.transfer)]) for one in operations]
    for index, pair in enumerate(ticks):
        if min(pair) < 0:
            raise NoSchedule(f"/operations/{index}", "must not take negative time")
    return second, ticks


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
    >>> from topoloom.schedules.iterations.communications import Row
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
        self.tick, self.ticks = in_ticks(operations)
        self.waiting, self.next = list(order.waits), order.followers
        self.start = [0] * len(operations)
        self.end = [0] * len(operations)
        # Events: (tick, operation, version).  Version -1 ends a latency or a computation; others
        # end the first transfer of a component, and are void after a newer version of its row.
        self.events: list[tuple[int, int, int]] = []
        self.active = 0
        self.sent: dict[int, _Transfer] = {}
        self.streams: dict[int, str] = {}
        self.versions = 0

    def timeline(self) -> Timeline:
        done, events, operations = 0, self.events, self.operations
        for index, count in enumerate(self.waiting):
            if count == 0:
                self._begin(index, 0)
        while events:
            now, index, version = heapq.heappop(events)
            row = operations[index].traffic
            if version >= 0:
                assert row is not None
                if row not in self.sent or self.sent[row].version != version:
                    continue
                self._leave(row, now)
            elif row is not None and self.ticks[index][1]:
                self._enter(index, row, now)
                continue
            self.end[index] = now
            done += 1
            for other in self.next[index]:
                self.waiting[other] -= 1
                if not self.waiting[other]:
                    self._begin(other, now)
        if done < len(operations):
            stuck = next(one for one, count in enumerate(self.waiting) if count)
            raise NoSchedule(f"/operations/{stuck}", "must not wait for itself in a circle")
        return Timeline(self.start, self.end, self.tick)

    def _begin(self, index: int, now: int) -> None:
        self.start[index] = now
        heapq.heappush(self.events, (now + self.ticks[index][0], index, -1))

    def _enter(self, index: int, row: int, now: int) -> None:
        """Start the transfer of a communication."""
        stream = self.operations[index].stream
        if self.streams.setdefault(row, stream) != stream:
            raise NoSchedule(
                f"/operations/{index}/traffic", f"must not be a row of {stream!r}, too"
            )
        self.active |= 1 << row
        self.sent[row] = _Transfer(index, self.ticks[index][1], now)
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
        """Give the communications of a component their new speeds; add its first end."""
        self.versions += 1
        first, place = -1, -1
        for row, speed in self.shares.component_ratios(part):
            one = self.sent[row]
            one.version = self.versions
            if speed != one.speed:
                fast, slow = one.speed
                one.left -= (now - one.since) * fast // slow
                one.since, one.speed = now, speed
                one.ends = now - (-one.left * speed[1] // speed[0])
            if first < 0 or one.ends < first or (one.ends == first and one.index < place):
                first, place = one.ends, one.index
        heapq.heappush(self.events, (first, place, self.versions))


@dataclass(slots=True)
class _Transfer:
    """A transfer: its operation, ticks left at speed 1 at a tick, and the speed since then.

    ``version`` is that of the newest shares of its component.
    """

    index: int
    left: int
    since: int
    speed: tuple[int, int] = (0, 1)
    ends: int = -1
    version: int = -1
