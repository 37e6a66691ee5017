"""A digraph of 8 nodes that attains both lower bounds."""

from collections.abc import Iterator
from typing import Self

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.directed_circulant import DirectedCirculant
from topoloom.synth.families.family import Base, Ends


class Diamond(Base):
    """Diamond(): 8 nodes of degree 2, 3 steps, optimal bandwidth.

    The literature names such a digraph by its costs.  This one is DirectedCirculant(8, 1, 3),
    found by a search over the Cayley digraphs of all groups of order 8.  2, 3 and 2 nodes are at
    distance 1, 2 and 3, and at each distance the shards split evenly over the two links into a
    node.  Negation maps it to its transpose.  Its line graphs are better than the theorem's
    bound: the first takes 4 steps at 15 / 16.
    """

    title = "Diamond, the digraph of 8 nodes with 3 steps at optimal bandwidth"
    source = "costs of Diamond in arXiv:2202.03356; this digraph found by search"

    def check_domain(self) -> None:
        """Require nothing: there are no fields."""

    def size(self) -> tuple[int, int]:
        """Return 8 nodes, degree 2."""
        return 8, 2

    def links(self) -> Ends:
        """Return the links sorted by source."""
        return DirectedCirculant(8, 1, 3).links()

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the member for 8 nodes of degree 2."""
        if (nodes, degree) == (8, 2):
            yield cls()

    def vertex_transitive(self) -> bool:
        """Return True: the rotation x -> x + c mod 8 is an automorphism for every c."""
        return True

    def claim(self) -> Claim:
        """Claim 3 steps at optimal bandwidth, both lower bounds."""
        return Claim(3, optimal_bandwidth(8), exact=True)
