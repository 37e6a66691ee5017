"""The cost of a voltage lift from one destination per vertex of its base graph.

A voltage graph has n vertices and n d arcs, each with an element of a group, its voltage.
In its lift a node is a vertex and an element, and the arc (s, t, v) gives the links
(s, x) -> (t, x v) for all x.  Multiplying all elements from the left by one of them moves
links to links, so the nodes over a vertex look alike: n destinations stand for all n |group|.
One vertex gives a Cayley digraph, the group of one element any digraph.

Loads are whole numbers: shards times `UNIT`, which every set of at most 8 links divides.

Destinations are searched step by step, and after each it is known what the nodes not yet reached
will cost at least: most lifts are given up before their farthest nodes, which are most, are found.
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

# What a state has below the distance: two masks of links.
_BITS, _MASK = 2 * MAX_DEGREE, (1 << MAX_DEGREE) - 1
_SIZES = np.array([bin(links).count("1") for links in range(1 << MAX_DEGREE)])
# UNIT / |S| by set S of links; the empty set never carries anything.
_WEIGHTS = np.array([UNIT // max(1, size) for size in _SIZES], np.int32)


class Memory(NamedTuple):
    """Working memory of `evaluate` for a given number of nodes and arcs."""

    before: NDArray[np.int64]
    """(n, d): the vertex each arc comes from."""
    shift: NDArray[np.int64]
    """(n, d): the element that takes a node back over each arc."""
    state: NDArray[np.uint32]
    """By node: 1 more than its distance in the upper 16 bits, below the masks of the last links
    that shortest paths take there, and of the first ones; 0 if unknown."""
    order: NDArray[np.uint32]
    """By vertex, the elements over it as they are found; one place more, written to in vain."""
    ends: NDArray[np.int64]
    """(3, n): where those of the last step begin and end there, and where those after them end."""
    level: NDArray[np.int32]
    """By steps: how many nodes are nearer."""
    table: NDArray[np.int32]
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
    state, order = np.zeros(nodes, np.uint32), np.zeros(nodes + 1, np.uint32)
    ends, level = np.zeros((3, vertices), np.int64), np.zeros(nodes + 2, np.int32)
    table, load = np.zeros(1 << degree, np.int32), np.zeros(MAX_STEPS, np.int64)
    return Memory(before, shift, state, order, ends, level, table, load)


@njit(cache=True, nogil=True)
def evaluate(
    head: Any,
    shift: Any,
    product: Any,
    inverse: Any,
    backward: bool,
    again: bool,
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

    ``again`` says that this lift was evaluated just before, the other way, to the end, and has so
    few steps as to be of use.  Of a Cayley digraph that needs no new search: its transpose reaches
    an element's inverse over the same generators, from the last to the first.
    """
    vertices, degree = work.before.shape
    again = again and vertices == 1
    nodes, more = len(work.state), (times, more_load, more_energy)
    optimum = (nodes - 1) * UNIT // degree
    if not again:
        _reverse(head, shift, inverse, backward, work)
    work.load[:] = 0
    longest, late, total, load = 0, 0, 0, 0
    for goal in range(vertices):
        # A destination that was not looked at yet takes the optimum at least.
        later = (vertices - 1 - goal) * optimum
        known = again, longest, late, total + later, load
        steps, filled, total, load = _search(product, goal, limit, work, rivals, more, known)
        total -= later
        if steps == -2:
            return -2, load, total, late
        longest = max(longest, MAX_STEPS if filled < nodes or steps >= MAX_STEPS else steps)
        late += nodes - work.level[min(steps, limit) + 1]
        mean = (total + later) // vertices
        if _is_beaten(rivals, more, late, load, mean, longest):
            return -2, load, mean, late
    return -1 if longest >= MAX_STEPS else longest, load, total // vertices, late


@njit(cache=True, nogil=True)
def _search(
    product: Any, goal: int, limit: int, work: Any, rivals: Any, more: Any, known: Any
) -> tuple[int, int, int, int]:
    """Search backwards from the identity over a vertex, and raise the loads of steps.

    ``known`` are whether the last search is gone through again, by the first links of its paths,
    the longest distance, late nodes, and loads in sum of destinations and of steps.
    Return steps, -2 if rivals are not beaten, how many nodes were found, and both loads now.
    """
    vertices, degree = work.before.shape
    nodes = len(work.state)
    again, longest, late, total, load = known
    if not again:
        _begin(goal, work)
    steps, filled, near = 0, 1, 0
    while filled < nodes:
        found = _go_through(steps, work) if again else _expand(product, steps, work)
        if found == 0:
            break
        filled += found
        steps += 1
        work.level[steps + 1] = filled
        if steps < MAX_STEPS:
            heaviest = _heaviest(work, degree, np.uint32(MAX_DEGREE if again else 0))
            total += heaviest
            load += max(0, heaviest - work.load[steps])
            work.load[steps] = max(work.load[steps], heaviest)
            near += work.load[steps]
        # Nodes that were not found yet take the optimum, or the lift is out of the question.
        rest = (nodes - filled) * UNIT // degree
        least, mean = max(load, near + rest), (total + rest) // vertices
        missed = late + (nodes - work.level[limit + 1] if steps >= limit else 0)
        if _is_beaten(rivals, more, missed, least, mean, max(longest, steps)):
            return -2, filled, total, load
    return steps, filled, total, load


