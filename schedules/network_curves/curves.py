"""Curves of a program: over latency at some bandwidths, over bandwidth at some latencies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from topoloom.schedules.network_curves.convex_curve import Piece
from topoloom.schedules.network_curves.network import Network
from topoloom.schedules.network_curves.program import (
    Program,
    bandwidth_curves,
    last_tolerated_place,
    latency_curves,
    program_pieces,
)

SLOWDOWNS = Fraction(1, 100), Fraction(5, 100), Fraction(10, 100)


@dataclass(frozen=True, slots=True)
class Axes:
    """Places of the curves and ends of the axes, in nanoseconds and nanoseconds per byte.

    The first latency and the first time of a byte are the reference of slowdowns.
    """

    latencies: Sequence[Fraction]
    rates: Sequence[Fraction]
    most_latency: Fraction
    least_rate: Fraction
    most_rate: Fraction


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve of the whole program; places and times are nanoseconds, rates those of a byte.

    ``tolerances`` has for each slowdown against the reference the last place within it, or None
    if no place up to the end exceeds the slowdown.
    """

    over: Literal["latency_us", "gbps"]
    other: Fraction
    reference: Fraction
    end: Fraction
    pieces: tuple[Piece, ...]
    tolerances: Mapping[Fraction, Fraction | None]


def network_curves(program: Program, network: Network, axes: Axes) -> Iterator[Curve]:
    """Yield a curve over latency for each rate, then one over bandwidth for each latency.

    Raises:
        TooLarge: A collective has too many messages.
    """
    latency, rate = axes.latencies[0], axes.rates[0]
    end = max(axes.most_latency, latency)
    for other in axes.rates:
        found = latency_curves(program, network, other, end)
        pieces = program_pieces(program, found, Fraction(0), end)
        yield Curve("latency_us", other, latency, end, pieces, _limits(pieces, latency, end))
    start, end = min(axes.least_rate, rate), max(axes.most_rate, rate)
    for other in axes.latencies:
        found = bandwidth_curves(program, network, other, start, end)
        pieces = program_pieces(program, found, start, end)
        yield Curve("gbps", other, rate, end, pieces, _limits(pieces, rate, end))


def _limits(
    pieces: tuple[Piece, ...], reference: Fraction, end: Fraction
) -> dict[Fraction, Fraction | None]:
    return {
        slowdown: last_tolerated_place(pieces, reference, slowdown, end) for slowdown in SLOWDOWNS
    }
