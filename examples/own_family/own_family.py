"""Consecutive digraphs, a family outside the catalog: `pip install .` adds the family."""

from collections.abc import Iterator
from math import gcd
from typing import Self

import numpy as np

from topoloom.synth.families.family import Base, Ends, require

_MOST = 8


class Consecutive(Base):
    """Consecutive(n, d, q): x -> q x + i mod n for i = 1..d.

    Every node has d links in, as q has an inverse.  Nodes y and y + 1 have links from one node, so
    the graph is connected, and being regular strongly.
    """

    n: int
    d: int
    q: int
    title = "d consecutive nodes, from q times the number"
    source = "Du, Hsu and Hwang, 1988"

    def check_domain(self) -> None:
        """Check that there are no loops, and that all nodes have the same number of links in."""
        require(self.d >= 2, "d", "must be at least 2")
        require(self.n > self.d, "n", "must be more than d")
        require(gcd(self.q, self.n) == 1 and self.q < self.n, "q", "must be below n, prime to it")
        # q x + i = x has a solution if the divisor of q - 1 and n divides i.
        require(gcd(self.q - 1, self.n) > self.d, "q", "must make no loop")

    def size(self) -> tuple[int, int]:
        """Return n and d."""
        return self.n, self.d

    def links(self) -> Ends:
        """Return the links out of 0, then those out of 1, and so on."""
        sources = np.repeat(np.arange(self.n), self.d)
        steps = np.tile(np.arange(1, self.d + 1), self.n)
        return sources, (self.q * sources + steps) % self.n

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield members with the least multipliers; the search measures their costs."""
        fitting = (
            q for q in range(2, nodes) if 2 <= degree < gcd(q - 1, nodes) and gcd(q, nodes) == 1
        )
        for q, _ in zip(fitting, range(_MOST), strict=False):
            yield cls(nodes, degree, q)
