"""Shortest-path trees, where the capacities allow them: the lowest possible forest.

In a shortest-path tree the parent of node u is closer to the root, and holds all data for u.  The
parents can therefore be chosen at every u independently: the k units of each root enter by the
arcs into u that lie on shortest paths, within the capacity of each arc.  Any such choices at all
nodes form spanning trees.  This is the problem of `synth.evaluation.load_balance`, which returns
an exact solution or a set of arcs with too little capacity.

Every tree reaches every node at its distance from the root, so no forest is lower.  On graphs
where breadth-first broadcast reaches the optimal bandwidth, the choice exists: its shares are a
fractional solution, and integer capacities make it integral.

Profile (32x32 torus): a third of the time is the search towards every node; the rest is the
conversion of four million edges to node ids.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.packing.spanning_trees import TreeGroup
from topoloom.synth.evaluation.bfs_broadcast import InLinks, Search, search_memory, towards
from topoloom.synth.evaluation.load_balance import Balance, scratch, spread

_THREADING_PAYS = 1 << 18
_WORKERS = min(8, os.cpu_count() or 1)


def shortest_trees(
    node_count: int,
    tail: NDArray[np.int64],
    head: NDArray[np.int64],
    capacity: NDArray[np.int64],
    trees_per_root: int,
) -> Iterator[TreeGroup] | None:
    """Return shortest-path out-trees, ``trees_per_root`` of each node, or None.

    Args:
        node_count, tail, head, capacity, trees_per_root: As for `packing.pack`; the network is
            strongly connected.

    Returns:
        None if the arcs into some node have too little capacity or are more than 64, or if the
        trees exceed `limits.MAX_SHORTEST_ENTRIES`.

    O(nodes * arcs) for the searches, small flows at each node, and
    O(nodes^2 * trees_per_root) for the trees.

    >>> one_way = np.arange(3)
    >>> ring = shortest_trees(3, one_way, (one_way + 1) % 3, np.array([2, 2, 2]), 1)
    >>> [(group.root, group.multiplicity, group.arcs.tolist()) for group in ring]
    [(0, 1, [0, 1]), (1, 1, [1, 2]), (2, 1, [2, 0])]
    """
    arcs_in = np.bincount(head, minlength=node_count)
    entries = node_count * node_count * trees_per_root
    if int(arcs_in.max()) > limits.MAX_SHORTEST_IN_DEGREE or entries > limits.MAX_SHORTEST_ENTRIES:
        return None
    order = np.argsort(head, kind="stable")
    start = np.concatenate([[0], np.cumsum(arcs_in)])
    links = InLinks(start, tail[order], capacity[order], order)
    places = np.zeros((node_count, node_count, trees_per_root), np.int8)
    distances = np.zeros((node_count, node_count), np.int32)

    def run(low: int, high: int) -> bool:
        widest = int(arcs_in.max())
        memory = scratch(node_count, widest)
        return bool(_choose(links, low, high, search_memory(node_count), memory, places, distances))

    if entries < _THREADING_PAYS:
        return _groups(links, places, distances) if run(0, node_count) else None
    bounds = np.linspace(0, node_count, min(node_count, 4 * _WORKERS) + 1).astype(int).tolist()
    with ThreadPoolExecutor(_WORKERS) as pool:
        if not all(pool.map(run, *zip(*pairwise(bounds), strict=True))):
            return None
    return _groups(links, places, distances)


@njit(cache=True, nogil=True)
def _choose(
    links: InLinks,
    low: int,
    high: int,
    found: Search,
    memory: Balance,
    places: Any,
    distances: Any,
) -> bool:
    """Choose the arcs into nodes ``low`` .. ``high``; False if some set has too little capacity.

    ``places[v, u, i]`` is the index, among the arcs into u, of the arc by which tree i of root v
    enters u; ``distances[v, u]`` is the distance from v to u.
    """
    nodes, trees = places.shape[0], places.shape[2]
    masks, supplies = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for goal in range(low, high):
        towards(links, goal, found)
        first = links.start[goal]
        degree = links.start[goal + 1] - first
        order = np.argsort(found.mask[:nodes], kind="mergesort")
        rows = 0
        for root in order:
            distances[root, goal] = found.distance[root]
            if root == goal:
                continue
            if rows == 0 or masks[rows - 1] != found.mask[root]:
                masks[rows], supplies[rows] = found.mask[root], 0
                rows += 1
            supplies[rows - 1] += trees
        room = links.capacity[first : first + degree]
        if spread(masks, supplies, rows, room, degree, memory):
            return False
        row, place = -1, 0
        for root in order:
            if root == goal:
                continue
            if row < 0 or masks[row] != found.mask[root]:
                row, place = row + 1, 0
            for tree in range(trees):
                while memory.flow[row, place] == 0:
                    place += 1
                memory.flow[row, place] -= 1
                places[root, goal, tree] = place
    return True


def _groups(
    links: InLinks, places: NDArray[np.int8], distances: NDArray[np.int32]
) -> Iterator[TreeGroup]:
    """Yield the trees of every root, with adjacent equal trees as one group."""
    nodes = len(distances)
    for root in range(nodes):
        # The root is first, at distance 0.
        order = np.argsort(distances[root], kind="stable")[1:]
        arcs = links.link[links.start[order, None] + places[root, order]]
        changes = np.flatnonzero((arcs[:, 1:] != arcs[:, :-1]).any(axis=0)) + 1
        height = int(distances[root, order[-1]])
        for low, high in pairwise([0, *changes.tolist(), arcs.shape[1]]):
            yield TreeGroup(root, high - low, arcs[:, low], height)
