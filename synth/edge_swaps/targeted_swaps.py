"""Edge swaps aimed at distant pairs of nodes.

Where few pairs are distant, a random swap rarely helps any of them.  So the search draws a distant
pair (x, y), a walk from x to some a and a walk to y from some e, short enough that a link a -> e
joins x and y within the limit; a link out of a and a link into e then swap ends.  In graphs of a
thousand nodes with a dozen nodes removed or inserted, some hundred targeted swaps mostly leave no
distant pair; a hundred times as many random swaps (`synth.edge_swaps.local_search`) may not.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import index_of
from topoloom.synth.edge_swaps.neighborhood_bitsets import bitset_memory, count_distant_pairs
from topoloom.synth.edge_swaps.walk_counts import count_all, redirect, tail_array, walk_memory
from topoloom.synth.edge_swaps.work_estimates import WORD, targeted_swaps_use_walks
from topoloom.synth.kernels.splitmix import below

# Most distant pairs listed; beyond, only those of the first nodes.
_LISTED = 4096


def apply_targeted_swaps(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
) -> tuple[int, int]:
    """Swap ends of links to join distant pairs unless the number of distant pairs grows.

    Args:
        heads ((nodes, degree) array of int64): Heads of the links: a regular graph without loops
            and parallel links; changed in place, still regular and simple.
        depth: A pair more than ``depth`` links apart is distant.
        most: Swaps to try; the search stops without distant pairs.
        two_way: Whether every link has a partner the other way, which moves along.
        state: State of `synth.kernels.splitmix`.
        patience: The search stops unless every ``patience`` swaps remove a tenth of the distant
            pairs; 0 disables the rule.

    Returns:
        distant, tried: The remaining distant pairs, and the number of swaps tried.

    O(most * `synth.edge_swaps.work_estimates.targeted_swap_words`), a third of a nanosecond a word.
    Small depths count walks (`synth.edge_swaps.walk_counts`) in 2 N^2 bytes instead of
    neighborhoods.  Both methods make the same swaps.

    >>> from topoloom.synth.edge_swaps.local_search import head_array, distant_pairs
    >>> from topoloom.synth.edge_swaps.random_regular import random_ends
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = head_array(80, *random_ends(80, 3, 1, False))
    >>> before = distant_pairs(heads, 5)
    >>> before, apply_targeted_swaps(heads, 5, 200, False, seeded(1)), distant_pairs(heads, 5)
    (34, (0, 65), 0)
    """
    by_walks = targeted_swaps_use_walks(heads.shape[0], heads.shape[1], depth)
    chosen = targeted_swaps_by_walks if by_walks else targeted_swaps_by_bitsets
    return chosen(heads, depth, most, two_way, state, patience)


def targeted_swaps_by_walks(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
) -> tuple[int, int]:
    """Apply targeted swaps by walk counts; at most 65,535 walks may begin at a node."""
    graph = walk_memory(heads, depth)
    distant, tried = _swaps_by_walks(graph, depth, most, two_way, state, patience)
    return int(distant), int(tried)


def targeted_swaps_by_bitsets(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
) -> tuple[int, int]:
    """Apply targeted swaps; recompute all neighborhood bitsets for every swap."""
    graph = heads, tail_array(heads), *bitset_memory(len(heads))
    distant, tried = _swaps_by_bitsets(*graph, depth, most, two_way, state, patience)
    return int(distant), int(tried)


@njit(cache=True, nogil=True)
def _swaps_by_walks(
    graph: Any, depth: int, most: int, two_way: bool, state: Any, patience: int
) -> tuple[int, int]:
    heads, nodes = graph.heads, len(graph.heads)
    distant, tried = nodes * nodes - count_all(graph, depth), 0
    pairs = np.empty((_LISTED, 2), np.int64)
    listed = _list(graph.walks, pairs)
    before = distant
    while tried < most and distant > 0:
        if _is_due(tried, patience):
            if 10 * distant > 9 * before:
                break
            before = distant
        tried += 1
        x, y = pairs[below(state, listed)]
        a, i, c, k, back_b, back_e = _targeted_swap(heads, graph.tails, depth, x, y, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        now = distant - redirect(graph, depth, a, i, b, e) - redirect(graph, depth, c, k, e, b)
        if two_way:
            now -= redirect(graph, depth, b, back_b, a, c) + redirect(graph, depth, e, back_e, c, a)
        if now <= distant:
            distant = now
            listed = _list(graph.walks, pairs)
            continue
        redirect(graph, depth, a, i, e, b)
        redirect(graph, depth, c, k, b, e)
        if two_way:
            redirect(graph, depth, b, back_b, c, a)
            redirect(graph, depth, e, back_e, a, c)
    return distant, tried


@njit(cache=True, nogil=True)
def _swaps_by_bitsets(
    heads: Any,
    tails: Any,
    near: Any,
    far: Any,
    depth: int,
    most: int,
    two_way: bool,
    state: Any,
    patience: int,
) -> tuple[int, int]:
    distant, tried = count_distant_pairs(heads, depth, near, far), 0
    # The parity of the depth decides which memory holds the bitsets.
    bitsets = far if depth % 2 else near
    pairs = np.empty((_LISTED, 2), np.int64)
    listed = _list_outside(bitsets, pairs)
    before = distant
    while tried < most and distant > 0:
        if _is_due(tried, patience):
            if 10 * distant > 9 * before:
                break
            before = distant
        tried += 1
        x, y = pairs[below(state, listed)]
        a, i, c, k, back_b, back_e = _targeted_swap(heads, tails, depth, x, y, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        _redirect(heads, tails, a, i, b, e)
        _redirect(heads, tails, c, k, e, b)
        if two_way:
            _redirect(heads, tails, b, back_b, a, c)
            _redirect(heads, tails, e, back_e, c, a)
        now = count_distant_pairs(heads, depth, near, far)
        if now <= distant:
            distant = now
            listed = _list_outside(bitsets, pairs)
            continue
        _redirect(heads, tails, a, i, e, b)
        _redirect(heads, tails, c, k, b, e)
        if two_way:
            _redirect(heads, tails, b, back_b, c, a)
            _redirect(heads, tails, e, back_e, a, c)
    return distant, tried


@njit(cache=True, nogil=True)
def _is_due(tried: int, patience: int) -> bool:
    """Return whether the rule of ``patience`` applies now."""
    return patience > 0 and tried > 0 and tried % patience == 0


@njit(cache=True, nogil=True)
def _redirect(heads: Any, tails: Any, node: int, k: int, old: int, new: int) -> None:
    """Redirect link k of a node to a new head; updates tails as `walk_counts.redirect` does."""
    tails[old, index_of(tails[old], node)] = -1
    heads[node, k] = new
    tails[new, index_of(tails[new], -1)] = node


@njit(cache=True, nogil=True)
def _list_outside(bitsets: Any, pairs: Any) -> int:
    """List pairs whose second node is outside the bitset of the first; return their number."""
    listed, (nodes, row) = 0, bitsets.shape
    for x in range(nodes):
        for word in range(row):
            outside = ~bitsets[x, word]
            y = word * WORD
            # Most words are full; in the others the loop ends after the last missing bit.
            while outside != 0 and y < nodes:
                if outside & np.uint64(1):
                    pairs[listed] = x, y
                    listed += 1
                    if listed == len(pairs):
                        return listed
                outside >>= np.uint64(1)
                y += 1
    return listed


@njit(cache=True, nogil=True)
def _list(walks: Any, pairs: Any) -> int:
    """List pairs without a walk; return their number."""
    listed = 0
    for x in range(len(walks)):
        row = walks[x]
        for y in range(len(row)):
            if row[y] == 0:
                pairs[listed] = x, y
                listed += 1
                if listed == len(pairs):
                    return listed
    return listed


@njit(cache=True, nogil=True)
def _targeted_swap(
    heads: Any, tails: Any, depth: int, x: int, y: int, two_way: bool, state: Any
) -> tuple[int, int, int, int, int, int]:
    """Return link i of a and link k of c, to e, such that a -> e joins x to y within the limit.

    Also returns the indices of their partners, as `synth.edge_swaps.link_pairs.random_swap`; a is
    -1 if the swap is not allowed.
    """
    degree = heads.shape[1]
    a, e, on = x, y, below(state, depth)
    for _ in range(on):
        a = heads[a, below(state, degree)]
    for _ in range(depth - 1 - on):
        e = _before(tails, e, below(state, degree))
    c = _before(tails, e, below(state, degree))
    i, k = below(state, degree), index_of(heads[c], e)
    if not _stays_simple(heads, a, heads[a, i], c, e, two_way):
        return -1, 0, 0, 0, 0, 0
    if two_way:
        return a, i, c, k, index_of(heads[heads[a, i]], a), index_of(heads[e], c)
    return a, i, c, k, 0, 0


@njit(cache=True, nogil=True)
def _before(tails: Any, node: int, k: int) -> int:
    """Return the tail of link k into a node; one place of the list is empty."""
    return tails[node, k] if tails[node, k] >= 0 else tails[node, -1]


@njit(cache=True, nogil=True)
def _stays_simple(heads: Any, a: int, b: int, c: int, e: int, two_way: bool) -> bool:
    """Return whether swapping a -> b and c -> e to a -> e and c -> b leaves a simple graph."""
    if a in (c, e) or b in (c, e):
        return False
    if two_way and (index_of(heads[e], a) >= 0 or index_of(heads[b], c) >= 0):
        return False
    return index_of(heads[a], e) < 0 and index_of(heads[c], b) < 0
