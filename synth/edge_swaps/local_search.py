"""Local search by edge swaps: fewer pairs of nodes above a distance limit.

Two links a -> b and c -> e become a -> e and c -> b; all degrees stay.  Two properties of a graph
matter for slack schedules (`synth.slack`): its diameter, which bounds the steps from below, and
large neighborhoods at small radius, so that all links carry something in early steps.  The
schedule evens out later loads.

Where few pairs are distant, a random swap rarely helps any of them.  Targeted swaps draw a distant
pair and two links whose swap joins it.  In graphs of a thousand nodes with a dozen nodes removed or
inserted, some hundred targeted swaps mostly leave no distant pair; a hundred times as many random
swaps may not.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import random_swap, targeted_swap
from topoloom.synth.edge_swaps.neighborhood_bitsets import bitset_memory, count_distant_pairs
from topoloom.synth.edge_swaps.walk_counts import count_all, redirect, walk_memory
from topoloom.synth.edge_swaps.work_estimates import (
    WORD,
    swaps_use_walks,
    targeted_swaps_use_walks,
)
from topoloom.synth.kernels.splitmix import below

# Most distant pairs listed; beyond, only those of the first nodes.
_LISTED = 4096


def head_array(nodes: int, sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Return the heads of the links out of every node of a regular graph, (nodes, degree)."""
    order = np.argsort(sources, kind="stable")
    return np.ascontiguousarray(targets[order].reshape(nodes, -1).astype(np.int64))


def distant_pairs(heads: NDArray[np.int64], depth: int) -> int:
    """Return the number of ordered pairs of nodes more than ``depth`` links apart.

    O(`synth.edge_swaps.work_estimates.count_words`).

    >>> distant_pairs(np.array([[1], [2], [3], [0]]), 2)
    4
    """
    return int(count_distant_pairs(heads, depth, *bitset_memory(len(heads))))


def smallest_neighborhoods(heads: NDArray[np.int64], most: int) -> tuple[int, ...]:
    """Return the size of the smallest neighborhood of each radius up to ``most``.

    Counts neighborhoods along links out of a node and along links into a node.
    O(`synth.edge_swaps.work_estimates.count_words`).

    >>> smallest_neighborhoods(np.array([[1, 2], [2, 0], [1, 0]]), 2)
    (3, 3)
    >>> smallest_neighborhoods(np.array([[1], [2], [3], [0]]), 2)
    (2, 3)
    """
    nodes, degree = heads.shape
    tails = head_array(nodes, heads.ravel(), np.repeat(np.arange(nodes), degree))
    sizes = [_neighborhood_sizes(ends, most) for ends in (heads, tails)]
    return tuple(int(size) for size in np.minimum(*sizes))


