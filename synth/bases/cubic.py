"""Two-way graphs of degree 3: chordal rings and cube-connected cycles."""

from collections.abc import Iterator
from math import isqrt

import numpy as np

from synth.bases.balanced import Listed
from synth.bases.family import Arguments, Ends, Family, join, require, two_way
from synth.limits import capped_power, capped_product
from synth.recipe import Base

__all__ = ["ChordalRing", "CubeConnectedCycles"]


class ChordalRing(Family):
    """ChordalRing(n, w): a two-way ring, every even node x joined to x + w mod n as well.

    n is even and the chord w odd.  The chords w and n - w give mirror images; only those up
    to n / 2 are named.
    """

    name = "ChordalRing"
    parameters = ("n", "w")
    title = "chordal ring of degree 3"
    source = "Arden and Lee, IEEE Trans. Computers 30(4), 1981"

    def check_domain(self, arguments: Arguments) -> None:
        """Require an even ring and an odd chord that is no link of it."""
        n, w = arguments
        require(n >= 6 and n % 2 == 0, "n", "must be even and at least 6")
        require(3 <= w <= n // 2 and w % 2 == 1, "w", "must be odd, from 3 to n / 2")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give n nodes, degree 3."""
        return arguments[0], 3

    def links(self, arguments: Arguments) -> Ends:
        """Take the ring, then the chords from even nodes, then their partners."""
        n, w = arguments
        nodes, even = np.arange(n), np.arange(0, n, 2)
        ring, chords = (nodes, (nodes + 1) % n), (even, (even + w) % n)
        return two_way(*join([ring, chords]))

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield five chords about the square root of 2n, where few steps were measured."""
        if degree == 3 and nodes >= 6 and nodes % 2 == 0:
            middle = isqrt(2 * nodes) // 2 * 2 + 1
            for w in range(max(3, middle - 4), min(nodes // 2, middle + 4) + 1, 2):
                yield Base(self.name, (nodes, w))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Say yes: x -> x + 2 and x -> 1 - x."""
        return True


class CubeConnectedCycles(Listed):
    """CubeConnectedCycles(k): words of k bits with a place; the place moves or its bit flips.

    The word w at place i is node w k + i, joined to those at places i - 1 and i + 1 mod k
    and to the word with bit i flipped at the same place.
    """

    name = "CubeConnectedCycles"
    parameters = ("k",)
    title = "cube-connected cycles"
    source = "Preparata and Vuillemin, Comm. ACM 24(5), 1981"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 3."""
        require(arguments[0] >= 3, "k", "must be at least 3")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give k 2**k nodes, degree 3."""
        (k,) = arguments
        return capped_product(k, capped_power(2, k)), 3

    def links(self, arguments: Arguments) -> Ends:
        """Cycles forward, cycles backward, flips."""
        (k,) = arguments
        nodes = np.arange(k * 2**k)
        word, place = nodes // k, nodes % k
        ahead, back = word * k + (place + 1) % k, word * k + (place - 1) % k
        return join([(nodes, ahead), (nodes, back), (nodes, (word ^ 1 << place) * k + place)])

    def members(self) -> Iterator[Arguments]:
        """Beyond 12 the limits are passed."""
        return ((k,) for k in range(3, 13))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Say yes: words are added, and places and bits are rotated together."""
        return True
