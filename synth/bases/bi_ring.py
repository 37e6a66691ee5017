"""The two-way ring."""

from collections.abc import Iterator

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require, two_way
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["BiRing"]


class BiRing(Family):
    """BiRing(n[, links]): neighbours on a ring joined by ``links`` links each way."""

    name = "BiRing"
    parameters = ("n", "links?")
    title = "two-way ring, with parallel links if asked"
    source = "folklore; BiRing(d, N) in arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require n >= 3 (two nodes are UniRing(2)) and links >= 1."""
        n, links = _read(arguments)
        require(n >= 3, "n", "must be at least 3")
        require(links >= 1, "links", "must be at least 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give n nodes, degree 2 * ``links``."""
        n, links = _read(arguments)
        return n, 2 * links

    def links(self, arguments: Arguments) -> Ends:
        """All clockwise links, then their partners."""
        n, links = _read(arguments)
        sources = np.repeat(np.arange(n), links)
        return two_way(sources, (sources + 1) % n)

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """One of every even degree."""
        if nodes >= 3 and degree >= 2 and degree % 2 == 0:
            yield Base(self.name, (nodes,) if degree == 2 else (nodes, degree // 2))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def parallel(self, arguments: Arguments) -> bool:
        """As asked."""
        return _read(arguments)[1] > 1

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Rotations move every node to every other."""
        return True

    def claim(self, arguments: Arguments) -> Claim:
        """Half-way round at optimal bandwidth: the two ways share the opposite node."""
        n, _ = _read(arguments)
        return Claim(n // 2, optimal_bandwidth(n), exact=True)


def _read(arguments: Arguments) -> tuple[int, int]:
    return arguments[0], arguments[1] if len(arguments) > 1 else 1
