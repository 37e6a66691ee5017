"""Graphs on arrangements of symbols: arrangement graphs, star graphs, pancake graphs.

Words of k distinct symbols from 0..n-1 are numbered in lexicographic order.
"""

from collections.abc import Iterator
from itertools import permutations
from math import perm

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.families.balanced import BalancedFamily, EnumeratedFamily
from topoloom.synth.families.family import Arguments, Ends, always, at_least, require
from topoloom.synth.limits import MAX_NODES, capped_product


class Arrangement(BalancedFamily, EnumeratedFamily):
    """Arrangement(n, k): words of k distinct symbols from n, joined if one symbol differs.

    Arrangement(n, n - 1) is the star graph of n symbols, Arrangement(n, n - 2) the
    alternating group graph.
    """

    n: int
    k: int
    title = "arrangement graph; the star graph for k = n - 1"
    source = "Day and Tripathi 1992; star graph: Akers and Krishnamurthy 1989"

    def check_domain(self) -> None:
        """Require words of at least 2 symbols, and at least one unused symbol."""
        n, k = self.n, self.k
        require(k >= 2, "k", "must be at least 2")
        require(n >= k + 1, "n", "must be at least k + 1")

    def size(self) -> tuple[int, int]:
        """Return n! / (n - k)! nodes, degree k (n - k): a used symbol is replaced by an unused."""
        n, k = self.n, self.k
        # 64 factors of at least 2 exceed every limit.
        return capped_product(*range(n, max(n - k, n - 64), -1)), capped_product(k, n - k)

    def links(self) -> Ends:
        """Return the links sorted by source, then by position, then by the new symbol."""
        n, k = self.n, self.k
        words = _words(n, k)
        spare = np.ones((len(words), n), np.bool_)
        np.put_along_axis(spare, words, False, axis=1)
        others = np.nonzero(spare)[1].reshape(-1, n - k)
        targets = np.repeat(words[:, None], k * (n - k), axis=1)
        for place in range(k):
            targets[:, place * (n - k) : (place + 1) * (n - k), place] = others
        return _numbered(n, targets)

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield k up to 8, as 9! exceeds the limits, and n as far as the limits allow."""
        for k in range(2, 9):
            n = k + 1
            while perm(n, k) <= MAX_NODES:
                yield n, k
                n += 1

    vertex_transitive = always  # By permutations of the symbols and of the positions.

    def diameter(self) -> int:
        """Return 3 k / 2 rounded down: exchanging two symbols takes three steps."""
        return 3 * self.k // 2


class Pancake(EnumeratedFamily):
    """Pancake(n): permutations of n symbols, joined if a prefix of one reversed is the other."""

    n: int
    title = "pancake graph"
    source = "Akers and Krishnamurthy, IEEE Trans. Computers 38(4), 1989"
    check_domain = at_least(n=3)

    def size(self) -> tuple[int, int]:
        """Return n! nodes, degree n - 1: prefixes of 2 to n symbols."""
        n = self.n
        return capped_product(*range(2, min(n, 64) + 1)), n - 1

    def links(self) -> Ends:
        """Return the links sorted by source, then by the length of the prefix."""
        n = self.n
        words = _words(n, n)
        flipped = [np.hstack([words[:, i::-1], words[:, i + 1 :]]) for i in range(1, n)]
        return _numbered(n, np.stack(flipped, axis=1))

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield n from 3 to 8: 9! nodes exceed the limits."""
        return ((n,) for n in range(3, 9))

    bidirectional = always  # A reversal is its own inverse.
    vertex_transitive = always  # By permutations of the symbols: a Cayley graph.


def _words(n: int, k: int) -> NDArray[np.int64]:
    return np.array(list(permutations(range(n), k)))


def _numbered(n: int, targets: NDArray[np.int64]) -> Ends:
    """Return the links from word number i to the words targets[i, j].

    At each position, each smaller symbol not used before accounts for all words that continue
    with it.
    """
    nodes, degree, k = targets.shape
    number = np.zeros((nodes, degree), np.int64)
    for i in range(k):
        smaller = targets[:, :, i] - (targets[:, :, :i] < targets[:, :, i : i + 1]).sum(axis=2)
        number += smaller * perm(n - 1 - i, k - 1 - i)
    return np.repeat(np.arange(nodes), degree), number.ravel()
