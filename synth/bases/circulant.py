"""Two-way circulant graphs."""

from collections.abc import Iterator
from itertools import pairwise
from math import gcd, isqrt

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["Circulant"]


class Circulant(Family):
    """Circulant(n, a, b, ...): node x is joined to x + a, x - a, x + b, x - b, ... mod n.

    Offsets are sorted, from 1 to at most n / 2; an offset of exactly n / 2 gives one link
    a node, every other one two.  Repeated offsets give parallel links.  The pair
    {m, m + 1} with the least m such that 2 m (m + 1) + 1 >= n has m steps, the fewest of
    any two-way circulant of degree 4, and optimal bandwidth.
    """

    name = "Circulant"
    parameters = ("n", "a", "b*")
    title = "two-way circulant graph, with parallel links if offsets are repeated"
    source = "Boesch and Wang 1985 (degree 4); C(n, {m, m+1}) in arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Sorted offsets in range that generate all residues."""
        n, *offsets = arguments
        require(n >= 2, "n", "must be at least 2")
        for name, offset in zip(["a"] + ["b"] * len(offsets), offsets, strict=False):
            require(1 <= offset <= n // 2, name, "must be an offset from 1 to n / 2")
        for low, high in pairwise(offsets):
            require(low <= high, "b", "must not be less than the offset before it")
        require(gcd(n, *offsets) == 1, "a", "must have no common divisor with n and the others")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give n nodes, degree 2 for every offset but 1 for n / 2."""
        n, *offsets = arguments
        return n, 2 * len(offsets) - sum(2 * offset == n for offset in offsets)

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source."""
        n, *offsets = arguments
        jumps = np.array(sorted(jump for a in offsets for jump in {a, n - a}))
        sources = np.repeat(np.arange(n), len(jumps))
        return sources, (sources + np.tile(jumps, n)) % n

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Yield some good offset lists, at least one wherever a connected member exists."""
        n = nodes
        if n < 2 or degree < 1 or n * degree % 2 or (degree == 1 and n > 2):
            return
        # Above n - 1 ports everybody is joined to everybody as often as possible first.
        rounds, rest = divmod(degree, n - 1) if degree >= n else (0, degree)
        half = (n // 2,) if rest % 2 else ()
        seen = set()
        for offsets in _offset_lists(n, rest // 2):
            arguments = (n, *sorted([*range(1, n // 2 + 1)] * rounds + [*offsets, *half]))
            if gcd(*arguments) == 1 and arguments not in seen:
                seen.add(arguments)
                yield Base(self.name, arguments)

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def parallel(self, arguments: Arguments) -> bool:
        """Say yes if an offset is repeated."""
        return len(set(arguments[1:])) < len(arguments) - 1

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Rotations move every node to every other."""
        return True

    def claim(self, arguments: Arguments) -> Claim | None:
        """Speaks of rings, of complete graphs and of the best pair {m, m + 1}."""
        n, *offsets = arguments
        if offsets == list(range(1, n // 2 + 1)):
            return Claim(1, optimal_bandwidth(n), exact=True)
        if len(offsets) == 1:
            return Claim(n // 2, optimal_bandwidth(n), exact=True)
        m = _best_pair(n)
        if offsets == [m, m + 1] and 2 * (m + 1) < n:
            return Claim(m, optimal_bandwidth(n), exact=True)
        return None


def _best_pair(n: int) -> int:
    """Return the least m with 2 m (m + 1) + 1 >= n: the radius of a ball of n nodes in Z^2."""
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
    # A block of neighbours, begun where one step covers about n ** (1 / count) of them.
    root = _root(n, count)
    for first in (root // 2, root, 2 * root, most - count + 1):
        if 1 <= first <= most - count + 1:
            yield tuple(range(first, first + count))
    # 1, b, b**2, ...: digits of the distance, as in a torus with a twist; or with a carry.
    for base in range(max(2, root - 1), root + 3):
        for carry in (-1, 0, 1):
            powers = [base**i for i in range(count)]
            for jumps in (_recurrence(base, carry, count), [*powers[:-1], powers[-1] + carry]):
                offsets = sorted({min(jump % n, -jump % n) for jump in jumps})
                if len(offsets) == count and 1 <= offsets[0] and offsets[-1] <= most:
                    yield tuple(offsets)
    # Spread evenly, from 1 up or to the largest offset.
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
