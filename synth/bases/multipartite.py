"""Complete multipartite graphs, and complete bipartite ones less a perfect matching."""

from collections.abc import Iterator

import numpy as np

from synth.bases.balanced import Balanced
from synth.bases.family import Arguments, Ends, require, two_way
from synth.limits import capped_product
from synth.recipe import Base

__all__ = ["CompleteMultipartite", "Crown"]


class CompleteMultipartite(Balanced):
    """CompleteMultipartite(parts, size): nodes joined when they are in different parts.

    Node i of part p is p * size + i.  CompleteMultipartite(3, 2) is the octahedron.  Parts
    of one node and graphs of two parts have families of their own.
    """

    name = "CompleteMultipartite"
    parameters = ("parts", "size")
    title = "complete multipartite graph with parts of one size"
    source = "folklore"

    def check_domain(self, arguments: Arguments) -> None:
        """At least 3 parts of at least 2 nodes."""
        parts, size = arguments
        require(parts >= 3, "parts", "must be at least 3")
        require(size >= 2, "size", "must be at least 2")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """All nodes but those of one part."""
        parts, size = arguments
        return capped_product(parts, size), capped_product(parts - 1, size)

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by target."""
        nodes, _ = self.size(arguments)
        part = np.arange(nodes) // arguments[1]
        sources, targets = np.nonzero(part[:, None] != part)
        return sources, targets

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Parts are as large as the nodes that a node is not joined to, itself among them."""
        size = nodes - degree
        if degree >= 1 and size >= 2 and nodes % size == 0 and nodes // size >= 3:
            yield Base(self.name, (nodes // size, size))

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Arc-transitive: permutations of the parts and within each."""
        return True

    def diameter(self, arguments: Arguments) -> int:
        """Nodes of one part meet in another."""
        return 2


class Crown(Balanced):
    """Crown(n): nodes 0..n-1 and n..2n-1; i and n + j are joined unless i = j.

    The complete bipartite graph less a perfect matching.
    """

    name = "Crown"
    parameters = ("n",)
    title = "crown graph: complete bipartite graph less a perfect matching"
    source = "folklore; K_{5,5} - I in the list of Brouwer and Koolen 1999"

    def check_domain(self, arguments: Arguments) -> None:
        """Require n >= 3."""
        require(arguments[0] >= 3, "n", "must be at least 3")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """2n nodes, degree n - 1."""
        (n,) = arguments
        return 2 * n, n - 1

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by node of the first side; then their partners."""
        (n,) = arguments
        sources, targets = np.nonzero(~np.eye(n, dtype=np.bool_))
        return two_way(sources, targets + n)

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Twice as many nodes as links of a node and one."""
        if degree >= 2 and nodes == 2 * (degree + 1):
            yield Base(self.name, (degree + 1,))

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Arc-transitive: permutations of both sides at once, and their exchange."""
        return True

    def diameter(self, arguments: Arguments) -> int:
        """From a node to its partner in the matching."""
        return 3
