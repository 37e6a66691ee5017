"""Ports of panels, and the pairs of them that are joined."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Side(StrEnum):
    """The two sides of a panel; a panel that joins any two of its ports has only A."""

    A = "A"
    B = "B"


class Port(NamedTuple):
    """Port number ``index``, from 0, on a side of a panel."""

    panel: int
    side: Side
    index: int  # pyright: ignore[reportIncompatibleMethodOverride]


class Pair(NamedTuple):
    """A cross-connect: two joined ports of ``panel``, by their numbers.

    ``a`` is on the A side and ``b`` on the B side; light goes from a to b, and back too
    where the panel is bidirectional.  On a panel without sides both are of its one list of
    ports, and a < b.
    """

    panel: int
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Present:
    """The pairs plugged now, sorted; ``foreign`` are those of them that must not be touched.

    Some may belong to hosts that a topology does not use.

    >>> Present.of([(0, 2, 1), (0, 0, 2)]).pairs
    (Pair(panel=0, a=0, b=2), Pair(panel=0, a=2, b=1))
    """

    pairs: tuple[Pair, ...] = ()
    foreign: frozenset[Pair] = frozenset()

    @classmethod
    def of(
        cls, pairs: Iterable[tuple[int, int, int]], foreign: Iterable[tuple[int, int, int]] = ()
    ) -> "Present":
        """Return the wiring of those (panel, a, b)."""
        return cls(
            tuple(sorted(Pair(*pair) for pair in pairs)),
            frozenset(Pair(*pair) for pair in foreign),
        )
