"""Link loads of unicasts and broadcasts along shortest paths, for given pairs or groups of nodes.

Kernels over flat arrays, compiled by Numba; `NUMBA_DISABLE_JIT=1` runs them as plain Python.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.routes.shortest_path_dag import ArcIndex, arc_index
from topoloom.synth.topology.topology import Topology

Integers = NDArray[np.int64]

UNIT = 5040
"""Parts of a message that unicasts divide among shortest paths."""

TREES = 4
"""Trees of a source in a broadcast; each carries an equal part of the data."""


@dataclass(frozen=True, slots=True)
class Loads:
    """Loads of all arcs by step: ``steps[t, e] / unit`` messages cross arc e in step t.

    Unicasts have one row, because all paths are in use at once.  ``hops`` counts hops from host
    to host on the longest path.
    """

    steps: Integers
    unit: int
    hops: int


class ShortestPaths:
    """All shortest paths of a topology; hosts and switches forward.

    Raises
    ------
    NoSchedule
        Some host cannot reach another.

    Examples
    --------
    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> paths = ShortestPaths(ring)
    >>> demand = np.zeros((4, 4), np.int64)
    >>> demand[0, 2] = 1
    >>> loads = paths.unicasts(demand)
    >>> (loads.steps / loads.unit).tolist(), loads.hops
    ([[0.5, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]], 2)
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        nodes = topology.node_count
        self.arcs: ArcIndex = arc_index(
            topology.sources.astype(np.int64), topology.targets.astype(np.int64), nodes
        )
        self.is_host = np.array([node not in topology.switches for node in topology.nodes])
        copying = [node not in topology.switches - topology.multicast for node in topology.nodes]
        self.copies = np.array(copying)
        self.distance = np.empty((nodes, nodes), np.int32)
        self.order = np.empty((nodes, nodes), np.int32)
        _search_all(self.arcs, self.distance, self.order)
        hosts = np.flatnonzero(self.is_host)
        if (self.distance[np.ix_(hosts, hosts)] < 0).any():
            raise NoSchedule("/topology", "must have a path between any two hosts")

    @cached_property
    def reversed(self) -> "tuple[ShortestPaths, Integers]":
        """The paths of the transpose, and for every arc of the transpose its arc here."""
        turned = self.topology.transpose()
        return ShortestPaths(turned), np.lexsort((self.arcs.tail, self.arcs.head))

    def unicasts(self, demand: Integers) -> Loads:
        """Return the loads of ``demand[s, t]`` messages from node s to node t.

        The flow through a node divides among the arcs by which shortest paths enter, in integers
        that differ by at most one.  O(nodes * arcs).
        """
        load = np.zeros((1, len(self.arcs.tail)), np.int64)
        hops = _unicasts(self.arcs, self.distance, self.order, self.is_host, demand, UNIT, load[0])
        return Loads(load, UNIT, hops)

    def broadcasts(self, sources: Integers, weights: Integers, goals: NDArray[np.bool_]) -> Loads:
        """Return the loads of broadcasts along trees of shortest paths.

        Entry k sends ``weights[k]`` messages from ``sources[k]`` to the nodes ``goals[k]``.  Every
        tree prefers parents that are in the tree, then the arc of least load so far, among the arcs
        at this distance.  A node that
        does not copy forwards one message for each child.  O(entries * arcs).
        """
        most = int(self.distance.max()) + 1
        load = np.zeros((most, len(self.arcs.tail)), np.int64)
        hops = _broadcasts(
            self.arcs,
            self.distance,
            self.order,
            (self.is_host, self.copies),
            (sources, weights, goals),
            TREES,
            load,
        )
        return Loads(load[:hops], TREES, hops)


