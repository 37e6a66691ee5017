"""Shortest paths under given lengths: the bound they prove, and the loads of equal shares.

For any lengths y >= 0 of the arcs, every routing obeys

    (largest load / capacity) * (sum over arcs of capacity * y) >= sum over pairs of dist_y,

since a unit on any path from s to t uses at least dist_y(s, t).  This is weak duality
of maximum concurrent flow; with y = 1 it is the *distance bound*.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.routes.demand import AllToAllDemand
from topoloom.schedules.routes.shortest_path_dag import (
    ArcIndex,
    arc_index,
    on_shortest_path,
    search,
    send_on_shortest_paths,
    work_memory,
)

_MAX_TOTAL = 1 << 61

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PathSplit:
    """A routing along shortest paths.

    ``flows[i, e] / unit`` of source i's data crosses arc e; ``loads`` is their sum by orbit of
    arcs; ``lower`` is the bound that the lengths prove; no path has more than ``hops`` hops.
    """

    flows: Integers
    unit: int
    loads: Integers
    lower: Fraction
    hops: int


def longest_length(problem: AllToAllDemand) -> int:
    """Return the largest length of arcs for which no sum of distances exceeds 2**61.

    >>> from topoloom.schedules.routes.demand import all_to_all_demand
    >>> from topoloom.synth.topology.topology import Topology
    >>> longest_length(all_to_all_demand(Topology(range(2), [(0, 1), (1, 0)]))) == 2**58
    True
    """
    return _MAX_TOTAL // problem.nodes**3


def length_bound(problem: AllToAllDemand, lengths: Integers) -> Fraction:
    """Return the lower bound that lengths prove; ``lengths`` are nonnegative integers by orbit.

    O(sources * arcs log nodes).

    >>> from topoloom.schedules.routes.demand import all_to_all_demand
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = all_to_all_demand(Topology(range(4), [(i, (i + 1) % 4) for i in range(4)]))
    >>> length_bound(ring, np.array([1]))
    Fraction(6, 1)
    """
    total = _total_distance(_ways(problem), problem.sources, problem.wants, lengths[problem.orbit])
    return bound_of_distance(problem, lengths, Fraction(int(total)))


def bound_of_distance(problem: AllToAllDemand, lengths: Integers, distance: Fraction) -> Fraction:
    """Return the bound by lengths, from the total ``distance`` of all pairs."""
    # Every orbit of arcs, and of sources, has as many elements as the group.
    room = sum(int(c) * int(y) for c, y in zip(problem.capacity, lengths, strict=True))
    return distance * problem.scale / room if room else Fraction(0)


def split_evenly(problem: AllToAllDemand, lengths: Integers | None = None) -> PathSplit:
    """Divide the data of every source evenly among its shortest paths, hop by hop.

    Args:
        problem: The demand.
        lengths: By orbit of arcs, from 0 to `longest_length`; default 1.

    Returns:
        At every node the flow is divided among the arcs by which shortest paths enter, in integers
        that differ by at most one; exactly equal where the unit is fine enough.

    The unit is the product, level by level, of the least common multiples of the numbers
    of such arcs, which makes every division exact, unless the product exceeds int64; then the unit
    is a power of two.  O(sources * arcs log nodes) time, sources * arcs memory.

    >>> from topoloom.schedules.routes.demand import all_to_all_demand
    >>> from topoloom.synth.topology.topology import Topology
    >>> square = [(i, (i + way) % 4) for i in range(4) for way in (1, 3)]
    >>> found = split_evenly(all_to_all_demand(Topology(range(4), square)))
    >>> found.unit, found.loads.tolist(), found.lower
    (2, [4, 4], Fraction(2, 1))
    """
    if lengths is None:
        lengths = np.ones(len(problem.capacity), np.int64)
    ways, by_arc = _ways(problem), lengths[problem.orbit]
    most = _MAX_TOTAL // (problem.nodes**2 * len(problem.sources))
    flows = np.zeros((len(problem.sources), len(problem.tail)), np.int64)
    unit = _unit(ways, problem, by_arc, most)
    hops = _share(ways, problem.sources, problem.wants, by_arc, unit, flows)
    loads = np.zeros(len(problem.capacity), np.int64)
    np.add.at(loads, problem.orbit, flows.sum(axis=0))
    # Only shortest paths are used: their total length is the sum of the distances.
    along = sum(int(load) * int(y) for load, y in zip(loads, lengths, strict=True))
    return PathSplit(
        flows, unit, loads, bound_of_distance(problem, lengths, Fraction(along, unit)), hops
    )


def _ways(problem: AllToAllDemand) -> ArcIndex:
    return arc_index(problem.tail, problem.head, problem.nodes)


def _unit(ways: ArcIndex, problem: AllToAllDemand, lengths: Integers, most: int) -> int:
    """Return a unit that divides evenly at every level, or a power of two; at most ``most``."""
    if (lengths == 1).all():
        shares = np.zeros((problem.nodes, int(np.diff(ways.entering).max()) + 1), np.bool_)
        _count_shares(ways, problem.sources, lengths, shares)
        unit = prod(lcm(*(int(k) for k in np.flatnonzero(row) if k)) for row in shares)
        if unit <= most:
            return unit
    return 1 << (most.bit_length() - 1)


@njit(cache=True, nogil=True)
def _total_distance(ways: Any, sources: Any, wants: Any, lengths: Any) -> int:
    """Return the sum of the distances from the sources to all nodes with demand.

    No overflow: fewer than N^2 distances of fewer than N arcs, see `longest_length`.
    """
    nodes = len(wants)
    distance, order = np.empty(nodes, np.int64), np.empty((2, nodes), np.int64)
    total = 0
    for source in sources:
        search(ways, source, lengths, distance, order)
        for node in range(nodes):
            if wants[node]:
                total += distance[node]
    return total


@njit(cache=True, nogil=True)
def _count_shares(ways: Any, sources: Any, lengths: Any, shares: Any) -> None:
    """Mark, by distance, the numbers of equal parts of flows."""
    nodes = len(shares)
    distance, order = np.empty(nodes, np.int64), np.empty((2, nodes), np.int64)
    for source in sources:
        reached = search(ways, source, lengths, distance, order)
        for place in range(1, reached):
            node = order[0, place]
            parts = 0
            for at in range(ways.entering[node], ways.entering[node + 1]):
                if on_shortest_path(ways, ways.into[at], lengths, distance, order):
                    parts += 1
            shares[distance[node], parts] = True


@njit(cache=True, nogil=True)
def _share(ways: Any, sources: Any, wants: Any, lengths: Any, unit: int, flows: Any) -> int:
    """Fill the flow of every source; return the most hops."""
    memory, most = work_memory(len(wants)), 0
    for row in range(len(sources)):
        most = max(
            most,
            send_on_shortest_paths(ways, sources[row], wants, lengths, unit, memory, flows[row]),
        )
    return most
