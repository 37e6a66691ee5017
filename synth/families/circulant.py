"""Two-way circulant graphs."""

from collections.abc import Iterator
from itertools import pairwise
from math import gcd, isqrt
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, always, require


class Circulant(Base):
    """Circulant(n, a, b, ...): node x is joined to x + a, x - a, x + b, x - b, ... mod n.

    The offsets a, b, ... are sorted, from 1 to at most n / 2; an offset of exactly n / 2 gives
    one link per node, every other offset two.  Repeated offsets give parallel links.  The pair
    {m, m + 1} with the least m such that 2 m (m + 1) + 1 >= n has m steps, the fewest of
    any two-way circulant of degree 4, and optimal bandwidth.
    """

    n: int
    offsets: tuple[int, ...]
    title = "two-way circulant graph, with parallel links if offsets are repeated"
    source = "Boesch and Wang 1985 (degree 4); C(n, {m, m+1}) in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require sorted offsets in range that generate all residues."""
        n, offsets = self.n, self.offsets
        require(n >= 2, "n", "must be at least 2")
        require(bool(offsets), "offsets", "must be at least one")
        for offset in offsets:
            require(1 <= offset <= n // 2, "offsets", "must be from 1 to n / 2")
        for low, high in pairwise(offsets):
            require(low <= high, "offsets", "must not decrease")
        require(gcd(n, *offsets) == 1, "offsets", "must have no common divisor with n")

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree 2 for every offset but 1 for n / 2."""
        n, offsets = self.n, self.offsets
        return n, 2 * len(offsets) - sum(2 * offset == n for offset in offsets)

    def links(self) -> Ends:
        """Return the links sorted by source."""
        n, offsets = self.n, self.offsets
        jumps = np.array(sorted(jump for a in offsets for jump in {a, n - a}))
        sources = np.repeat(np.arange(n), len(jumps))
        return sources, (sources + np.tile(jumps, n)) % n

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield some good offset lists, at least one if a connected member exists."""
        n = nodes
        if n < 2 or degree < 1 or n * degree % 2 or (degree == 1 and n > 2):
            return
        # Above n - 1 ports, start with complete graphs of parallel links.
        rounds, rest = divmod(degree, n - 1) if degree >= n else (0, degree)
        half = (n // 2,) if rest % 2 else ()
        seen = set()
        for offsets in _offset_lists(n, rest // 2):
            arguments = (n, *sorted([*range(1, n // 2 + 1)] * rounds + [*offsets, *half]))
            if gcd(*arguments) == 1 and arguments not in seen:
                seen.add(arguments)
                yield cls(*arguments)

    bidirectional = always  # Every offset a contributes the jumps a and -a.

    def parallel(self) -> bool:
        """Return whether an offset is repeated."""
        return len(set(self.offsets)) < len(self.offsets)

    vertex_transitive = always  # The rotation x -> x + c is an automorphism for every c.

    def claim(self) -> Claim | None:
        """Claim the cost of rings, of complete graphs and of the best pair {m, m + 1}."""
        n, offsets = self.n, self.offsets
        if offsets == tuple(range(1, n // 2 + 1)):
            return Claim(1, optimal_bandwidth(n), exact=True)
        if len(offsets) == 1:
            return Claim(n // 2, optimal_bandwidth(n), exact=True)
        m = _best_pair(n)
        if offsets == (m, m + 1) and 2 * (m + 1) < n:
            return Claim(m, optimal_bandwidth(n), exact=True)
        return None


def _best_pair(n: int) -> int:
    """Return the least m with 2 m (m + 1) + 1 >= n: the radius in Z^2 that contains n nodes."""
    m = (isqrt(2 * n) - 1) // 2
    while 2 * m * (m + 1) + 1 < n:
        m += 1
    return max(m, 1)


def _offset_lists(n: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield increasing lists of ``count`` offsets below n / 2; the first is 1..count."""
    most = (n - 1) // 2
    yield tuple(range(1, count + 1))
    if count == 0:
        return
    if count == 2:
        m = _best_pair(n)
        if m + 1 <= most:
            yield (m, m + 1)
    # A block of consecutive offsets, from where one step covers about n ** (1 / count) of them.
    root = _root(n, count)
    for first in (root // 2, root, 2 * root, most - count + 1):
        if 1 <= first <= most - count + 1:
            yield tuple(range(first, first + count))
    # 1, b, b**2, ...: digits of the distance, as in a twisted torus; or with a carry.
    for base in range(max(2, root - 1), root + 3):
        for carry in (-1, 0, 1):
            powers = [base**i for i in range(count)]
            for jumps in (_recurrence(base, carry, count), [*powers[:-1], powers[-1] + carry]):
                offsets = sorted({min(jump % n, -jump % n) for jump in jumps})
                if len(offsets) == count and 1 <= offsets[0] and offsets[-1] <= most:
                    yield tuple(offsets)
    # Evenly spread, from 1 up or to the largest offset.
    for start in (1, max(1, most // count)):
        spread = [start + i * (most - start) // max(1, count - 1) for i in range(count)]
        if len(set(spread)) == count and spread[-1] <= most:
            yield tuple(spread)


def _recurrence(base: int, carry: int, count: int) -> list[int]:
    """Return 1, b + c, b (b + c) + c, ...

    >>> _recurrence(4, 1, 3), _recurrence(3, 0, 3)
    ([1, 5, 21], [1, 3, 9])
    """
    values = [1]
    while len(values) < count:
        values.append(base * values[-1] + carry)
    return values


def _root(n: int, k: int) -> int:
    """Return the largest r with r ** k <= n."""
    low, high = 1, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**k <= n else (low, middle - 1)
    return low
