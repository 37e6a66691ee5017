"""De Bruijn digraphs with their loops put to use."""

from collections.abc import Iterator

import numpy as np

from synth.bases.de_bruijn import DeBruijn
from synth.bases.family import Arguments, Ends, Family, join
from synth.recipe import Base

__all__ = ["ModifiedDeBruijn"]


class ModifiedDeBruijn(Family):
    """ModifiedDeBruijn(d, k): DeBruijn(d, k) with its d self-loops joined in one cycle.

    The word 00..0 sends to 11..1, that to 22..2, and so on round, so that all d links of
    every node carry data.  At most k steps, as in the de Bruijn digraph.  The bandwidth
    is not optimal; it must be measured.
    """

    name = "ModifiedDeBruijn"
    parameters = ("d", "k")
    title = "de Bruijn digraph with its self-loops joined in a cycle"
    source = "after de Bruijn 1946; the idea of DBJMod in arXiv:2202.03356, not its figures"

    def check_domain(self, arguments: Arguments) -> None:
        """Require what DeBruijn does."""
        DeBruijn().check_domain(arguments)

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give d**k nodes, degree d."""
        return DeBruijn().size(arguments)

    def links(self, arguments: Arguments) -> Ends:
        """Those of DeBruijn, then the cycle."""
        d, k = arguments
        repeated = np.arange(d) * ((d**k - 1) // (d - 1))
        return join([DeBruijn().links(arguments), (repeated, np.roll(repeated, -1))])

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Powers of the degree."""
        for plain in DeBruijn().matching(nodes, degree):
            yield Base(self.name, plain.arguments)
