"""Complete multipartite graphs, and complete bipartite graphs minus a perfect matching."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.families.balanced import BalancedFamily
from topoloom.synth.families.family import Ends, require, two_way
from topoloom.synth.limits import capped_product


class CompleteMultipartite(BalancedFamily):
    """CompleteMultipartite(parts, part_size): nodes joined when in different parts.

    Node i of part p is p * part_size + i.  CompleteMultipartite(3, 2) is the octahedron.  Parts
    of one node, and graphs of two parts, are separate families.
    """

    parts: int
    part_size: int
    title = "complete multipartite graph with parts of one size"
    source = "folklore"

    def check_domain(self) -> None:
        """Require at least 3 parts of at least 2 nodes."""
        require(self.parts >= 3, "parts", "must be at least 3")
        require(self.part_size >= 2, "part_size", "must be at least 2")

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

    def vertex_transitive(self) -> bool:
        """Return True, by permutations of the parts and within each."""
        return True

    def arc_transitive(self) -> bool:
        """Return True, by the same permutations."""
        return True

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

    def check_domain(self) -> None:
        """Require n >= 3."""
        require(self.n >= 3, "n", "must be at least 3")

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

    def vertex_transitive(self) -> bool:
        """Return True, by simultaneous permutations of both sides and the exchange of the sides."""
        return True

    def arc_transitive(self) -> bool:
        """Return True, by the same permutations."""
        return True

    def diameter(self) -> int:
        """Return 3, the distance of the nodes i and n + i."""
        return 3
