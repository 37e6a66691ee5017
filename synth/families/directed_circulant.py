"""One-way circulant graphs."""

import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb, gcd
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Arguments, Base, Ends, always, require

_MAX_SAMPLED = 4096
_KEPT = 6


class DirectedCirculant(Base):
    """DirectedCirculant(n, a, b, ...): node x sends to x + a, x + b, ... mod n.

    The offsets a, b, ... increase strictly from 1 to at most n - 1.  Negation of all nodes maps
    the graph to its transpose.  With n = d + 2 and offsets 1..d it takes two steps at optimal
    bandwidth: the one node at distance two, at offset n - 1, is 1 + d = 2 + (d - 1) = ..., so all
    links share it.
    """

    n: int
    offsets: tuple[int, ...]
    title = "one-way circulant graph"
    source = "folklore; directed circulant in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require increasing offsets in range that generate all residues."""
        n, offsets = self.n, self.offsets
        require(n >= 2, "n", "must be at least 2")
        require(bool(offsets), "offsets", "must be at least one")
        for offset in offsets:
            require(1 <= offset < n, "offsets", "must be from 1 to n - 1")
        for low, high in pairwise(offsets):
            require(low < high, "offsets", "must increase")
        require(gcd(n, *offsets) == 1, "offsets", "must have no common divisor with n")

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree 1 per offset."""
        return self.n, len(self.offsets)

    def links(self) -> Ends:
        """Return the links sorted by source, then by offset."""
        n, offsets = self.n, self.offsets
        sources = np.repeat(np.arange(n), len(offsets))
        return sources, (sources + np.tile(offsets, n)) % n

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield offsets 1..d, powers of small bases, and the best few of a fixed sample."""
        if 1 <= degree < nodes:
            powers = [tuple(sorted(_powers(b, degree, nodes))) for b in range(2, 2 * degree + 2)]
            lists = [tuple(range(1, degree + 1)), *powers, *_sampled(nodes, degree)]
            for offsets in dict.fromkeys(lists):
                if len(offsets) == degree and gcd(nodes, *offsets) == 1:
                    yield cls(nodes, *offsets)

    @classmethod
    def proved(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield offsets 1..d if `claim` applies, without the sample."""
        if 1 <= degree < nodes and (degree == 1 or nodes <= degree + 2):
            yield cls(nodes, *range(1, degree + 1))

    def bidirectional(self) -> bool:
        """Return whether the offsets are closed under negation."""
        n, offsets = self.n, self.offsets
        return {n - offset for offset in offsets} == set(offsets)

    vertex_transitive = always  # The rotation x -> x + c is an automorphism for every c.

    def claim(self) -> Claim | None:
        """Claim the cost of one-way rings, complete graphs and those of d + 2 nodes."""
        n, offsets = self.n, self.offsets
        d = len(offsets)
        if d == 1:
            return Claim(n - 1, optimal_bandwidth(n), exact=True)
        if offsets == tuple(range(1, d + 1)) and n <= d + 2:
            return Claim(n - d, optimal_bandwidth(n), exact=True)
        return None


def _powers(base: int, count: int, n: int) -> set[int]:
    return {pow(base, i, n) for i in range(count)} - {0}


@lru_cache(maxsize=1024)
def _sampled(n: int, degree: int) -> tuple[Arguments, ...]:
    """Return the offset lists with fewest steps in a fixed sample of lists that contain 1.

    If the sample would be larger than the number of lists, all are tried.
    """
    if not 2 <= degree <= 16 or n > _MAX_SAMPLED:
        return ()
    tries = max(30, min(300, 100_000 // n))
    if comb(n - 2, degree - 1) <= tries:
        candidates = list(combinations(range(2, n), degree - 1))
    else:
        rng = random.Random(n * 64 + degree)
        candidates = [sorted(rng.sample(range(2, n), degree - 1)) for _ in range(tries)]
    ranked = sorted((_steps(n, (1, *rest)), (1, *rest)) for rest in candidates)
    return tuple(offsets for _, offsets in ranked[:_KEPT])


def _steps(n: int, offsets: Arguments) -> int:
    """Return the diameter: the radius at which a neighborhood, as a bitset, has all nodes.

    >>> _steps(8, (1, 3))
    3
    """
    everyone, ball, steps = (1 << n) - 1, 1, 0
    while ball != everyone:
        grown = ball
        for offset in offsets:
            grown |= (ball << offset) | (ball >> (n - offset))
        ball, steps = grown & everyone, steps + 1
    return steps


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

    vertex_transitive = always  # The rotation x -> x + c mod 8 is an automorphism for every c.

    def claim(self) -> Claim:
        """Claim 3 steps at optimal bandwidth, both lower bounds."""
        return Claim(3, optimal_bandwidth(8), exact=True)
