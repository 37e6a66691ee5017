"""Rates inside a host, times of messages and of kernels: all but latency and bandwidth."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """Measured nanoseconds of reductions and copies, by bytes; without measurements, none.

    >>> KernelTimes({1024: 100, 4096: 400}, {}).reduction(2048), KernelTimes().copy(2048)
    (200, 0)
    """

    reductions: Mapping[int, int] = field(default_factory=dict[int, int])
    copies: Mapping[int, int] = field(default_factory=dict[int, int])

    def reduction(self, size: int) -> int:
        """Return the nanoseconds of a reduction of ``size`` bytes."""
        return interpolated_seconds(self.reductions, size)

    def copy(self, size: int) -> int:
        """Return the nanoseconds of a copy of ``size`` bytes."""
        return interpolated_seconds(self.copies, size)


def interpolated_seconds(times: Mapping[int, int], size: int) -> int:
    """Return the time of a size, linear between two measured sizes and constant outside them.

    >>> [interpolated_seconds({10: 5, 20: 9}, size) for size in (1, 15, 99)]
    [5, 7, 9]
    >>> interpolated_seconds({}, 3)
    0
    """
    if not times:
        return 0
    below = max((known for known in times if known <= size), default=min(times))
    above = min((known for known in times if known >= size), default=max(times))
    if below >= above:
        return times[above if above >= size else below]
    share = Fraction(size - below, above - below)
    return round(times[below] + share * (times[above] - times[below]))


@dataclass(frozen=True, slots=True)
class Network:
    """Nanoseconds inside a host, per hop and per byte, and those of a message at either end."""

    inside_latency: Fraction
    inside_per_byte: Fraction
    overhead: Fraction
    kernels: KernelTimes = KernelTimes()


def per_byte(gbps: Fraction) -> Fraction:
    """Return the nanoseconds of a byte at a rate in Gbit/s.

    >>> per_byte(Fraction(200))
    Fraction(1, 25)
    """
    return 8 / gbps
