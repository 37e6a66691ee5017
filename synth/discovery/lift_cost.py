"""The cost of a voltage lift from one destination per vertex of its base graph.

A voltage graph has n vertices and n d arcs, each with a group element, its voltage.  In its lift
a node is a pair of a vertex and an element, and arc (s, t, v) becomes the links
(s, x) -> (t, x v) for all x.  Left multiplication by an element maps links to links, so all nodes
over a vertex are equivalent: n destinations represent all n |group|.  One vertex gives a Cayley
digraph, the trivial group any digraph.

Loads are integers: shards times `UNIT`, which every set of at most 8 links divides.

The search of a destination proceeds step by step and bounds the cost of the nodes not yet reached.
So most lifts are rejected before the search reaches the farthest and most numerous nodes.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.scalars import BYTE_ONES

UNIT = 840
LATE = UNIT // 2
"""Energy of a node beyond the target number of steps."""

MAX_DEGREE = 8
MAX_STEPS = 250
"""Lifts of larger diameter are treated as disconnected."""

# Bits below the distance in a node's state: two masks of links.
_BITS, _MASK = 2 * MAX_DEGREE, (1 << MAX_DEGREE) - 1
# UNIT / |S| by set S of links; the empty set never carries anything.
_WEIGHTS = np.array([UNIT // max(1, size) for size in BYTE_ONES], np.int32)


class Memory(NamedTuple):
    """Working memory of `evaluate` for a given number of nodes and arcs."""

    before: NDArray[np.int64]
    """(n, d): the tail of each arc."""
    shift: NDArray[np.int64]
    """(n, d): the element that leads back over each arc."""
    state: NDArray[np.uint32]
    """By node: its distance plus 1 in the upper 16 bits; below, the masks of the last and of the
    first links of its shortest paths; 0 if not reached."""
    order: NDArray[np.uint32]
    """By vertex: the elements over it in order of discovery, plus a scratch entry."""
    ends: NDArray[np.int64]
    """(3, n): by vertex, where the last step begins and ends in ``order``, and the next ends."""
    level: NDArray[np.int32]
    """By steps: the number of nearer nodes."""
    table: NDArray[np.int32]
    """(2 ** d,): shards by mask, then their sums over subsets."""
    load: NDArray[np.int64]
    """(MAX_STEPS,): by step, the largest load of any destination, times `UNIT`."""


class Thresholds(NamedTuple):
    """Thresholds below which a lift is worth a full evaluation."""

    energy: float
    """Largest acceptable energy: late nodes times `LATE`, plus loads and mean loads, both ways."""
    load: NDArray[np.int64]
    """(MAX_STEPS + 1,): the least known load of both directions by number of steps."""


def memory(nodes: int, vertices: int, degree: int) -> Memory:
    """Return working memory of `evaluate`."""
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
    replay: bool,
    limit: int,
    work: Any,
    thresholds: Any,
    times: int,
    more_load: int,
    more_energy: int,
) -> tuple[int, int, int, int]:
    """Return (steps, load, mean load, late) of the lift or of its transpose.

    Arc s d + j leaves vertex s for ``head[s d + j]`` with voltage ``shift[s d + j]``.  Voltages
    are indices into a selection of elements; index 0 is the identity.  ``product[g, x]`` is x
    times selected element g, and ``inverse[g]`` is the index of its inverse.

    ``load`` is the sum over steps of the largest load of a link.  ``mean load`` is the sum over
    steps of the largest load at each destination, averaged over destinations.  Both are in shards
    / `UNIT`.  ``late`` counts the nodes farther than ``limit`` from a destination or unreachable.
    ``steps`` is -1 if a node is unreachable or too far.

    ``steps`` is -2 if the lift beats ``thresholds`` neither in energy nor in load: the evaluation
    stopped early, and the other results are meaningless.  ``times`` times the load (energy) of
    this direction plus ``more_load`` (``more_energy``) is a lower bound for both directions.

    ``replay`` states that the previous call evaluated the other direction of this lift to the end.
    For a Cayley digraph the transpose then needs no new search: it reaches the inverse of each
    element over the same generators in reverse order.
    """
    vertices, degree = work.before.shape
    replay = replay and vertices == 1
    nodes, more = len(work.state), (times, more_load, more_energy)
    optimum = (nodes - 1) * UNIT // degree
    if not replay:
        _reverse(head, shift, inverse, backward, work)
    work.load[:] = 0
    longest, late, total, load = 0, 0, 0, 0
    for goal in range(vertices):
        # Each remaining destination adds at least the optimum.
        later = (vertices - 1 - goal) * optimum
        known = replay, longest, late, total + later, load
        steps, filled, total, load = _search(product, goal, limit, work, thresholds, more, known)
        total -= later
        if steps == -2:
            return -2, load, total, late
        longest = max(longest, MAX_STEPS if filled < nodes or steps >= MAX_STEPS else steps)
        late += nodes - work.level[min(steps, limit) + 1]
        mean = (total + later) // vertices
        if _is_hopeless(thresholds, more, late, load, mean, longest):
            return -2, load, mean, late
    return -1 if longest >= MAX_STEPS else longest, load, total // vertices, late


@njit(cache=True, nogil=True)
def _search(
    product: Any, goal: int, limit: int, work: Any, thresholds: Any, more: Any, known: Any
) -> tuple[int, int, int, int]:
    """Search backwards from the identity over a vertex, and update the loads of steps.

    ``known`` holds: whether to replay the last search by the first links of its paths, the
    longest distance, the late nodes, and the loads summed over destinations and over steps.
    Return the steps (-2 if the thresholds are not beaten), the nodes reached, and both loads.
    """
    vertices, degree = work.before.shape
    nodes = len(work.state)
    replay, longest, late, total, load = known
    if not replay:
        _begin(goal, work)
    steps, filled, near = 0, 1, 0
    while filled < nodes:
        found = _replay(steps, work) if replay else _expand(product, steps, work)
        if found == 0:
            break
        filled += found
        steps += 1
        work.level[steps + 1] = filled
        if steps < MAX_STEPS:
            heaviest = _heaviest(work, degree, np.uint32(MAX_DEGREE if replay else 0))
            total += heaviest
            load += max(0, heaviest - work.load[steps])
            work.load[steps] = max(work.load[steps], heaviest)
            near += work.load[steps]
        # Nodes not yet reached add at least the optimum.
        rest = (nodes - filled) * UNIT // degree
        least, mean = max(load, near + rest), (total + rest) // vertices
        missed = late + (nodes - work.level[limit + 1] if steps >= limit else 0)
        if _is_hopeless(thresholds, more, missed, least, mean, max(longest, steps)):
            return -2, filled, total, load
    return steps, filled, total, load


@njit(cache=True, nogil=True)
def _is_hopeless(thresholds: Any, more: Any, late: int, load: int, mean: int, steps: int) -> bool:
    """Return whether thresholds are no worse than a lift with these lower bounds."""
    times, more_load, more_energy = more
    energy = times * (late * LATE + load + mean) + more_energy
    return (
        energy > thresholds.energy
        and times * load + more_load >= thresholds.load[min(steps, MAX_STEPS)]
    )


@njit(cache=True, nogil=True)
def _reverse(head: Any, shift: Any, inverse: Any, backward: bool, work: Any) -> None:
    """Fill ``before`` and ``shift`` with the arcs into, or backward out of, every vertex."""
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
    """Reset the state to one destination, the identity over a vertex."""
    group = len(work.state) // len(work.before)
    work.state[:] = 0
    work.state[goal * group] = 1 << _BITS
    work.order[goal * group] = 0
    work.ends[:] = 0
    work.ends[2, goal] = 1
    work.level[0], work.level[1] = 0, 1


@njit(cache=True, nogil=True)
def _expand(product: Any, steps: int, work: Any) -> int:
    """List the predecessors of the last layer with their masks; return their number.

    Processes one arc for all nodes over a vertex, so that its row of products stays in cache.
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
        # Unsigned indices: Numba adds a wraparound check to signed ones.
        here = np.uint64(vertex * group)
        first, last = here + np.uint64(ends[0, vertex]), here + np.uint64(ends[1, vertex])
        for place in range(degree):
            source, shift = work.before[vertex, place], np.uint64(work.shift[vertex, place])
            there, begun = np.uint64(source * group), ends[2, source]
            end, bit = there + np.uint64(begun), np.uint32(1 << (place + MAX_DEGREE))
            if steps == 0:
                bit |= np.uint32(1 << place)
            # Branchless: whether a node is new is unpredictable, and mispredictions would double
            # the time.
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
def _replay(steps: int, work: Any) -> int:
    """Replay the next layer of the last search; return its number of nodes."""
    work.ends[0, 0], work.ends[1, 0] = work.level[steps], work.level[steps + 1]
    work.ends[2, 0] = work.level[steps + 2]
    return work.ends[2, 0] - work.ends[1, 0]


@njit(cache=True, nogil=True)
def _heaviest(work: Any, degree: int, below: Any) -> int:
    """Return the largest load of a link in the last layer, times `UNIT`.

    ``below`` is the bit offset of the masks.
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
