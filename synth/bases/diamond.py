"""A digraph of 8 nodes that reaches both lower bounds."""

from collections.abc import Iterator

from synth.bases.directed_circulant import DirectedCirculant
from synth.bases.family import Arguments, Ends, Family
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["Diamond"]


class Diamond(Family):
    """Diamond(): 8 nodes of degree 2, 3 steps, optimal bandwidth.

    The literature names such a digraph by its figures.  This one is
    DirectedCirculant(8, 1, 3), found by search over the Cayley digraphs of all groups of
    order 8.  Of its nodes 2, 3 and 2 are at distance 1, 2 and 3, and at each distance the
    shards split evenly over the two links in.  Negation maps it to its transpose.  Its line
    graphs do better than the theorem's bound: the first takes 4 steps at 15 / 16.
    """

    name = "Diamond"
    parameters = ()
    title = "Diamond, the digraph of 8 nodes with 3 steps at optimal bandwidth"
    source = "figures of Diamond in arXiv:2202.03356; this one found by search"

    def check_domain(self, arguments: Arguments) -> None:
        """Take no argument."""

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """8 nodes, degree 2."""
        return 8, 2

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source."""
        return DirectedCirculant().links((8, 1, 3))

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Its one size."""
        if (nodes, degree) == (8, 2):
            yield Base(self.name)

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Rotations move every node to every other."""
        return True

    def claim(self, arguments: Arguments) -> Claim:
        """Reach both lower bounds."""
        return Claim(3, optimal_bandwidth(8), exact=True)
