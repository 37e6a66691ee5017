"""A traced program: the collectives of one rank, in streams, with the gaps between them.

The collectives of a stream run one after the other.  The gaps between them are computations: they
keep their measured length, as do collectives whose algorithm has no model here.  Streams run beside
each other, and the program ends with the last.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.network_curves.convex_curve import (
    Line,
    Piece,
    convex_pieces,
    last_place_within,
    value_at,
)
from topoloom.schedules.network_curves.network import Network
from topoloom.schedules.network_curves.ring_collective import RingCollective
from topoloom.schedules.network_curves.ring_time import ring_time


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream: nanoseconds of fixed length, and the number of each collective."""

    fixed: int
    collectives: Mapping[RingCollective, int]


@dataclass(frozen=True, slots=True)
class Program:
    """The streams of a rank, with the measured nanoseconds from first start to last end."""

    streams: tuple[Stream, ...]
    measured: int

    @property
    def collectives(self) -> Counter[RingCollective]:
        """The number of each collective in all streams."""
        found: Counter[RingCollective] = Counter()
        for stream in self.streams:
            found.update(stream.collectives)
        return found


Curves = Mapping[RingCollective, tuple[Piece, ...]]
"""The pieces of each collective's time along one axis."""


def latency_curves(
    program: Program, network: Network, per_byte: Fraction, most: Fraction
) -> Curves:
    """Return the nanoseconds of each collective over latencies from 0 to ``most`` nanoseconds."""

    def line(work: RingCollective, latency: Fraction) -> Line:
        path = ring_time(work, network, latency, per_byte)
        return path.fixed + path.sent * per_byte, Fraction(path.latencies)

    return _curves(program, line, Fraction(0), most)


def bandwidth_curves(
    program: Program, network: Network, latency: Fraction, least: Fraction, most: Fraction
) -> Curves:
    """Return the nanoseconds of each collective over the nanoseconds of a byte."""

    def line(work: RingCollective, per_byte: Fraction) -> Line:
        path = ring_time(work, network, latency, per_byte)
        return path.fixed + path.latencies * latency, Fraction(path.sent)

    return _curves(program, line, least, most)


def _curves(
    program: Program,
    line: Callable[[RingCollective, Fraction], Line],
    start: Fraction,
    end: Fraction,
) -> Curves:
    return {
        work: convex_pieces(lambda place, work=work: line(work, place), start, end)
        for work in program.collectives
    }


def program_pieces(
    program: Program, curves: Curves, start: Fraction, end: Fraction
) -> tuple[Piece, ...]:
    """Return the pieces of the whole program along the axis of the curves of its collectives.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> flat = RingCollective(Collective.ALLGATHER, 1, ())
    >>> both = Program((Stream(5, {flat: 2}), Stream(9, {})), 9)
    >>> curves = {flat: (Piece(Fraction(0), Fraction(0), Fraction(1)),)}
    >>> [(int(one.start), int(one.value), int(one.slope))
    ...  for one in program_pieces(both, curves, Fraction(0), Fraction(10))]
    [(0, 9, 0), (2, 5, 2)]
    """

    def line(place: Fraction) -> Line:
        found = [_stream_line(stream, curves, place) for stream in program.streams]
        return max(found, key=lambda one: one[0] + one[1] * place)

    return convex_pieces(line, start, end)


def _stream_line(stream: Stream, curves: Curves, place: Fraction) -> Line:
    value, slope = Fraction(stream.fixed), Fraction(0)
    for work, count in stream.collectives.items():
        piece = max(curves[work], key=lambda one: one.at(place))
        value += count * piece.value
        slope += count * piece.slope
    return value, slope


def last_tolerated_place(
    pieces: tuple[Piece, ...], place: Fraction, slowdown: Fraction, end: Fraction
) -> Fraction | None:
    """Return the last place where a program takes at most 1 + ``slowdown`` of its time at a place.

    None if this holds up to ``end``.
    """
    found = last_place_within(pieces, value_at(pieces, place) * (1 + slowdown))
    return None if found is None or found >= end else found
