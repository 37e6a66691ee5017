"""Trees of shortest paths only, where the capacities allow them: the lowest forest there is.

In a tree of shortest paths the parent of node u is nearer to the root, and holds all that u
wants.  So which trees u hangs on by which arc can be chosen at every u by itself: the k units
of each root may enter by the arcs into u that lie on shortest paths, each arc has room for so
many, and any such choice, made at every u, gives spanning trees.  That is the problem of
`synth.evaluation.load_balance`: it is solved exactly, or a set of arcs is returned that is too
small.

Every tree reaches every node at its distance from the root, so no forest is lower.  On graphs
of which breadth-first broadcast reaches the optimal bandwidth the choice exists: its shares are
one, as fractions, and whole capacities make it whole.

Profile (32x32 torus): a third of the time is the search towards every node; the rest is
naming four million edges.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.packing.spanning_trees import Group
from topoloom.synth.evaluation.bfs_broadcast import InLinks, Search, search_memory, towards
from topoloom.synth.evaluation.load_balance import Balance, scratch, spread

MOST_ENTRIES = 1 << 28
"""Limit on nodes * nodes * trees per root, a byte each."""

_MOST_ARCS_IN = 64
_THREADING_PAYS = 1 << 18
_WORKERS = min(8, os.cpu_count() or 1)


def shortest_trees(
    node_count: int,
    tail: NDArray[np.int64],
    head: NDArray[np.int64],
    capacity: NDArray[np.int64],
    trees_per_root: int,
) -> Iterator[Group] | None:
    """Return out-trees of shortest paths, ``trees_per_root`` of each node, or None.

    Parameters
    ----------
    node_count, tail, head, capacity, trees_per_root
        As for `packing.pack`; the network is strongly connected.

    Returns
    -------
    iterator of Group, or None
        None if some node would need more room than the arcs into it have, or has more
        than 64 of them, or the trees would pass `MOST_ENTRIES`.

    Notes
    -----
    O(nodes * arcs) for the searches, small flows at each node, and
    O(nodes^2 * trees_per_root) for the trees.

    Examples
    --------
    >>> one_way = np.arange(3)
    >>> ring = shortest_trees(3, one_way, (one_way + 1) % 3, np.array([2, 2, 2]), 1)
    >>> [(group.root, group.multiplicity, group.arcs.tolist()) for group in ring]
    [(0, 1, [0, 1]), (1, 1, [1, 2]), (2, 1, [2, 0])]
    """
    arcs_in = np.bincount(head, minlength=node_count)
    entries = node_count * node_count * trees_per_root
    if int(arcs_in.max()) > _MOST_ARCS_IN or entries > MOST_ENTRIES:
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
    """Choose the arcs into nodes ``low`` .. ``high``; False if some set has too little room.

    ``places[v, u, i]`` is the place, among the arcs into u, by which tree i of root v
    enters u; ``distances[v, u]`` how far u is from v.
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
) -> Iterator[Group]:
    """Yield the trees of every root, equal neighbours as one group."""
    nodes = len(distances)
    for root in range(nodes):
        # The root itself comes first, at distance 0.
        order = np.argsort(distances[root], kind="stable")[1:]
        arcs = links.link[links.start[order, None] + places[root, order]]
        changes = np.flatnonzero((arcs[:, 1:] != arcs[:, :-1]).any(axis=0)) + 1
        height = int(distances[root, order[-1]])
        for low, high in pairwise([0, *changes.tolist(), arcs.shape[1]]):
            yield Group(root, high - low, arcs[:, low], height)
