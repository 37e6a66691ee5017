"""De Bruijn digraphs."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.families.family import Base, Ends, require
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

    def check_domain(self) -> None:
        """Require d >= 2 and k >= 2."""
        d, k = self.d, self.k
        require(d >= 2, "d", "must be at least 2")
        require(k >= 2, "k", "must be at least 2")

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