@njit(cache=True, nogil=True)
def _is_beaten(rivals: Any, more: Any, late: int, load: int, mean: int, steps: int) -> bool:
    """Return whether rivals are no worse than a lift of at least such figures."""
    times, more_load, more_energy = more
    energy = times * (late * LATE + load + mean) + more_energy
    return energy > rivals.energy and times * load + more_load >= rivals.load[min(steps, MAX_STEPS)]


@njit(cache=True, nogil=True)
def _reverse(head: Any, shift: Any, inverse: Any, backward: bool, work: Any) -> None:
    """Fill ``before`` and ``shift`` with the arcs into every vertex, or out of it."""
    vertices, degree = work.before.shape
    if backward:
        for arc in range(vertices * degree):
            vertex, place = arc // degree, arc % degree
            work.before[vertex, place] = head[arc]
            work.shift[vertex, place] = shift[arc]
        return
    filled = work.ends[0]
    filled[:] = 0
    for arc in range(vertices * degree):
        vertex = head[arc]
        work.before[vertex, filled[vertex]] = arc // degree
        work.shift[vertex, filled[vertex]] = inverse[shift[arc]]
        filled[vertex] += 1


@njit(cache=True, nogil=True)
def _begin(goal: int, work: Any) -> None:
    """Forget all nodes but a destination, the identity over a vertex."""
    group = len(work.state) // len(work.before)
    work.state[:] = 0
    work.state[goal * group] = 1 << _BITS
    work.order[goal * group] = 0
    work.ends[:] = 0
    work.ends[2, goal] = 1
    work.level[0], work.level[1] = 0, 1


@njit(cache=True, nogil=True)
def _expand(product: Any, steps: int, work: Any) -> int:
    """List the nodes one step before those listed last, with their masks; return how many.

    All that are over one vertex go back over one arc, as their row of products is in the cache.
    """
    state, order, ends = work.state, work.order, work.ends
    vertices, degree = work.before.shape
    group, total = product.shape[1], 0
    now = np.uint32((steps + 2) << _BITS)
    for vertex in range(vertices):
        ends[0, vertex], ends[1, vertex] = ends[1, vertex], ends[2, vertex]
    for vertex in range(vertices):
        if ends[0, vertex] == ends[1, vertex]:
            continue
        # Indices are unsigned: of signed ones it is asked whether they count from the end.
        here = np.uint64(vertex * group)
        first, last = here + np.uint64(ends[0, vertex]), here + np.uint64(ends[1, vertex])
        for place in range(degree):
            source, shift = work.before[vertex, place], np.uint64(work.shift[vertex, place])
            there, begun = np.uint64(source * group), ends[2, source]
            end, bit = there + np.uint64(begun), np.uint32(1 << (place + MAX_DEGREE))
            if steps == 0:
                bit |= np.uint32(1 << place)
            # Without branches: whether a node is new nobody can foretell, and a wrong guess costs
            # as much as all the rest.
            for index in range(first, last):
                element = np.uint64(order[index])
                before = product[shift, element]
                known = state[there + np.uint64(before)]
                bits = state[here + element] & np.uint32(_MASK) | bit
                is_new = known == 0
                order[end] = before if is_new else order[end]
                end += np.uint64(is_new)
                known = now if is_new else known
                state[there + np.uint64(before)] = known | (bits if known >= now else np.uint32(0))
            ends[2, source] = end - there
            total += ends[2, source] - begun
    return total


@njit(cache=True, nogil=True)
def _go_through(steps: int, work: Any) -> int:
    """List again the nodes that the last search found in its next step; return how many."""
    work.ends[0, 0], work.ends[1, 0] = work.level[steps], work.level[steps + 1]
    work.ends[2, 0] = work.level[steps + 2]
    return work.ends[2, 0] - work.ends[1, 0]


@njit(cache=True, nogil=True)
def _heaviest(work: Any, degree: int, below: Any) -> int:
    """Return the largest load of a link in the step that was listed last, times `UNIT`.

    Masks are those ``below`` so many bits.
    """
    table, size, ends = work.table, np.uint64(1 << degree), work.ends
    group, one = len(work.state) // ends.shape[1], np.uint64(1)
    for links in range(size):
        table[links] = 0
    for vertex in range(ends.shape[1]):
        here = np.uint64(vertex * group)
        for index in range(here + np.uint64(ends[1, vertex]), here + np.uint64(ends[2, vertex])):
            known = work.state[here + np.uint64(work.order[index])]
            table[(known >> below) & np.uint32(_MASK)] += 1
    bit = one
    while bit < size:
        for low in range(np.uint64(0), size, bit + bit):
            for links in range(low, low + bit):
                table[links + bit] += table[links]
        bit += bit
    heaviest = 0
    for links in range(one, size):
        heaviest = max(heaviest, table[links] * _WEIGHTS[links])
    return heaviest
