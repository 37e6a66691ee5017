"""The one-way ring."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, require


class UniRing(Base):
    """UniRing(n[, width]): node x sends to x + 1 mod n over ``width`` parallel links.

    Attains the optimal bandwidth: each of n - 1 steps sends one shard over ``width`` links.
    """

    n: int
    width: int = 1
    title = "one-way ring of width parallel links"
    source = "folklore; UniRing(d, N) in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require n >= 2 and width >= 1."""
        require(self.n >= 2, "n", "must be at least 2")
        require(self.width >= 1, "width", "must be at least 1")

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree ``width``."""
        return self.n, self.width

    def links(self) -> Ends:
        """Return the links sorted by source."""
        sources = np.repeat(np.arange(self.n), self.width)
        return sources, (sources + 1) % self.n

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the ring of this size."""
        if nodes >= 2 and degree >= 1:
            yield cls(nodes, degree)

    def bidirectional(self) -> bool:
        """Return whether there are two nodes."""
        return self.n == 2

    def parallel(self) -> bool:
        """Return whether the ring is wider than one link."""
        return self.width > 1

    def vertex_transitive(self) -> bool:
        """Return True: the rotation x -> x + c is an automorphism for every c."""
        return True

    def arc_transitive(self) -> bool:
        """Return True, by rotations and permutations of parallel links."""
        return True

    def claim(self) -> Claim:
        """Claim n - 1 steps at optimal bandwidth, by the argument above."""
        return Claim(self.n - 1, optimal_bandwidth(self.n), exact=True)
