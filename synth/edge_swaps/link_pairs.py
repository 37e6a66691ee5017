"""Pairs of links whose ends can be swapped without loops or parallel links.

They are random, or aimed at a distant pair (x, y) of nodes: a walk from x to some a and a walk to y
from some e are so short that a link a -> e joins x and y within the limit.
"""

from typing import Any

from numba import njit

from topoloom.synth.kernels.splitmix import below


@njit(cache=True, nogil=True)
def random_swap(heads: Any, two_way: bool, state: Any) -> tuple[int, int, int, int, int, int]:
    """Return two random links whose ends may be swapped, and the indices of their partners.

    Args:
        heads ((nodes, degree) array of int64): Heads of the links.
        two_way: Whether every link has a partner the other way.
        state: State of `synth.kernels.splitmix`.

    Returns:
        a, i, c, k, back_a, back_c: Link i of a, to b, and link k of c, to e: a -> e and c -> b
            would be neither loops nor parallel links.  Link back_a of b leads to a, and back_c of e
            to c; 0 for one-way links.  a is -1 if the random pair does not allow a swap.

    >>> import numpy as np
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> random_swap(np.array([[(node + 1) % 9] for node in range(9)]), False, seeded(4))
    (1, 0, 6, 0, 0, 0)
    """
    nodes, degree = heads.shape
    a, c = below(state, nodes), below(state, nodes)
    i, k = below(state, degree), below(state, degree)
    return _swap(heads, a, i, c, k, two_way)


@njit(cache=True, nogil=True)
def targeted_swap(
    heads: Any, tails: Any, depth: int, x: int, y: int, two_way: bool, state: Any
) -> tuple[int, int, int, int, int, int]:
    """Return, as `random_swap` does, two links such that a -> e joins x to y within the limit."""
    degree = heads.shape[1]
    a, e, on = x, y, below(state, depth)
    for _ in range(on):
        a = heads[a, below(state, degree)]
    for _ in range(depth - 1 - on):
        e = _before(tails, e, below(state, degree))
    c = _before(tails, e, below(state, degree))
    i, k = below(state, degree), index_of(heads[c], e)
    return _swap(heads, a, i, c, k, two_way)


@njit(cache=True, nogil=True)
def _before(tails: Any, node: int, k: int) -> int:
    """Return the tail of link k into a node; one place of the list is empty."""
    return tails[node, k] if tails[node, k] >= 0 else tails[node, -1]


@njit(cache=True, nogil=True)
def _swap(
    heads: Any, a: int, i: int, c: int, k: int, two_way: bool
) -> tuple[int, int, int, int, int, int]:
    """Return the result of `random_swap` for two links."""
    b, e = heads[a, i], heads[c, k]
    if a in (c, e) or b in (c, e) or index_of(heads[a], e) >= 0 or index_of(heads[c], b) >= 0:
        return -1, 0, 0, 0, 0, 0
    if two_way:
        return a, i, c, k, index_of(heads[b], a), index_of(heads[e], c)
    return a, i, c, k, 0, 0


@njit(cache=True, nogil=True)
def index_of(ends: Any, node: int) -> int:
    """Return the index of a node among the ends of links, -1 if absent.

    >>> import numpy as np
    >>> index_of(np.array([7, 3]), 3), index_of(np.array([7, 3]), 4)
    (1, -1)
    """
    for k in range(len(ends)):
        if ends[k] == node:
            return k
    return -1
