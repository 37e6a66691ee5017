"""Joins of conflicts: alternating chains that meet end one conflict or two.

A node with a conflict has two edges of a color p, and no edge of some color q.  If one of the two
edges gets q, the conflict moves to the other end of the edge, which has two edges of q and none of
p.  Repeated, the conflict moves along an *alternating chain* (Kempe).

- Where the chains of two conflicts meet, with colors (a twice, b free) and (c twice, d free), a = d
  or b = c ends one conflict, and both equations end two.
- A chain may *fork* at a node with colors (a twice, b free): one of the two edges gets a third
  color r, and the edge of r gets b.  Two chains follow.  Where both meet a chain of the other
  conflict, and each node gains and loses each color equally often, both conflicts end.

Two conflicts on a plant without spare ports lie on one cycle of two colors, which has about half of
all nodes.  Forks join them over few edges.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below
from topoloom.synth.wiring.coloring.conflicts import (
    CROWDED,
    EXCESS,
    NO_EDGE,
    ONE,
    recolor,
)
from topoloom.synth.wiring.coloring.problem import Integers

MAX_LENGTH = 40
"""Edges of a chain."""

MAX_PARTNERS = 8
"""Other conflicts whose chains are followed."""

MAX_FORKED = 6
"""Conflicts up to which chains fork."""

COSTLY = 2.0
"""A chain ends where it costs more than two conflicts and this many temperatures."""

SPINE, LEFT, RIGHT, PARTNERS = 0, 1, 2, 3
"""Chains: of the conflict, the two behind a fork, and the first one of the other conflicts."""


Chains = tuple[Integers, Integers, NDArray[np.float64], Integers]
"""Chains by number: edges, the nodes before and behind them, the cost up to each node, and hues.

