"""Nodes taken out of the middle of links: graphs of any number of nodes out of larger ones.

Where a node was, each link into it goes on along one of the links out of it: a -> x and x -> b
become a -> b.  Walks that turned from one of these pairs to another are lost, all others over the
node become shorter; so a short graph of N + 1 nodes mostly makes one of N that is as short.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import place
from topoloom.synth.edge_swaps.neighborhood_bitsets import count_late, memory
from topoloom.synth.edge_swaps.work_estimates import words
from topoloom.synth.kernels.splitmix import below, shuffled

__all__ = ["remove"]

# Nodes that are tried at most for one to be removed, and words that are read for all together.
_TRIES = 64
_TRIED_WORDS = 1 << 29


def remove(
    heads: NDArray[np.int64], fewer: int, depth: int, two_way: bool, state: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the graph without ``fewer`` of its nodes, whose links lead on to one another.

    Parameters
    ----------
    heads : (nodes, degree) array of int64
        Where links lead to: a regular graph without loops and parallel links.  The new one is
        like it; nodes keep their order.
    fewer : int
        At least 1, and such that 2 degree + 8 nodes stay; with two-way links of an odd degree
        even, as neighbours go together then.
    depth : int
        Pairs of nodes more than so many links apart are few.
    two_way : bool
        Every link has a partner the other way, in the new graph, too.
    state : array of uint64
        Of `synth.kernels.splitmix`.

    Notes
    -----
    Of some dozen nodes drawn at random, and ways to join their links, the best is taken, or the
    first that leaves no pair late.  Two ends that may not be joined, as they are one node or
    are joined already, exchange with a link elsewhere, of which there is one in so large a graph.
    O(fewer * tries * `synth.edge_swaps.work_estimates.words`); a quarter of a second at most.

    Examples
    --------
    >>> from topoloom.synth.families import Kautz
    >>> from topoloom.synth.edge_swaps.local_search import heads_of, late_pairs
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = heads_of(36, *Kautz(3, 3).links())
    >>> one_less = remove(heads, 1, 4, False, seeded(1))
    >>> one_less.shape, late_pairs(heads, 3), late_pairs(one_less, 3) > 0, late_pairs(one_less, 4)
    ((35, 3), 0, True, 0)
    """
    degree = heads.shape[1]
    joint = 2 if two_way and degree % 2 else 1
    most = _TRIED_WORDS // (fewer * words(len(heads), degree, depth))
    for _ in range(0, fewer, joint):
        left = len(heads) - joint
        tries = max(1, min(_TRIES, most))
        heads = _shrunk(heads, joint, depth, tries, two_way, state, *memory(left))
    return heads


@njit(cache=True, nogil=True)
def _shrunk(
    heads: Any, joint: int, depth: int, tries: int, two_way: bool, state: Any, near: Any, far: Any
) -> Any:
    """Return the best of some graphs without one node, or without two neighbours."""
    nodes, degree = heads.shape
    best = np.empty((nodes - joint, degree), np.int64)
    tried = np.empty((nodes - joint, degree), np.int64)
    ends = np.empty((2, degree), np.int64)
    least = -1
    for _ in range(tries):
        whole = heads.copy()
        gone = np.empty(joint, np.int64)
        gone[0] = below(state, nodes)
        if joint == 2:
            gone[1] = heads[gone[0], below(state, degree)]
        for index in range(joint):
            node: Any = gone[index]
            if two_way:
                _bridge_two_way(whole, node, gone, state)
            else:
                _bridge_one_way(whole, node, ends, state)
        _without(whole, gone, tried)
        late = count_late(tried, depth, near, far)
        if least < 0 or late < least:
            least = late
            best[:] = tried
        if least == 0:
            break
    return best


@njit(cache=True, nogil=True)
def _bridge_one_way(heads: Any, gone: int, ends: Any, state: Any) -> None:
    """Lead every link into a node on along one of those out of it."""
    nodes, degree = heads.shape
    filled = 0
    for a in range(nodes):
        k = place(heads[a], gone)
        if k >= 0:
            ends[0, filled], ends[1, filled] = a, k
            filled += 1
    order = shuffled(state, degree)
    for index in range(degree):
        a, k, b = ends[0, index], ends[1, index], heads[gone, order[index]]
        heads[a, k] = b
        if a != b and _count(heads[a], b) == 1:
            continue
        while True:
            c, m = below(state, nodes), below(state, degree)
            e = heads[c, m]
            if c in (gone, a, b) or e in (gone, a, b):
                continue
            if place(heads[a], e) < 0 and place(heads[c], b) < 0:
                break
        heads[a, k], heads[c, m] = e, b


@njit(cache=True, nogil=True)
def _bridge_two_way(heads: Any, node: int, gone: Any, state: Any) -> None:
    """Join the neighbours of a node that stay in pairs."""
    nodes, degree = heads.shape
    order = shuffled(state, degree)
    neighbours = np.empty(degree, np.int64)
    filled = 0
    for index in range(degree):
        if place(gone, heads[node, order[index]]) < 0:
            neighbours[filled] = heads[node, order[index]]
            filled += 1
    for index in range(0, filled, 2):
        a, b = neighbours[index], neighbours[index + 1]
        at_a, at_b = place(heads[a], node), place(heads[b], node)
        if place(heads[a], b) < 0:
            heads[a, at_a], heads[b, at_b] = b, a
            continue
        while True:
            c, m = below(state, nodes), below(state, degree)
            e = heads[c, m]
            if place(gone, c) >= 0 or place(gone, e) >= 0 or c in (a, b) or e in (a, b):
                continue
            if place(heads[a], c) < 0 and place(heads[b], e) < 0:
                break
        heads[a, at_a], heads[c, m] = c, a
        heads[b, at_b], heads[e, place(heads[e], c)] = e, b


@njit(cache=True, nogil=True)
def _count(ends: Any, node: int) -> int:
    found = 0
    for k in range(len(ends)):
        found += ends[k] == node
    return found


@njit(cache=True, nogil=True)
def _without(whole: Any, gone: Any, left: Any) -> None:
    """Copy the nodes that stay, whose numbers close up."""
    nodes, degree = whole.shape
    number = np.empty(nodes, np.int64)
    kept = 0
    for node in range(nodes):
        number[node] = kept
        kept += place(gone, node) < 0
    for node in range(nodes):
        if place(gone, node) < 0:
            for k in range(degree):
                left[number[node], k] = number[whole[node, k]]
