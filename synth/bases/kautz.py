"""Kautz digraphs."""

from collections.abc import Iterator

from synth.bases.family import Arguments, Ends, Family, require
from synth.bases.generalized_kautz import GeneralizedKautz
from synth.cost import Claim
from synth.limits import capped_power, capped_product
from synth.recipe import Base

__all__ = ["Kautz"]


class Kautz(Family):
    """Kautz(d, k): words of k letters from d + 1, neighbours different; x1..xk -> x2..xk y.

    Built as GeneralizedKautz(d, d**k + d**(k - 1)), to which it is isomorphic; also
    L^(k-1) of the complete graph on d + 1 nodes.  Nodes are numbered as there.
    """

    name = "Kautz"
    parameters = ("d", "k")
    title = "Kautz digraph"
    source = "Kautz 1968; isomorphism: Imase and Itoh 1983"

    def check_domain(self, arguments: Arguments) -> None:
        """Require d >= 2 and k >= 1."""
        d, k = arguments
        require(d >= 2, "d", "must be at least 2")
        require(k >= 1, "k", "must be at least 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """(d + 1) d**(k - 1) nodes, degree d."""
        d, k = arguments
        return capped_product(d + 1, capped_power(d, k - 1)), d

    def links(self, arguments: Arguments) -> Ends:
        """Those of the generalized Kautz digraph of this size; none is a loop."""
        nodes, d = self.size(arguments)
        return GeneralizedKautz().links((d, nodes))

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Sizes (d + 1) d**(k - 1)."""
        size, k = degree + 1, 1
        while degree >= 2 and size < nodes:
            size, k = size * degree, k + 1
        if degree >= 2 and size == nodes:
            yield Base(self.name, (degree, k))

    def bidirectional(self, arguments: Arguments) -> bool:
        """Say yes for the complete graph."""
        return arguments[1] == 1

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Say yes for the complete graph; longer words differ in where letters repeat."""
        return arguments[1] == 1

    def claim(self, arguments: Arguments) -> Claim | None:
        """Take k steps, by the line graph theorem."""
        nodes, d = self.size(arguments)
        return GeneralizedKautz().claim((d, nodes))
