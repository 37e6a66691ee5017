"""Shortest paths between the ranks of a fabric, over switches alone."""

from fractions import Fraction
from itertools import pairwise

from topoloom.synth.topology.topology import NodeId, Topology


class RankPaths:
    """The capacity from node to node, parallel links merged, and paths between ranks."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.capacity: dict[tuple[NodeId, NodeId], Fraction] = {}
        self.after: dict[NodeId, list[NodeId]] = {node: [] for node in topology.nodes}
        for link in topology.links:
            pair = (link.source, link.target)
            if pair not in self.capacity:
                self.capacity[pair] = Fraction(0)
                self.after[link.source].append(link.target)
            self.capacity[pair] += Fraction(link.capacity)
        self._found: dict[NodeId, dict[NodeId, tuple[NodeId, ...]]] = {}

    def paths_from(self, source: NodeId) -> dict[NodeId, tuple[NodeId, ...]]:
        """Return a shortest path to every rank that is reachable over switches alone.

        Ties go to the widest path.
        """
        if source not in self._found:
            self._found[source] = self._searched(source)
        return self._found[source]

    def _width(self, path: tuple[NodeId, ...]) -> Fraction:
        return min(self.capacity[hop] for hop in pairwise(path))

    def _searched(self, source: NodeId) -> dict[NodeId, tuple[NodeId, ...]]:
        switches = self.topology.switches
        found: dict[NodeId, tuple[NodeId, ...]] = {}
        ahead: dict[NodeId, tuple[NodeId, ...]] = {source: (source,)}
        seen = {source}
        while ahead:
            wider: dict[NodeId, tuple[Fraction, tuple[NodeId, ...]]] = {}
            for path in ahead.values():
                for node in self.after[path[-1]]:
                    if node in seen or self.capacity[path[-1], node] <= 0:
                        continue
                    longer = (*path, node)
                    width = self._width(longer)
                    if node not in wider or width > wider[node][0]:
                        wider[node] = width, longer
            seen |= wider.keys()
            found |= {node: path for node, (_, path) in wider.items() if node not in switches}
            ahead = {node: path for node, (_, path) in wider.items() if node in switches}
        return found
