"""Link loads of unicasts and broadcasts along shortest paths, for given pairs or groups of nodes.

Kernels over flat arrays, compiled by Numba; `NUMBA_DISABLE_JIT=1` runs them as plain Python.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
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

TREES, FEW_TREES, MANY_ENTRIES = 12, 4, 256
"""Trees of a source in a broadcast, and beyond how many entries how few.

On tori, hypercubes and circulant graphs, 12 trees come within 1 % of breadth-first broadcast of
optimal bandwidth, 4 trees within 5 %.
"""

ROUNDS = 4
"""Times that every tree of a broadcast grows, each time beside all other trees."""


@dataclass(frozen=True, slots=True)
class Loads:
    """Loads of all arcs by step: ``steps[t, e] / unit`` messages cross arc e in step t.

    Unicasts have one row, because all paths are in use at once.  ``delay`` is the largest sum of
    the delays of the arcs on a path.
    """

    steps: Integers
    unit: int
    delay: int


class ShortestPaths:
    """All shortest paths of a topology; hosts and switches forward.

    Args:
        topology: Topology.
        delays: Delay of every arc.  By default an arc into a host has delay 1, and an arc into a
            switch 0: the delay of a path is its number of hops from host to host.

    Raises:
        NoSchedule: Some host cannot reach another.

    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> paths = ShortestPaths(ring)
    >>> demand = np.zeros((4, 4), np.int64)
    >>> demand[0, 2] = 1
    >>> loads = paths.unicasts(demand)
    >>> (loads.steps / loads.unit).tolist(), loads.delay
    ([[0.5, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]], 2)
    """

    def __init__(self, topology: Topology, delays: Integers | None = None) -> None:
        self.topology, self._given = topology, delays
        nodes = topology.node_count
        self.arcs: ArcIndex = arc_index(
            topology.sources.astype(np.int64), topology.targets.astype(np.int64), nodes
        )
        self.is_host = np.array([node not in topology.switches for node in topology.nodes])
        self.delays = self.is_host[self.arcs.head].astype(np.int64) if delays is None else delays
        self.widths = _widths(topology)
        copying = [node not in topology.switches - topology.multicast for node in topology.nodes]
        self.copies = np.array(copying)
        self._unicast: dict[tuple[bytes, bytes], Loads] = {}
        self._broadcast: dict[tuple[bytes, bytes, bytes], Loads] = {}
        self.distance = np.empty((nodes, nodes), np.int32)
        self.order = np.empty((nodes, nodes), np.int32)
        _search_all(self.arcs, self.distance, self.order)
        hosts = np.flatnonzero(self.is_host)
        if (self.distance[np.ix_(hosts, hosts)] < 0).any():
            raise NoSchedule("/topology", "must have a path between any two hosts")

    @cached_property
    def diameter(self) -> int:
        """Links on the longest of all shortest paths."""
        return int(self.distance.max())

    @cached_property
    def reversed(self) -> "tuple[ShortestPaths, Integers]":
        """The paths of the transpose, and for every arc of the transpose its arc here."""
        place = np.lexsort((self.arcs.tail, self.arcs.head))
        delays = None if self._given is None else self._given[place]
        return ShortestPaths(self.topology.transpose(), delays), place

    def forget(self) -> None:
        """Free the memory of known loads."""
        self._unicast.clear()
        self._broadcast.clear()
        self.__dict__.pop("reversed", None)

    def unicasts(self, demand: Integers) -> Loads:
        """Return the loads of ``demand[s, t]`` messages from node s to node t.

        The flow through a node divides among the arcs by which shortest paths enter, in proportion
        to their capacities, rounded to integers.  O(nodes * arcs).
        """
        pairs = np.flatnonzero(demand)
        key = pairs.tobytes(), demand.ravel()[pairs].tobytes()
        if (known := self._unicast.get(key)) is not None:
            return known
        load = np.zeros((1, len(self.arcs.tail)), np.int64)
        arcs = self.delays, self.widths
        delay = _unicasts(self.arcs, self.distance, self.order, arcs, demand, UNIT, load[0])
        found = self._unicast[key] = Loads(load, UNIT, delay)
        return found

    def broadcasts(self, sources: Integers, weights: Integers, goals: NDArray[np.bool_]) -> Loads:
        """Return the loads of broadcasts along trees of shortest paths.

        Entry k sends ``weights[k]`` messages from ``sources[k]`` to the nodes ``goals[k]``.  Every
        tree prefers parents that are in the tree, then the arc of least load over capacity at its
        distance.  A node that does not copy forwards one message per child.  O(entries * arcs).
        """
        key = sources.tobytes(), weights.tobytes(), np.packbits(goals).tobytes()
        if (known := self._broadcast.get(key)) is not None:
            return known
        trees = TREES if len(sources) <= MANY_ENTRIES else FEW_TREES
        most = self.diameter + 1
        load = np.zeros((most, len(self.arcs.tail)), np.int64)
        hops, delay = _broadcasts(
            self.arcs,
            self.distance,
            self.order,
            (self.is_host, self.copies, self.delays, self.widths),
            (sources, weights, goals),
            (trees, ROUNDS),
            load,
        )
        found = self._broadcast[key] = Loads(load[:hops], trees, delay)
        return found


def _widths(topology: Topology) -> Integers:
    """Return the capacity of every arc as an integer without a common divisor."""
    capacities = [Fraction(one) for one in topology.capacities]
    scale = lcm(*(one.denominator for one in capacities))
    found = [int(one * scale) for one in capacities]
    return np.array(found, np.int64) // max(gcd(*found), 1)


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
    arcs: Any, distance: Any, order: Any, of_arcs: Any, demand: Any, unit: int, load: Any
) -> int:
    """Add the loads of all demands; return the largest delay of a path."""
    delays, widths = of_arcs
    nodes = len(arcs.leaving) - 1
    amount, late = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    # Whether a node is on a path; its amount may be 0 after a division.
    used = np.empty(nodes, np.bool_)
    most = 0
    for source in range(nodes):
        if not demand[source].any():
            continue
        last = -1
        for place in range(nodes):
            node = order[source, place]
            if node < 0:
                break
            amount[node] = demand[source, node] * unit if node != source else 0
            used[node] = amount[node] > 0
            if amount[node]:
                last = place
        for place in range(last, 0, -1):
            node = order[source, place]
            left = amount[node]
            if not used[node]:
                continue
            near, parts = distance[source, node] - 1, 0
            for at in range(arcs.entering[node], arcs.entering[node + 1]):
                if distance[source, arcs.tail[arcs.into[at]]] == near:
                    parts += widths[arcs.into[at]]
            for at in range(arcs.entering[node], arcs.entering[node + 1]):
                arc = arcs.into[at]
                if distance[source, arcs.tail[arc]] == near:
                    share = left * widths[arc] // parts
                    parts -= widths[arc]
                    left -= share
                    load[arc] += share
                    amount[arcs.tail[arc]] += share
                    used[arcs.tail[arc]] = True
        late[source] = 0
        for place in range(1, last + 1):
            node = order[source, place]
            if not used[node]:
                continue
            late[node] = 0
            near = distance[source, node] - 1
            for at in range(arcs.entering[node], arcs.entering[node + 1]):
                arc = arcs.into[at]
                if distance[source, arcs.tail[arc]] == near:
                    late[node] = max(late[node], late[arcs.tail[arc]] + delays[arc])
            if demand[source, node]:
                most = max(most, late[node])
    return int(most)


@njit(cache=True, nogil=True)
def _broadcasts(
    arcs: Any, distance: Any, order: Any, parts: Any, entries: Any, effort: Any, load: Any
) -> tuple[int, int]:
    """Add the loads of all trees; return the most hops from host to host, and the largest delay.

    Later rounds remove a tree and grow it again, beside all others.
    """
    is_host, copies, delays, widths = parts
    sources, weights, goals = entries
    trees, rounds = effort
    nodes = len(arcs.leaving) - 1
    level = np.zeros(load.shape, np.int64)
    parents = np.full((len(sources), trees, nodes), -1, np.int32)
    needed, depth = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    late = np.empty(nodes, np.int64)
    most, latest = 0, 0
    for turn in range(rounds):
        for entry in range(len(sources)):
            source, weight = sources[entry], weights[entry]
            seen, near = order[source], distance[source]
            for tree in range(trees):
                parent = parents[entry, tree]
                if turn:
                    _needs(arcs, seen, parent, copies, goals[entry], needed)
                    for place in range(1, nodes):
                        node = seen[place]
                        if node >= 0 and parent[node] >= 0:
                            level[near[node] - 1, parent[node]] -= needed[node] * weight
                shape = copies, widths
                _grow(arcs, source, near, seen, shape, goals[entry], weight, level, needed, parent)
                if turn == rounds - 1:
                    depth[source], late[source] = 0, 0
                    for place in range(1, nodes):
                        node = seen[place]
                        if node >= 0 and parent[node] >= 0:
                            tail = arcs.tail[parent[node]]
                            above = depth[tail]
                            depth[node] = above + is_host[node]
                            late[node] = late[tail] + delays[parent[node]]
                            load[above, parent[node]] += needed[node] * weight
                            most, latest = max(most, depth[node]), max(latest, late[node])
    return int(most), int(latest)


@njit(cache=True, nogil=True)
def _needs(arcs: Any, order: Any, parent: Any, copies: Any, goals: Any, needed: Any) -> None:
    """Fill the messages that every node of a tree receives."""
    for node in range(len(goals)):
        needed[node] = 1 if goals[node] else 0
    for place in range(len(goals) - 1, 0, -1):
        node = order[place]
        if node >= 0 and parent[node] >= 0:
            needed[node] = 1 if copies[node] else needed[node]
            needed[arcs.tail[parent[node]]] += needed[node]


@njit(cache=True, nogil=True)
def _grow(
    arcs: Any,
    source: int,
    distance: Any,
    order: Any,
    shape: Any,
    goals: Any,
    weight: int,
    level: Any,
    needed: Any,
    parent: Any,
) -> None:
    """Grow a tree to all goals, from the farthest back; add its loads to ``level``."""
    copies, widths = shape
    for node in range(len(goals)):
        needed[node] = 1 if goals[node] else 0
        parent[node] = -1
    for place in range(len(goals) - 1, 0, -1):
        node = order[place]
        if node < 0 or needed[node] == 0:
            continue
        needed[node] = 1 if copies[node] else needed[node]
        near, best, best_joined = distance[node] - 1, -1, False
        for at in range(arcs.entering[node], arcs.entering[node + 1]):
            arc = arcs.into[at]
            tail = arcs.tail[arc]
            if distance[tail] != near:
                continue
            joined = needed[tail] > 0 or tail == source
            if (
                best < 0
                or joined > best_joined
                or (
                    joined == best_joined
                    and level[near, arc] * widths[best] < level[near, best] * widths[arc]
                )
            ):
                best, best_joined = arc, joined
        parent[node] = best
        level[near, best] += needed[node] * weight
        needed[arcs.tail[best]] += needed[node]