@njit(cache=True, nogil=True)
def _search_all(arcs: Any, distance: Any, order: Any) -> None:
    """Fill distances from every node, -1 if unreachable, and the nodes in order of distance."""
    nodes = len(arcs.leaving) - 1
    for source in range(nodes):
        for node in range(nodes):
            distance[source, node] = -1
            order[source, node] = -1
        distance[source, source] = 0
        order[source, 0] = source
        reached, at = 1, 0
        while at < reached:
            node = order[source, at]
            at += 1
            for arc in range(arcs.leaving[node], arcs.leaving[node + 1]):
                other = arcs.head[arc]
                if distance[source, other] < 0:
                    distance[source, other] = distance[source, node] + 1
                    order[source, reached] = other
                    reached += 1


@njit(cache=True, nogil=True)
def _unicasts(
    arcs: Any, distance: Any, order: Any, is_host: Any, demand: Any, unit: int, load: Any
) -> int:
    """Add the loads of all demands; return the most hops from host to host."""
    nodes = len(arcs.leaving) - 1
    amount, hops = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    most = 0
    for source in range(nodes):
        last = -1
        for place in range(nodes):
            node = order[source, place]
            if node < 0:
                break
            amount[node] = demand[source, node] * unit if node != source else 0
            if amount[node]:
                last = place
        for place in range(last, 0, -1):
            node = order[source, place]
            left = amount[node]
            if left == 0:
                continue
            near, parts = distance[source, node] - 1, 0
            for at in range(arcs.entering[node], arcs.entering[node + 1]):
                if distance[source, arcs.tail[arcs.into[at]]] == near:
                    parts += 1
            for at in range(arcs.entering[node], arcs.entering[node + 1]):
                arc = arcs.into[at]
                if distance[source, arcs.tail[arc]] == near:
                    share = left // parts
                    parts -= 1
                    left -= share
                    load[arc] += share
                    amount[arcs.tail[arc]] += share
        hops[source] = 0
        for place in range(1, last + 1):
            node = order[source, place]
            hops[node] = 0
            near = distance[source, node] - 1
            for at in range(arcs.entering[node], arcs.entering[node + 1]):
                tail = arcs.tail[arcs.into[at]]
                if distance[source, tail] == near:
                    hops[node] = max(hops[node], hops[tail] + is_host[node])
            if demand[source, node]:
                most = max(most, hops[node])
    return most


@njit(cache=True, nogil=True)
def _broadcasts(
    arcs: Any, distance: Any, order: Any, nodes_are: Any, entries: Any, trees: int, load: Any
) -> int:
    """Add the loads of all trees; return the most hops from host to host."""
    is_host, copies = nodes_are
    sources, weights, goals = entries
    nodes = len(arcs.leaving) - 1
    level = np.zeros(load.shape, np.int64)
    needed, parent = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    depth = np.empty(nodes, np.int64)
    most = 0
    for entry in range(len(sources)):
        source = sources[entry]
        for _ in range(trees):
            last = 0
            for place in range(1, nodes):
                node = order[source, place]
                if node < 0:
                    break
                needed[node] = 1 if goals[entry, node] else 0
                if needed[node]:
                    last = place
            needed[source] = 0
            for place in range(last, 0, -1):
                node = order[source, place]
                parent[node] = -1
                if needed[node] == 0:
                    continue
                count = 1 if copies[node] else needed[node]
                near, best = distance[source, node] - 1, -1
                for at in range(arcs.entering[node], arcs.entering[node + 1]):
                    arc = arcs.into[at]
                    tail = arcs.tail[arc]
                    if distance[source, tail] != near:
                        continue
                    if best < 0:
                        best = arc
                        continue
                    old = arcs.tail[best]
                    joins = needed[tail] > 0 or tail == source
                    joined = needed[old] > 0 or old == source
                    if joins > joined or (joins == joined and level[near, arc] < level[near, best]):
                        best = arc
                parent[node] = best
                needed[node] = count
                level[near, best] += count * weights[entry]
                needed[arcs.tail[best]] += count
            depth[source] = 0
            for place in range(1, last + 1):
                node = order[source, place]
                if parent[node] < 0:
                    continue
                above = depth[arcs.tail[parent[node]]]
                depth[node] = above + is_host[node]
                load[above, parent[node]] += needed[node] * weights[entry]
                most = max(most, depth[node])
    return most
