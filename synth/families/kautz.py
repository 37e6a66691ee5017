"""Kautz digraphs, plain, generalized, and with their loops rewired."""

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, Cost, expand_line_graph, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, at_least, join, require
from topoloom.synth.limits import capped_power, capped_product


class GeneralizedKautz(Base):
    """GeneralizedKautz(d, n): node x sends to -d x - a mod n for a = 1..d.

    At most ceil(log_d n) steps for every n.  A link from a node to itself carries nothing and is
    omitted; for n > d some node has none, so the degree stays d.  For n <= d every node has
    floor(d / n) loops, which do not count.
    """

    d: int
    n: int
    title = "generalized Kautz digraph (Imase-Itoh)"
    source = "Imase and Itoh, IEEE Trans. Computers 32(8), 1983"

    def check_domain(self) -> None:
        """Require n = 2, or n > 2 and d >= 2."""
        d, n = self.d, self.n
        require(n >= 2, "n", "must be at least 2")
        require(d >= (1 if n == 2 else 2), "d", "must be at least 2, or 1 when n is 2")

    def size(self) -> tuple[int, int]:
        """Return n nodes; degree d minus the loops that every node has."""
        return self.n, self.d - self.d // self.n

    def links(self) -> Ends:
        """Return the links sorted by source, then by a; without loops."""
        d, n = self.d, self.n
        sources = np.repeat(np.arange(n), d)
        targets = -(d * sources + np.tile(np.arange(1, d + 1), n)) % n
        real = sources != targets
        return sources[real], targets[real]

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield each d with ``degree`` remaining links: one below n, possibly two above."""
        if nodes >= 2 and degree >= 1:
            for d in range(degree, 2 * degree + 2):
                if d - d // nodes == degree and (d >= 2 or nodes == 2):
                    yield cls(d, nodes)

    def bidirectional(self) -> bool:
        """Return whether -d x - a is -a, -x - a or x - a mod n, or n = 2."""
        d, n = self.d, self.n
        return n == 2 or d % n in (0, 1, n - 1)

    def parallel(self) -> bool:
        """Return whether two values of a agree mod n."""
        return self.d > self.n

    def representatives(self) -> Sequence[int]:
        """Return a node of each orbit of x -> -1 - x and x -> x + c with (d + 1) c = 0 mod n."""
        d, n = self.d, self.n
        period = n // gcd(d + 1, n)
        return [x for x in range(period) if x <= (-1 - x) % period]

    def regular(self) -> bool:
        """Return whether all nodes have equally many loops."""
        return _extra_loops(self.d, self.n) == 0

    def claim(self) -> Claim | None:
        """Claim the cost of Kautz digraphs only, n = d**k + d**(k - 1) = L^(k-1)(K_{d+1})."""
        d, n = self.d, self.n
        nodes, times = d + 1, 0
        while d >= 2 and nodes < n:
            nodes, times = nodes * d, times + 1
        if d < 2 or nodes != n:
            return None
        cost = expand_line_graph(Cost(1, optimal_bandwidth(d + 1)), d + 1, d, times)
        return Claim(cost.steps, cost.bandwidth, exact=True)


class GeneralizedKautzRewired(Base):
    """GeneralizedKautzRewired(d, n): the loops of GeneralizedKautz rewired into cycles.

    The nodes with a loop, in increasing order, form one cycle instead, so that all d links of
    every node carry data.  (For n <= d nodes have several loops, and each round of loops forms a
    cycle.)  Defined if at least two nodes have a loop; not from the literature.
    """

    d: int
    n: int
    title = "generalized Kautz digraph with its self-loops joined in a cycle"
    source = "after Imase and Itoh 1983; the cycle is Topoloom's"

    def check_domain(self) -> None:
        """Require the domain of GeneralizedKautz, and no loop or at least two."""
        GeneralizedKautz(self.d, self.n)
        d, n = self.d, self.n
        extra = _extra_loops(d, n)
        require(extra != 1, "n", "must give more than one self-loop to join")
        require(extra + d // n > 0, "n", "must give self-loops to join")

    def size(self) -> tuple[int, int]:
        """Return n nodes, degree d."""
        return self.n, self.d

    def links(self) -> Ends:
        """Return the links of GeneralizedKautz, then the cycles."""
        d, n = self.d, self.n
        everyone = np.arange(n)
        rounds = [everyone] * (d // n) + [_looped(d, n)]
        cycles = [(nodes, np.roll(nodes, -1)) for nodes in rounds]
        return join([GeneralizedKautz(d, n).links(), *cycles])

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member of every size with at least two loops."""
        if nodes >= 2 and degree >= (1 if nodes == 2 else 2):
            extra = _extra_loops(degree, nodes)
            if extra != 1 and extra + degree // nodes > 0:
                yield cls(degree, nodes)

    def bidirectional(self) -> bool:
        """Return whether there are two nodes; other members have a one-way link."""
        return self.n == 2

    def parallel(self) -> bool:
        """Return whether a link of a cycle existed before."""
        d, n = self.d, self.n
        if d >= n:
            # Every node already sends to every other.
            return True
        looped = _looped(d, n)
        steps = -(d * looped + np.roll(looped, -1)) % n
        return bool(((1 <= steps) & (steps <= d)).any())


def _extra_loops(d: int, n: int) -> int:
    """Return the number of nodes with one loop more than the floor(d / n) of every node.

    They are the solutions x of (d + 1) x = -a mod n for a = 1..d mod n.  With
    g = gcd(d + 1, n) there are g solutions for every a divisible by g, none otherwise.
    """
    common = gcd(d + 1, n)
    return common * (d % n // common)


def _looped(d: int, n: int) -> np.ndarray:
    """Return the nodes with one loop more than every node has, increasing."""
    nodes = np.arange(n)
    residues = -(d + 1) * nodes % n
    return nodes[(1 <= residues) & (residues <= d % n)]


class Kautz(Base):
    """Kautz(d, k): words of k letters from d + 1, adjacent letters distinct; x1..xk -> x2..xk y.

    Built as GeneralizedKautz(d, d**k + d**(k - 1)), to which it is isomorphic, with the same
    numbering; also L^(k-1) of the complete graph on d + 1 nodes.
    """

    d: int
    k: int
    title = "Kautz digraph"
    source = "Kautz 1968; isomorphism: Imase and Itoh 1983"
    check_domain = at_least(d=2, k=1)

    def size(self) -> tuple[int, int]:
        """Return (d + 1) d**(k - 1) nodes, degree d."""
        d, k = self.d, self.k
        return capped_product(d + 1, capped_power(d, k - 1)), d

    def links(self) -> Ends:
        """Return the links of the generalized Kautz digraph of this size, which has no loops."""
        return GeneralizedKautz(self.d, self.nodes).links()

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes = (degree + 1) degree**(k - 1) for some k."""
        size, k = degree + 1, 1
        while degree >= 2 and size < nodes:
            size, k = size * degree, k + 1
        if degree >= 2 and size == nodes:
            yield cls(degree, k)

    def bidirectional(self) -> bool:
        """Return whether it is the complete graph, k = 1."""
        return self.k == 1

    def vertex_transitive(self) -> bool:
        """Return whether k <= 2: only some words of three letters repeat the first letter.

        Words of two letters are the links of the complete graph, and permutations of the letters
        take any of them to any other.
        """
        return self.k <= 2

    def arc_transitive(self) -> bool:
        """Return whether it is the complete graph, k = 1."""
        return self.k == 1

    def claim(self) -> Claim | None:
        """Claim k steps and the bandwidth of the line graph theorem."""
        return GeneralizedKautz(self.d, self.nodes).claim()
