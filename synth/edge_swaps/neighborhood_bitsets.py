"""Neighborhoods of all nodes as bitsets, and the number of pairs outside them.

Edge swaps (`synth.edge_swaps.local_search`) and node insertion and removal
(`synth.edge_swaps.insert_nodes`, `synth.edge_swaps.remove_nodes`) count distant pairs for every
graph that they try.  For up to 256 nodes a bitset fits in registers; for more, a loop reads four
links at once.  Indices are unsigned: Numba adds a wraparound check to signed ones.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.kernels.scalars import ones

# Most words of a bitset in registers.
_REGISTER = 4
_0, _1, _2, _3, _4 = (np.uint64(number) for number in range(5))
_6, _63 = np.uint64(6), np.uint64(63)


def bitset_memory(nodes: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return memory for the bitsets of all nodes at one radius and at the next.

    (N, words): bit y of row x is set if y is in the neighborhood of x.  3 words are padded to 4.
    """
    words = -(-nodes // WORD)
    shape = nodes, words + (words == _REGISTER - 1)
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
        if row == 1:
            _widen_one(heads, near, far)
        elif row == 2:
            _widen_two(heads, near, far)
        elif row == _REGISTER:
            _widen_four(heads, near, far)
        else:
            _widen_many(heads, near, far)
        near, far = far, near
    reached = 0
    for node in range(np.uint64(nodes)):
        for word in range(np.uint64(row)):
            reached += ones(near[node, word])
    return nodes * nodes - reached


@njit(cache=True, nogil=True)
def _widen_one(heads: Any, near: Any, far: Any) -> None:
    """Fill in the bitsets of the next radius, of one word each."""
    for node in range(np.uint64(len(heads))):
        some = near[node, _0]
        for k in range(np.uint64(heads.shape[1])):
            some |= near[np.uint64(heads[node, k]), _0]
        far[node, _0] = some


@njit(cache=True, nogil=True)
def _widen_two(heads: Any, near: Any, far: Any) -> None:
    """Fill in the bitsets of the next radius, of two words each."""
    for node in range(np.uint64(len(heads))):
        some, more = near[node, _0], near[node, _1]
        for k in range(np.uint64(heads.shape[1])):
            head = np.uint64(heads[node, k])
            some |= near[head, _0]
            more |= near[head, _1]
        far[node, _0], far[node, _1] = some, more


@njit(cache=True, nogil=True)
def _widen_four(heads: Any, near: Any, far: Any) -> None:
    """Fill in the bitsets of the next radius, of four words each."""
    for node in range(np.uint64(len(heads))):
        a, b, c, d = near[node, _0], near[node, _1], near[node, _2], near[node, _3]
        for k in range(np.uint64(heads.shape[1])):
            head = np.uint64(heads[node, k])
            a |= near[head, _0]
            b |= near[head, _1]
            c |= near[head, _2]
            d |= near[head, _3]
        far[node, _0], far[node, _1], far[node, _2], far[node, _3] = a, b, c, d


@njit(cache=True, nogil=True)
def _widen_many(heads: Any, near: Any, far: Any) -> None:
    """Fill in the bitsets of the next radius, of any number of words."""
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
