"""The network's speed, and a clock whose ticks divide all times exactly."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isfinite, lcm

from topoloom.schedules.errors import NoSchedule, TooLarge

MAX_TICKS = 1 << 62
"""Upper bound on times in ticks; the sum of two such times fits 64 bits."""


@dataclass(frozen=True, slots=True)
class Network:
    """The speed of a fabric.

    Args:
        alpha_seconds: Latency of a hop from rank to rank, whatever switches it passes: a message
            arrives this long after its last byte leaves.  The link may send the next message
            meanwhile.  None: each link has its own latency, stated in the topology, and a hop has
            those of all its links.
        unit_bytes_per_second: Rate of one unit of capacity of the topology: 10**9 for capacities in
            GB/s.
        overhead_seconds: Time for which every message occupies its first link in addition to its
            bytes.  The load of a link in a step is one message; so is a piece of a tree or route on
            an edge.
        chunk_seconds: The same for every chunk of a message; chunks need not be contiguous.
        channels: Number of links on which a node can send at a time.  With c channels, link i of a
            node (in the topology's order) uses channel i mod c.  Default: all links at once.

    Raises:
        NoSchedule: A value is out of its range.

    >>> Network(Fraction(1, 10**5), 10**9).unit_bytes_per_second
    Fraction(1000000000, 1)
    >>> Network(-1, 10**9)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /alpha_seconds: must not be negative
    """

    alpha_seconds: Fraction | None
    unit_bytes_per_second: Fraction
    overhead_seconds: Fraction = Fraction(0)
    channels: int | None = None
    chunk_seconds: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        names = ("alpha_seconds", "unit_bytes_per_second", "overhead_seconds", "chunk_seconds")
        for name in names:
            value = getattr(self, name)
            if name == "alpha_seconds" and value is None:
                continue
            assert value is not None
            if not isfinite(value) or value < 0:
                raise NoSchedule(f"/{name}", "must not be negative")
            object.__setattr__(self, name, Fraction(value))
        if not self.unit_bytes_per_second:
            raise NoSchedule("/unit_bytes_per_second", "must be positive")
        if self.channels is not None and self.channels < 1:
            raise NoSchedule("/channels", "must be at least 1")


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds per tick; every relevant time is a whole number of ticks."""

    tick: Fraction

    def ticks(self, seconds: Fraction) -> int:
        """Return a time in ticks, a whole number below `MAX_TICKS`."""
        whole = seconds / self.tick
        if whole.denominator != 1:
            raise AssertionError(f"{seconds} s is no multiple of {self.tick} s")
        if whole.numerator > MAX_TICKS:
            raise_no_clock()
        return whole.numerator

    def seconds(self, ticks: int) -> Fraction:
        """Return a number of ticks in seconds."""
        return ticks * self.tick


def clock_of(times: Iterable[Fraction]) -> Clock:
    """Return the clock with the longest tick that divides all times.

    >>> clock_of([Fraction(1, 6), Fraction(0), Fraction(1, 4)]).tick
    Fraction(1, 12)
    """
    used = [time for time in times if time]
    bottom = lcm(*(time.denominator for time in used))
    top = gcd(*(time.numerator * (bottom // time.denominator) for time in used))
    return Clock(Fraction(top or 1, bottom))


def raise_no_clock() -> None:
    """Raise the error of a simulation whose times do not fit 64 bits."""
    raise TooLarge(
        "/size_bytes",
        "no clock of 62 bits represents the times of this simulation exactly; "
        "rounder sizes, rates and latencies need fewer bits",
    )
