"""Relatives of the hypercube: folded, halved, twisted."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from synth.bases.balanced import Balanced
from synth.bases.family import Arguments, Ends, Family, require
from synth.bases.hypercube import Hypercube
from synth.limits import capped_power
from synth.recipe import Base

__all__ = ["FoldedCube", "HalvedCube", "TwistedHypercube"]


class FoldedCube(Balanced):
    """FoldedCube(k): words of k - 1 bits, joined when they differ in one bit or in all.

    The hypercube of k bits with antipodal words made one.
    """

    name = "FoldedCube"
    parameters = ("k",)
    title = "folded cube"
    source = "El-Amawy and Latifi 1991; Brouwer, Cohen, Neumaier, section 9.2D"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 3."""
        require(arguments[0] >= 3, "k", "must be at least 3")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """2**(k - 1) nodes, degree k."""
        (k,) = arguments
        return capped_power(2, k - 1), k

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source; the link to the opposite word last."""
        (k,) = arguments
        return _by_masks(k - 1, [*(1 << i for i in range(k - 1)), 2 ** (k - 1) - 1])

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Half as many nodes as the hypercube of this degree."""
        if degree >= 3 and nodes == capped_power(2, degree - 1):
            yield Base(self.name, (degree,))

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Arc-transitive: words are added, and permutations of the k bits remain."""
        return True

    def diameter(self, arguments: Arguments) -> int:
        """Of a word and its opposite the nearer one counts."""
        return arguments[0] // 2


class HalvedCube(Balanced):
    """HalvedCube(k): words of k - 1 bits, joined when they differ in one or two bits.

    The words of k bits of even weight, the last bit left out, joined when they differ
    in two bits.
    """

    name = "HalvedCube"
    parameters = ("k",)
    title = "halved cube"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.2D"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 3."""
        require(arguments[0] >= 3, "k", "must be at least 3")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """2**(k - 1) nodes; any two of k bits may change."""
        (k,) = arguments
        return capped_power(2, k - 1), k * (k - 1) // 2

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source; links by one bit first."""
        (k,) = arguments
        single = [1 << i for i in range(k - 1)]
        return _by_masks(k - 1, [*single, *(a | b for a, b in combinations(single, 2))])

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Powers of two."""
        k = nodes.bit_length()
        if k >= 3 and (nodes, degree) == self.size((k,)):
            yield Base(self.name, (k,))

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Arc-transitive: words are added, and permutations of the k bits remain."""
        return True

    def diameter(self, arguments: Arguments) -> int:
        """Two bits at a time."""
        return arguments[0] // 2


class TwistedHypercube(Family):
    """TwistedHypercube(k): the hypercube with one pair of links crossed; k - 1 steps.

    The twisted cube of Esfahanian, Ni and Sagan: of the 4-cycle 0, 1, 3, 2 the links 0-1
    and 2-3 are replaced by 0-3 and 1-2.
    """

    name = "TwistedHypercube"
    parameters = ("k",)
    title = "twisted cube: the hypercube with one pair of links crossed"
    source = "Esfahanian, Ni, Sagan, IEEE Trans. Computers 40(1), 1991"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 3."""
        require(arguments[0] >= 3, "k", "must be at least 3")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """2**k nodes, degree k."""
        return Hypercube().size(arguments)

    def links(self, arguments: Arguments) -> Ends:
        """Those of the hypercube, in its order, four of them ending elsewhere."""
        sources, targets = Hypercube().links(arguments)
        crossed = (sources < 4) & (sources ^ targets == 1)
        return sources, np.where(crossed, targets ^ 2, targets)

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Powers of two."""
        if degree >= 3 and nodes == capped_power(2, degree):
            yield Base(self.name, (degree,))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True


def _by_masks(bits: int, masks: list[int]) -> Ends:
    """Return the links from every word to its sums with the masks."""
    sources = np.repeat(np.arange(2**bits), len(masks))
    return sources, sources ^ np.tile(np.array(masks, np.int64), 2**bits)