def _neighborhood_sizes(ends: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    here = np.arange(len(ends))
    near, _ = bitset_memory(len(ends))
    near[:] = 0
    near[here, here // WORD] = np.uint64(1) << (here % WORD).astype(np.uint64)
    sizes = np.empty(most, np.int64)
    for radius in range(most):
        far = near.copy()
        for k in range(ends.shape[1]):
            far |= near[ends[:, k]]
        near = far
        sizes[radius] = np.bitwise_count(near).sum(1).min()
    return sizes


def apply_random_swaps(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    *,
    by_walks: bool | None = None,
) -> tuple[int, int]:
    """Swap ends of random links unless the number of distant pairs grows.

    Args:
        heads ((nodes, degree) array of int64): A graph without parallel links; changed in place,
            still without parallel links.
        depth: A pair more than ``depth`` links apart is distant.
        most: Swaps to try; the search stops without distant pairs.
        two_way: Whether every link has a partner the other way, which moves along.
        state: State of `synth.kernels.splitmix`.
        by_walks: Count walks (`synth.edge_swaps.walk_counts`) in 2 N^2 bytes, at most 65,535 from
            a node, instead of neighborhoods; by default where that takes less work.  The swaps are
            the same.

    Returns:
        distant, tried: The remaining distant pairs, and the number of swaps tried.

    O(most * `synth.edge_swaps.work_estimates.swap_words`), a third of a nanosecond a word.
    At the Moore bound plus one and d >= 3, some thousand swaps leave no distant pair for up to
    several hundred nodes.

    >>> from topoloom.synth.edge_swaps.random_regular import random_ends
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = head_array(100, *random_ends(100, 3, 1, False))
    >>> distant_pairs(heads, 5) > 0, apply_random_swaps(heads, 5, 50_000, False, seeded(1))[0]
    (True, 0)
    """
    if by_walks is None:
        by_walks = swaps_use_walks(len(heads), heads.shape[1], depth)
    return _applied(heads, depth, most, two_way, state, by_walks, targeted=False, patience=0)


def apply_targeted_swaps(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    patience: int = 0,
    *,
    by_walks: bool | None = None,
) -> tuple[int, int]:
    """Swap ends of links to join distant pairs unless the number of distant pairs grows.

    Parameters and result are those of `apply_random_swaps`.  The search also stops unless every
    ``patience`` swaps remove a tenth of the distant pairs; 0 disables the rule.

    O(most * `synth.edge_swaps.work_estimates.targeted_swap_words`), a third of a nanosecond a word.

    >>> from topoloom.synth.edge_swaps.random_regular import random_ends
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = head_array(80, *random_ends(80, 3, 1, False))
    >>> before = distant_pairs(heads, 5)
    >>> before, apply_targeted_swaps(heads, 5, 200, False, seeded(1)), distant_pairs(heads, 5)
    (34, (0, 65), 0)
    """
    if by_walks is None:
        by_walks = targeted_swaps_use_walks(len(heads), heads.shape[1], depth)
    return _applied(heads, depth, most, two_way, state, by_walks, targeted=True, patience=patience)


def _applied(
    heads: NDArray[np.int64],
    depth: int,
    most: int,
    two_way: bool,
    state: NDArray[np.uint64],
    by_walks: bool,
    *,
    targeted: bool,
    patience: int,
) -> tuple[int, int]:
    graph = walk_memory(heads, depth, by_walks)
    bitsets = bitset_memory(0 if by_walks else len(heads))
    distant, tried = _swap(graph, *bitsets, depth, most, two_way, state, targeted, patience)
    return int(distant), int(tried)


@njit(cache=True, nogil=True)
def _swap(
    graph: Any,
    near: Any,
    far: Any,
    depth: int,
    most: int,
    two_way: bool,
    state: Any,
    targeted: bool,
    patience: int,
) -> tuple[int, int]:
    """Try swaps; count distant pairs by walks, or without walk counts by bitsets."""
    heads, by_walks = graph.heads, graph.walks.size > 0
    if by_walks:
        distant = len(heads) ** 2 - count_all(graph, depth)
    else:
        distant = count_distant_pairs(heads, depth, near, far)
    # The parity of the depth decides which memory holds the bitsets.
    bitsets = far if depth % 2 else near
    pairs = np.empty((_LISTED if targeted else 0, 2), np.int64)
    listed = _list(graph.walks, bitsets, pairs)
    tried, before = 0, distant
    while tried < most and distant > 0:
        if patience > 0 and tried > 0 and tried % patience == 0:
            if 10 * distant > 9 * before:
                break
            before = distant
        tried += 1
        if targeted:
            x, y = pairs[below(state, listed)]
            ends = targeted_swap(heads, graph.tails, depth, x, y, two_way, state)
        else:
            ends = random_swap(heads, two_way, state)
        a, i, c, k, back_b, back_e = ends
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        now = distant - redirect(graph, depth, a, i, b, e) - redirect(graph, depth, c, k, e, b)
        if two_way:
            now -= redirect(graph, depth, b, back_b, a, c) + redirect(graph, depth, e, back_e, c, a)
        if not by_walks:
            now = count_distant_pairs(heads, depth, near, far)
        if now <= distant:
            distant = now
            listed = _list(graph.walks, bitsets, pairs)
            continue
        redirect(graph, depth, a, i, e, b)
        redirect(graph, depth, c, k, b, e)
        if two_way:
            redirect(graph, depth, b, back_b, c, a)
            redirect(graph, depth, e, back_e, a, c)
    return distant, tried


@njit(cache=True, nogil=True)
def _list(walks: Any, bitsets: Any, pairs: Any) -> int:
    """List pairs without a walk, or else outside the bitset; return their number."""
    listed, by_walks = 0, walks.size > 0
    for x in range(len(walks)):
        if listed == len(pairs):
            break
        for y in range(walks.shape[1]):
            if walks[x, y] == 0 and listed < len(pairs):
                pairs[listed] = x, y
                listed += 1
        for word in range(0 if by_walks else bitsets.shape[1]):
            outside = ~bitsets[x, word]
            y = word * WORD
            # Most words are full; in the others the loop ends after the last missing bit.
            while outside != 0 and y < len(walks) and listed < len(pairs):
                if outside & np.uint64(1):
                    pairs[listed] = x, y
                    listed += 1
                outside >>= np.uint64(1)
                y += 1
    return listed
