"""Neighborhoods of all nodes as bitsets, and the number of pairs outside them.

Edge swaps (`synth.edge_swaps.local_search`) and node insertion and removal
(`synth.edge_swaps.insert_nodes`, `synth.edge_swaps.remove_nodes`) count distant pairs for every
graph that they try.  A loop reads four links at once.  Indices are unsigned: Numba adds a
wraparound check to signed ones.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.kernels.scalars import ones

_0, _1, _2, _3, _4 = (np.uint64(number) for number in range(5))
_6, _63 = np.uint64(6), np.uint64(63)


def bitset_memory(nodes: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return memory for the bitsets of all nodes at one radius and at the next.

    (N, words): bit y of row x is set if y is in the neighborhood of x.
    """
    shape = nodes, -(-nodes // WORD)
    return np.empty(shape, np.uint64), np.empty(shape, np.uint64)


@njit(cache=True, nogil=True)
def count_distant_pairs(heads: Any, depth: int, near: Any, far: Any) -> int:
    """Return the number of ordered pairs more than ``depth`` links apart.

    The bitsets end in ``near`` for even depth, else in ``far``; both come from `bitset_memory`.
    O(`synth.edge_swaps.work_estimates.count_words`), a fifth of a nanosecond a word.
    """
    nodes, row = near.shape
    for node in range(np.uint64(nodes)):
        for word in range(np.uint64(row)):
            near[node, word] = 0
        near[node, node >> _6] = _1 << (node & _63)
    for _ in range(depth):
        _widen(heads, near, far)
        near, far = far, near
    reached = 0
    for node in range(np.uint64(nodes)):
        for word in range(np.uint64(row)):
            reached += ones(near[node, word])
    return nodes * nodes - reached


@njit(cache=True, nogil=True)
def _widen(heads: Any, near: Any, far: Any) -> None:
    """Fill in the bitsets of the next radius."""
    row, degree = np.uint64(near.shape[1]), np.uint64(heads.shape[1])
    last = degree - _1
    for node in range(np.uint64(len(heads))):
        # With fewer than four links the last repeats, which changes nothing.
        a, b = np.uint64(heads[node, _0]), np.uint64(heads[node, min(_1, last)])
        if degree > _2:
            c, d = np.uint64(heads[node, _2]), np.uint64(heads[node, min(_3, last)])
            for word in range(row):
                some = near[node, word] | near[a, word] | near[b, word]
                far[node, word] = some | near[c, word] | near[d, word]
        else:
            for word in range(row):
                far[node, word] = near[node, word] | near[a, word] | near[b, word]
        for k in range(_4, degree, _2):
            a, b = np.uint64(heads[node, k]), np.uint64(heads[node, min(k + _1, last)])
            for word in range(row):
                far[node, word] |= near[a, word] | near[b, word]
