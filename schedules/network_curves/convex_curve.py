"""All pieces of a convex function that is linear by pieces, exactly.

The function is given by a supporting line at each place.  Two lines that support the function at
both ends of an interval meet at one place; the function either has a corner there, or its line at
this place is a new piece between the two.  So k pieces need at most 2 k + 1 lines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece: ``value`` + ``slope`` x place from ``start`` to the start of the next piece."""

    start: Fraction
    value: Fraction
    slope: Fraction

    def at(self, place: Fraction) -> Fraction:
        """Return the value of the line of this piece at a place."""
        return self.value + self.slope * place


Line = tuple[Fraction, Fraction]
"""Value at 0, and slope."""


def convex_pieces(
    line_at: Callable[[Fraction], Line], start: Fraction, end: Fraction
) -> tuple[Piece, ...]:
    """Return the pieces between two places, from the lines that support a convex function.

    >>> def greatest(place):
    ...     return max(((Fraction(3), Fraction(0)), (Fraction(0), Fraction(1))),
    ...                key=lambda line: line[0] + line[1] * place)
    >>> [(int(piece.start), int(piece.slope)) for piece in
    ...  convex_pieces(greatest, Fraction(0), Fraction(9))]
    [(0, 0), (3, 1)]
    """
    first, last = line_at(start), line_at(end)
    lines = [first]
    todo = [(first, last)]
    while todo:
        left, right = todo.pop()
        if left[1] == right[1]:
            continue
        corner = (left[0] - right[0]) / (right[1] - left[1])
        middle = line_at(corner)
        if middle[0] + middle[1] * corner == left[0] + left[1] * corner:
            lines.append(right)
        else:
            # The left half comes first off the stack: lines stay in order.
            todo += [(middle, right), (left, middle)]
    starts = [start] + [(a[0] - b[0]) / (b[1] - a[1]) for a, b in pairwise(lines)]
    # A line that only touches the function at the first place or at the last is no piece.
    return tuple(
        Piece(place, *line)
        for place, after, line in zip(starts, [*starts[1:], end], lines, strict=True)
        if place < after or start == end
    )


def value_at(pieces: Sequence[Piece], place: Fraction) -> Fraction:
    """Return the value of a convex function at a place, from its pieces."""
    return max(piece.at(place) for piece in pieces)


def last_place_within(pieces: Sequence[Piece], limit: Fraction) -> Fraction | None:
    """Return the last place of a nondecreasing curve with at most a value; None without end.

    >>> ramp = (Piece(Fraction(0), Fraction(2), Fraction(0)),
    ...         Piece(Fraction(4), Fraction(-2), Fraction(1)))
    >>> last_place_within(ramp, Fraction(5)), last_place_within(ramp[:1], Fraction(5))
    (Fraction(7, 1), None)
    """
    ends = [(limit - piece.value) / piece.slope for piece in pieces if piece.slope > 0]
    return min(ends, default=None)
