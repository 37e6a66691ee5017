"""Reachability of nodes from one node."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def reachable_mask(
    node_count: int, sources: NDArray[Any], targets: NDArray[Any], start: int
) -> NDArray[np.bool_]:
    """Return whether each position is reachable from ``start``; O(links).

    >>> reachable_mask(3, np.array([0, 2]), np.array([1, 0]), 0).tolist()
    [True, True, False]
    """
    seen = np.zeros(node_count, np.bool_)
    _reach(sources.astype(np.int64), targets.astype(np.int64), start, seen)
    return seen


def is_connected(node_count: int, sources: NDArray[Any], targets: NDArray[Any]) -> bool:
    """Return whether the first node reaches all others.

    In a regular graph all nodes then reach the first: equally many links enter and leave any set.

    >>> is_connected(3, np.array([0, 1, 2]), np.array([1, 2, 0]))
    True
    """
    return bool(reachable_mask(node_count, sources, targets, 0).all())


@njit(cache=True, nogil=True)
def _reach(sources: Any, targets: Any, first: int, seen: Any) -> None:
    nodes = len(seen)
    start = np.zeros(nodes + 1, np.int64)
    for source in sources:
        start[source + 1] += 1
    for node in range(nodes):
        start[node + 1] += start[node]
    filled = start.copy()
    after = np.empty(len(targets), np.int64)
    for link in range(len(sources)):
        after[filled[sources[link]]] = targets[link]
        filled[sources[link]] += 1
    stack = np.zeros(nodes, np.int64)
    stack[0] = first
    seen[first] = True
    height = 1
    while height > 0:
        height -= 1
        node = stack[height]
        for place in range(start[node], start[node + 1]):
            if not seen[after[place]]:
                seen[after[place]] = True
                stack[height] = after[place]
                height += 1
