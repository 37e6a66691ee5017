"""Generalized de Bruijn digraphs, as published and with their loops rewired."""

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.families.de_bruijn import DeBruijn
from topoloom.synth.families.family import Base, Ends, at_least, join


class GeneralizedDeBruijn(Base):
    """GeneralizedDeBruijn(d, n): node x sends to d x + a mod n for a = 0..d-1.

    At most ceil(log_d n) steps for every n; DeBruijn(d, k) for n = d**k.  A link from a node to
    itself carries nothing and is omitted; node 0 has one.  Loops that all nodes have do not count
    in the degree.
    """

    d: int
    n: int
    title = "generalized de Bruijn digraph"
    source = "Imase and Itoh 1981; Reddy, Pradhan, Kuhl 1980"
    check_domain = at_least(d=2, n=2)

    def size(self) -> tuple[int, int]:
        """Return n nodes; degree d minus the loops that every node has."""
        return self.n, _degree(self.d, self.n)

    def links(self) -> Ends:
        """Return the links sorted by source, then by a; without loops."""
        d, n = self.d, self.n
        sources = np.repeat(np.arange(n), d)
        targets = (d * sources + np.tile(np.arange(d), n)) % n
        real = sources != targets
        return sources[real], targets[real]

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield each d with ``degree`` remaining links, except de Bruijn digraphs."""
        # With d < n, all nodes have a loop only where n = d - 1 + gcd(d - 1, n) < 2 d.
        most = degree if nodes > 2 * degree + 2 else 2 * degree + 2
        for d in range(max(2, degree), most + 1):
            if nodes >= 2 and _degree(d, nodes) == degree and not _is_power(nodes, d):
                yield cls(d, nodes)

    def bidirectional(self) -> bool:
        """Return whether d x + a is a, x + a or -x + a mod n, or all nodes are joined."""
        d, n = self.d, self.n
        return n == 2 or d % n in (0, 1, n - 1)

    def parallel(self) -> bool:
        """Return whether two values of a agree mod n, except for 0 and n = d - 1, the loops."""
        d, n = self.d, self.n
        return d > n + 1

    def representatives(self) -> Sequence[int]:
        """Return a node of each orbit of x -> -1 - x and x -> x + c with (d - 1) c = 0 mod n."""
        d, n = self.d, self.n
        period = n // gcd(d - 1, n)
        return [x for x in range(period) if x <= (-1 - x) % period]

    def regular(self) -> bool:
        """Return whether all nodes have equally many loops."""
        d, n = self.d, self.n
        return _extra_loops(d, n) % n == 0


class GeneralizedDeBruijnRewired(Base):
    """GeneralizedDeBruijnRewired(d, n): the loops of GeneralizedDeBruijn rewired into cycles.

    The nodes with a loop, in increasing order, form one cycle instead, so that all d links of
    every node carry data; ModifiedDeBruijn(d, k) for n = d**k.  (For n <= d nodes have several
    loops, and each round of loops forms a cycle.)  At least two nodes have a loop.
    """

    d: int
    n: int
    title = "generalized de Bruijn digraph with its self-loops joined in a cycle"
    source = "after Imase and Itoh 1981, and DBJMod in arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require the domain of GeneralizedDeBruijn; at least two loops always exist."""
        GeneralizedDeBruijn(self.d, self.n)

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree d."""
        return self.n, self.d

    def links(self) -> Ends:
        """Return the links of GeneralizedDeBruijn, then the cycles."""
        d, n = self.d, self.n
        rounds = [np.arange(n)] * (d // n) + [_looped(d, n)]
        cycles = [(nodes, np.roll(nodes, -1)) for nodes in rounds]
        return join([GeneralizedDeBruijn(d, n).links(), *cycles])

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member of every size except powers of d, which are ModifiedDeBruijn."""
        if nodes >= 2 and degree >= 2 and not _is_power(nodes, degree):
            yield cls(degree, nodes)

    def bidirectional(self) -> bool:
        """Return whether GeneralizedDeBruijn is two-way and cycles join two nodes."""
        d, n = self.d, self.n
        short = d < n and _extra_loops(d, n) in (0, 2)
        return n == 2 or (short and GeneralizedDeBruijn(d, n).bidirectional())

    def parallel(self) -> bool:
        """Return whether a link of a cycle existed before."""
        d, n = self.d, self.n
        if d >= n:
            # Every node already sends to every other.
            return True
        looped = _looped(d, n)
        return bool(((np.roll(looped, -1) - d * looped) % n < d).any())


def _is_power(n: int, d: int) -> bool:
    """Return whether n = d**k for some k >= 2.

    >>> [n for n in range(1, 70) if _is_power(n, 4)]
    [16, 64]
    """
    return next(DeBruijn.matching(n, d), None) is not None


def _looped(d: int, n: int) -> NDArray[np.int64]:
    """Return the nodes with one loop more than every node has, increasing."""
    nodes = np.arange(n)
    return nodes[-(d - 1) * nodes % n < d % n]


def _degree(d: int, n: int) -> int:
    """Return d minus the loops that every node has."""
    return d - d // n - _extra_loops(d, n) // n


def _extra_loops(d: int, n: int) -> int:
    """Return the number of nodes with one loop more than the floor(d / n) of every node.

    They are the solutions x of (d - 1) x = -a mod n for a = 0..d mod n - 1.  With
    g = gcd(d - 1, n) there are g solutions for every a divisible by g, none otherwise.
    So there are none if n divides d, n if n divides d - 1, and otherwise at least two: a = 0
    and, if g = 1, a = 1.
    """
    common = gcd(d - 1, n)
    return common * -(-(d % n) // common)
