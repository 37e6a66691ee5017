"""State of the packing kernel: the residual network, and the active groups."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.max_flow import Arcs, Scratch, Unsigned, scratch_for, send
from topoloom.synth.progress import report_progress

Ints = NDArray[np.int64]
States = NDArray[np.int32]

AT_ONCE = 1 << 22
"""Arcs times destinations whose flows are filled between checks for cancellation."""

BROKEN = np.int64(-1)
# Literals 0 and 1 would make Numba compile each function again for these values.
NONE, ONE = np.int64(0), np.int64(1)

ENTER, LEAVE, PASS, RETURN = (np.int64(code) for code in (-1, -2, -3, -4))
"""Steps towards the sink that are no moves over arcs: from a group into a node, its reversal, from
a group to the next smaller group, its reversal."""


class Forest(NamedTuple):
    """The residual network, and the flow to every destination.

    ``flow[y]`` brings the units of every root from index ``begun[y]`` on to y, and ``held[y]``
    units of the root before, of which ``entered[y, v]`` enter by node v (`suspended_groups`).
    ``changes`` is a ring buffer of the arcs whose capacity decreased, ``changed[0]`` their number,
    and ``noted[y]`` how many of them flow[y] accounts for.  The rest is work memory: pending
    ``supply`` per node; search state (``after``, ``by``, ``queue``) per node and group; the same
    for the opposite search (``reached``, ``came_by``, ``front``).  ``seen`` counts both queues and
    states whether the opposite search ended.  ``inside[v]`` has a bit for each recorded tight set
    that contains v (`tight_sets`); ``known[0]`` is the number of sets found.
    sets that hold v, of those kept by `tight_sets`, of which ``known[0]`` were found.
    """

    arcs: Arcs
    capacity: NDArray[Any]
    flow: NDArray[Any]
    entered: NDArray[Any]
    held: Ints
    begun: Ints
    changes: Ints
    changed: Ints
    noted: Ints
    supply: Ints
    after: States
    by: States
    queue: Unsigned
    reached: States
    came_by: States
    front: Unsigned
    seen: Ints
    place: Ints
    path: Ints
    inside: Ints
    known: Ints


class Stack(NamedTuple):
    """The groups of the current root; index ``depth[0] - 1`` is the growing group.

    Per group: number of nodes (``size``), ``multiplicity``, and the state of its growth:
    order[first:last] is the deepest full level, and ``turn`` nodes have been tried below it;
    ``touched`` has the bits of the tight sets that it meets.  Per node: ``order`` and ``edge`` list
    the nodes and arcs in order of growth, ``joined`` is the node's position there or -1, ``below``
    is whether an arc leads from the full level to it, and ``owner`` is the smallest suspended group
    that contains it.  For the current flow: units still ``offered`` per group, ``passed`` units
    from a group to the next smaller, and the nodes where units of groups enter: the first
    ``listed[0]`` of ``entries``, marked in ``entry``.
    """

    depth: Ints
    size: Ints
    multiplicity: Ints
    first: Ints
    last: Ints
    turn: Ints
    touched: Ints
    order: Ints
    edge: Ints
    joined: Ints
    below: Ints
    owner: Ints
    passed: Ints
    offered: Ints
    listed: Ints
    entries: Ints
    entry: Ints


def forest_for(arcs: Arcs, capacity: Ints) -> Forest:
    """Return the state before any tree; takes nodes * arcs * 4 bytes, or 8 for large capacities."""
    nodes, count = len(arcs.start) - 1, len(arcs.tail)
    # No flow exceeds its arc's capacity, and no more units enter it than reach its sink.
    most_into = np.bincount(arcs.head, capacity, minlength=1).max()
    width = np.int32 if most_into < 1 << 31 else np.int64
    most = nodes + count + 3

    def zeros(length: int) -> Ints:
        return np.zeros(length, np.int64)

    return Forest(
        arcs=arcs,
        capacity=capacity.astype(width),
        flow=np.zeros((nodes, count), width),
        entered=np.zeros((nodes, nodes), width),
        held=zeros(nodes),
        begun=zeros(nodes),
        changes=zeros(count),
        changed=zeros(1),
        noted=zeros(nodes),
        supply=zeros(nodes),
        after=np.full(most, -1, np.int32),
        by=np.zeros(most, np.int32),
        queue=np.zeros(most, np.uint32),
        reached=np.full(most, -1, np.int32),
        came_by=np.zeros(nodes, np.int32),
        front=np.zeros(nodes, np.uint32),
        seen=zeros(3),
        place=np.full(nodes, -1, np.int64),
        path=zeros(nodes + 1),
        inside=zeros(nodes),
        known=zeros(1),
    )


def stack_for(arcs: Arcs) -> Stack:
    """Return an empty stack.

    A group is suspended when an arc is tried, and those above it when later arcs are tried, so
    there are at most arcs + 1 groups.
    """
    nodes, groups = len(arcs.start) - 1, len(arcs.tail) + 2

    def fresh(length: int, value: int = 0) -> Ints:
        return np.full(length, value, np.int64)

    return Stack(
        depth=fresh(1),
        size=fresh(groups),
        multiplicity=fresh(groups),
        first=fresh(groups),
        last=fresh(groups),
        turn=fresh(groups),
        touched=fresh(groups),
        order=fresh(nodes, -1),
        edge=fresh(nodes),
        joined=fresh(nodes, -1),
        below=fresh(nodes),
        owner=fresh(nodes, -1),
        passed=fresh(groups),
        offered=fresh(groups),
        listed=fresh(1),
        entries=fresh(nodes),
        entry=fresh(nodes),
    )


def warm_up(forest: Forest, trees: Ints, index: int) -> bool:
    """Fill the flow to every destination; False if a destination misses units.

    ``trees`` are those of the roots from ``index`` on; capacities are the remaining ones.
    """
    forest.begun[:] = index
    forest.noted[:] = forest.changed[0]
    nodes = len(forest.supply)
    scratch = scratch_for(nodes)
    step = max(1, AT_ONCE // len(forest.capacity))
    for first in range(0, nodes, step):
        report_progress("filling flows", first, nodes)
        if not _warm_up(forest, trees, scratch, first, min(first + step, nodes)):
            return False
    return True


@njit(cache=True, nogil=True)
def _warm_up(forest: Forest, trees: Ints, scratch: Scratch, first: int, end: int):
    supply = np.empty(len(forest.supply), np.int64)
    for sink in range(first, end):
        supply[:] = trees
        supply[sink] = 0
        target = np.sum(supply)
        got = send(forest.arcs, forest.capacity, forest.flow[sink], supply, sink, target, scratch)
        if got < target:
            return False
    return True
