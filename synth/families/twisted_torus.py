"""Two-dimensional tori with a shifted wrap-around."""

from collections.abc import Iterator
from math import isqrt
from typing import Self

import numpy as np

from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Base, Ends, require, two_way
from topoloom.synth.limits import capped_product


class TwistedTorus(Base):
    """TwistedTorus(a, b, twist): (x, y) joined to (x + 1, y) mod a and (x, y + 1), with a shift.

    Past y = b - 1 follows (x + twist mod a, 0).  Node (x, y) is x b + y, as in Torus(a, b).
    A twist and its negative mod a give mirror images; the family includes only twists up to a / 2.
    TwistedTorus(2b, b, b) has b steps, the fewest of any two-way Cayley graph of an Abelian
    group with these 2 b^2 nodes and degree 4, and optimal bandwidth.
    """

    a: int
    b: int
    twist: int
    title = "two-dimensional torus with a shifted wrap-around"
    source = "Sequin 1981; Camara et al., IEEE Trans. Parallel Distrib. Syst. 21(12), 2010"

    def check_domain(self) -> None:
        """Require a >= 3 and b >= 2, so that neighbors are distinct, and a twist up to a / 2."""
        a, b, twist = self.a, self.b, self.twist
        require(a >= 3, "a", "must be at least 3")
        require(b >= 2, "b", "must be at least 2")
        require(1 <= twist <= a // 2, "twist", "must be from 1 to a / 2")

    def size(self) -> tuple[int, int]:
        """Return a * b nodes, degree 4."""
        return capped_product(self.a, self.b), 4

    def links(self) -> Ends:
        """Return the links along x, then along y, then their partners."""
        a, b, twist = self.a, self.b, self.twist
        nodes = np.arange(a * b)
        x, y = nodes // b, nodes % b
        along_y = (x + twist * (y == b - 1)) % a * b + (y + 1) % b
        return two_way(np.tile(nodes, 2), np.concatenate([(nodes + b) % (a * b), along_y]))

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield the best twist, and two twists for the most square sides."""
        if degree != 4 or nodes < 6:
            return
        b = next((b for b in range(isqrt(nodes), 1, -1) if nodes % b == 0), 0)
        if b == 0:
            return
        half, a = isqrt(nodes // 2), nodes // b
        best = [(2 * half, half, half)] if half >= 2 and 2 * half * half == nodes else []
        yield from (
            cls(*arguments)
            for arguments in dict.fromkeys([*best, (a, b, min(b, a // 2)), (a, b, b // 2)])
        )

    def bidirectional(self) -> bool:
        """Return True: every link has its partner."""
        return True

    def vertex_transitive(self) -> bool:
        """Return True: a Cayley graph of the plane lattice modulo (a, 0) and (-twist, b)."""
        return True

    def claim(self) -> Claim | None:
        """Claim the cost of (2b, b, b): the plane lattice modulo (b, b) and (b, -b).

        For t < b the 4t points of |x| + |y| = t are distinct, and a quarter turn permutes them:
        the torus is locally transitive, see `synth.families.balanced`.
        """
        a, b, twist = self.a, self.b, self.twist
        if not a == 2 * b == 2 * twist:
            return None
        return Claim(b, optimal_bandwidth(a * b), exact=True)
