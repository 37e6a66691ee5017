"""Graphs on subsets: Johnson, Kneser, odd and doubled odd graphs.

Subsets of one size are numbered in lexicographic order.  Permutations of the elements,
and complements for doubled odd graphs, take any adjacent pair of subsets to any other:
all are arc-transitive, see `synth.bases.balanced`.
"""

from collections.abc import Iterator
from itertools import combinations, count, takewhile
from math import comb

import numpy as np
from numpy.typing import NDArray

from synth.bases.balanced import Balanced, Listed
from synth.bases.family import Arguments, Ends, require, two_way
from synth.limits import MAX_NODES, capped_product

__all__ = ["DoubledOdd", "Johnson", "Kneser", "Odd"]

_CAP = 10**18


class _Subsets(Balanced, Listed):
    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Permutations of the elements, and complements for doubled odd graphs."""
        return True


class Johnson(_Subsets):
    """Johnson(n, k): k-subsets of n elements, joined when they share k - 1.

    Johnson(n, 2) is the triangular graph: the undirected line graph of the complete graph.
    """

    name = "Johnson"
    parameters = ("n", "k")
    title = "Johnson graph"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.1"

    def check_domain(self, arguments: Arguments) -> None:
        """Subsets of at least 2 and at most half of the elements."""
        n, k = arguments
        require(k >= 2, "k", "must be at least 2")
        require(n >= 2 * k, "n", "must be at least 2 k")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """One element of k is exchanged for one of n - k."""
        n, k = arguments
        return _binomial(n, k), capped_product(k, n - k)

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by the element that goes."""
        n, k = arguments
        inside, outside = _split(n, k)
        targets = np.repeat(inside[:, None], k * (n - k), axis=1)
        for gone in range(k):
            targets[:, gone * (n - k) : (gone + 1) * (n - k), gone] = outside
        return _numbered(n, targets)

    def members(self) -> Iterator[Arguments]:
        """All within the limits."""
        return ((n, k) for n, k in _sizes() if n >= 2 * k)

    def diameter(self, arguments: Arguments) -> int:
        """Elements are exchanged one by one."""
        return arguments[1]


class Kneser(_Subsets):
    """Kneser(n, k): k-subsets of n elements, joined when they are disjoint.

    Distance-regular for k = 2 and for n = 2k + 1, the odd graphs.
    """

    name = "Kneser"
    parameters = ("n", "k")
    title = "Kneser graph"
    source = "Kneser 1955; diameter: Valencia-Pabon and Vera, Discrete Math. 305, 2005"

    def check_domain(self, arguments: Arguments) -> None:
        """Subsets of at least 2 and less than half of the elements."""
        n, k = arguments
        require(k >= 2, "k", "must be at least 2")
        require(n >= 2 * k + 1, "n", "must be at least 2 k + 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """As many neighbours as there are k-subsets of the rest."""
        n, k = arguments
        return _binomial(n, k), _binomial(n - k, k)

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by target."""
        n, k = arguments
        _, outside = _split(n, k)
        return _numbered(n, outside[:, np.array(list(combinations(range(n - k), k)))])

    def members(self) -> Iterator[Arguments]:
        """All within the limits."""
        return ((n, k) for n, k in _sizes() if n > 2 * k)

    def diameter(self, arguments: Arguments) -> int:
        """By the theorem of Valencia-Pabon and Vera."""
        n, k = arguments
        return -(-(k - 1) // (n - 2 * k)) + 1


class Odd(_Subsets):
    """Odd(k): the odd graph of degree k, Kneser(2k - 1, k - 1).

    Odd(2) is a triangle, Odd(3) the Petersen graph.
    """

    name = "Odd"
    parameters = ("k",)
    title = "odd graph"
    source = "Biggs 1979; Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.1"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 2."""
        require(arguments[0] >= 2, "k", "must be at least 2")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Any one element may be left out of the complement."""
        (k,) = arguments
        return _binomial(2 * k - 1, k), k

    def links(self, arguments: Arguments) -> Ends:
        """Those of the Kneser graph."""
        (k,) = arguments
        return Kneser().links((2 * k - 1, k - 1))

    def members(self) -> Iterator[Arguments]:
        """All within the limits."""
        return takewhile(lambda one: self.size(one)[0] <= MAX_NODES, ((k,) for k in count(2)))

    def diameter(self, arguments: Arguments) -> int:
        """As the Kneser graph: n - 2 (k - 1) = 1."""
        return arguments[0] - 1


class DoubledOdd(_Subsets):
    """DoubledOdd(k): subsets of k - 1 and of k among 2k - 1, joined when one holds the other.

    The smaller subsets come first.
    """

    name = "DoubledOdd"
    parameters = ("k",)
    title = "doubled odd graph"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 9.1"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 2."""
        require(arguments[0] >= 2, "k", "must be at least 2")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Any one of k elements may be added or left out."""
        nodes, degree = Odd().size(arguments)
        return 2 * nodes, degree

    def links(self, arguments: Arguments) -> Ends:
        """From the smaller subsets, sorted by source and by the element added; then back."""
        (k,) = arguments
        inside, outside = _split(2 * k - 1, k - 1)
        larger = np.repeat(inside[:, None], k, axis=1)
        sources, targets = _numbered(2 * k - 1, np.dstack([larger, outside]))
        return two_way(sources, targets + len(inside))

    def members(self) -> Iterator[Arguments]:
        """All within the limits."""
        return Odd().members()

    def diameter(self, arguments: Arguments) -> int:
        """Count from a subset to its complement."""
        return 2 * arguments[0] - 1


def _binomial(n: int, k: int) -> int:
    """Return how many k-subsets n elements have, or a number beyond every limit.

    >>> _binomial(7, 3), _binomial(10**9, 10**8) == _CAP
    (35, True)
    """
    total = 1
    for i in range(min(k, n - k)):
        total = total * (n - i) // (i + 1)
        # Binomials grow with k up to n / 2, at least twofold until then.
        if total > _CAP:
            return _CAP
    return total


def _sizes() -> Iterator[Arguments]:
    """Yield (n, k) with 2 <= k <= n / 2 and few enough subsets."""
    k = 2
    while comb(2 * k, k) <= MAX_NODES:
        n = 2 * k
        while comb(n, k) <= MAX_NODES:
            yield n, k
            n += 1
        k += 1


def _split(n: int, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the elements in and the elements not in each k-subset, sorted; a row each."""
    inside = np.array(list(combinations(range(n), k)))
    out = np.ones((len(inside), n), np.bool_)
    np.put_along_axis(out, inside, False, axis=1)
    return inside, np.nonzero(out)[1].reshape(-1, n - k)


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
