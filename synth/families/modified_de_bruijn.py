"""De Bruijn digraphs with their loops rewired."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.families.de_bruijn import DeBruijn
from topoloom.synth.families.family import Base, Ends, join
from topoloom.synth.limits import capped_power


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
