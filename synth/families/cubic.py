"""Two-way graphs of degree 3: chordal rings and cube-connected cycles."""

from collections.abc import Iterator
from math import isqrt
from typing import Self

import numpy as np

from topoloom.synth.families.balanced import EnumeratedFamily
from topoloom.synth.families.family import (
    Arguments,
    Base,
    Ends,
    always,
    at_least,
    join,
    require,
    two_way,
)
from topoloom.synth.limits import capped_power, capped_product


class ChordalRing(Base):
    """ChordalRing(n, w): a two-way ring, every even node x also joined to x + w mod n.

    n is even and the chord w odd.  The chords w and n - w give mirror images; the family includes
    only those up to n / 2.
    """

    n: int
    w: int
    title = "chordal ring of degree 3"
    source = "Arden and Lee, IEEE Trans. Computers 30(4), 1981"

    def check_domain(self) -> None:
        """Require an even ring and an odd chord that is no link of it."""
        n, w = self.n, self.w
        require(n >= 6 and n % 2 == 0, "n", "must be even and at least 6")
        require(3 <= w <= n // 2 and w % 2 == 1, "w", "must be odd, from 3 to n / 2")

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree 3."""
        return self.n, 3

    def links(self) -> Ends:
        """Return the ring, then the chords from even nodes, then all partners."""
        n, w = self.n, self.w
        nodes, even = np.arange(n), np.arange(0, n, 2)
        ring, chords = (nodes, (nodes + 1) % n), (even, (even + w) % n)
        return two_way(*join([ring, chords]))

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield five chords around the square root of 2n, which have few steps by measurement."""
        if degree == 3 and nodes >= 6 and nodes % 2 == 0:
            middle = isqrt(2 * nodes) // 2 * 2 + 1
            for w in range(max(3, middle - 4), min(nodes // 2, middle + 4) + 1, 2):
                yield cls(nodes, w)

    bidirectional = always  # Every link has its partner.
    # x -> x + 2 and x -> 1 - x together act transitively. The second maps the chord from x to x + w
    # to a chord from 1 - x - w, which is even.
    vertex_transitive = always


class CubeConnectedCycles(EnumeratedFamily):
    """CubeConnectedCycles(k): words of k bits with a position; the position moves or its bit flips.

    The word w at position i is node w k + i, joined to those at positions i - 1 and i + 1 mod k
    and to the word with bit i flipped at the same position.
    """

    k: int
    title = "cube-connected cycles"
    source = "Preparata and Vuillemin, Comm. ACM 24(5), 1981"
    check_domain = at_least(k=3)

    def size(self) -> tuple[int, int]:
        """Return k 2**k nodes, degree 3."""
        k = self.k
        return capped_product(k, capped_power(2, k)), 3

    def links(self) -> Ends:
        """Return links forward on the cycles, then backward, then bit flips."""
        k = self.k
        nodes = np.arange(k * 2**k)
        word, place = nodes // k, nodes % k
        ahead, back = word * k + (place + 1) % k, word * k + (place - 1) % k
        return join([(nodes, ahead), (nodes, back), (nodes, (word ^ 1 << place) * k + place)])

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield k from 3 to 12; larger members exceed the limits."""
        return ((k,) for k in range(3, 13))

    bidirectional = always  # Positions move both ways, and a flip is its own inverse.
    vertex_transitive = always  # By adding words, and by rotating positions and bits together.
