"""Edge swaps for small depths by incremental walk counts instead of neighborhood bitsets.

``walks[x, y]`` is the number of walks of at most ``depth`` links from x to y.  The walks over a
link a -> b consist of a walk to a and a walk from b; if these are few, a swap of two links changes
few counts, mostly at less than a tenth of the time of bitsets.  A walk that uses a link twice is
split at its first use: the part before lies in the graph without the link.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import index_of


class WalkGraph(NamedTuple):
    """A regular graph under change, with its walk counts; without any, ``walks`` is empty."""

    heads: NDArray[np.int64]
    """(N, d): heads of the links out of each node."""
    tails: NDArray[np.int64]
    """(N, d + 1): tails of the links into each node, in any order, -1 in empty places."""
    walks: NDArray[np.uint16]
    """(N, N)"""
    before: NDArray[np.int32]
    """(depth + 1, d^depth): first nodes of the walks to a node, by length."""
    after: NDArray[np.int32]
    """(depth + 1, d^depth): last nodes of the walks from a node, by length."""


def walk_memory(heads: NDArray[np.int64], depth: int, counted: bool) -> WalkGraph:
    """Return a graph with memory for its walks, if counted; `count_all` fills it.

    >>> walk_memory(np.array([[1], [2], [0]]), 2, False).tails.tolist()
    [[2, -1], [0, -1], [1, -1]]
    """
    nodes, degree = heads.shape
    tails = np.full((nodes, degree + 1), -1)
    by_head = np.argsort(heads, axis=None, kind="stable")
    tails[:, :degree] = (by_head // degree).reshape(nodes, degree)
    ends = np.zeros((2, depth + 1, degree**depth if counted else 0), np.int32)
    return WalkGraph(heads, tails, np.zeros((nodes, nodes * counted), np.uint16), *ends)


@njit(cache=True, nogil=True)
def redirect(graph: Any, depth: int, node: int, k: int, old: int, new: int) -> int:
    """Redirect link k of a node to a new head; return the increase of joined pairs."""
    heads, tails = graph.heads, graph.tails
    # Walks to the node exclude the link, walks from its head include it: each has one first use.
    counted, change = graph.walks.size > 0, 0
    tails[old, index_of(tails[old], node)] = -1
    if counted:
        change += _count(graph, depth, node, old, False)
    heads[node, k] = new
    if counted:
        change += _count(graph, depth, node, new, True)
    tails[new, index_of(tails[new], -1)] = node
    return change


@njit(cache=True, nogil=True)
def _count(graph: Any, depth: int, node: int, head: int, more: bool) -> int:
    """Add or subtract the walks over a link; return the increase of joined pairs."""
    walks, before, after = graph.walks, graph.before, graph.after
    come, gone, change = 1, 1, 0
    before[0, 0] = node
    for back in range(depth):
        after[0, 0], gone = head, 1
        for on in range(depth - back):
            # Unsigned indices: Numba adds a wraparound check to signed ones.
            length, other = np.uint64(on), np.uint64(back)
            for i in range(np.uint64(come)):
                first = np.uint64(before[other, i])
                for j in range(np.uint64(gone)):
                    last = np.uint64(after[length, j])
                    count = walks[first, last]
                    if more:
                        change += count == 0
                        walks[first, last] = count + np.uint16(1)
                    else:
                        change -= count == 1
                        walks[first, last] = count - np.uint16(1)
            if on + 1 < depth - back:
                gone = _onward(graph.heads, after[on], gone, after[on + 1])
        if back + 1 < depth:
            come = _onward(graph.tails, before[back], come, before[back + 1])
    return change


@njit(cache=True, nogil=True)
def _onward(ends: Any, nodes: Any, count: int, found: Any) -> int:
    """List the ends of walks one link longer; return their number."""
    filled: Any = np.uint64(0)
    for index in range(np.uint64(count)):
        node = np.uint64(nodes[index])
        for k in range(np.uint64(ends.shape[1])):
            end = ends[node, k]
            # Branchless: an empty place is rare.
            found[filled] = end
            filled += np.uint64(end >= 0)
    last: Any = np.int64(filled)
    return last


@njit(cache=True, nogil=True)
def count_all(graph: Any, depth: int) -> int:
    """Count all walks; return the number of joined pairs."""
    walks, after = graph.walks, graph.after
    pairs = 0
    for node in range(len(walks)):
        after[0, 0], gone = node, 1
        for on in range(depth + 1):
            for j in range(gone):
                pairs += walks[node, after[on, j]] == 0
                walks[node, after[on, j]] += 1
            if on < depth:
                gone = _onward(graph.heads, after[on], gone, after[on + 1])
    return pairs
