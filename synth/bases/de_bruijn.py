"""De Bruijn digraphs."""

from collections.abc import Iterator

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require
from synth.limits import capped_power
from synth.recipe import Base

__all__ = ["DeBruijn"]


class DeBruijn(Family):
    """DeBruijn(d, k): words of k letters from d; x1..xk -> x2..xk y.

    Node numbers read the word in base d.  The d words of one repeated letter have a
    loop, which carries nothing and is left out.
    """

    name = "DeBruijn"
    parameters = ("d", "k")
    title = "de Bruijn digraph"
    source = "de Bruijn 1946"

    def check_domain(self, arguments: Arguments) -> None:
        """Require d >= 2 and k >= 2."""
        d, k = arguments
        require(d >= 2, "d", "must be at least 2")
        require(k >= 2, "k", "must be at least 2")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """d**k nodes, degree d."""
        return capped_power(*arguments), arguments[0]

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by the letter that comes in; loops left out."""
        d, k = arguments
        sources = np.repeat(np.arange(d**k), d)
        targets = (sources * d + np.tile(np.arange(d), d**k)) % d**k
        real = sources != targets
        return sources[real], targets[real]

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Powers of the degree."""
        size, k = degree, 1
        while degree >= 2 and size < nodes:
            size, k = size * degree, k + 1
        if degree >= 2 and k >= 2 and size == nodes:
            yield Base(self.name, (degree, k))

    def regular(self, arguments: Arguments) -> bool:
        """Say no: the words of one letter have a link less."""
        return False
