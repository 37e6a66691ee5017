"""The cost of a voltage lift from one destination per vertex of its base graph.

A voltage graph has n vertices and n d arcs, each with an element of a group, its voltage.
In its lift a node is a vertex and an element, and the arc (s, t, v) gives the links
(s, x) -> (t, x v) for all x.  Multiplying all elements from the left by one of them moves
links to links, so the nodes over a vertex look alike: n destinations stand for all n |group|.
One vertex gives a Cayley digraph, the group of one element any digraph.

Loads are whole numbers: shards times `UNIT`, which every set of at most 8 links divides.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "LATE",
    "MAX_DEGREE",
    "MAX_STEPS",
    "UNIT",
    "Memory",
    "Rivals",
    "evaluate",
    "memory",
    "no_rivals",
]

UNIT = 840
LATE = UNIT // 2
"""What a node that is too far adds to the energy of a lift."""

MAX_DEGREE = 8
MAX_STEPS = 250
"""Lifts of larger diameter are of no use, and are treated like disconnected ones."""

_SIZES = np.array([bin(links).count("1") for links in range(1 << MAX_DEGREE)])
# UNIT / |S| by set S of links; the empty set never carries anything.
_WEIGHTS = np.array([UNIT // max(1, size) for size in _SIZES], np.int64)


class Memory(NamedTuple):
    """Working memory of `evaluate` for a given number of nodes and arcs."""

    before: NDArray[np.int64]
    """(n, d): the first node over the vertex each arc comes from."""
    shift: NDArray[np.int64]
    """(n, d): the element that takes a node back over each arc."""
    distance: NDArray[np.int32]
    mask: NDArray[np.int32]
    order: NDArray[np.int32]
    level: NDArray[np.int32]
    table: NDArray[np.int64]
    """(2 ** d,): how many shards have which mask, then its sums over subsets."""
    load: NDArray[np.int64]
    """(MAX_STEPS,): by step, the largest load of any destination, times `UNIT`."""


class Rivals(NamedTuple):
    """What a lift must beat to be worth evaluating to the end."""

    energy: float
    """The most that it may have: late nodes times `LATE`, loads and mean loads of both ways."""
    load: NDArray[np.int64]
    """(MAX_STEPS + 1,): by steps, the least load of both ways that is known within them."""


def no_rivals() -> Rivals:
    """Return what every lift beats."""
    return Rivals(np.inf, np.full(MAX_STEPS + 1, 2**62))


def memory(nodes: int, vertices: int, degree: int) -> Memory:
    """Return working memory."""
    before, shift = np.zeros((2, vertices, degree), np.int64)
    distance, mask, order = np.zeros((3, nodes), np.int32)
    level = np.zeros(nodes + 2, np.int32)
    table = np.zeros(1 << degree, np.int64)
    return Memory(before, shift, distance, mask, order, level, table, np.zeros(MAX_STEPS, np.int64))


@njit(cache=True, nogil=True)
def evaluate(
    head: Any,
    shift: Any,
    product: Any,
    inverse: Any,
    backward: bool,
    limit: int,
    work: Any,
    rivals: Any,
    times: int,
    more_load: int,
    more_energy: int,
) -> tuple[int, int, int, int]:
    """Return (steps, load, mean load, late) of the lift or of its transpose.

    Arc s d + j leaves vertex s for ``head[s d + j]`` with voltage ``shift[s d + j]``.
    Voltages are numbers of a selection of elements, 0 that of the identity:
    ``product[g, x]`` is x times the selected element g, ``inverse[g]`` selects its inverse.

    ``load`` is the sum over the steps of the largest load of a link, ``mean load`` the sum
    of the largest at each destination on average over the destinations, both in shards /
    `UNIT`; ``late`` counts the nodes farther than ``limit`` from a destination or out of
    reach.  Steps are -1 if some node is out of reach or too far.

    ``rivals`` are beaten neither in energy nor in load where the steps are -2: then the
    evaluation ended early, and the rest means nothing.  The load and the energy of both ways are at
    least ``times`` those of this one and ``more_load`` and ``more_energy``.
    """
    vertices, degree = work.before.shape
    group = product.shape[1]
    optimum = (vertices * group - 1) * UNIT // degree
    _reverse(head, shift, inverse, backward, group, work)
    work.load[:] = 0
    longest, late, total = 0, 0, 0
    for goal in range(vertices):
        steps, reached = _search(product, goal, group, degree, work)
        if reached < vertices * group or steps >= MAX_STEPS:
            longest = MAX_STEPS
        longest = max(longest, steps)
        late += vertices * group - work.level[min(steps, limit) + 1]
        for step in range(1, min(steps, MAX_STEPS - 1) + 1):
            load = _heaviest(work, step, degree)
            total += load
            if load > work.load[step]:
                work.load[step] = load
        load = work.load.sum()
        # A destination that was not looked at yet takes the optimum at least.
        mean = (total + (vertices - 1 - goal) * optimum) // vertices
        if (
            times * (late * LATE + load + mean) + more_energy > rivals.energy
            and times * load + more_load >= rivals.load[min(longest, MAX_STEPS)]
        ):
            return -2, load, mean, late
    if longest >= MAX_STEPS:
        return -1, work.load.sum(), total // vertices, late
    return longest, work.load.sum(), total // vertices, late


@njit(cache=True, nogil=True)
def _reverse(head: Any, shift: Any, inverse: Any, backward: bool, group: int, work: Any) -> None:
    """Fill ``before`` and ``shift`` with the arcs into every vertex, or out of it."""
    vertices, degree = work.before.shape
    if backward:
        for arc in range(vertices * degree):
            vertex, place = arc // degree, arc % degree
            work.before[vertex, place] = head[arc] * group
            work.shift[vertex, place] = shift[arc]
        return
    filled = work.order
    filled[:vertices] = 0
    for arc in range(vertices * degree):
        vertex = head[arc]
        work.before[vertex, filled[vertex]] = arc // degree * group
        work.shift[vertex, filled[vertex]] = inverse[shift[arc]]
        filled[vertex] += 1


@njit(cache=True, nogil=True)
def _search(product: Any, goal: int, group: int, degree: int, work: Any) -> tuple[int, int]:
    """Search backwards from (goal, 0), collecting masks; return longest distance and reach."""
    distance, mask, order, level = work.distance, work.mask, work.order, work.level
    distance[:] = -1
    mask[:] = 0
    first_node = goal * group
    distance[first_node] = 0
    order[0] = first_node
    level[0], level[1] = 0, 1
    filled, first, steps = 1, 0, 0
    # Behind the farthest nodes, often a third of all, there is nothing to be found.
    while first < filled < len(order):
        last = filled
        for index in range(first, last):
            node = order[index]
            vertex = 0 if node < group else node // group
            element = node - vertex * group
            bits = mask[node]
            for place in range(degree):
                near = work.before[vertex, place] + product[work.shift[vertex, place], element]
                if distance[near] < 0:
                    distance[near] = steps + 1
                    order[filled] = near
                    filled += 1
                if distance[near] == steps + 1:
                    mask[near] |= bits if steps else 1 << place
        first = last
        if filled > last:
            steps += 1
            level[steps + 1] = filled
    return steps, filled


@njit(cache=True, nogil=True)
def _heaviest(work: Any, step: int, degree: int) -> int:
    """Return the largest load of a link in a step, times `UNIT`."""
    table, size = work.table, 1 << degree
    table[:size] = 0
    for index in range(work.level[step], work.level[step + 1]):
        table[work.mask[work.order[index]]] += 1
    bit = 1
    while bit < size:
        for links in range(size):
            if links & bit:
                table[links] += table[links ^ bit]
        bit <<= 1
    heaviest = 0
    for links in range(1, size):
        load = table[links] * _WEIGHTS[links]
        if load > heaviest:
            heaviest = load
    return heaviest
