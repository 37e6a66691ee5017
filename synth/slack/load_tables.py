"""Loads of all link sets, updated incrementally as arrival steps change.

For a group g, a step t and a set S of links, ``filled[g, t, S]`` counts the cells that arrive in
step t and whose mask lies within S; ``limit[kind of g, t, S]`` bounds the count.  ``excess[g, t]``
sums the overloads over all S: where it is 0, Hall's condition holds.  The empty set has limit 0,
so a cell without an open link always adds excess.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.scalars import int64

IMPOSSIBLE = 1 << 30
"""More than any excess: the change of an impossible move."""


class Tables(NamedTuple):
    """Arrival steps and the derived counts."""

    arrival: NDArray[np.int8]
    """(N, R), by node: a repair scans all cells of a node."""
    mask: NDArray[np.uint8]
    """(N, R); 0 at the roots and without an open link."""
    filled: NDArray[np.int32]
    """(G, steps + 1, 2**d)"""
    limit: NDArray[np.int32]
    """(kinds, steps + 1, 2**d)"""
    excess: NDArray[np.int64]
    """(G, steps + 1)"""


def load_tables(problem: Any, arrival: NDArray[np.int8], loads: NDArray[np.int64]) -> Tables:
    """Return the tables of arrival steps and loads."""
    steps, sets = len(loads) - 1, problem.weight.shape[1]
    tables = Tables(
        arrival.copy(),
        np.zeros(arrival.shape, np.uint8),
        np.zeros((len(problem.members), steps + 1, sets), np.int32),
        np.zeros((len(problem.weight), steps + 1, sets), np.int32),
        np.zeros((len(problem.members), steps + 1), np.int64),
    )
    _fill(problem, tables)
    set_loads(problem, tables, loads)
    return tables


@njit(cache=True, nogil=True)
def _fill(problem: Any, tables: Any) -> None:
    arrival, mask, filled, tail = tables.arrival, tables.mask, tables.filled, problem.tail
    (nodes, rows), degree = arrival.shape, tail.shape[1]
    for node in range(nodes):
        here, bits, counts = arrival[node], mask[node], filled[problem.group[node]]
        for k in range(degree):
            if tail[node, k] >= 0:
                there, bit = arrival[tail[node, k]], np.uint8(1 << k)
                for row in range(rows):
                    bits[row] |= bit if there[row] < here[row] else np.uint8(0)
        for row in range(rows):
            if node != problem.roots[row]:
                counts[here[row], bits[row]] += 1
    for g in range(filled.shape[0]):
        for step in range(filled.shape[1]):
            for k in range(degree):
                for links in range(1 << degree):
                    if links >> k & 1:
                        filled[g, step, links] += filled[g, step, links ^ (1 << k)]


@njit(cache=True, nogil=True)
def set_loads(problem: Any, tables: Any, loads: Any) -> int:
    """Set the limits from the loads; return the total excess."""
    limit, excess, filled = tables.limit, tables.excess, tables.filled
    for kind in range(limit.shape[0]):
        for step in range(limit.shape[1]):
            for links in range(limit.shape[2]):
                limit[kind, step, links] = problem.weight[kind, links] * loads[step] // problem.unit
    total = 0
    for g in range(filled.shape[0]):
        for step in range(1, filled.shape[1]):
            over = 0
            for links in range(filled.shape[2]):
                over += max(0, filled[g, step, links] - limit[problem.kind[g], step, links])
            excess[g, step] = over
            total += over
    return total


@njit(cache=True, nogil=True)
def _count(tables: Any, kind: int, g: int, step: int, links: int, rest: int, by: int) -> int:
    """Add ``by``, 1 or -1, to the sets of all ``links`` and any of ``rest``.

    Returns the change of the excess.
    """
    filled, limit = tables.filled[g, step], tables.limit[kind, step]
    more, change = rest, 0
    while True:
        at = links | more
        if by > 0:
            change += filled[at] >= limit[at]
        else:
            change -= filled[at] > limit[at]
        filled[at] += by
        if more == 0:
            break
        more = (more - 1) & rest
    tables.excess[g, step] += change
    return change


@njit(cache=True, nogil=True)
def set_arrival(problem: Any, tables: Any, row: int, node: int, new: int, free: bool) -> int:
    """Change the arrival step of a cell other than a root's own; return the change of the excess.

    Unless ``free``, a move that leaves this cell or a successor without an open link returns
    `IMPOSSIBLE` and changes nothing.  O((out-degree + 2) 2^d) at most.
    """
    arrival, mask = tables.arrival, tables.mask
    tail, group, kind = problem.tail, problem.group, problem.kind
    start, head, place, root = problem.start, problem.head, problem.place, problem.roots[row]
    degree = tail.shape[1]
    full = (1 << degree) - 1
    # One integer type throughout: Numba compiles a kernel once per list of argument types.
    old, new = int64(arrival[node, row]), int64(new)
    if new > old and not free:
        for edge in range(start[node], start[node + 1]):
            after = head[edge]
            if (
                old < arrival[after, row] <= new
                and mask[after, row] == 1 << place[edge]
                and after != root
            ):
                return IMPOSSIBLE
    bits = int64(0)
    for k in range(degree):
        if tail[node, k] >= 0 and arrival[tail[node, k], row] < new:
            bits |= 1 << k
    if bits == 0 and not free:
        return IMPOSSIBLE
    g = group[node]
    was: Any = np.int64(mask[node, row])
    change = _count(tables, kind[g], g, old, was, full ^ was, int64(-1))
    change += _count(tables, kind[g], g, new, bits, full ^ bits, int64(1))
    mask[node, row], arrival[node, row] = bits, new
    for edge in range(start[node], start[node + 1]):
        after = head[edge]
        step = int64(arrival[after, row])
        if (old < step) == (new < step) or after == root:
            continue
        bit = int64(1 << place[edge])
        others = int64(mask[after, row] & (full ^ bit))
        g = group[after]
        # Sets with the link count the cell in both cases; sets without it, only while it is closed.
        by = int64(1 if old < step else -1)
        change += _count(tables, kind[g], g, step, others, full ^ (others | bit), by)
        mask[after, row] ^= bit
    return change