The hues of a chain are the color of its first edge, its new color, and the length.
"""


def scratch(nodes: int) -> tuple[Chains, Integers, Integers, Integers]:
    """Return the buffers of `join`: chains, places of nodes, edges to recolor, and what was found.

    ``places[0]`` is the place of each node in the left chain behind a fork, ``places[1]`` that in
    the chains of other conflicts: ``row * (MAX_LENGTH + 1) + place``.
    """
    count = PARTNERS + 2 * MAX_PARTNERS
    table = np.zeros((2, count, MAX_LENGTH + 1), np.int64)
    costs, hues = np.zeros((count, MAX_LENGTH + 1)), np.zeros((count, 3), np.int64)
    places, turned = np.full((2, nodes), -1, np.int64), np.zeros((2, 4 * MAX_LENGTH), np.int64)
    return (table[0], table[1], costs, hues), places, turned, np.zeros(6, np.int64)


@njit(cache=True, nogil=True)
def _free_color(node, held, random):
    """Return a random color that a node has a port for and no edge, or -1."""
    colors = held.shape[1]
    start = below(random, colors)
    for k in range(colors):
        color = (start + k) % colors
        if held[node, color] < ONE:
            return color
    return -1


@njit(cache=True, nogil=True)
def _cheapest(row, length, node, old, new, state, cost, nodes):
    """Return the cheapest edge that a node with several ports for a color can recolor.

    No edge to a node of the chain: `NO_EDGE` if there is no other.  Of equal edges, the one whose
    color is oldest.
    """
    ends, begin, incident, _, colors, _, _, _, _, _, changed, _ = state
    found, least = NO_EDGE, 1e18
    for k in range(begin[node], begin[node + 1]):
        edge = incident[k]
        price = cost[edge, old] - cost[edge, new]
        if colors[edge] != new or price > least:
            continue
        if price == least and changed[edge] >= changed[found]:
            continue
        far, seen = ends[edge, 0] + ends[edge, 1] - node, False
        for step in range(length + 1):
            seen = seen or nodes[row, step] == far
        if not seen:
            found, least = edge, price
    return found


@njit(cache=True, nogil=True)
def _follow(row, node, edge, old, new, most, state, cost, chains):
    """Write down the chain from a node that begins with an edge; return its length.

    The chain ends where it costs more than ``most``, where the next edge is not unique, or before
    its first node.
    """
    edges, nodes, costs, hues = chains
    ends, colors, held = state[0], state[4], state[5]
    first, length, total = node, 0, 0.0
    nodes[row, 0], costs[row, 0], hues[row, 0], hues[row, 1] = node, 0.0, old, new
    while length < MAX_LENGTH:
        total += cost[edge, new] - cost[edge, old]
        node = ends[edge, 0] + ends[edge, 1] - node
        if total > most or node == first:
            break
        edges[row, length] = edge
        length += 1
        nodes[row, length], costs[row, length] = node, total
        if held[node, new] // ONE != 1 or held[node, old] // ONE > 1:
            break
        edge = held[node, new] % ONE
        if edge >= len(colors) or colors[edge] != new or node not in (ends[edge, 0], ends[edge, 1]):
            edge = _cheapest(row, length, node, old, new, state, cost, nodes)
        if edge == NO_EDGE:
            break
        old, new = new, old
    hues[row, 2] = length
    return length


@njit(cache=True, nogil=True)
def _brought(row, k, hues):
    """Return the color that a chain brings to its k-th node."""
    return hues[row, k % 2]


@njit(cache=True, nogil=True)
def _taken(row, k, hues):
    """Return the color that a chain takes from its k-th node."""
    return hues[row, 1 - k % 2]


@njit(cache=True, nogil=True)
def _meets_fork(at, i, twice, free, hues):
    """Whether another chain can end a fork at the i-th node of the left chain.

    At an even place the left chain brings the third color and takes ``free``, and the right chain
    brings ``twice`` and takes the third color.  So the other chain, at place ``at``, must bring
    ``free`` and take ``twice``.  At an odd place all colors are exchanged.
    """
    if at < 0:
        return False
    row, n = at // (MAX_LENGTH + 1), at % (MAX_LENGTH + 1) + i
    return _brought(row, n, hues) == free and _taken(row, n, hues) == twice


@njit(cache=True, nogil=True)
def _follow_partners(start, most, random, state, cost, chains, places):
    """Follow the chains of other conflicts; write down which one reaches each node, and where."""
    _, begin, incident, _, colors, held, crowded, _, _, _, _, sizes = state
    edges, nodes, _, _ = chains
    row, width = PARTNERS, held.shape[1]
    shift = below(random, sizes[CROWDED])
    for h in range(min(sizes[CROWDED], MAX_PARTNERS)):
        slot = crowded[(shift + h) % sizes[CROWDED]]
        node, old = slot // width, slot % width
        new = _free_color(node, held, random)
        if node == start or new < 0:
            continue
        for k in range(begin[node], begin[node + 1]):
            if colors[incident[k]] != old or row == len(edges):
                continue
            length = _follow(row, node, incident[k], old, new, most, state, cost, chains)
            for n in range(length + 1):
                places[1, nodes[row, n]] = row * (MAX_LENGTH + 1) + n
            row += 1
    return row


@njit(cache=True, nogil=True)
def _may_fork(rows, hues):
    """Whether another chain has the two colors of the spine, as the end of a fork needs."""
    for row in range(PARTNERS, rows):
        one, other = hues[row, 0], hues[row, 1]
        if one == hues[SPINE, 0] and other == hues[SPINE, 1]:
            return True
        if other == hues[SPINE, 0] and one == hues[SPINE, 1]:
            return True
    return False


@njit(cache=True, nogil=True)
def _best_fork(k, best, found, weight, heat, state, cost, chains, places):
    """Look for the cheapest fork at the k-th node of the spine; return the least cost."""
    edges, nodes, costs, hues = chains
    ends, colors, held = state[0], state[4], state[5]
    node, onward = nodes[SPINE, k], edges[SPINE, k]
    twice, free = _brought(SPINE, k, hues), _taken(SPINE, k, hues)
    most = 2.0 * weight + COSTLY * heat - costs[SPINE, k]
    for third in range(held.shape[1]):
        edge = held[node, third] % ONE
        if third in (twice, free) or held[node, third] // ONE != 1 or edge >= len(colors):
            continue
        if colors[edge] != third or node not in (ends[edge, 0], ends[edge, 1]):
            continue
        left = _follow(LEFT, node, edge, third, free, most, state, cost, chains)
        met = False
        for i in range(1, left + 1):
            if _meets_fork(places[1, nodes[LEFT, i]], i, twice, free, hues):
                places[0, nodes[LEFT, i]], met = i, True
        if not met:
            continue
        right = _follow(RIGHT, node, onward, twice, third, most, state, cost, chains)
        for m in range(1, right + 1):
            i, at = places[0, nodes[RIGHT, m]], places[1, nodes[RIGHT, m]]
            if i < 0 or (i - m) % 2:
                continue
            row, n = at // (MAX_LENGTH + 1), at % (MAX_LENGTH + 1)
            total = costs[SPINE, k] + costs[LEFT, i] + costs[RIGHT, m] + costs[row, n]
            total -= 2.0 * weight
            if total < best:
                best = total
                found[0], found[1], found[2], found[3], found[4], found[5] = k, i, m, row, n, third
        for i in range(1, left + 1):
            places[0, nodes[LEFT, i]] = -1
    return best


@njit(cache=True, nogil=True)
def _best_end(found, weight, held, chains, places):
    """Look for the cheapest end of the spine, alone or at another chain; return its cost."""
    _, nodes, costs, hues = chains
    best, length = 1e18, hues[SPINE, 2]
    brought, taken = _brought(SPINE, length, hues), _taken(SPINE, length, hues)
    last = nodes[SPINE, length]
    ended = 1 - int(held[last, brought] >= ONE) + int(held[last, taken] >= 2 * ONE)
    if ended > 0:
        best = costs[SPINE, length] - weight * ended
        found[0], found[1], found[2], found[3], found[4], found[5] = length, 0, 0, SPINE, 0, -1
    for k in range(1, length + 1):
        at = places[1, nodes[SPINE, k]]
        if at < 0:
            continue
        row, n = at // (MAX_LENGTH + 1), at % (MAX_LENGTH + 1)
        ended = int(_brought(SPINE, k, hues) == _taken(row, n, hues))
        ended += int(_taken(SPINE, k, hues) == _brought(row, n, hues))
        total = costs[SPINE, k] + costs[row, n] - weight * ended
        if ended > 0 and total < best:
            best = total
            found[0], found[1], found[2], found[3], found[4], found[5] = k, 0, 0, row, n, -1
    return best


@njit(cache=True, nogil=True)
def _listed(found, state, cost, chains, turned):
    """Write down the edges of the chains that were found, and their new colors; return how many."""
    edges, nodes, _, hues = chains
    held = state[5]
    k, i, m, other, n, third = found
    if third >= 0:
        node, free = nodes[SPINE, k], _taken(SPINE, k, hues)
        edge, twice = edges[SPINE, k], _brought(SPINE, k, hues)
        _follow(LEFT, node, held[node, third] % ONE, third, free, 1e18, state, cost, chains)
        _follow(RIGHT, node, edge, twice, third, 1e18, state, cost, chains)
    count = 0
    for row, length in ((SPINE, k), (LEFT, i), (RIGHT, m), (other, n)):
        for step in range(length):
            turned[0, count], turned[1, count] = edges[row, step], hues[row, 1 - step % 2]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _recolor_all(count, state, cost, turned):
    """Recolor the listed edges, leave their old colors in the list, and return the cost."""
    ends, _, _, likes, colors, held, crowded, place, moved, spot, _, sizes = state
    total = 0.0
    for number in range(count):
        edge, color = turned[0, number], turned[1, number]
        total += cost[edge, color] - cost[edge, colors[edge]]
        turned[1, number] = colors[edge]
        recolor(edge, color, ends, likes, colors, held, crowded, place, moved, spot, sizes)
    return total


@njit(cache=True, nogil=True)
def join(
    state: Any, cost: Any, weight: Any, heat: Any, random: Any, chains: Any, places: Any,
    turned: Any, found: Any,
):  # fmt: skip
    """Join a random conflict with the one to which it costs least, if that is accepted.

    ``weight`` is the cost of a conflict and ``heat`` the temperature.  Return how many edges
    `undo` gives their colors back.
    """
    # Arrays of their own: numba counts references of a tuple's members in every call.
    _, begin, incident, _, colors, held, crowded, _, _, _, _, sizes = state
    _, nodes, _, hues = chains
    slot, before = crowded[below(random, sizes[CROWDED])], sizes[EXCESS]
    start, old = slot // held.shape[1], slot % held.shape[1]
    new, edge, seen = _free_color(start, held, random), -1, 0
    for k in range(begin[start], begin[start + 1]):
        if colors[incident[k]] == old:
            seen += 1
            if below(random, seen) == 0:
                edge = incident[k]
    if new < 0 or edge < 0:
        return 0
    most = 2.0 * weight + COSTLY * heat
    length = _follow(SPINE, start, edge, old, new, most, state, cost, chains)
    rows = _follow_partners(start, most, random, state, cost, chains, places)
    best = _best_end(found, weight, held, chains, places)
    if before <= MAX_FORKED and _may_fork(rows, hues):
        for k in range(length):
            best = _best_fork(k, best, found, weight, heat, state, cost, chains, places)
    for row in range(PARTNERS, rows):
        for n in range(hues[row, 2] + 1):
            places[1, nodes[row, n]] = -1
    if best > COSTLY * heat:
        return 0
    count = _listed(found, state, cost, chains, turned)
    more = _recolor_all(count, state, cost, turned) + weight * (sizes[EXCESS] - before)
    if more > 0.0 and below(random, 1 << 30) >= np.exp(-more / heat) * (1 << 30):
        undo(count, state, cost, turned)
        return 0
    return count


@njit(cache=True, nogil=True)
def undo(count: Any, state: Any, cost: Any, turned: Any) -> None:
    """Give the edges of a join their colors back."""
    turned[:, :count] = turned[:, :count][:, ::-1].copy()
    _recolor_all(count, state, cost, turned)
