"""Local search by random edge swaps: fewer pairs of nodes above a distance limit.

Two links a -> b and c -> e become a -> e and c -> b; all degrees stay.  Two properties of a graph
matter for slack schedules (`synth.slack`): its diameter, which bounds the steps from below, and
large neighborhoods at small radius, so that all links carry something in early steps.  The
schedule evens out later loads.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import random_swap
from topoloom.synth.edge_swaps.neighborhood_bitsets import bitset_memory, count_distant_pairs
from topoloom.synth.edge_swaps.walk_counts import random_swaps_by_walks
from topoloom.synth.edge_swaps.work_estimates import WORD, swaps_use_walks


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
    heads: NDArray[np.int64], depth: int, most: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Swap ends of random links unless the number of distant pairs grows.

    Args:
        heads ((nodes, degree) array of int64): A graph without parallel links; changed in place,
            still without parallel links.
        depth: A pair more than ``depth`` links apart is distant.
        most: Swaps to try; the search stops without distant pairs.
        two_way: Whether every link has a partner the other way, which moves along.
        state: State of `synth.kernels.splitmix`.

    Returns:
        distant, tried: The remaining distant pairs, and the number of swaps tried.

    O(most * `synth.edge_swaps.work_estimates.swap_words`), a third of a nanosecond a word.
    Small depths count walks (`synth.edge_swaps.walk_counts`) instead of neighborhoods.  At the
    Moore bound plus one and d >= 3, some thousand swaps leave no distant pair for up to several
    hundred nodes.

    >>> from topoloom.synth.edge_swaps.random_regular import random_ends
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = head_array(100, *random_ends(100, 3, 1, False))
    >>> distant_pairs(heads, 5) > 0, apply_random_swaps(heads, 5, 50_000, False, seeded(1))[0]
    (True, 0)
    """
    by_walks = swaps_use_walks(heads.shape[0], heads.shape[1], depth)
    chosen = random_swaps_by_walks if by_walks else random_swaps_by_bitsets
    return chosen(heads, depth, most, two_way, state)


def random_swaps_by_bitsets(
    heads: NDArray[np.int64], depth: int, most: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Do the work of `apply_random_swaps`; recompute all neighborhood bitsets for every swap."""
    distant, tried = _swaps_by_bitsets(
        heads, depth, most, two_way, state, *bitset_memory(len(heads))
    )
    return int(distant), int(tried)


@njit(cache=True, nogil=True)
def _swaps_by_bitsets(
    heads: Any, depth: int, most: int, two_way: bool, state: Any, near: Any, far: Any
) -> tuple[int, int]:
    distant, tried = count_distant_pairs(heads, depth, near, far), 0
    while tried < most and distant > 0:
        tried += 1
        a, i, c, k, back_b, back_e = random_swap(heads, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        _redirect(heads, a, i, e, c, k, b)
        if two_way:
            _redirect(heads, b, back_b, c, e, back_e, a)
        now = count_distant_pairs(heads, depth, near, far)
        if now <= distant:
            distant = now
            continue
        _redirect(heads, a, i, b, c, k, e)
        if two_way:
            _redirect(heads, b, back_b, a, e, back_e, c)
    return distant, tried


@njit(cache=True, nogil=True)
def _redirect(heads: Any, one: int, i: int, to: int, other: int, k: int, towards: int) -> None:
    heads[one, i], heads[other, k] = to, towards
