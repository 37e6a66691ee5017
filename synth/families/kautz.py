"""Kautz digraphs."""

from collections.abc import Iterator
from typing import Self

from topoloom.synth.evaluation.cost import Claim
from topoloom.synth.families.family import Base, Ends, at_least
from topoloom.synth.families.generalized_kautz import GeneralizedKautz
from topoloom.synth.limits import capped_power, capped_product


class Kautz(Base):
    """Kautz(d, k): words of k letters from d + 1, adjacent letters distinct; x1..xk -> x2..xk y.

    Built as GeneralizedKautz(d, d**k + d**(k - 1)), to which it is isomorphic, with the same
    numbering; also L^(k-1) of the complete graph on d + 1 nodes.
    """

    d: int
    k: int
    title = "Kautz digraph"
    source = "Kautz 1968; isomorphism: Imase and Itoh 1983"
    check_domain = at_least(d=2, k=1)

    def size(self) -> tuple[int, int]:
        """Return (d + 1) d**(k - 1) nodes, degree d."""
        d, k = self.d, self.k
        return capped_product(d + 1, capped_power(d, k - 1)), d

    def links(self) -> Ends:
        """Return the links of the generalized Kautz digraph of this size, which has no loops."""
        return GeneralizedKautz(self.d, self.nodes).links()

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes = (degree + 1) degree**(k - 1) for some k."""
        size, k = degree + 1, 1
        while degree >= 2 and size < nodes:
            size, k = size * degree, k + 1
        if degree >= 2 and size == nodes:
            yield cls(degree, k)

    def bidirectional(self) -> bool:
        """Return whether it is the complete graph, k = 1."""
        return self.k == 1

    def vertex_transitive(self) -> bool:
        """Return whether k <= 2: only some words of three letters repeat the first letter.

        Words of two letters are the links of the complete graph, and permutations of the letters
        take any of them to any other.
        """
        return self.k <= 2

    def arc_transitive(self) -> bool:
        """Return whether it is the complete graph, k = 1."""
        return self.k == 1

    def claim(self) -> Claim | None:
        """Claim k steps and the bandwidth of the line graph theorem."""
        return GeneralizedKautz(self.d, self.nodes).claim()
