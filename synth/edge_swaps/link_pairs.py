"""Random pairs of links whose ends can be swapped without loops or parallel links."""

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
    none = -1, 0, 0, 0, 0, 0
    a, c = below(state, nodes), below(state, nodes)
    i, k = below(state, degree), below(state, degree)
    b, e = heads[a, i], heads[c, k]
    if a in (c, e) or b in (c, e):
        return none
    if index_of(heads[a], e) >= 0 or index_of(heads[c], b) >= 0:
        return none
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
