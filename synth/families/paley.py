"""Paley graphs."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.algebra.finite_field import finite_field, is_prime_power
from topoloom.synth.families.balanced import BalancedFamily
from topoloom.synth.families.family import Ends, always, require
from topoloom.synth.families.polygons import require_field


class Paley(BalancedFamily):
    """Paley(q): elements of the field of q = 4w + 1, joined when they differ by a square.

    Nodes are numbered as in `synth.algebra.finite_field`.  Paley(9) is the 3 x 3 torus.
    """

    q: int
    title = "Paley graph"
    source = "Paley 1933; Sachs 1962; Erdős and Rényi 1963"

    def check_domain(self) -> None:
        """Require a prime power 1 mod 4, so that -1 is a square."""
        q = self.q
        require_field(q)
        require(q % 4 == 1, "q", "must be 1 more than a multiple of 4")

    def size(self) -> tuple[int, int]:
        """Return q nodes; half of the q - 1 nonzero elements are squares."""
        q = self.q
        return q, (q - 1) // 2

    def links(self) -> Ends:
        """Return the links sorted by source, then by the logarithm of the difference."""
        q = self.q
        field = finite_field(q)
        squares = field.powers[::2]
        sources = np.repeat(np.arange(q), len(squares))
        return sources, field.add(sources, np.tile(squares, q))

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield a member if nodes is a prime power, 1 mod 4, and degree = (nodes - 1) / 2."""
        if degree >= 2 and nodes == 2 * degree + 1 and nodes % 4 == 1 and is_prime_power(nodes):
            yield cls(nodes)

    vertex_transitive = always  # By x -> x + c.
    arc_transitive = always  # By x -> s x + c for squares s.

    def diameter(self) -> int:
        """Return 2: every element is a nonzero square or a sum of two."""
        return 2
