"""Graphs on subsets: Johnson, Kneser, odd and doubled odd graphs.

Subsets of one size are numbered in lexicographic order.  Permutations of the elements, and
complements for doubled odd graphs, take any adjacent pair of subsets to any other: all are
arc-transitive, see `synth.families.balanced`.
"""

from collections.abc import Iterator
from itertools import combinations, count, takewhile
from math import comb

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.families.balanced import BalancedFamily, EnumeratedFamily
from topoloom.synth.families.family import Arguments, Ends, always, at_least, require, two_way
from topoloom.synth.limits import MAX_NODES, capped_product

_CAP = 10**18


class _Subsets(BalancedFamily, EnumeratedFamily):
    # By permutations of the elements, and complements for doubled odd graphs.
    vertex_transitive = always
    arc_transitive = always  # These take any adjacent pair of subsets to any other.


class Johnson(_Subsets):
    """Johnson(n, k): k-subsets of n elements, joined when they share k - 1.

    Johnson(n, 2) is the triangular graph: the undirected line graph of the complete graph.
    """

    n: int
    k: int
    title = "Johnson graph"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.1"

    def check_domain(self) -> None:
        """Require subsets of at least 2 and at most half of the elements."""
        n, k = self.n, self.k
        require(k >= 2, "k", "must be at least 2")
        require(n >= 2 * k, "n", "must be at least 2 k")

    def size(self) -> tuple[int, int]:
        """Return C(n, k) nodes, degree k (n - k): a member is replaced by a non-member."""
        n, k = self.n, self.k
        return _binomial(n, k), capped_product(k, n - k)

    def links(self) -> Ends:
        """Return the links sorted by source, then by the removed element."""
        n, k = self.n, self.k
        inside, outside = _split(n, k)
        targets = np.repeat(inside[:, None], k * (n - k), axis=1)
        for gone in range(k):
            targets[:, gone * (n - k) : (gone + 1) * (n - k), gone] = outside
        return _numbered(n, targets)

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield all within the limits."""
        return ((n, k) for n, k in _sizes() if n >= 2 * k)

    def diameter(self) -> int:
        """Return k: one element is replaced per step."""
        return self.k


class Kneser(_Subsets):
    """Kneser(n, k): k-subsets of n elements, joined when they are disjoint.

    Distance-regular for k = 2 and for n = 2k + 1, the odd graphs.
    """

    n: int
    k: int
    title = "Kneser graph"
    source = "Kneser 1955; diameter: Valencia-Pabon and Vera, Discrete Math. 305, 2005"

    def check_domain(self) -> None:
        """Require subsets of at least 2 and less than half of the elements."""
        n, k = self.n, self.k
        require(k >= 2, "k", "must be at least 2")
        require(n >= 2 * k + 1, "n", "must be at least 2 k + 1")

    def size(self) -> tuple[int, int]:
        """Return C(n, k) nodes; a subset is joined to C(n - k, k) subsets of its complement."""
        n, k = self.n, self.k
        return _binomial(n, k), _binomial(n - k, k)

    def links(self) -> Ends:
        """Return the links sorted by source, then by target."""
        return _disjoint(self.n, self.k)

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield all within the limits."""
        return ((n, k) for n, k in _sizes() if n > 2 * k)

    def diameter(self) -> int:
        """Return ceil((k - 1) / (n - 2 k)) + 1, by the theorem of Valencia-Pabon and Vera."""
        n, k = self.n, self.k
        return -(-(k - 1) // (n - 2 * k)) + 1


class Odd(_Subsets):
    """Odd(k): the odd graph of degree k, Kneser(2k - 1, k - 1).

    Odd(2) is a triangle, Odd(3) the Petersen graph.
    """

    k: int
    title = "odd graph"
    source = "Biggs 1979; Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.1"
    check_domain = at_least(k=2)

    def size(self) -> tuple[int, int]:
        """Return C(2 k - 1, k - 1) nodes, degree k: one of k other elements is unused."""
        k = self.k
        return _binomial(2 * k - 1, k), k

    def links(self) -> Ends:
        """Return the links sorted by source, then by target."""
        return _disjoint(2 * self.k - 1, self.k - 1)

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield all within the limits."""
        return takewhile(
            lambda one: _binomial(2 * one[0] - 1, one[0]) <= MAX_NODES, ((k,) for k in count(2))
        )

    def diameter(self) -> int:
        """Return k - 1, from Kneser(n, k - 1) with n - 2 (k - 1) = 1."""
        return self.k - 1


class DoubledOdd(_Subsets):
    """DoubledOdd(k): (k-1)- and k-subsets of 2k - 1 elements, joined when one contains the other.

    The smaller subsets come first.
    """

    k: int
    title = "doubled odd graph"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.1"
    check_domain = at_least(k=2)

    def size(self) -> tuple[int, int]:
        """Return twice the nodes of Odd(k), degree k: one of k elements is added or removed."""
        return 2 * _binomial(2 * self.k - 1, self.k), self.k

    def links(self) -> Ends:
        """Return links from smaller subsets, by source and added element; then their partners."""
        k = self.k
        inside, outside = _split(2 * k - 1, k - 1)
        larger = np.repeat(inside[:, None], k, axis=1)
        sources, targets = _numbered(2 * k - 1, np.dstack([larger, outside]))
        return two_way(sources, targets + len(inside))

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield all within the limits."""
        return Odd.members()

    def diameter(self) -> int:
        """Return 2 k - 1, the distance of a subset and its complement."""
        return 2 * self.k - 1


def _binomial(n: int, k: int) -> int:
    """Return the number of k-subsets of n elements, or a number above every limit.

    >>> _binomial(7, 3), _binomial(10**9, 10**8) == _CAP
    (35, True)
    """
    total = 1
    for i in range(min(k, n - k)):
        total = total * (n - i) // (i + 1)
        # Binomials at least double with each k up to n / 2.
        if total > _CAP:
            return _CAP
    return total


def _sizes() -> Iterator[Arguments]:
    """Yield (n, k) with 2 <= k <= n / 2 within the limits."""
    k = 2
    while comb(2 * k, k) <= MAX_NODES:
        n = 2 * k
        while comb(n, k) <= MAX_NODES:
            yield n, k
            n += 1
        k += 1


def _split(n: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the members and the non-members of each k-subset, sorted; one row per subset."""
    inside = np.array(list(combinations(range(n), k)))
    out = np.ones((len(inside), n), np.bool_)
    np.put_along_axis(out, inside, False, axis=1)
    return inside, np.nonzero(out)[1].reshape(-1, n - k)


def _disjoint(n: int, k: int) -> Ends:
    """Return the links of every k-subset to all disjoint k-subsets."""
    _, outside = _split(n, k)
    return _numbered(n, outside[:, np.array(list(combinations(range(n - k), k)))])


def _numbered(n: int, targets: NDArray[np.int64]) -> Ends:
    """Return the links from subset number i to the subsets of elements targets[i, j].

    In lexicographic order a subset s_1 < ... < s_k of 0..n-1 is followed by
    C(n - 1 - s_1, k) + C(n - 1 - s_2, k - 1) + ... others.
    """
    nodes, degree, k = targets.shape
    after = np.zeros((nodes, degree), np.int64)
    for i, column in enumerate(np.moveaxis(np.sort(targets, axis=2), 2, 0)):
        after += np.array([comb(n - 1 - s, k - i) for s in range(n)])[column]
    return np.repeat(np.arange(nodes), degree), comb(n, k) - 1 - after.ravel()
