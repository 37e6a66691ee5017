"""Exchanges of link ends for small depths: walks are counted up and down, and no ball anew.

``walks[x, y]`` is how many walks of at most ``depth`` links lead from x to y.  A link a -> b is on
those that come to a and go on from b; where that is few, an exchange of four links changes few
counts.  A walk that takes a link twice is counted at its first use of it: up to there it lies in
the graph without the link.  The same exchanges are made as by counting balls
(`synth.edge_swaps.local_search`), mostly at less than a tenth of the time.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import pick, place

__all__ = ["Graph", "count_all", "exchange_near", "sources_of", "turn", "walked"]


class Graph(NamedTuple):
    """A regular graph that is being changed, and its walks."""

    heads: NDArray[np.int64]
    """(N, d): where links out lead to."""
    tails: NDArray[np.int64]
    """(N, d + 1): where links in come from, in any order, -1 where there is none."""
    walks: NDArray[np.uint16]
    """(N, N)"""
    before: NDArray[np.int32]
    """(depth + 1, d^depth): where walks back from a node end, by length; ..."""
    after: NDArray[np.int32]
    """... and those on from one."""


def walked(heads: NDArray[np.int64], depth: int) -> Graph:
    """Return memory for the walks of a graph, none of which `count_all` has counted yet."""
    nodes, degree = heads.shape
    ends = np.zeros((2, depth + 1, degree**depth), np.int32)
    return Graph(heads, sources_of(heads), np.zeros((nodes, nodes), np.uint16), *ends)


def sources_of(heads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (N, d + 1): where the links into every node come from, and -1 in the last place.

    >>> sources_of(np.array([[1], [2], [0]])).tolist()
    [[2, -1], [0, -1], [1, -1]]
    """
    nodes, degree = heads.shape
    tails = np.full((nodes, degree + 1), -1)
    by_head = np.argsort(heads, axis=None, kind="stable")
    tails[:, :degree] = (by_head // degree).reshape(nodes, degree)
    return tails


def exchange_near(
    heads: NDArray[np.int64], depth: int, most: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Swap edges as `local_search.exchange` does; O(most * walks over a link), 2 N^2 bytes."""
    late, looked = _exchange(walked(heads, depth), depth, most, two_way, state)
    return int(late), int(looked)


@njit(cache=True, nogil=True)
def _exchange(graph: Any, depth: int, most: int, two_way: bool, state: Any) -> tuple[int, int]:
    heads = graph.heads
    nodes = len(heads)
    late, looked = nodes * nodes - count_all(graph, depth), 0
    while looked < most and late > 0:
        looked += 1
        a, i, c, k, back_b, back_e = pick(heads, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        now = late - turn(graph, depth, a, i, b, e) - turn(graph, depth, c, k, e, b)
        if two_way:
            now -= turn(graph, depth, b, back_b, a, c) + turn(graph, depth, e, back_e, c, a)
        if now <= late:
            late = now
            continue
        turn(graph, depth, a, i, e, b)
        turn(graph, depth, c, k, b, e)
        if two_way:
            turn(graph, depth, b, back_b, c, a)
            turn(graph, depth, e, back_e, a, c)
    return late, looked


@njit(cache=True, nogil=True)
def turn(graph: Any, depth: int, node: int, k: int, old: int, new: int) -> int:
    """Lead link k of a node to a new head; return how many more pairs have a walk."""
    heads, tails = graph.heads, graph.tails
    # Back from the node without the link, on from its head with it: its first use.
    tails[old, place(tails[old], node)] = -1
    change = _count(graph, depth, node, old, False)
    heads[node, k] = new
    change += _count(graph, depth, node, new, True)
    tails[new, place(tails[new], -1)] = node
    return change


@njit(cache=True, nogil=True)
def _count(graph: Any, depth: int, node: int, head: int, more: bool) -> int:
    """Count the walks over a link, or count them out; return how many more pairs have one."""
    walks, before, after = graph.walks, graph.before, graph.after
    come, gone, change = 1, 1, 0
    before[0, 0] = node
    for back in range(depth):
        after[0, 0], gone = head, 1
        for on in range(depth - back):
            # Indices are unsigned: of signed ones it is asked whether they count from the end.
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
    """List where walks one link longer end."""
    filled: Any = np.uint64(0)
    for index in range(np.uint64(count)):
        node = np.uint64(nodes[index])
        for k in range(np.uint64(ends.shape[1])):
            end = ends[node, k]
            # Written always and kept at times: hardly ever is there no link.
            found[filled] = end
            filled += np.uint64(end >= 0)
    last: Any = np.int64(filled)
    return last


@njit(cache=True, nogil=True)
def count_all(graph: Any, depth: int) -> int:
    """Count all walks; return between how many pairs there is one."""
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
