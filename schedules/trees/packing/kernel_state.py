"""What the packing kernels work on: the network that is left, and the groups at work."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.max_flow import Arcs, Scratch, Unsigned, scratch_for, send
from topoloom.synth.progress import tell

Ints = NDArray[np.int64]
States = NDArray[np.int32]

AT_ONCE = 1 << 22
"""Arcs times destinations whose flows are filled before the work can be stopped."""

BROKEN = np.int64(-1)
# Plain 0 and 1 would make numba compile a version of every function for these values.
NONE, ONE = np.int64(0), np.int64(1)

ENTER, LEAVE, PASS, RETURN = (np.int64(code) for code in (-1, -2, -3, -4))
"""Steps towards the sink that are not moves over arcs: from a group into a node, that taken
back, from a group to the next smaller one, that taken back."""


class Forest(NamedTuple):
    """What is left of the network, and the flow to every destination.

    ``flow[y]`` brings the units of every root from index ``begun[y]`` on to y, and ``held[y]``
    units of the root before, of which ``entered[y, v]`` enter by node v (`left_behind`).
    ``changes`` is a ring of the arcs whose capacity fell, ``changed[0]`` their number, and
    ``noted[y]`` how many of them flow[y] has seen.  The rest is working memory:
    pending ``supply`` per node; search state (``after``, ``by``, ``queue``) per node and group, and
    for the search that comes to meet it (``reached``, ``came_by``, ``front``); ``seen`` counts both
    queues, and says whether it was the latter that ended.  ``inside[v]`` has a bit for each of the
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
    """The groups of the root at work; index ``depth[0] - 1`` is the one that grows.

    Per group: number of nodes (``size``), ``multiplicity``, and where its growth stands:
    order[first:last] is the deepest full level, and ``turn`` nodes were offered a place
    below it; ``touched`` has the bits of the tight sets that it meets.  Per node: ``order`` and
    ``edge`` in which the growing tree took nodes and arcs, ``joined`` its place there or -1, and
    whether an arc leads from the full level to it (``below``), and ``owner``, the smallest group
    left behind that holds a node.  For the flow that is looked at: units still ``offered`` per
    group, ``passed`` units from a group to the next smaller, and the nodes by which units of groups
    enter: the first ``listed[0]`` of ``entries``, told by ``entry``.
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
    """Return the state before any tree; needs nodes * arcs * 4 bytes, 8 for large rooms."""
    nodes, count = len(arcs.start) - 1, len(arcs.tail)
    # No flow passes its arc's room, and no more units enter it than come to its sink.
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

    A group is cut off when an arc is tried, and those above it when later ones are, so
    there are never more groups than arcs, and one.
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
    """Fill the flow to every destination; False if some cannot be reached in full.

    ``trees`` are those of the roots from ``index`` on, and capacities what is left for them.
    """
    forest.begun[:] = index
    forest.noted[:] = forest.changed[0]
    nodes = len(forest.supply)
    scratch = scratch_for(nodes)
    step = max(1, AT_ONCE // len(forest.capacity))
    for first in range(0, nodes, step):
        tell("filling flows", first, nodes)
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
