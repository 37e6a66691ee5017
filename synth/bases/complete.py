"""The complete graph."""

from collections.abc import Iterator

import numpy as np

from synth.bases.family import Arguments, Ends, Family, require
from synth.cost import Claim, optimal_bandwidth
from synth.recipe import Base

__all__ = ["Complete"]


class Complete(Family):
    """Complete(n[, links]): every node sends to every other over ``links`` links."""

    name = "Complete"
    parameters = ("n", "links?")
    title = "complete graph, with parallel links if asked"
    source = "folklore; K_{d+1} in arXiv:2202.03356"

    def check_domain(self, arguments: Arguments) -> None:
        """Require n >= 2 and links >= 1."""
        n, links = _read(arguments)
        require(n >= 2, "n", "must be at least 2")
        require(links >= 1, "links", "must be at least 1")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """Give n nodes, degree (n - 1) * ``links``."""
        n, links = _read(arguments)
        return n, (n - 1) * links

    def links(self, arguments: Arguments) -> Ends:
        """Sorted by source, then by how far ahead the target is."""
        n, links = _read(arguments)
        sources = np.repeat(np.arange(n), (n - 1) * links)
        ahead = np.tile(np.repeat(np.arange(1, n), links), n)
        return sources, (sources + ahead) % n

    def matching(self, nodes: int, degree: int) -> Iterator[Base]:
        """Degrees that n - 1 divides."""
        if nodes >= 2 and degree >= 1 and degree % (nodes - 1) == 0:
            links = degree // (nodes - 1)
            yield Base(self.name, (nodes,) if links == 1 else (nodes, links))

    def bidirectional(self, arguments: Arguments) -> bool:
        """By construction."""
        return True

    def parallel(self, arguments: Arguments) -> bool:
        """As asked."""
        return _read(arguments)[1] > 1

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Every permutation of the nodes is an automorphism."""
        return True

    def claim(self, arguments: Arguments) -> Claim:
        """One step, in which every shard takes its own links."""
        return Claim(1, optimal_bandwidth(arguments[0]), exact=True)


def _read(arguments: Arguments) -> tuple[int, int]:
    return arguments[0], arguments[1] if len(arguments) > 1 else 1
