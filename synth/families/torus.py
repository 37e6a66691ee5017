"""Tori of any number of dimensions, and two-dimensional tori with a shifted wrap-around."""

from collections.abc import Iterator
from math import isqrt
from typing import Self

import numpy as np

from topoloom.synth.algebra.permutation_groups import Images, direct_product, rotations
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Arguments, Base, Ends, always, join, require, two_way
from topoloom.synth.limits import capped_product


class Torus(Base):
    """Torus(n1, n2, ...): neighbors along every dimension joined both ways, with wrap-around.

    Nodes are numbered in mixed radix, the first dimension most significant.  A side of 2 gives one
    link between its two nodes, not a parallel pair.
    """

    sides: tuple[int, ...]
    title = "torus"
    source = "folklore; optimal bandwidth under BFB: arXiv:2202.03356"

    def check_domain(self) -> None:
        """Require at least one side, and sides >= 2."""
        require(bool(self.sides), "sides", "must be at least one")
        require(min(self.sides) >= 2, "sides", "must be at least 2")

    def size(self) -> tuple[int, int]:
        """Return the product of the sides; degree 2 per dimension, 1 for a side of 2."""
        return capped_product(*self.sides), sum(min(side - 1, 2) for side in self.sides)

    def links(self) -> Ends:
        """Return links by dimension, the last first; forward before backward in each."""
        parts, stride = [], 1
        nodes = np.arange(self.nodes)
        for side in reversed(self.sides):
            digit = nodes // stride % side
            ahead = [(digit + jump) % side - digit for jump in sorted({1, side - 1})]
            parts += [(nodes, nodes + move * stride) for move in ahead]
            stride *= side
        return join(parts)

    @classmethod
    def matching(cls, nodes: int, degree: int) -> Iterator[Self]:
        """Yield all tori with non-decreasing sides of this size and degree."""
        if nodes >= 2 and degree >= 1:
            for sides in _sides(nodes, degree, 2):
                yield cls(*sides)

    bidirectional = always  # Every forward link has a backward partner.
    vertex_transitive = always  # A Cayley graph of a product of cyclic groups.

    def semiregular_group(self) -> Images:
        """Return the product of the rotations of the dimensions."""
        return direct_product([rotations(side) for side in self.sides])

    def claim(self) -> Claim:
        """Claim half of every side as steps, at optimal bandwidth: a product of rings."""
        return Claim(
            sum(side // 2 for side in self.sides), optimal_bandwidth(self.nodes), exact=True
        )


def _sides(nodes: int, degree: int, least: int) -> Iterator[Arguments]:
    """Yield the non-decreasing sides >= ``least`` with this product and this degree."""
    if nodes >= least and degree == min(nodes - 1, 2):
        yield (nodes,)
    side = least
    while side * side <= nodes:
        if nodes % side == 0 and degree > min(side - 1, 2):
            for rest in _sides(nodes // side, degree - min(side - 1, 2), side):
                yield (side, *rest)
        side += 1


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

    bidirectional = always  # Every link has its partner.
    vertex_transitive = always  # A Cayley graph of the plane lattice modulo (a, 0) and (-twist, b).

    def claim(self) -> Claim | None:
        """Claim the cost of (2b, b, b): the plane lattice modulo (b, b) and (b, -b).

        For t < b the 4t points of |x| + |y| = t are distinct, and a quarter turn permutes them:
        the torus is locally transitive, see `synth.families.balanced`.
        """
        a, b, twist = self.a, self.b, self.twist
        if not a == 2 * b == 2 * twist:
            return None
        return Claim(b, optimal_bandwidth(a * b), exact=True)
