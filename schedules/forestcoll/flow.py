"""Integer maximum flow from many supplies to one sink, on flat arrays.

A *flow network* here has no source node.  Every node may hold a supply, and flow is
sent from wherever supply is left to one sink.  All searches run backwards from the
sink over residual arcs, so a search whose supplies lie close to the sink touches
only that neighbourhood.

`shortfall` answers the one question that every stage of ForestColl asks: does each of the
terminals receive from each of them the units that this one is the root of?  It asks terminal
after terminal and keeps one flow: a terminal that has passed becomes an unlimited supply.
That is right because a set of nodes that breaks the condition for a later terminal
and holds no earlier one is a cut between them all, and a set that holds an earlier
one was already found to be fine.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = [
    "UNLIMITED",
    "Arcs",
    "Scratch",
    "arcs_of",
    "inlined",
    "scratch_for",
    "send",
    "shortfall",
    "uncounted",
]

UNLIMITED = 1 << 62
"""Larger than any sum of capacities; `schedules.forestcoll.network` guards that."""


uncounted = njit(cache=True, nogil=True, _nrt=False)  # pyright: ignore[reportCallIssue]
"""Compiles a kernel that makes no arrays: numba need not count who holds those handed on.

Tuples of twenty arrays are handed from kernel to kernel millions of times; counting took half
of the time.
"""

inlined = njit(  # pyright: ignore[reportCallIssue]
    cache=True, nogil=True, _nrt=False, inline="always"
)
"""Compiles such a kernel as part of each that calls it, of which there should be one or two.

To hand on a tuple of twenty arrays by value takes as long as a short search.
"""


class Arcs(NamedTuple):
    """A directed graph, ready for backward residual search.

    ``tail`` and ``head`` have one entry per arc.  ``moves[start[w]:start[w + 1]]`` lists
    the steps that lead from w to a residual predecessor: ``2 * a`` for an arc a into w,
    ``2 * a + 1`` for an arc a out of w, whose flow can be taken back.  All int64.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    start: NDArray[np.int64]
    moves: NDArray[np.int64]


class Scratch(NamedTuple):
    """Working memory of `send`, one entry per node; ``level`` holds its last search."""

    level: NDArray[np.int64]
    queue: NDArray[np.int64]
    cursor: NDArray[np.int64]
    path: NDArray[np.int64]


def arcs_of(node_count: int, tail: NDArray[Any], head: NDArray[Any]) -> Arcs:
    """Return the arcs tail[a] -> head[a] indexed for search; O(arcs log arcs).

    >>> arcs_of(2, np.array([0]), np.array([1])).moves.tolist()
    [1, 0]
    """
    count = len(tail)
    at = np.concatenate([head, tail]).astype(np.int64)
    codes = np.concatenate([2 * np.arange(count), 2 * np.arange(count) + 1]).astype(np.int64)
    start = np.zeros(node_count + 1, np.int64)
    np.cumsum(np.bincount(at, minlength=node_count), out=start[1:])
    moves = codes[np.argsort(at, kind="stable")]
    return Arcs(
        np.ascontiguousarray(tail, np.int64), np.ascontiguousarray(head, np.int64), start, moves
    )


def scratch_for(node_count: int) -> Scratch:
    """Return working memory for graphs of that many nodes."""
    return Scratch(*(np.zeros(node_count + 1, np.int64) for _ in Scratch._fields))


