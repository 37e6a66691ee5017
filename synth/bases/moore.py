"""Undirected line graphs of Moore graphs."""

from collections.abc import Iterator

import numpy as np

from synth.bases.balanced import Balanced, Listed
from synth.bases.family import Arguments, Ends, cliques, require
from synth.bases.planes import SlimFly
from synth.bases.subsets import Odd

__all__ = ["MooreLineGraph"]


class MooreLineGraph(Balanced, Listed):
    """MooreLineGraph(d): edges of the Moore graph of degree d, joined when they share a node.

    d = 3: the 15 edges of the Petersen graph Odd(3); d = 7: the 175 edges of the
    Hoffman-Singleton graph SlimFly(5).  Edges are numbered by their smaller node, then by
    the other.
    """

    name = "MooreLineGraph"
    parameters = ("d",)
    title = "undirected line graph of the Petersen or of the Hoffman-Singleton graph"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 4.2"

    def check_domain(self, arguments: Arguments) -> None:
        """Degrees of known Moore graphs of diameter 2."""
        require(arguments[0] in (3, 7), "d", "must be 3 or 7")

    def size(self, arguments: Arguments) -> tuple[int, int]:
        """(d^2 + 1) d / 2 edges, each meeting d - 1 others at either end."""
        (d,) = arguments
        return (d * d + 1) * d // 2, 2 * (d - 1)

    def links(self, arguments: Arguments) -> Ends:
        """Cliques of edges about the nodes of the Moore graph."""
        (d,) = arguments
        ends = Odd().links((3,)) if d == 3 else SlimFly().links((5,))
        low, high = np.sort(np.stack(ends), axis=0)
        _, edge = np.unique(low * (d * d + 1) + high, return_inverse=True)
        return cliques(edge[np.argsort(ends[0], kind="stable")].reshape(-1, d))

    def members(self) -> Iterator[Arguments]:
        """Both."""
        return iter([(3,), (7,)])

    def vertex_transitive(self, arguments: Arguments) -> bool:
        """Both graphs are arc-transitive."""
        return True

    def diameter(self, arguments: Arguments) -> int:
        """Count from edges no two ends of which are adjacent."""
        return 3
