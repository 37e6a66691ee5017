"""Paley graphs."""

from collections.abc import Iterator

import numpy as np

from synth.bases.balanced import Balanced
from synth.bases.family import Arguments, Ends, require
from synth.bases.polygons import require_field
from synth.finite_field import finite_field, is_prime_power
from synth.recipe import Base

__all__ = ["Paley"]


class Paley(Balanced):
    """Paley(q): elements of the field of q = 4w + 1, joined when they differ by a square.

    Nodes are numbered as in `synth.finite_field`.  Paley(9) is the 3 x 3 torus.
    """

    name = "Paley"
    parameters = ("q",)
    title = "Paley graph"
    source = "Paley 1933; Sachs 1962; Erdős and Rényi 1963"

    def check_domain(self, arguments: Arguments) -> None:
        """Require a prime power of which -1 is a square."""
        (q,) = arguments
        require_field(q)
        require(q % 4 == 1, "q", "must be 1 more than a multiple of 4")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Half of the nonzero elements are squares."""
        (q,) = arguments
        return q, (q - 1) // 2

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by the logarithm of the difference."""
        (q,) = arguments
        field = finite_field(q)
        squares = field.powers[::2]
        sources = np.repeat(np.arange(q), len(squares))
        return sources, field.add(sources, np.tile(squares, q))

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Prime powers of the right degree."""
        if degree >= 2 and nodes == 2 * degree + 1 and nodes % 4 == 1 and is_prime_power(nodes):
            yield Base(self.name, (nodes,))

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Arc-transitive: x -> s x + c for squares s."""
        return True

    def diameter(self, arguments: Arguments) -> int:
        """Every element is a sum of two nonzero squares or one."""
        return 2
