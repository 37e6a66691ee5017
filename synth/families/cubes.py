"""Relatives of the hypercube: folded, halved, twisted."""

from collections.abc import Iterator
from itertools import combinations
from typing import Self

import numpy as np

from topoloom.synth.families.balanced import BalancedFamily
from topoloom.synth.families.family import Base, Ends, always, at_least
from topoloom.synth.families.hypercube import Hypercube
from topoloom.synth.limits import capped_power


class FoldedCube(BalancedFamily):
    """FoldedCube(k): words of k - 1 bits, joined when they differ in one bit or in all.

    The hypercube of k bits with antipodal words identified.
    """

    k: int
    title = "folded cube"
    source = "El-Amawy and Latifi 1991; Brouwer, Cohen, Neumaier, section 9.2D"
    check_domain = at_least(k=3)

    def size(self) -> tuple[int, int]:
        """Return 2**(k - 1) nodes, degree k."""
        k = self.k
        return capped_power(2, k - 1), k

    def links(self) -> Ends:
        """Return the links sorted by source; the link to the opposite word comes last."""
        k = self.k
        return _by_masks(k - 1, [*(1 << i for i in range(k - 1)), 2 ** (k - 1) - 1])

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes is half of the hypercube of this degree."""
        if degree >= 3 and nodes == capped_power(2, degree - 1):
            yield cls(degree)

    # Adding a word is an automorphism (and permuting the k bits is one).
    vertex_transitive = always

    def diameter(self) -> int:
        """Return k / 2 rounded down: the nearer of a word and its opposite counts."""
        return self.k // 2


class HalvedCube(BalancedFamily):
    """HalvedCube(k): words of k - 1 bits, joined when they differ in one or two bits.

    The words of k bits of even weight, without the last bit, joined when they differ in two bits.
    """

    k: int
    title = "halved cube"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.2D"
    check_domain = at_least(k=3)

    def size(self) -> tuple[int, int]:
        """Return 2**(k - 1) nodes, degree k (k - 1) / 2: any two of k bits may change."""
        k = self.k
        return capped_power(2, k - 1), k * (k - 1) // 2

    def links(self) -> Ends:
        """Return the links sorted by source; one-bit changes come first."""
        k = self.k
        single = [1 << i for i in range(k - 1)]
        return _by_masks(k - 1, [*single, *(a | b for a, b in combinations(single, 2))])

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes = 2**(k - 1) and degree = k (k - 1) / 2."""
        k = nodes.bit_length()
        if k >= 3 and nodes == 2 ** (k - 1) and degree == k * (k - 1) // 2:
            yield cls(k)

    # Adding a word is an automorphism (and permuting the k bits is one).
    vertex_transitive = always

    def diameter(self) -> int:
        """Return k / 2 rounded down: two bits change at a time."""
        return self.k // 2


class TwistedHypercube(Base):
    """TwistedHypercube(k): the hypercube with one pair of links crossed; k - 1 steps.

    The twisted cube of Esfahanian, Ni and Sagan: of the 4-cycle 0, 1, 3, 2 the links 0-1
    and 2-3 are replaced by 0-3 and 1-2.
    """

    k: int
    title = "twisted cube: the hypercube with one pair of links crossed"
    source = "Esfahanian, Ni, Sagan, IEEE Trans. Computers 40(1), 1991"
    check_domain = at_least(k=3)

    def size(self) -> tuple[int, int]:
        """Return 2**k nodes, degree k."""
        return capped_power(2, self.k), self.k

    def links(self) -> Ends:
        """Return the links of the hypercube, in its order, four of them with other ends."""
        sources, targets = Hypercube(self.k).links()
        crossed = (sources < 4) & (sources ^ targets == 1)
        return sources, np.where(crossed, targets ^ 2, targets)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes = 2**degree."""
        if degree >= 3 and nodes == capped_power(2, degree):
            yield cls(degree)

    bidirectional = always  # Partners of crossed links are crossed too.


def _by_masks(bits: int, masks: list[int]) -> Ends:
    """Return the links from every word to its sums with the masks."""
    sources = np.repeat(np.arange(2**bits), len(masks))
    return sources, sources ^ np.tile(np.array(masks, np.int64), 2**bits)
