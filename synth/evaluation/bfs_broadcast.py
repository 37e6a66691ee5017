"""Breadth-first search towards one node, with the entry links of every shard.

For a destination u and a node v at distance t from v to u, the *mask* of v is the set of links
into u over which a shortest path from v can enter u.  A mask is the union of the masks of v's
successors one hop nearer, so one backward search computes all.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.topology.topology import Topology


class InLinks(NamedTuple):
    """The links into node u are ``start[u]`` .. ``start[u + 1]``, in `Topology` order.

    ``source`` is the tail of each link, ``capacity`` an integer proportional to its capacity; all
    int64.  Bit i of a mask of u stands for link ``start[u] + i``; ``link`` is its index in the
    topology.
    """

    start: NDArray[np.int64]
    source: NDArray[np.int64]
    capacity: NDArray[np.int64]
    link: NDArray[np.int64]


class Search(NamedTuple):
    """Result of `towards`: nodes by distance, and masks.

    ``order[level[t]:level[t + 1]]`` are the nodes at distance t; all int64.  ``level`` has an
    entry for each distance, plus one.
    """

    distance: NDArray[np.int64]
    mask: NDArray[np.int64]
    order: NDArray[np.int64]
    level: NDArray[np.int64]


def in_links(topology: Topology, capacity: NDArray[np.int64]) -> InLinks:
    """Return the links of a topology grouped by target; ``capacity`` is by link."""
    order = np.argsort(topology.targets, kind="stable")
    start = np.zeros(topology.node_count + 1, np.int64)
    np.cumsum(topology.in_degrees, out=start[1:])
    sources = topology.sources[order].astype(np.int64)
    return InLinks(start, sources, capacity[order], order.astype(np.int64))


def search_memory(nodes: int) -> Search:
    """Return memory for the result of one search."""
    return Search(*(np.zeros(nodes + 2, np.int64) for _ in range(4)))


@njit(cache=True, nogil=True)
def towards(links: Any, goal: int, found: Any) -> int:
    """Search backwards from ``goal``; fill ``found`` and return the longest distance.

    ``level[steps + 1]`` is the number of nodes that reach ``goal``.  O(links).
    """
    distance, mask, order, level = found.distance, found.mask, found.order, found.level
    nodes = len(links.start) - 1
    for node in range(nodes):
        distance[node] = -1
        mask[node] = 0
    distance[goal] = 0
    order[0] = goal
    level[0], level[1] = 0, 1
    filled, steps = 1, 0
    for place in range(links.start[goal], links.start[goal + 1]):
        node = links.source[place]
        if distance[node] < 0:
            distance[node] = 1
            order[filled] = node
            filled += 1
        mask[node] |= 1 << (place - links.start[goal])
    first = 1
    while first < filled:
        steps += 1
        last = filled
        level[steps + 1] = last
        if last == nodes:
            # All nodes are reached; skip the last level, which has most of the links.
            break
        for index in range(first, last):
            node = order[index]
            bits = mask[node]
            for place in range(links.start[node], links.start[node + 1]):
                before = links.source[place]
                if distance[before] < 0:
                    distance[before] = steps + 1
                    order[filled] = before
                    filled += 1
                if distance[before] == steps + 1:
                    mask[before] |= bits
        first = last
    return steps
