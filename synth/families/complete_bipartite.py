"""The balanced complete bipartite graph."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, require, two_way


class CompleteBipartite(Base):
    """CompleteBipartite(d): nodes 0..d-1 all joined to nodes d..2d-1, both ways."""

    d: int
    title = "complete bipartite graph K_{d,d}"
    source = "folklore; K_{d,d} in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require d >= 1."""
        require(self.d >= 1, "d", "must be at least 1")

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

    def bidirectional(self) -> bool:
        """Return True: every link has its partner."""
        return True

    def vertex_transitive(self) -> bool:
        """Return True, by permutations within the sides and the exchange of the sides."""
        return True

    def arc_transitive(self) -> bool:
        """Return True: by permutations within the sides and the exchange of the sides."""
        return True

    def claim(self) -> Claim:
        """Claim two steps, one for d = 1, at optimal bandwidth.

        In the second step the shards of the other d - 1 nodes of the own side arrive, each over
        any of the d links, so all links carry equal loads.
        """
        d = self.d
        return Claim(min(d, 2), optimal_bandwidth(2 * d), exact=True)
