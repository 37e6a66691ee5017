"""Integer maximum flow from many supplies to one sink, on flat arrays.

A *flow network* here has no source node.  Every node may hold a supply, and flow goes from the
remaining supplies to one sink.  All searches run backwards from the sink over residual arcs, so a
search with supplies close to the sink visits only their neighborhood.

`shortfall` decides the condition of every stage of ForestColl: does each terminal receive from
each terminal the units of which that terminal is the root?  It checks the terminals in sequence
and keeps one flow: a terminal that passes becomes an unlimited supply.  Proof: a set of nodes
that violates the condition for a later terminal and contains no earlier terminal is a cut
between them.  A set that contains an earlier terminal has already passed.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.uncounted import uncounted

UNLIMITED = 1 << 62
"""Larger than any sum of capacities; `schedules.trees.flow.network` guards that."""


Unsigned = NDArray[np.uint32]

U0, U1, ONE_MOVE = np.uint64(0), np.uint64(1), np.uint32(1)
"""Unsigned constants for index arithmetic: Numba checks each signed index for negative values,
which takes a sixth of the time of tree growing."""


class Arcs(NamedTuple):
    """A directed graph, indexed for backward residual search.

    ``tail`` and ``head`` have one entry per arc.  ``moves[start[w]:start[w + 1]]`` lists the
    steps from w to a residual predecessor: ``2 * a`` for an arc a into w, ``2 * a + 1`` for an
    arc a out of w, whose flow can be canceled.  ``ends`` has the predecessor of each step.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    start: Unsigned
    moves: Unsigned
    ends: Unsigned


class Scratch(NamedTuple):
    """Work memory of `send`, one entry per node; ``level`` holds its last search."""

    level: NDArray[np.int64]
    queue: Unsigned
    cursor: Unsigned
    path: Unsigned


def arcs_of(node_count: int, tail: NDArray[Any], head: NDArray[Any]) -> Arcs:
    """Return the arcs tail[a] -> head[a] indexed for search; O(arcs log arcs).

    >>> arcs = arcs_of(2, np.array([0]), np.array([1]))
    >>> arcs.moves.tolist(), arcs.ends.tolist()
    ([1, 0], [1, 0])
    """
    count = len(tail)
    at = np.concatenate([head, tail]).astype(np.int64)
    codes = np.concatenate([2 * np.arange(count), 2 * np.arange(count) + 1])
    start = np.zeros(node_count + 1, np.uint32)
    start[1:] = np.cumsum(np.bincount(at, minlength=node_count))
    order = np.argsort(at, kind="stable")
    return Arcs(
        np.ascontiguousarray(tail, np.int64),
        np.ascontiguousarray(head, np.int64),
        start,
        codes[order].astype(np.uint32),
        np.concatenate([tail, head])[order].astype(np.uint32),
    )


def scratch_for(node_count: int) -> Scratch:
    """Return work memory for graphs of ``node_count`` nodes."""
    queue, cursor, path = np.zeros((3, node_count + 1), np.uint32)
    return Scratch(np.zeros(node_count + 1, np.int64), queue, cursor, path)


@uncounted
def _search(arcs, capacity, flow, supply, sink, want, scratch):
    """Level nodes by residual distance to ``sink``; return whether supplies reach ``want``.

    The search stops after the level on which supplies sum to ``want``.  It does not continue
    through nodes of unlimited supply.
    """
    level, queue = scratch.level, scratch.queue
    start, moves, ends = arcs.start, arcs.moves, arcs.ends
    level[:] = -1
    level[sink] = 0
    queue[0] = sink
    index, filled, found, last = U0, U1, 0, -1
    while index < filled:
        node = queue[index]
        index += U1
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
        place, end = np.uint64(start[node]), np.uint64(start[node + U1])
        while place < end:
            before, move = ends[place], moves[place]
            place += U1
            if level[before] >= 0:
                continue
            arc = move >> ONE_MOVE
            if flow[arc] > 0 if move & ONE_MOVE else flow[arc] < capacity[arc]:
                level[before] = depth + 1
                queue[filled] = before
                filled += U1
    return found > 0


@uncounted
def _descend(arcs, capacity, flow, supply, sink, want, scratch):
    """Send along one path of the level graph; return the amount, 0 without a path."""
    level, cursor, path = scratch.level, scratch.cursor, scratch.path
    start, moves, ends = arcs.start, arcs.moves, arcs.ends
    node, length = np.uint64(sink), U0
    while supply[node] <= 0:
        place, end, below = cursor[node], start[node + U1], level[node] + 1
        while place < end:
            if level[ends[place]] == below:
                move = moves[place]
                arc = move >> ONE_MOVE
                if flow[arc] > 0 if move & ONE_MOVE else flow[arc] < capacity[arc]:
                    break
            place += ONE_MOVE
        cursor[node] = place
        if place < end:
            path[length] = moves[place]
            length += U1
            node = np.uint64(ends[place])
        elif length == U0:
            return 0
        else:
            length -= U1
            arc = path[length] >> ONE_MOVE
            node = np.uint64(arcs.tail[arc] if path[length] & ONE_MOVE else arcs.head[arc])
            cursor[node] += ONE_MOVE
    amount = min(want, supply[node])
    for index in range(length):
        arc = path[index] >> ONE_MOVE
        left = flow[arc] if path[index] & ONE_MOVE else capacity[arc] - flow[arc]
        amount = min(amount, left)
    for index in range(length):
        flow[path[index] >> ONE_MOVE] += -amount if path[index] & ONE_MOVE else amount
    if supply[node] != UNLIMITED:
        supply[node] -= amount
    return amount


@uncounted
def send(arcs, capacity, flow, supply, sink, want, scratch):
    """Send up to ``want`` units from the supplies to ``sink``; return the units sent.

    Dinic's algorithm; updates ``flow`` and ``supply``.  If the result is less than ``want``, the
    nodes with ``scratch.level >= 0`` are the sink's side of a minimum cut.
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

    ``shares`` has one entry per node, 0 except for terminals.  Terminals before index ``first``
    are assumed to pass.  Returns (index, missing units), or (number of terminals, 0) if all pass.
    Otherwise the nodes with ``scratch.level >= 0`` are the terminal's side of a violated cut.
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