@uncounted
def _search(arcs, capacity, flow, supply, sink, want, scratch):
    """Level nodes by residual distance to ``sink``; return whether supply was met.

    Stops after the level on which supplies add up to ``want``.  A node of unlimited
    supply is not searched through.
    """
    level, queue = scratch.level, scratch.queue
    level[:] = -1
    level[sink] = 0
    queue[0] = sink
    filled, found, last = 1, 0, -1
    index = 0
    while index < filled:
        node = queue[index]
        index += 1
        depth = level[node]
        if last >= 0 and depth > last:
            break
        if supply[node] > 0:
            if supply[node] >= want - found:
                last = depth
                found = want
            else:
                found += supply[node]
            if supply[node] == UNLIMITED:
                continue
        for place in range(arcs.start[node], arcs.start[node + 1]):
            arc = arcs.moves[place] >> 1
            if arcs.moves[place] & 1:
                before, left = arcs.head[arc], flow[arc]
            else:
                before, left = arcs.tail[arc], capacity[arc] - flow[arc]
            if left > 0 and level[before] < 0:
                level[before] = depth + 1
                queue[filled] = before
                filled += 1
    return found > 0


@uncounted
def _apply(flow, scratch, length, amount):
    """Add ``amount`` along the first ``length`` moves of the path."""
    for index in range(length):
        move = scratch.path[index]
        if move & 1:
            flow[move >> 1] -= amount
        else:
            flow[move >> 1] += amount


@uncounted
def _descend(arcs, capacity, flow, supply, sink, want, scratch):
    """Send along one path of the level graph; return the amount, 0 if none is left."""
    level, cursor, path = scratch.level, scratch.cursor, scratch.path
    node, length = sink, 0
    while supply[node] <= 0:
        advanced = False
        while cursor[node] < arcs.start[node + 1]:
            move = arcs.moves[cursor[node]]
            arc = move >> 1
            if move & 1:
                before, left = arcs.head[arc], flow[arc]
            else:
                before, left = arcs.tail[arc], capacity[arc] - flow[arc]
            if left > 0 and level[before] == level[node] + 1:
                path[length] = move
                length += 1
                node = before
                advanced = True
                break
            cursor[node] += 1
        if not advanced:
            if node == sink:
                return 0
            length -= 1
            arc = path[length] >> 1
            node = arcs.tail[arc] if path[length] & 1 else arcs.head[arc]
            cursor[node] += 1
    amount = min(want, supply[node])
    for index in range(length):
        arc = path[index] >> 1
        left = flow[arc] if path[index] & 1 else capacity[arc] - flow[arc]
        amount = min(amount, left)
    _apply(flow, scratch, length, amount)
    if supply[node] != UNLIMITED:
        supply[node] -= amount
    return amount


@uncounted
def send(arcs, capacity, flow, supply, sink, want, scratch):
    """Send up to ``want`` units from the supplies to ``sink``; return how many arrived.

    Changes ``flow`` and ``supply``.  If fewer than ``want`` arrive, the nodes with
    ``scratch.level >= 0`` are the sink's side of a minimum cut.  Dinic's algorithm.
    """
    sent = 0
    while sent < want:
        if not _search(arcs, capacity, flow, supply, sink, want - sent, scratch):
            break
        for node in range(len(arcs.start) - 1):
            scratch.cursor[node] = arcs.start[node]
        while sent < want:
            amount = _descend(arcs, capacity, flow, supply, sink, want - sent, scratch)
            if amount == 0:
                break
            sent += amount
    return sent


@njit(cache=True, nogil=True)
def shortfall(arcs, capacity, terminals, first, shares, flow, supply, scratch):
    """Find the first terminal that does not receive ``shares[t]`` from every terminal t.

    ``shares`` has one entry per node, 0 for all but terminals.  Terminals before index
    ``first`` are taken to be fine.  Returns (index, missing units); (number of terminals, 0)
    if all are fine.  Otherwise the nodes with ``scratch.level >= 0`` are the terminal's side
    of the cut that shows it.
    """
    flow[:] = 0
    supply[:] = shares
    for index in range(first):
        supply[terminals[index]] = UNLIMITED
    target = np.sum(shares)
    for index in range(first, len(terminals)):
        got = send(arcs, capacity, flow, supply, terminals[index], target, scratch)
        if got < target:
            return index, target - got
        supply[terminals[index]] = UNLIMITED
    return len(terminals), 0
