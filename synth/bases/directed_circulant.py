"""One-way circulant graphs."""

import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb, gcd

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["DirectedCirculant"]

_MAX_SAMPLED = 4096
_KEPT = 6


class DirectedCirculant(Family):
    """DirectedCirculant(n, a, b, ...): node x sends to x + a, x + b, ... mod n.

    Offsets increase strictly from 1 to at most n - 1.  Negation maps it to its transpose.
    With n = d + 2 and offsets 1..d it takes two steps at optimal bandwidth: the one node
    at distance two, n - 1 ahead, is 1 + d = 2 + (d - 1) = ..., so all links share it.
    """

    name = "DirectedCirculant"
    parameters = ("n", "a", "b*")
    title = "one-way circulant graph"
    source = "folklore; directed circulant in arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require increasing offsets in range that generate all residues."""
        n, *offsets = arguments
        require(n >= 2, "n", "must be at least 2")
        for name, offset in zip(["a"] + ["b"] * len(offsets), offsets, strict=False):
            require(1 <= offset < n, name, "must be an offset from 1 to n - 1")
        for low, high in pairwise(offsets):
            require(low < high, "b", "must be larger than the offset before it")
        require(gcd(n, *offsets) == 1, "a", "must have no common divisor with n and the others")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give n nodes, degree 1 an offset."""
        return arguments[0], len(arguments) - 1

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by offset."""
        n, *offsets = arguments
        sources = np.repeat(np.arange(n), len(offsets))
        return sources, (sources + np.tile(np.array(offsets), n)) % n

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield offsets 1..d, powers of small bases, and the best few of a fixed sample."""
        if 1 <= degree < nodes:
            powers = [tuple(sorted(_powers(b, degree, nodes))) for b in range(2, 2 * degree + 2)]
            lists = [tuple(range(1, degree + 1)), *powers, *_sampled(nodes, degree)]
            for offsets in dict.fromkeys(lists):
                if len(offsets) == degree and gcd(nodes, *offsets) == 1:
                    yield Base(self.name, (nodes, *offsets))

    def proved(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield offsets 1..d where `claim` speaks; the sample is not drawn for that."""
        if 1 <= degree < nodes and (degree == 1 or nodes <= degree + 2):
            yield Base(self.name, (nodes, *range(1, degree + 1)))

    def bidirectional(self, arguments: Arguments) -> bool:
        """Say yes if the offsets are closed under negation."""
        n, *offsets = arguments
        return {n - offset for offset in offsets} == set(offsets)

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Rotations move every node to every other."""
        return True

    def claim(self, arguments: Arguments) -> Claim | None:
        """Speak of one-way rings, complete graphs and those of d + 2 nodes."""
        n, *offsets = arguments
        d = len(offsets)
        if d == 1:
            return Claim(n - 1, optimal_bandwidth(n), exact=True)
        if offsets == list(range(1, d + 1)) and n <= d + 2:
            return Claim(n - d, optimal_bandwidth(n), exact=True)
        return None


def _powers(base: int, count: int, n: int) -> set[int]:
    return {pow(base, i, n) for i in range(count)} - {0}


@lru_cache(maxsize=1024)
def _sampled(n: int, degree: int) -> tuple[Arguments, ...]:
    """Return the offset lists of fewest steps among a fixed sample of those that hold 1.

    Where the sample would be larger than their number, all are tried.
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
    """Return the diameter: how often the ball, kept as bits, grows until it holds all nodes.

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
