"""Undirected line graphs of Moore graphs."""

from collections.abc import Iterator

import numpy as np

from topoloom.synth.families.balanced import BalancedFamily, EnumeratedFamily
from topoloom.synth.families.family import Arguments, Ends, always, cliques, require
from topoloom.synth.families.planes import SlimFly
from topoloom.synth.families.subsets import Odd


class MooreLineGraph(BalancedFamily, EnumeratedFamily):
    """MooreLineGraph(d): edges of the Moore graph of degree d, joined when they share a node.

    d = 3: the 15 edges of the Petersen graph Odd(3); d = 7: the 175 edges of the Hoffman-Singleton
    graph SlimFly(5).  Edges are numbered by their smaller node, then by the larger.
    """

    d: int
    title = "undirected line graph of the Petersen or of the Hoffman-Singleton graph"
    source = "Brouwer, Cohen, Neumaier, Distance-Regular Graphs, section 4.2"

    def check_domain(self) -> None:
        """Require a degree of a known Moore graph of diameter 2 and girth 5: 3 or 7."""
        require(self.d in (3, 7), "d", "must be 3 or 7")

    def size(self) -> tuple[int, int]:
        """Return (d^2 + 1) d / 2 edges, each adjacent to d - 1 others at either end."""
        d = self.d
        return (d * d + 1) * d // 2, 2 * (d - 1)

    def links(self) -> Ends:
        """Return cliques of edges, one for every node of the Moore graph."""
        d = self.d
        ends = Odd(3).links() if d == 3 else SlimFly(5).links()
        low, high = np.sort(np.stack(ends), axis=0)
        _, edge = np.unique(low * (d * d + 1) + high, return_inverse=True)
        return cliques(edge[np.argsort(ends[0], kind="stable")].reshape(-1, d))

    @classmethod
    def members(cls) -> Iterator[Arguments]:
        """Yield both members."""
        return iter([(3,), (7,)])

    vertex_transitive = always  # The automorphisms of both graphs take every edge to every other.

    def diameter(self) -> int:
        """Return 3, the distance of edges without adjacent ends."""
        return 3
