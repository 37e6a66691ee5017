"""Decompose flows per source into routes: the paths of each pair's data."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.route_table import RouteTable
from topoloom.schedules.model.schedule import Collective, RouteSchedule
from topoloom.schedules.routes.demand import AllToAllDemand
from topoloom.synth.topology.topology import Topology

MAX_HOPS = 1 << 26
"""Maximum total hops of all routes: about 500 MB of memory during decomposition."""

Integers = NDArray[np.int64]


def route_schedule(
    topology: Topology, problem: AllToAllDemand, flows: Integers, unit: int
) -> RouteSchedule:
    """Return the schedule with the given flows of one source of each orbit.

    Args:
        flows (array of int64, (sources, arcs)): In 1 / unit; each row delivers exactly one unit to
            every other compute node.

    Raises:
        TooLarge: The routes have more than `MAX_HOPS` hops in all.

    A flow from one source to many destinations decomposes into paths: removal of a path to one
    destination leaves a flow to the others.  Every path removes the whole flow of some arc or the
    whole demand of some destination, so a source has at most arcs + nodes paths.  The group maps
    the paths to the other sources.  O(hops log routes).

    >>> from topoloom.schedules.routes.demand import all_to_all_demand
    >>> from topoloom.schedules.routes.shortest_path_bound import split_evenly
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> problem = all_to_all_demand(ring)
    >>> found = split_evenly(problem)
    >>> [route.path for route in route_schedule(ring, problem, found.flows, found.unit).routes][:2]
    [(0, 1), (0, 1, 2)]
    """
    nodes, lengths, weights = _every_path(problem, flows, unit)
    common = int(np.gcd.reduce(weights, initial=unit))
    found = problem.images.astype(nodes.dtype)[:, nodes].ravel()
    lengths = np.tile(lengths, len(problem.images))
    weights = np.tile(weights // common, len(problem.images))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    order = np.lexsort((lengths, found[starts[1:] - 1], found[starts[:-1]]))
    table = RouteTable(topology.nodes, found, starts, weights).in_order(order)
    return RouteSchedule(
        Collective.ALL_TO_ALL, topology.digest, topology.compute_nodes, unit // common, table
    )


def most_hops(problem: AllToAllDemand, flows: Integers, unit: int) -> int:
    """Return the largest number of host-to-host hops of the routes of `route_schedule`."""
    most = 0
    for nodes, lengths, _ in _paths_of_sources(problem, flows, unit):
        hosts = np.add.reduceat(problem.wants[nodes].astype(np.int64), np.cumsum(lengths) - lengths)
        most = max(most, int(hosts.max()) - 1)
    return most


def _every_path(
    problem: AllToAllDemand, flows: Integers, unit: int
) -> tuple[Integers, Integers, Integers]:
    """Return the concatenated nodes of all paths, their lengths, and their weights."""
    small = np.int16 if problem.nodes < 1 << 15 else np.int32
    parts, hops = [], 0
    for nodes, lengths, weights in _paths_of_sources(problem, flows, unit):
        hops += (len(nodes) - len(lengths)) * len(problem.images)
        if hops > MAX_HOPS:
            raise TooLarge("/topology", f"needs {hops} hops of routes; at most {MAX_HOPS}")
        parts.append((nodes.astype(small), lengths, weights))
    nodes, lengths, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return nodes, lengths, weights


def _paths_of_sources(problem: AllToAllDemand, flows: Integers, unit: int) -> Any:
    """Yield nodes, lengths and weights of the paths of each source."""
    into = np.argsort(problem.head, kind="stable")
    entering = np.searchsorted(problem.head[into], np.arange(problem.nodes + 1))
    for source, row in zip(problem.sources.tolist(), flows, strict=True):
        yield _paths(entering, into, problem.tail, row.copy(), problem.wants, source, unit)


@njit(cache=True, nogil=True)
def _paths(
    entering: Any, into: Any, tail: Any, left: Any, wants: Any, source: int, unit: int
) -> Any:
    """Decompose the flow ``left``; return the nodes of all paths, their lengths and weights.

    Paths run backwards from each destination along the first arc with flow; circulations are
    dropped.  Every node with demand or outflow has inflow, so each path ends at the source.
    """
    count = len(wants)
    first = entering[:-1].copy()
    way, arcs = np.empty(count, np.int64), np.empty(count, np.int64)
    place = np.full(count, -1, np.int64)
    nodes, lengths = np.empty(4 * count, np.int64), np.empty(count, np.int64)
    weights = np.empty(count, np.int64)
    filled, made = 0, 0
    for goal in range(count):
        wanted = unit if wants[goal] and goal != source else 0
        while wanted > 0:
            size = _way_back(goal, source, entering, into, tail, left, first, way, arcs, place)
            weight = wanted
            for at in range(size - 1):
                weight = min(weight, left[arcs[at]])
            for at in range(size - 1):
                left[arcs[at]] -= weight
            wanted -= weight
            while filled + size > len(nodes):
                nodes = np.concatenate((nodes, nodes))
            if made == len(weights):
                weights = np.concatenate((weights, weights))
                lengths = np.concatenate((lengths, lengths))
            for at in range(size):
                node = way[size - 1 - at]
                nodes[filled + at] = node
                place[node] = -1
            lengths[made], weights[made] = size, weight
            filled += size
            made += 1
    return nodes[:filled].copy(), lengths[:made].copy(), weights[:made].copy()


@njit(cache=True, nogil=True)
def _way_back(
    goal: int,
    source: int,
    entering: Any,
    into: Any,
    tail: Any,
    left: Any,
    first: Any,
    way: Any,
    arcs: Any,
    place: Any,
) -> int:
    """Fill ``way`` from a goal back to the source, and ``arcs`` between; return the node count.

    ``first`` is, by node, the first arc into it that may still have flow; ``place`` the positions
    of nodes on the path, or -1.
    """
    way[0], place[goal], size = goal, 0, 1
    while way[size - 1] != source:
        node = way[size - 1]
        while first[node] < entering[node + 1] and left[into[first[node]]] == 0:
            first[node] += 1
        if first[node] == entering[node + 1]:
            raise ValueError("flows: must bring every node what it wants and passes on")
        arc = into[first[node]]
        before = tail[arc]
        arcs[size - 1] = arc
        if place[before] < 0:
            place[before], way[size] = size, before
            size += 1
            continue
        low = place[before]
        least = left[arcs[low]]
        for at in range(low, size):
            least = min(least, left[arcs[at]])
        for at in range(low, size):
            left[arcs[at]] -= least
        for at in range(low + 1, size):
            place[way[at]] = -1
        size = low + 1
    return size
