"""De Bruijn digraphs, plain and with their loops rewired."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.families.family import Base, Ends, at_least, join
from topoloom.synth.limits import capped_power


class DeBruijn(Base):
    """DeBruijn(d, k): words of k letters from d; x1..xk -> x2..xk y.

    Node numbers are words in base d.  The d words of one repeated letter have a loop, which
    carries nothing and is omitted.
    """

    d: int
    k: int
    title = "de Bruijn digraph"
    source = "de Bruijn 1946"
    check_domain = at_least(d=2, k=2)

    def size(self) -> tuple[int, int]:
        """Return d**k nodes, degree d."""
        return capped_power(self.d, self.k), self.d

    def links(self) -> Ends:
        """Return the links sorted by source, then by the new letter; without loops."""
        d, k = self.d, self.k
        sources = np.repeat(np.arange(d**k), d)
        targets = (sources * d + np.tile(np.arange(d), d**k)) % d**k
        real = sources != targets
        return sources[real], targets[real]

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes is a power of the degree with exponent at least 2."""
        size, k = degree, 1
        while degree >= 2 and size < nodes:
            size, k = size * degree, k + 1
        if degree >= 2 and k >= 2 and size == nodes:
            yield cls(degree, k)

    def regular(self) -> bool:
        """Return False: the words of one repeated letter have one link less."""
        return False


class ModifiedDeBruijn(Base):
    """ModifiedDeBruijn(d, k): DeBruijn(d, k) with its d self-loops rewired into one cycle.

    The word 00..0 sends to 11..1, 11..1 to 22..2, and so on cyclically, so that all d links of
    every node carry data.  At most k steps, as in the de Bruijn digraph.  The bandwidth is not
    optimal and must be measured.
    """

    d: int
    k: int
    title = "de Bruijn digraph with its self-loops joined in a cycle"
    source = "after de Bruijn 1946; the idea of DBJMod in arXiv:2202.03356, not its costs"

    def check_domain(self) -> None:
        """Require the domain of DeBruijn."""
        DeBruijn(self.d, self.k)

    def size(self) -> tuple[int, int]:
        """Return d**k nodes, degree d."""
        return capped_power(self.d, self.k), self.d

    def links(self) -> Ends:
        """Return the links of DeBruijn, then the cycle."""
        d, k = self.d, self.k
        repeated = np.arange(d) * ((d**k - 1) // (d - 1))
        return join([DeBruijn(d, k).links(), (repeated, np.roll(repeated, -1))])

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes is a power of the degree with exponent at least 2."""
        for plain in DeBruijn.matching(nodes, degree):
            yield cls(plain.d, plain.k)
