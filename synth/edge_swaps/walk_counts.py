"""Edge swaps for small depths by incremental walk counts instead of neighborhood bitsets.

``walks[x, y]`` is the number of walks of at most ``depth`` links from x to y.  The walks over a
link a -> b consist of a walk to a and a walk from b; if these are few, a swap of two links changes
few counts.  A walk that uses a link twice is split at its first use: the part before lies in the
graph without the link.  The swaps are the same as with bitsets (`synth.edge_swaps.local_search`),
mostly at less than a tenth of the time.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import index_of, random_swap


class WalkGraph(NamedTuple):
    """A regular graph under change, with its walk counts."""

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


def walk_memory(heads: NDArray[np.int64], depth: int) -> WalkGraph:
    """Return memory for the walks of a graph; `count_all` fills it."""
    nodes, degree = heads.shape
    ends = np.zeros((2, depth + 1, degree**depth), np.int32)
    return WalkGraph(heads, tail_array(heads), np.zeros((nodes, nodes), np.uint16), *ends)


def tail_array(heads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the tails of the links into every node, (N, d + 1), with -1 in the last place.

    >>> tail_array(np.array([[1], [2], [0]])).tolist()
    [[2, -1], [0, -1], [1, -1]]
    """
    nodes, degree = heads.shape
    tails = np.full((nodes, degree + 1), -1)
    by_head = np.argsort(heads, axis=None, kind="stable")
    tails[:, :degree] = (by_head // degree).reshape(nodes, degree)
    return tails


def random_swaps_by_walks(
    heads: NDArray[np.int64], depth: int, most: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Apply random swaps by walk counts; O(most * walks over a link), 2 N^2 bytes."""
    distant, tried = _swaps_by_walks(walk_memory(heads, depth), depth, most, two_way, state)
    return int(distant), int(tried)


@njit(cache=True, nogil=True)
def _swaps_by_walks(
    graph: Any, depth: int, most: int, two_way: bool, state: Any
) -> tuple[int, int]:
    heads = graph.heads
    nodes = len(heads)
    distant, tried = nodes * nodes - count_all(graph, depth), 0
    while tried < most and distant > 0:
        tried += 1
        a, i, c, k, back_b, back_e = random_swap(heads, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        now = distant - redirect(graph, depth, a, i, b, e) - redirect(graph, depth, c, k, e, b)
        if two_way:
            now -= redirect(graph, depth, b, back_b, a, c) + redirect(graph, depth, e, back_e, c, a)
        if now <= distant:
            distant = now
            continue
        redirect(graph, depth, a, i, e, b)
        redirect(graph, depth, c, k, b, e)
        if two_way:
            redirect(graph, depth, b, back_b, c, a)
            redirect(graph, depth, e, back_e, a, c)
    return distant, tried


@njit(cache=True, nogil=True)
def redirect(graph: Any, depth: int, node: int, k: int, old: int, new: int) -> int:
    """Redirect link k of a node to a new head; return the increase of joined pairs."""
    heads, tails = graph.heads, graph.tails
    # Walks to the node exclude the link, walks from its head include it: each has one first use.
    tails[old, index_of(tails[old], node)] = -1
    change = _count(graph, depth, node, old, False)
    heads[node, k] = new
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
