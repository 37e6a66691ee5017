"""The complete graph."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, require


class Complete(Base):
    """Complete(n[, width]): every node sends to every other over ``width`` parallel links."""

    n: int
    width: int = 1
    title = "complete graph of width parallel links"
    source = "folklore; K_{d+1} in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require n >= 2 and width >= 1."""
        require(self.n >= 2, "n", "must be at least 2")
        require(self.width >= 1, "width", "must be at least 1")

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

    def bidirectional(self) -> bool:
        """Return True: all ordered pairs of nodes have equally many links."""
        return True

    def parallel(self) -> bool:
        """Return whether more than one link joins two nodes each way."""
        return self.width > 1

    def vertex_transitive(self) -> bool:
        """Return True: every permutation of the nodes is an automorphism."""
        return True

    def arc_transitive(self) -> bool:
        """Return True: every permutation of the nodes is an automorphism."""
        return True

    def claim(self) -> Claim:
        """Claim one step, in which every shard uses the links from its own node."""
        return Claim(1, optimal_bandwidth(self.n), exact=True)
