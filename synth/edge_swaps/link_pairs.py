"""Which two links exchange their ends next: picked at random, such that the graph stays simple."""

from typing import Any

from numba import njit

from topoloom.synth.kernels.splitmix import below

__all__ = ["pick", "place"]


@njit(cache=True, nogil=True)
def pick(heads: Any, two_way: bool, state: Any) -> tuple[int, int, int, int, int, int]:
    """Return two links whose ends may be exchanged, and where their partners stand.

    Parameters
    ----------
    heads : (nodes, degree) array of int64
        Where links lead to.
    two_way : bool
        Every link has a partner the other way.
    state : array of uint64
        Of `synth.kernels.splitmix`.

    Returns
    -------
    a, i, c, k, back_a, back_c : int
        Link i of a, to b, and link k of c, to e: a -> e and c -> b would be neither loops nor there
        already.  Link back_a of b leads to a, and back_c of e to c; 0 for one-way links.
        If what was drawn does not allow it, a is -1.

    Examples
    --------
    >>> import numpy as np
    >>> from topoloom.synth.kernels.splitmix import seeded
    >>> pick(np.array([[(node + 1) % 9] for node in range(9)]), False, seeded(4))
    (1, 0, 6, 0, 0, 0)
    """
    nodes, degree = heads.shape
    none = -1, 0, 0, 0, 0, 0
    a, c = below(state, nodes), below(state, nodes)
    i, k = below(state, degree), below(state, degree)
    b, e = heads[a, i], heads[c, k]
    if a in (c, e) or b in (c, e):
        return none
    if place(heads[a], e) >= 0 or place(heads[c], b) >= 0:
        return none
    if two_way:
        return a, i, c, k, place(heads[b], a), place(heads[e], c)
    return a, i, c, k, 0, 0


@njit(cache=True, nogil=True)
def place(ends: Any, node: int) -> int:
    """Return where a node stands among the ends of links, -1 if nowhere.

    >>> import numpy as np
    >>> place(np.array([7, 3]), 3), place(np.array([7, 3]), 4)
    (1, -1)
    """
    for k in range(len(ends)):
        if ends[k] == node:
            return k
    return -1
