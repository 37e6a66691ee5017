"""Edge colourings of any graph with a given number of colours, searched with Kempe chains.

Deciding whether a graph of greatest degree K has an edge colouring with K colours is
NP-complete (Holyer 1981), so a search may fail where a colouring exists.
"""

from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import lcg
from topoloom.synth.progress import run_in_thread
from topoloom.synth.wiring import limits

Integers = NDArray[np.int64]

FREE, ABSENT = -1, -2


@njit(cache=True, nogil=True)
def _walk(start, alpha, beta, ends_u, ends_v, at, preferred, chain, stop):
    """Follow colours alpha, beta, ... from node ``start``; return (edges, loss) or (-1, 0).

    It fails where a node has no such colour at all, or where it ends in node ``stop``.
    """
    count, lost = 0, 0
    node, colour, other = start, alpha, beta
    while True:
        edge = at[node, colour]
        if edge == FREE:
            break
        if edge == ABSENT:
            return -1, 0
        chain[count] = edge
        count += 1
        if preferred[edge] == colour:
            lost += 1
        elif preferred[edge] == other:
            lost -= 1
        node = ends_v[edge] if ends_u[edge] == node else ends_u[edge]
        colour, other = other, colour
    return (-1, 0) if node == stop else (count, lost)


@njit(cache=True, nogil=True)
def _give(edge, colour, ends_u, ends_v, at, colours):
    colours[edge] = colour
    at[ends_u[edge], colour] = edge
    at[ends_v[edge], colour] = edge


@njit(cache=True, nogil=True)
def _take(edge, ends_u, ends_v, at, colours):
    colour = colours[edge]
    at[ends_u[edge], colour] = FREE
    at[ends_v[edge], colour] = FREE
    colours[edge] = -1


@njit(cache=True, nogil=True)
def _search(ends_u, ends_v, at, colours, preferred, waiting, seed, kicks, choices):
    edges, count = len(ends_u), at.shape[1]
    # Two free choices per edge at most: a chain never visits a node twice.
    chain, best = np.empty(2 * len(at) + 2, np.int64), np.empty(2 * len(at) + 2, np.int64)
    stack = np.empty(edges + 1, np.int64)
    top = 0
    for edge in waiting:
        stack[top] = edge
        top += 1
    state = np.uint64(seed) * np.uint64(2862933555777941757) + np.uint64(3037000493)
    while top > 0:
        edge = stack[top - 1]
        u, v = ends_u[edge], ends_v[edge]
        found = False
        for colour in range(count):
            if at[u, colour] == FREE and at[v, colour] == FREE:
                _give(edge, colour, ends_u, ends_v, at, colours)
                found = True
                break
        if not found:
            least, length, one, two = edges + 1, 0, -1, -1
            tried = 0
            for alpha in range(count):
                if at[u, alpha] != FREE:
                    continue
                for beta in range(count):
                    if at[v, beta] != FREE or at[v, alpha] == ABSENT:
                        continue
                    if one >= 0 and tried >= choices:
                        break
                    tried += 1
                    size, lost = _walk(v, alpha, beta, ends_u, ends_v, at, preferred, chain, u)
                    if size >= 0 and lost < least:
                        least, length, one, two = lost, size, alpha, beta
                        best[:size] = chain[:size]
            if one >= 0:
                for k in range(length):
                    old = colours[best[k]]
                    at[ends_u[best[k]], old] = FREE
                    at[ends_v[best[k]], old] = FREE
                for k in range(length):
                    new = two if colours[best[k]] == one else one
                    _give(best[k], new, ends_u, ends_v, at, colours)
                _give(edge, one, ends_u, ends_v, at, colours)
                found = True
        if found:
            top -= 1
            continue
        if kicks == 0:
            return False
        kicks -= 1
        state = lcg(state)
        colour = np.int64((state >> np.uint64(33)) % np.uint64(count))
        if at[u, colour] == ABSENT or at[v, colour] == ABSENT:
            continue
        top -= 1
        for node in (u, v):
            other = at[node, colour]
            if other >= 0:
                _take(other, ends_u, ends_v, at, colours)
                stack[top] = other
                top += 1
        _give(edge, colour, ends_u, ends_v, at, colours)
    return True


def edge_coloring(
    ends: tuple[Integers, Integers], room: Integers, preferred: Integers, tries: int = 4
) -> Integers | None:
    """Return a proper edge colouring, or None if the search ends without one.

    Args:
        ends (two int arrays): The nodes that every edge joins.
        room (int array, shape (colours, nodes)): 1 where a node may have an edge of the colour,
            else 0.
        preferred: The colour that an edge shall have if it can, or -1; these alone must be proper.
        tries: Searches, each with other draws.

    >>> square = np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0])
    >>> edge_coloring(square, np.ones((2, 4), np.int64), np.array([1, -1, -1, -1])).tolist()
    [1, 0, 1, 0]
    >>> triangle = np.array([0, 1, 2]), np.array([1, 2, 0])
    >>> edge_coloring(triangle, np.ones((2, 3), np.int64), np.full(3, -1)) is None
    True
    """
    ends_u, ends_v = (np.ascontiguousarray(side, np.int64) for side in ends)
    for attempt in range(tries):
        # One memory layout for all callers: a kernel is compiled once for each.
        at = np.where(room.T > 0, FREE, ABSENT).astype(np.int64, order="C")
        colours = preferred.astype(np.int64)
        for edge in np.flatnonzero(colours >= 0).tolist():
            at[ends_u[edge], colours[edge]] = edge
            at[ends_v[edge], colours[edge]] = edge
        waiting = np.flatnonzero(colours < 0)
        kicks = limits.KICKS_PER_EDGE * len(colours)
        search = partial(
            _search, ends_u, ends_v, at, colours, preferred, waiting, attempt + 1, kicks,
            limits.CHAIN_CHOICES,
        )  # fmt: skip
        if run_in_thread("colouring links", search):
            return colours
    return None
