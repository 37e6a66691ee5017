"""Complete, complete bipartite and complete multipartite graphs, and crowns."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.balanced import BalancedFamily
from topoloom.synth.families.family import Base, Ends, always, at_least, two_way
from topoloom.synth.limits import capped_product


class Complete(Base):
    """Complete(n[, width]): every node sends to every other over ``width`` parallel links."""

    n: int
    width: int = 1
    title = "complete graph of width parallel links"
    source = "folklore; K_{d+1} in arXiv:2202.03356"
    check_domain = at_least(n=2, width=1)

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree (n - 1) * ``width``."""
        return self.n, (self.n - 1) * self.width

    def links(self) -> Ends:
        """Return the links sorted by source, then by the offset of the target."""
        n, width = self.n, self.width
        sources = np.repeat(np.arange(n), (n - 1) * width)
        ahead = np.tile(np.repeat(np.arange(1, n), width), n)
        return sources, (sources + ahead) % n

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes - 1 divides the degree."""
        if nodes >= 2 and degree >= 1 and degree % (nodes - 1) == 0:
            yield cls(nodes, degree // (nodes - 1))

    bidirectional = always  # All ordered pairs of nodes have equally many links.

    def parallel(self) -> bool:
        """Return whether more than one link joins two nodes each way."""
        return self.width > 1

    vertex_transitive = always  # Every permutation of the nodes is an automorphism.
    arc_transitive = always  # Every permutation of the nodes is an automorphism.

    def claim(self) -> Claim:
        """Claim one step, in which every shard uses the links from its own node."""
        return Claim(1, optimal_bandwidth(self.n), exact=True)


class CompleteBipartite(Base):
    """CompleteBipartite(d): nodes 0..d-1 all joined to nodes d..2d-1, both ways."""

    d: int
    title = "complete bipartite graph K_{d,d}"
    source = "folklore; K_{d,d} in arXiv:2202.03356"
    check_domain = at_least(d=1)

    def size(self) -> tuple[int, int]:
        """Return 2 d nodes, degree d."""
        return 2 * self.d, self.d

    def links(self) -> Ends:
        """Return all links from the first side, then their partners."""
        d = self.d
        return two_way(np.repeat(np.arange(d), d), np.tile(np.arange(d, 2 * d), d))

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if the number of nodes is twice the degree."""
        if degree >= 1 and nodes == 2 * degree:
            yield cls(degree)

    bidirectional = always  # Every link has its partner.
    vertex_transitive = always  # By permutations within the sides and the exchange of the sides.
    arc_transitive = always  # By permutations within the sides and the exchange of the sides.

    def claim(self) -> Claim:
        """Claim two steps, one for d = 1, at optimal bandwidth.

        In the second step the shards of the other d - 1 nodes of the own side arrive, each over
        any of the d links, so all links carry equal loads.
        """
        d = self.d
        return Claim(min(d, 2), optimal_bandwidth(2 * d), exact=True)


class CompleteMultipartite(BalancedFamily):
    """CompleteMultipartite(parts, part_size): nodes joined when in different parts.

    Node i of part p is p * part_size + i.  CompleteMultipartite(3, 2) is the octahedron.  Parts
    of one node, and graphs of two parts, are separate families.
    """

    parts: int
    part_size: int
    title = "complete multipartite graph with parts of one size"
    source = "folklore"
    check_domain = at_least(parts=3, part_size=2)

    def size(self) -> tuple[int, int]:
        """Return parts * part_size nodes; every node is joined to all nodes of other parts."""
        parts, part = self.parts, self.part_size
        return capped_product(parts, part), capped_product(parts - 1, part)

    def links(self) -> Ends:
        """Return the links sorted by source, then by target."""
        part = np.arange(self.nodes) // self.part_size
        sources, targets = np.nonzero(part[:, None] != part)
        return sources, targets

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes - degree, the size of a part, divides nodes."""
        size = nodes - degree
        if degree >= 1 and size >= 2 and nodes % size == 0 and nodes // size >= 3:
            yield cls(nodes // size, size)

    vertex_transitive = always  # By permutations of the parts and within each.
    arc_transitive = always  # By the same permutations.

    def diameter(self) -> int:
        """Return 2: nodes of one part have a common neighbor in another."""
        return 2


class Crown(BalancedFamily):
    """Crown(n): nodes 0..n-1 and n..2n-1; i and n + j are joined unless i = j.

    The complete bipartite graph minus a perfect matching.
    """

    n: int
    title = "crown graph: complete bipartite graph minus a perfect matching"
    source = "folklore; K_{5,5} - I in the list of Brouwer and Koolen 1999"
    check_domain = at_least(n=3)

    def size(self) -> tuple[int, int]:
        """Return 2 n nodes, degree n - 1."""
        n = self.n
        return 2 * n, n - 1

    def links(self) -> Ends:
        """Return the links from the first side, sorted by source; then their partners."""
        n = self.n
        sources, targets = np.nonzero(~np.eye(n, dtype=np.bool_))
        return two_way(sources, targets + n)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes = 2 (degree + 1)."""
        if degree >= 2 and nodes == 2 * (degree + 1):
            yield cls(degree + 1)

    # By simultaneous permutations of both sides and the exchange of the sides.
    vertex_transitive = always
    arc_transitive = always  # By the same permutations.

    def diameter(self) -> int:
        """Return 3, the distance of the nodes i and n + i."""
        return 3
