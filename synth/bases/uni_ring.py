"""The one-way ring."""

from collections.abc import Iterator

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["UniRing"]


class UniRing(Family):
    """UniRing(n[, links]): node x sends to x + 1 mod n over ``links`` parallel links.

    Reaches the optimal bandwidth, as every step fills every link alike: one shard over
    ``links`` links, n - 1 times.
    """

    name = "UniRing"
    parameters = ("n", "links?")
    title = "one-way ring, with parallel links if asked"
    source = "folklore; UniRing(d, N) in arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require n >= 2 and links >= 1."""
        n, links = _read(arguments)
        require(n >= 2, "n", "must be at least 2")
        require(links >= 1, "links", "must be at least 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give n nodes, degree ``links``."""
        return _read(arguments)

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source."""
        n, links = _read(arguments)
        sources = np.repeat(np.arange(n), links)
        return sources, (sources + 1) % n

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """One of every size."""
        if nodes >= 2 and degree >= 1:
            yield Base(self.name, (nodes,) if degree == 1 else (nodes, degree))

    def bidirectional(self, arguments: Arguments) -> bool:
        """Two nodes only."""
        return arguments[0] == 2

    def parallel(self, arguments: Arguments) -> bool:
        """As asked."""
        return _read(arguments)[1] > 1

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Rotations move every node to every other."""
        return True

    def claim(self, arguments: Arguments) -> Claim:
        """Take n - 1 steps at optimal bandwidth."""
        n, _ = _read(arguments)
        return Claim(n - 1, optimal_bandwidth(n), exact=True)


def _read(arguments: Arguments) -> tuple[int, int]:
    return arguments[0], arguments[1] if len(arguments) > 1 else 1
