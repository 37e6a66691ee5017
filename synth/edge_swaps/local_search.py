"""Exchanges of link ends that bring nodes nearer: a local search for wide and for short graphs.

Two links a -> b and c -> e become a -> e and c -> b, so that all degrees stay as they are.  With
labels (`synth.slack`) two things matter of a graph: its diameter, as nothing arrives sooner than
its distance, and that balls of a small radius are large, so that in early steps all links have
something to carry; loads can be evened out later.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.link_pairs import pick
from topoloom.synth.edge_swaps.neighborhood_bitsets import count_late, memory
from topoloom.synth.edge_swaps.walk_counts import exchange_near
from topoloom.synth.edge_swaps.work_estimates import WORD, by_walks

__all__ = [
    "exchange",
    "exchange_far",
    "heads_of",
    "late_pairs",
    "smallest_balls",
]


def heads_of(nodes: int, sources: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int64]:
    """Return (nodes, degree): where the links out of every node of a regular graph lead to."""
    order = np.argsort(sources, kind="stable")
    return np.ascontiguousarray(targets[order].reshape(nodes, -1).astype(np.int64))


def late_pairs(heads: NDArray[np.int64], depth: int) -> int:
    """Return how many ordered pairs of nodes are more than ``depth`` links apart.

    O(`synth.edge_swaps.work_estimates.words`).

    >>> late_pairs(np.array([[1], [2], [3], [0]]), 2)
    4
    """
    return int(count_late(heads, depth, *memory(len(heads))))


def smallest_balls(heads: NDArray[np.int64], most: int) -> tuple[int, ...]:
    """Return how many nodes the smallest ball of each radius up to ``most`` holds.

    Balls of links out of a node and of links into one.  O(`synth.edge_swaps.work_estimates.words`).

    >>> smallest_balls(np.array([[1, 2], [2, 0], [1, 0]]), 2)
    (3, 3)
    >>> smallest_balls(np.array([[1], [2], [3], [0]]), 2)
    (2, 3)
    """
    nodes, degree = heads.shape
    tails = heads_of(nodes, heads.ravel(), np.repeat(np.arange(nodes), degree))
    sizes = [_ball_sizes(ends, most) for ends in (heads, tails)]
    return tuple(int(size) for size in np.minimum(*sizes))


def _ball_sizes(ends: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    here = np.arange(len(ends))
    near, _ = memory(len(ends))
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


def exchange(
    heads: NDArray[np.int64], depth: int, most: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Exchange ends of links at random where no more pairs are late for it.

    Parameters
    ----------
    heads : (nodes, degree) array of int64
        A graph without parallel links, and stays one; changed in place.
    depth : int
        A pair is late if it is more than so many links apart.
    most : int
        Exchanges to look at.  Ended where no pair is late.
    two_way : bool
        Every link has a partner the other way, which is moved with it.
    state : array of uint64
        Of `synth.kernels.splitmix`.

    Returns
    -------
    late, looked : int
        The late pairs that are left, and how many exchanges were looked at.

    Notes
    -----
    O(most * `synth.edge_swaps.work_estimates.work`), a third of a nanosecond a word.
    Small depths count walks (`synth.edge_swaps.walk_counts`), not balls.  At Moore's bound plus one
    and d of 3 or more some thousand exchanges leave no pair late for up to several hundred nodes.

    Examples
    --------
    >>> from topoloom.synth.edge_swaps.random_regular import random_ends
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> heads = heads_of(100, *random_ends(100, 3, 1, False))
    >>> late_pairs(heads, 5) > 0, exchange(heads, 5, 50_000, False, seeded(1))[0]
    (True, 0)
    """
    nodes, degree = heads.shape
    chosen = exchange_near if by_walks(nodes, degree, depth) else exchange_far
    return chosen(heads, depth, most, two_way, state)


def exchange_far(
    heads: NDArray[np.int64], depth: int, most: int, two_way: bool, state: NDArray[np.uint64]
) -> tuple[int, int]:
    """Do what `exchange` does, counting all balls anew for every exchange."""
    late, looked = _exchange(heads, depth, most, two_way, state, *memory(len(heads)))
    return int(late), int(looked)


@njit(cache=True, nogil=True)
def _exchange(
    heads: Any, depth: int, most: int, two_way: bool, state: Any, near: Any, far: Any
) -> tuple[int, int]:
    late, looked = count_late(heads, depth, near, far), 0
    while looked < most and late > 0:
        looked += 1
        a, i, c, k, back_b, back_e = pick(heads, two_way, state)
        if a < 0:
            continue
        b, e = heads[a, i], heads[c, k]
        _lead(heads, a, i, e, c, k, b)
        if two_way:
            _lead(heads, b, back_b, c, e, back_e, a)
        now = count_late(heads, depth, near, far)
        if now <= late:
            late = now
            continue
        _lead(heads, a, i, b, c, k, e)
        if two_way:
            _lead(heads, b, back_b, a, e, back_e, c)
    return late, looked


@njit(cache=True, nogil=True)
def _lead(heads: Any, one: int, i: int, to: int, other: int, k: int, towards: int) -> None:
    heads[one, i], heads[other, k] = to, towards
