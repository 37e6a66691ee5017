"""The balanced complete bipartite graph."""

from collections.abc import Iterator

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require, two_way
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["CompleteBipartite"]


class CompleteBipartite(Family):
    """CompleteBipartite(d): nodes 0..d-1 all joined to nodes d..2d-1, both ways."""

    name = "CompleteBipartite"
    parameters = ("d",)
    title = "complete bipartite graph K_{d,d}"
    source = "folklore; K_{d,d} in arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require d >= 1."""
        require(arguments[0] >= 1, "d", "must be at least 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """2d nodes, degree d."""
        return 2 * arguments[0], arguments[0]

    def links(self, arguments: Arguments) -> Ends:
        """All links from the first side, then their partners."""
        (d,) = arguments
        return two_way(np.repeat(np.arange(d), d), np.tile(np.arange(d, 2 * d), d))

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Twice as many nodes as links of a node."""
        if degree >= 1 and nodes == 2 * degree:
            yield Base(self.name, (degree,))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Permutations within the sides and the exchange of the sides."""
        return True

    def claim(self, arguments: Arguments) -> Claim:
        """Two steps; in the second, d - 1 shards are free to use all d links."""
        (d,) = arguments
        return Claim(min(d, 2), optimal_bandwidth(2 * d), exact=True)
