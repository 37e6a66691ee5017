"""The network's speed, and a clock whose ticks divide every time exactly."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isfinite, lcm

from topoloom.schedules.errors import NoSchedule, TooLarge

__all__ = ["MAX_TICKS", "Clock", "Network", "clock_of"]

MAX_TICKS = 1 << 62
"""No time in ticks passes this; two of them still add up within 64 bits."""


@dataclass(frozen=True, slots=True)
class Network:
    """How fast a fabric is.

    Parameters
    ----------
    alpha_seconds : Fraction
        Latency: a message is there so long after its last byte has left.  The link
        may send the next one meanwhile.
    unit_bytes_per_second : Fraction
        What one unit of capacity of the topology carries: 10**9 for capacities in GB/s.
    overhead_seconds : Fraction
        How long every message keeps its first link busy beside its bytes.  What a link carries in
        a step is one message; of trees and routes a piece on an edge is one.
    chunk_seconds : Fraction
        The same for every chunk of a message, which need not lie beside the others.
    channels : int, optional
        How many links a node can send on at a time.  With c channels, link i of a node
        (in the topology's order) uses channel i mod c.  All at once if left out.

    Raises
    ------
    NoSchedule
        A value is out of its range.

    Examples
    --------
    >>> Network(Fraction(1, 10**5), 10**9).unit_bytes_per_second
    Fraction(1000000000, 1)
    >>> Network(-1, 10**9)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /alpha_seconds: must not be negative
    """

    alpha_seconds: Fraction
    unit_bytes_per_second: Fraction
    overhead_seconds: Fraction = Fraction(0)
    channels: int | None = None
    chunk_seconds: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        names = ("alpha_seconds", "unit_bytes_per_second", "overhead_seconds", "chunk_seconds")
        for name in names:
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                raise NoSchedule(f"/{name}", "must not be negative")
            object.__setattr__(self, name, Fraction(value))
        if not self.unit_bytes_per_second:
            raise NoSchedule("/unit_bytes_per_second", "must be positive")
        if self.channels is not None and self.channels < 1:
            raise NoSchedule("/channels", "must be at least 1")


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds per tick; every time of interest is a whole number of ticks."""

    tick: Fraction

    def ticks(self, seconds: Fraction) -> int:
        """Return a time in ticks; it must be a whole number below `MAX_TICKS`."""
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
    """Return the clock of the longest tick that divides all these times.

    >>> clock_of([Fraction(1, 6), Fraction(0), Fraction(1, 4)]).tick
    Fraction(1, 12)
    """
    used = [time for time in times if time]
    bottom = lcm(*(time.denominator for time in used))
    top = gcd(*(time.numerator * (bottom // time.denominator) for time in used))
    return Clock(Fraction(top or 1, bottom))


def raise_no_clock() -> None:
    """Raise the error of a simulation that does not fit 64 bits."""
    raise TooLarge(
        "/size_bytes",
        "no clock of 62 bits tells the times of this simulation exactly; "
        "rounder sizes, rates and latencies need fewer",
    )
