"""Joins of conflicts: two alternating chains that meet end one conflict or two.

A node with a conflict has two edges of a color p, and no edge of some color q.  If one of the two
edges gets q, the conflict moves to the other end of the edge, which has two edges of q and none of
p.  Repeated, the conflict moves along an *alternating chain* (Kempe).  Where the chains of two
conflicts meet, with colors (a twice, b free) and (c twice, d free), a = d or b = c ends one
conflict, and both equations end two.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below
from topoloom.synth.wiring.coloring.conflicts import CROWDED, recolor
from topoloom.synth.wiring.coloring.problem import Integers

MAX_LENGTH = 40
"""Edges of a chain."""

MAX_PARTNERS = 16
"""Other conflicts whose chains are followed."""


class Chain(NamedTuple):
    """Edges of a chain, the nodes behind them, and the cost of recoloring up to each node."""

    edges: Integers
    nodes: Integers
    costs: NDArray[np.float64]


class Marks(NamedTuple):
    """Stamps of the nodes and edges of the first chain, and the place of each node in it."""

    nodes: Integers
    place: Integers
    edges: Integers
    stamp: Integers


def scratch(nodes: int, edges: int) -> tuple[Chain, Chain, Marks]:
    """Return the buffers of `join`."""
    one, other = (
        Chain(
            np.zeros(MAX_LENGTH + 1, np.int64),
            np.zeros(MAX_LENGTH + 1, np.int64),
            np.zeros(MAX_LENGTH + 1),
        )
        for _ in range(2)
    )
    marks = Marks(
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(edges, np.int64),
        np.zeros(1, np.int64),
    )  # fmt: skip
    return one, other, marks


@njit(cache=True, nogil=True)
def free_color(node, count, random):
    """Return a random color that a node has a port for and no edge, or -1."""
    colors = count.shape[1]
    start = below(random, colors)
    for k in range(colors):
        color = (start + k) % colors
        if count[node, color] == 0:
            return color
    return -1


@njit(cache=True, nogil=True)
def _follow(node, edge, old, new, state, chain):
    """Write down the chain from a node that begins with an edge; return its length.

    The chain ends where the next edge is not unique, or before its first node.
    """
    first, length, cost = node, 0, 0.0
    chain.costs[0] = 0.0
    while length < MAX_LENGTH:
        cost += state.cost[edge, new] - state.cost[edge, old]
        node = state.first[edge] + state.second[edge] - node
        if node == first:
            break
        chain.edges[length] = edge
        length += 1
        chain.nodes[length], chain.costs[length] = node, cost
        if state.counts[node, new] != 1 or state.counts[node, old] != 1:
            break
        edge = state.total[node, new]
        if edge < 0:
            break
        old, new = new, old
    return length


@njit(cache=True, nogil=True)
def _apart(one, i, other, j, marks):
    """Whether the chains share no edge, and no node before the one where they meet."""
    stamp = marks.stamp[0]
    for k in range(j):
        node, edge = other.nodes[k + 1], other.edges[k]
        if k + 1 < j and marks.nodes[node] == stamp and marks.place[node] < i:
            return False
        if marks.edges[edge] == stamp:
            for h in range(i):
                if one.edges[h] == edge:
                    return False
    return True


@njit(cache=True, nogil=True)
def _recolor_chain(node, edge, old, new, length, state):
    for k in range(length):
        node = state.first[edge] + state.second[edge] - node
        following = state.total[node, new] if k + 1 < length else -1
        recolor(
            edge, new, state.first, state.second, state.likes, state.colors, state.counts,
            state.total, state.crowded, state.place, state.moved, state.spot, state.sizes,
        )  # fmt: skip
        edge, old, new = following, new, old


@njit(cache=True, nogil=True)
def join(state, weight, heat, random, one, other, marks):
    """Join a random conflict with the one to which it costs least, if that is accepted.

    ``weight`` is the cost of a conflict and ``heat`` the temperature.
    """
    colors = state.counts.shape[1]
    slot = state.crowded[below(random, state.sizes[CROWDED])]
    start, p = slot // colors, slot % colors
    q = free_color(start, state.counts, random)
    edge = _random_edge(start, p, state, random)
    if q < 0 or edge < 0:
        return
    length = _follow(start, edge, p, q, state, one)
    if length == 0:
        return
    marks.stamp[0] += 1
    for k in range(length):
        marks.edges[one.edges[k]] = marks.nodes[one.nodes[k + 1]] = marks.stamp[0]
        marks.place[one.nodes[k + 1]] = k + 1
    # The chain alone: it may end at a free port, or at a conflict.
    node, gained, lost = one.nodes[length], q, p
    if length % 2 == 0:
        gained, lost = p, q
    ended = 1 - int(state.counts[node, gained] >= 1) + int(state.counts[node, lost] >= 2)
    best, i, j, far, next_edge, r, s = 1e18, 0, 0, -1, -1, -1, -1
    if ended > 0:
        best, i = one.costs[length] - weight * ended, length
    shift = below(random, state.sizes[CROWDED])
    for h in range(min(state.sizes[CROWDED], MAX_PARTNERS)):
        slot = state.crowded[(shift + h) % state.sizes[CROWDED]]
        partner, c = slot // colors, slot % colors
        d = free_color(partner, state.counts, random)
        if partner == start or d < 0:
            continue
        for k in range(state.begin[partner], state.begin[partner + 1]):
            edge_two = state.incident[k]
            if state.colors[edge_two] != c:
                continue
            for m in range(1, _follow(partner, edge_two, c, d, state, other) + 1):
                cost, at = _cost_of_meeting(p, q, c, d, m, state, weight, one, other, marks)
                if cost < best and _apart(one, at, other, m, marks):
                    best, i, j, far, next_edge, r, s = cost, at, m, partner, edge_two, c, d
    if i == 0 or (best > 0 and below(random, 1 << 30) >= np.exp(-best / heat) * (1 << 30)):
        return
    _recolor_chain(start, edge, p, q, i, state)
    _recolor_chain(far, next_edge, r, s, j, state)


@njit(cache=True, nogil=True)
def _cost_of_meeting(p, q, c, d, m, state, weight, one, other, marks):
    """Return the cost if the second chain ends at its m-th node, and the place in the first."""
    node = other.nodes[m]
    if marks.nodes[node] != marks.stamp[0]:
        return 1e18, 0
    i = marks.place[node]
    if i % 2 == 0:
        p, q = q, p
    if m % 2 == 0:
        c, d = d, c
    # The first chain brings color q and takes p away; the second brings d and takes c away.
    ended = int(q == c) + int(p == d)
    alone = state.counts[node, p] == 1 and state.counts[node, q] == 1
    if ended == 0 or not alone or state.counts[node, c] != 1 or state.counts[node, d] != 1:
        return 1e18, 0
    return one.costs[i] + other.costs[m] - weight * ended, i


@njit(cache=True, nogil=True)
def _random_edge(node, color, state, random):
    """Return one of the edges of a color at a node, or -1."""
    found, seen = -1, 0
    for k in range(state.begin[node], state.begin[node + 1]):
        if state.colors[state.incident[k]] == color:
            seen += 1
            if below(random, seen) == 0:
                found = state.incident[k]
    return found
