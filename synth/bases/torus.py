"""Tori of any number of dimensions."""

from collections.abc import Iterator

import numpy as np

from synth.actions import Images, direct_product, rotations
from synth.bases.family import Arguments, Ends, Family, join, require
from synth.cost import Claim, optimal_bandwidth
from synth.limits import capped_product
from synth.recipe import Base

__all__ = ["Torus"]


class Torus(Family):
    """Torus(n1, n2, ...): neighbours along every dimension joined both ways, with wrap.

    Nodes are numbered in mixed radix, the first dimension most significant.  A side of
    2 gives one link between its two nodes, not a parallel pair.
    """

    name = "Torus"
    parameters = ("n1", "n2*")
    title = "torus"
    source = "folklore; optimal bandwidth under BFB: arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require sides >= 2."""
        for index, side in enumerate(arguments):
            require(side >= 2, f"n{min(index, 1) + 1}", "must be at least 2")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Product of the sides; degree 2 a dimension, 1 for a side of 2."""
        return capped_product(*arguments), sum(min(side - 1, 2) for side in arguments)

    def links(self, arguments: Arguments) -> Ends:
        """Dimension by dimension, forward then backward."""
        parts, stride = [], 1
        nodes = np.arange(self.size(arguments)[0])
        for side in reversed(arguments):
            digit = nodes // stride % side
            ahead = [(digit + jump) % side - digit for jump in sorted({1, side - 1})]
            parts += [(nodes, nodes + move * stride) for move in ahead]
            stride *= side
        return join(parts)

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """All ways to write ``nodes`` as increasing sides of the right degree."""
        if nodes >= 2 and degree >= 1:
            for sides in _sides(nodes, degree, 2):
                yield Base(self.name, sides)

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Say yes: a Cayley graph of a product of cyclic groups."""
        return True

    def translations(self, arguments: Arguments) -> Images:
        """Turn every dimension by itself."""
        return direct_product([rotations(side) for side in arguments])

    def claim(self, arguments: Arguments) -> Claim:
        """Half-way round every dimension at optimal bandwidth."""
        nodes, _ = self.size(arguments)
        return Claim(sum(side // 2 for side in arguments), optimal_bandwidth(nodes), exact=True)


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
