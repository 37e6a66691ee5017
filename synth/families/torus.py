"""Tori of any number of dimensions."""

from collections.abc import Iterator
from typing import Self

import numpy as np

from topoloom.synth.algebra.permutation_groups import Images, direct_product, rotations
from topoloom.synth.evaluation.cost import Claim, optimal_bandwidth
from topoloom.synth.families.family import Arguments, Base, Ends, join, require
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

    def bidirectional(self) -> bool:
        """Return True: every forward link has a backward partner."""
        return True

    def vertex_transitive(self) -> bool:
        """Return True: a Cayley graph of a product of cyclic groups."""
        return True

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
