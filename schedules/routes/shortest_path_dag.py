"""Shortest paths from one source under integer lengths, and division of a flow among them.

Kernels over flat arrays, compiled by Numba; `NUMBA_DISABLE_JIT=1` runs them as plain
Python.  Lengths are by arc, distances and amounts by position, all int64.
"""

import heapq
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNREACHED = 1 << 62
"""The distance of unreachable nodes."""

Integers = NDArray[np.int64]


class ArcIndex(NamedTuple):
    """Arcs ``leaving[v]`` and following leave node v; ``into[entering[v]]`` ... enter it."""

    tail: Integers
    head: Integers
    leaving: Integers
    into: Integers
    entering: Integers


def arc_index(tail: Integers, head: Integers, nodes: int) -> ArcIndex:
    """Return arcs, sorted by tail, grouped by tail and by head.

    >>> arc_index(np.array([0, 1]), np.array([1, 0]), 2).into.tolist()
    [1, 0]
    """
    into = np.argsort(head, kind="stable")
    return ArcIndex(
        tail,
        head,
        np.searchsorted(tail, np.arange(nodes + 1)),
        into,
        np.searchsorted(head[into], np.arange(nodes + 1)),
    )


@njit(cache=True, nogil=True)
def search(ways: Any, source: int, lengths: Any, distance: Any, order: Any) -> int:
    """Fill distances from a source and the order of nodes reached; return the number reached.

    The second row of ``order`` holds each node's position + 1, or 0 if unreachable.
    """
    nodes = len(ways.leaving) - 1
    for node in range(nodes):
        distance[node] = UNREACHED
        order[1, node] = 0
    distance[source] = 0
    heap = [(np.int64(0), np.int64(source))]
    reached = 0
    while heap:
        near, node = heapq.heappop(heap)
        if order[1, node]:
            continue
        order[0, reached] = node
        reached += 1
        order[1, node] = reached
        for arc in range(ways.leaving[node], ways.leaving[node + 1]):
            far = near + lengths[arc]
            if far < distance[ways.head[arc]]:
                distance[ways.head[arc]] = far
                heapq.heappush(heap, (far, ways.head[arc]))
    return reached


@njit(cache=True, nogil=True)
def on_shortest_path(ways: Any, arc: int, lengths: Any, distance: Any, order: Any) -> bool:
    """Return whether an arc lies on a shortest path; arcs of length 0 only forward."""
    tail, head = ways.tail[arc], ways.head[arc]
    return (
        order[1, tail] != 0
        and order[1, tail] < order[1, head]
        and distance[tail] + lengths[arc] == distance[head]
    )


@njit(cache=True, nogil=True)
def send_on_shortest_paths(
    ways: Any, source: int, wants: Any, lengths: Any, unit: int, memory: Any, flow: Any
) -> int:
    """Add to ``flow`` the shortest-path flow of ``unit`` to every node with demand.

    From the farthest node back, the flow through a node is divided among the arcs by which
    shortest paths enter, in integers that differ by at most one.  Return the most hops of any of
    these paths, from host to host.  ``memory`` is from `work_memory`.

    No overflow: a node forwards at most N units.
    """
    distance, order, amount, hops = memory
    reached = search(ways, source, lengths, distance, order)
    for node in range(len(wants)):
        amount[node] = unit if wants[node] else 0
    for place in range(reached - 1, 0, -1):
        node = order[0, place]
        parts = 0
        for at in range(ways.entering[node], ways.entering[node + 1]):
            if on_shortest_path(ways, ways.into[at], lengths, distance, order):
                parts += 1
        left = amount[node]
        for at in range(ways.entering[node], ways.entering[node + 1]):
            arc = ways.into[at]
            if on_shortest_path(ways, arc, lengths, distance, order):
                share = left // parts
                parts -= 1
                left -= share
                flow[arc] += share
                amount[ways.tail[arc]] += share
    most = 0
    hops[source] = 0
    for place in range(1, reached):
        node = order[0, place]
        hops[node] = 0
        for at in range(ways.entering[node], ways.entering[node + 1]):
            if on_shortest_path(ways, ways.into[at], lengths, distance, order):
                hops[node] = max(hops[node], hops[ways.tail[ways.into[at]]] + wants[node])
        most = max(most, hops[node])
    return most


@njit(cache=True, nogil=True)
def work_memory(nodes: int) -> Any:
    """Return uninitialized work arrays of `send_on_shortest_paths` for ``nodes`` nodes."""
    return (
        np.empty(nodes, np.int64),
        np.empty((2, nodes), np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )
