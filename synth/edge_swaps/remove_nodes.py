"""Remove nodes: graphs of any number of nodes from good graphs slightly larger.

Each link into a removed node x is joined to one of its links out: a -> x and x -> b become
a -> b.  Walks over other pairs of these links are lost; walks over joined pairs become shorter.
So a short graph of N + 1 nodes mostly yields an equally short graph of N nodes.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import index_of
from topoloom.synth.edge_swaps.neighborhood_bitsets import bitset_memory, count_distant_pairs
from topoloom.synth.edge_swaps.work_estimates import count_words
from topoloom.synth.kernels.splitmix import below, shuffled

# Random nodes tried per removal, and words read for all removals together.
_TRIES = 64
_TRIED_WORDS = 1 << 29


def remove_nodes(
    heads: NDArray[np.int64], fewer: int, depth: int, two_way: bool, state: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return the graph without ``fewer`` of its nodes, with their links joined.

    Args:
        heads ((nodes, degree) array of int64): Heads of the links: a regular graph without loops
            and parallel links.  The result has the same form; nodes keep their order.
        fewer: At least 1, leaving at least 2 degree + 8 nodes; even for two-way links of odd
            degree, where adjacent nodes are removed in pairs.
        depth: A pair of nodes more than ``depth`` links apart is distant; few remain.
        two_way: Whether every link has a partner the other way; the result keeps the partners.
        state: State of `synth.kernels.splitmix`.

    Tries some dozen random nodes with random pairings of their links, and takes the best, or the
    first without a distant pair.  Two ends that are equal or already adjacent swap with a link
    elsewhere; a graph of this size always has such a link.
    O(fewer * tries * `synth.edge_swaps.work_estimates.count_words`); a quarter of a second at most.

    >>> from topoloom.synth.families import Kautz
    >>> from topoloom.synth.edge_swaps.local_search import head_array, distant_pairs
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = head_array(36, *Kautz(3, 3).links())
    >>> one_less = remove_nodes(heads, 1, 4, False, seeded(1))
    >>> few = [distant_pairs(one_less, depth) for depth in (3, 4)]
    >>> one_less.shape, distant_pairs(heads, 3), few[0] > 0, few[1]
    ((35, 3), 0, True, 0)
    """
    degree = heads.shape[1]
    joint = 2 if two_way and degree % 2 else 1
    most = _TRIED_WORDS // (fewer * count_words(len(heads), degree, depth))
    for _ in range(0, fewer, joint):
        left = len(heads) - joint
        tries = max(1, min(_TRIES, most))
        heads = _best_removal(heads, joint, depth, tries, two_way, state, *bitset_memory(left))
    return heads


@njit(cache=True, nogil=True)
def _best_removal(
    heads: Any, joint: int, depth: int, tries: int, two_way: bool, state: Any, near: Any, far: Any
) -> Any:
    """Return the best of some random removals of one node, or of two adjacent nodes."""
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
        distant = count_distant_pairs(tried, depth, near, far)
        if least < 0 or distant < least:
            least = distant
            best[:] = tried
        if least == 0:
            break
    return best


@njit(cache=True, nogil=True)
def _bridge_one_way(heads: Any, gone: int, ends: Any, state: Any) -> None:
    """Join every link into a node to a link out of it."""
    nodes, degree = heads.shape
    filled = 0
    for a in range(nodes):
        k = index_of(heads[a], gone)
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
            if index_of(heads[a], e) < 0 and index_of(heads[c], b) < 0:
                break
        heads[a, k], heads[c, m] = e, b


@njit(cache=True, nogil=True)
def _bridge_two_way(heads: Any, node: int, gone: Any, state: Any) -> None:
    """Join the remaining neighbors of a node in pairs."""
    nodes, degree = heads.shape
    order = shuffled(state, degree)
    neighbors = np.empty(degree, np.int64)
    filled = 0
    for index in range(degree):
        if index_of(gone, heads[node, order[index]]) < 0:
            neighbors[filled] = heads[node, order[index]]
            filled += 1
    for index in range(0, filled, 2):
        a, b = neighbors[index], neighbors[index + 1]
        at_a, at_b = index_of(heads[a], node), index_of(heads[b], node)
        if index_of(heads[a], b) < 0:
            heads[a, at_a], heads[b, at_b] = b, a
            continue
        while True:
            c, m = below(state, nodes), below(state, degree)
            e = heads[c, m]
            if index_of(gone, c) >= 0 or index_of(gone, e) >= 0 or c in (a, b) or e in (a, b):
                continue
            if index_of(heads[a], c) < 0 and index_of(heads[b], e) < 0:
                break
        heads[a, at_a], heads[c, m] = c, a
        heads[b, at_b], heads[e, index_of(heads[e], c)] = e, b


@njit(cache=True, nogil=True)
def _count(ends: Any, node: int) -> int:
    found = 0
    for k in range(len(ends)):
        found += ends[k] == node
    return found


@njit(cache=True, nogil=True)
def _without(whole: Any, gone: Any, left: Any) -> None:
    """Copy the remaining nodes, renumbered consecutively."""
    nodes, degree = whole.shape
    number = np.empty(nodes, np.int64)
    kept = 0
    for node in range(nodes):
        number[node] = kept
        kept += index_of(gone, node) < 0
    for node in range(nodes):
        if index_of(gone, node) < 0:
            for k in range(degree):
                left[number[node], k] = number[whole[node, k]]
