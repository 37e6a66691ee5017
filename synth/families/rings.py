"""Rings, one way and two way."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, always, at_least, two_way


class UniRing(Base):
    """UniRing(n[, width]): node x sends to x + 1 mod n over ``width`` parallel links.

    Attains the optimal bandwidth: each of n - 1 steps sends one shard over ``width`` links.
    """

    n: int
    width: int = 1
    title = "one-way ring of width parallel links"
    source = "folklore; UniRing(d, N) in arXiv:2202.03356"
    check_domain = at_least(n=2, width=1)

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

    vertex_transitive = always  # The rotation x -> x + c is an automorphism for every c.
    arc_transitive = always  # By rotations and permutations of parallel links.

    def claim(self) -> Claim:
        """Claim n - 1 steps at optimal bandwidth, by the argument above."""
        return Claim(self.n - 1, optimal_bandwidth(self.n), exact=True)


class BiRing(Base):
    """BiRing(n[, width]): neighbors on a ring joined by ``width`` links each way."""

    n: int
    width: int = 1
    title = "two-way ring of width parallel links each way"
    source = "folklore; BiRing(d, N) in arXiv:2202.03356"
    check_domain = at_least(n=3, width=1)  # Two nodes are UniRing(2).

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

    bidirectional = always  # Every clockwise link has a counterclockwise partner.

    def parallel(self) -> bool:
        """Return whether the ring is wider than one link each way."""
        return self.width > 1

    vertex_transitive = always  # The rotation x -> x + c is an automorphism for every c.
    arc_transitive = always  # By rotations, reflections and permutations of parallel links.

    def claim(self) -> Claim:
        """Claim floor(n / 2) steps at optimal bandwidth.

        In every step one shard arrives from either side.  The opposite node, if any, is equally
        far both ways, and its shard is halved.
        """
        return Claim(self.n // 2, optimal_bandwidth(self.n), exact=True)
