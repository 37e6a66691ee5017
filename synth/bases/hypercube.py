"""The hypercube."""

from collections.abc import Iterator

import numpy as np

from synth.actions import Images, direct_product, rotations
from synth.bases.family import Arguments, Ends, Family, require
from synth.cost import Claim, optimal_bandwidth
from synth.limits import capped_power
from synth.recipe import Base

__all__ = ["Hypercube"]


class Hypercube(Family):
    """Hypercube(k): nodes are words of k bits, joined when they differ in one bit."""

    name = "Hypercube"
    parameters = ("k",)
    title = "hypercube"
    source = "folklore; optimal bandwidth under BFB: arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require k >= 1."""
        require(arguments[0] >= 1, "k", "must be at least 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """2**k nodes, degree k."""
        return capped_power(2, arguments[0]), arguments[0]

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by the bit that differs."""
        (k,) = arguments
        sources = np.repeat(np.arange(2**k), k)
        return sources, sources ^ np.tile(1 << np.arange(k), 2**k)

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Powers of two."""
        if degree >= 1 and nodes == capped_power(2, degree):
            yield Base(self.name, (degree,))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Say yes: adding a word moves every node anywhere."""
        return True

    def translations(self, arguments: Arguments) -> Images:
        """Add a word."""
        return direct_product([rotations(2)] * arguments[0])

    def claim(self, arguments: Arguments) -> Claim:
        """Take k steps at optimal bandwidth: at every distance all links are alike."""
        return Claim(arguments[0], optimal_bandwidth(2 ** arguments[0]), exact=True)
