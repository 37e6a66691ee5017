"""The two-way ring."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, require, two_way


class BiRing(Base):
    """BiRing(n[, width]): neighbors on a ring joined by ``width`` links each way."""

    n: int
    width: int = 1
    title = "two-way ring of width parallel links each way"
    source = "folklore; BiRing(d, N) in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require n >= 3 (two nodes are UniRing(2)) and width >= 1."""
        require(self.n >= 3, "n", "must be at least 3")
        require(self.width >= 1, "width", "must be at least 1")

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree 2 * ``width``."""
        return self.n, 2 * self.width

    def links(self) -> Ends:
        """Return all clockwise links, then their partners."""
        sources = np.repeat(np.arange(self.n), self.width)
        return two_way(sources, (sources + 1) % self.n)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the ring of this size for every even degree."""
        if nodes >= 3 and degree >= 2 and degree % 2 == 0:
            yield cls(nodes, degree // 2)

    def bidirectional(self) -> bool:
        """Return True: every clockwise link has a counterclockwise partner."""
        return True

    def parallel(self) -> bool:
        """Return whether the ring is wider than one link each way."""
        return self.width > 1

    def vertex_transitive(self) -> bool:
        """Return True: the rotation x -> x + c is an automorphism for every c."""
        return True

    def arc_transitive(self) -> bool:
        """Return True, by rotations, reflections and permutations of parallel links."""
        return True

    def claim(self) -> Claim:
        """Claim floor(n / 2) steps at optimal bandwidth.

        In every step one shard arrives from either side.  The opposite node, if any, is equally
        far both ways, and its shard is halved.
        """
        return Claim(self.n // 2, optimal_bandwidth(self.n), exact=True)
