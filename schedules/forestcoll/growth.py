"""The packing kernel: grow one group of equal trees, keeping every other root possible.

**Groups.**  A group is a set of trees that are equal so far: ``multiplicity`` copies of
one tree on the nodes R.  Growing the edge (x, y) for a group keeps the rest packable iff
every node set X that holds y, not x, and meets R, is entered by more capacity than the
groups that lie wholly outside X need (ForestColl, section 5.5, after Berczi and Frank).
If that holds for some copies only, the others stay behind as a group of their own.

**One warm flow per destination.**  All sets X that matter for (x, y) hold y.  So for each
node y we keep a flow that brings every unit of every root not yet begun to y.  To test
(x, y), units are taken off the arc and must find another way from x to y; most tests find
the arc free and need no search at all.  Capacity used up elsewhere may break flows of other
destinations; each is mended when its destination is next tested, which always succeeds,
because the test above kept it possible.

**Left-behind groups of the root at work** lie on a stack.  Each was cut off while the one
above it grew, so its nodes are a beginning of the same ``order``, and the sets are nested.
For a test they supply their units as nodes of their own, joined to all their members: a
unit may change the member it leaves by.  Such a node is reached from any of its members.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from schedules.forestcoll.flow import UNLIMITED, Arcs, Scratch, scratch_for, send

__all__ = ["Forest", "Stack", "forest_for", "grow", "plant", "stack_for", "warm_up"]

Ints = NDArray[np.int64]

BROKEN = -1
# Plain 0 and 1 would make numba compile a version of every function for these values.
NONE, ONE = np.int64(0), np.int64(1)


class Forest(NamedTuple):
    """What is left of the network, and the flow to every destination.

    ``flow[y]`` brings the units of every root from index ``begun[y]`` on to y.
    ``changes`` is a ring of the arcs whose capacity fell, ``changed[0]`` their number, and
    ``noted[y]`` how many of them flow[y] has seen.  The rest is working memory: pending
    ``supply`` per node; search state (``after``, ``by``, ``queue``) per node and group.
    """

    arcs: Arcs
    capacity: Ints
    flow: NDArray[np.int64]
    begun: Ints
    changes: Ints
    changed: Ints
    noted: Ints
    supply: Ints
    after: Ints
    by: Ints
    queue: Ints
    place: Ints
    path: Ints


class Stack(NamedTuple):
    """The groups of the root at work; index ``depth[0] - 1`` is the one that grows.

    Per group: number of nodes (``size``), ``multiplicity``, and where its growth stands:
    nodes order[first:last] are the ``first``..``last`` of the deepest full level, and
    ``turn`` more nodes were offered a place below them.  Per node: ``order``
    and ``edge`` in which the growing tree took nodes and arcs, ``joined`` its place there
    or -1.  For the flows of groups left behind: ``owner`` (the smallest that holds the
    node), ``entered`` units per node, ``passed`` units from a group to the next smaller.
    """

    depth: Ints
    size: Ints
    multiplicity: Ints
    first: Ints
    last: Ints
    turn: Ints
    order: Ints
    edge: Ints
    joined: Ints
    owner: Ints
    entered: Ints
    passed: Ints
    offered: Ints


def forest_for(arcs: Arcs, capacity: Ints) -> Forest:
    """Return the state before any tree; needs nodes * arcs * 8 bytes."""
    nodes, count = len(arcs.start) - 1, len(arcs.tail)
    most = nodes + count + 3

    def zeros(length: int) -> Ints:
        return np.zeros(length, np.int64)

    return Forest(
        arcs=arcs,
        capacity=capacity.copy(),
        flow=np.zeros((nodes, count), np.int64),
        begun=zeros(nodes),
        changes=zeros(count),
        changed=zeros(1),
        noted=zeros(nodes),
        supply=zeros(nodes),
        after=zeros(most),
        by=zeros(most),
        queue=zeros(most),
        place=np.full(nodes, -1, np.int64),
        path=zeros(nodes + 1),
    )


def stack_for(arcs: Arcs) -> Stack:
    """Return an empty stack.

    A group is cut off at one move of the scan, and those above it at later moves only, so
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
        order=fresh(nodes, -1),
        edge=fresh(nodes),
        joined=fresh(nodes, -1),
        owner=fresh(nodes, -1),
        entered=fresh(nodes),
        passed=fresh(groups),
        offered=fresh(groups),
    )


def warm_up(forest: Forest, trees_per_root: int) -> bool:
    """Fill the flow to every destination; False if some cannot be reached in full."""
    scratch = scratch_for(len(forest.supply))
    return bool(_warm_up(forest, trees_per_root, scratch))


@njit(cache=True, nogil=True)
def _warm_up(forest: Forest, trees_per_root: int, scratch: Scratch):
    nodes = len(forest.supply)
    supply = np.empty(nodes, np.int64)
    for sink in range(nodes):
        supply[:] = trees_per_root
        supply[sink] = 0
        target = trees_per_root * (nodes - 1)
        got = send(forest.arcs, forest.capacity, forest.flow[sink], supply, sink, target, scratch)
        if got < target:
            return False
    return True


@njit(cache=True, nogil=True)
def _withdraw(forest, flow, origin, sink, amount):
    """Take ``amount`` units that leave ``origin`` out of the flow to ``sink``."""
    path, place, supply = forest.path, forest.place, forest.supply
    tail, head, start, moves = forest.arcs
    while amount > 0:
        node, length, bottleneck = origin, 0, amount
        place[origin] = 0
        while node != sink and supply[node] == 0:
            arc = BROKEN
            for index in range(start[node + 1] - 1, start[node] - 1, -1):
                if moves[index] & 1 and flow[moves[index] >> 1] > 0:
                    arc = moves[index] >> 1
                    break
            if arc == BROKEN:
                return False
            path[length] = arc
            length += 1
            node = head[arc]
            if place[node] >= 0:
                # Units that run in a circle serve nobody: take them out, go on from here.
                back = place[node]
                least = flow[path[back]]
                for index in range(back, length):
                    least = min(least, flow[path[index]])
                for index in range(back, length):
                    flow[path[index]] -= least
                    place[tail[path[index]]] = -1
                length = back
            place[node] = length
        for index in range(length):
            bottleneck = min(bottleneck, flow[path[index]])
        if node != sink:
            bottleneck = min(bottleneck, supply[node])
            supply[node] -= bottleneck
        for index in range(length):
            flow[path[index]] -= bottleneck
            place[tail[path[index]]] = -1
        place[node] = -1
        amount -= bottleneck
    return True


@njit(cache=True, nogil=True)
def _see(forest, state, after, by, filled):
    """Queue a state found from ``after`` by the move ``by``, unless seen before."""
    if forest.after[state] >= 0:
        return filled
    forest.after[state] = after
    forest.by[state] = by
    forest.queue[filled] = state
    return filled + 1


ENTER, LEAVE, PASS, RETURN = (np.int64(code) for code in (-1, -2, -3, -4))


@njit(cache=True, nogil=True)
def _see_around_group(forest, stack, group, groups, filled):
    """Queue what can hand units to a left-behind group's node."""
    nodes = len(forest.supply)
    state = nodes + group
    if group + 1 < groups:
        filled = _see(forest, state + 1, state, PASS, filled)
    if group > 0 and stack.passed[group] > 0:
        filled = _see(forest, state - 1, state, RETURN, filled)
    first = stack.size[group - 1] if group > 0 else 0
    for index in range(first, stack.size[group]):
        member = stack.order[index]
        if stack.entered[member] > 0:
            filled = _see(forest, member, state, LEAVE, filled)
    return filled


@njit(cache=True, nogil=True)
def _find(forest, stack, flow, sink, groups):
    """Search back from ``sink``; return the first state with supply, or BROKEN."""
    # Arrays as locals: a tuple of arrays handed on per node costs more than the work.
    capacity, supply, nodes = forest.capacity, forest.supply, len(forest.supply)
    tail, head, start, moves = forest.arcs
    after, by, queue = forest.after, forest.by, forest.queue
    after[: nodes + groups] = -1
    after[sink] = sink
    queue[0] = sink
    index, filled = 0, ONE
    while index < filled:
        state = queue[index]
        index += 1
        if state >= nodes:
            if stack.offered[state - nodes] > 0:
                return state
            filled = _see_around_group(forest, stack, state - nodes, groups, filled)
            continue
        if supply[state] > 0:
            return state
        if groups > 0 and stack.owner[state] >= 0:
            filled = _see(forest, nodes + stack.owner[state], state, ENTER, filled)
        for place in range(start[state], start[state + 1]):
            move = moves[place]
            arc = move >> 1
            if move & 1:
                before, left = head[arc], flow[arc]
            else:
                before, left = tail[arc], capacity[arc] - flow[arc]
            if left > 0 and after[before] < 0:
                after[before] = state
                by[before] = move
                queue[filled] = before
                filled += 1
    return BROKEN


@njit(cache=True, nogil=True)
def _carry(forest, stack, flow, origin, sink, amount):
    """Move up to ``amount`` units along the path found from ``origin``; return how many."""
    capacity, nodes, after, by = forest.capacity, len(forest.supply), forest.after, forest.by
    entered, passed = stack.entered, stack.passed
    state = origin
    while state != sink:
        move = by[state]
        if move >= 0:
            arc = move >> 1
            amount = min(amount, flow[arc] if move & 1 else capacity[arc] - flow[arc])
        elif move == LEAVE:
            amount = min(amount, entered[state])
        elif move == RETURN:
            amount = min(amount, passed[state + 1 - nodes])
        state = after[state]
    state = origin
    while state != sink:
        move = by[state]
        if move >= 0:
            flow[move >> 1] += -amount if move & 1 else amount
        elif move == ENTER:
            entered[after[state]] += amount
        elif move == LEAVE:
            entered[state] -= amount
        elif move == PASS:
            passed[state - nodes] += amount
        else:
            passed[state + 1 - nodes] -= amount
        state = after[state]
    return amount


@njit(cache=True, nogil=True)
def _deliver(forest, stack, flow, sink, want, groups):
    """Bring up to ``want`` units of pending supply to ``sink``; return how many came."""
    nodes, sent, supply, offered = len(forest.supply), 0, forest.supply, stack.offered
    while sent < want:
        origin = _find(forest, stack, flow, sink, groups)
        if origin == BROKEN:
            break
        if origin < nodes:
            amount = min(want - sent, supply[origin])
            amount = _carry(forest, stack, flow, origin, sink, amount)
            supply[origin] -= amount
        else:
            amount = min(want - sent, offered[origin - nodes])
            amount = _carry(forest, stack, flow, origin, sink, amount)
            offered[origin - nodes] -= amount
        sent += amount
    return sent


@njit(cache=True, nogil=True)
def _clip(forest, stack, flow, arc, sink):
    """Take off what the arc can no longer carry; units without a detour wait at its tail."""
    excess = flow[arc] - forest.capacity[arc]
    flow[arc] -= excess
    forest.supply[forest.arcs.tail[arc]] += excess
    after = forest.arcs.head[arc]
    excess -= _deliver(forest, stack, flow, after, excess, NONE)
    # The rest no longer arrives at the head; what waits at nodes on the way makes up for it.
    return _withdraw(forest, flow, after, sink, excess)


@njit(cache=True, nogil=True)
def _mend(forest, stack, roots, index, trees_per_root, sink):
    """Bring flow[sink] up to date: roots up to ``index`` left out, capacities kept."""
    flow = forest.flow[sink]
    while forest.begun[sink] <= index:
        root = roots[forest.begun[sink]]
        if root != sink and not _withdraw(forest, flow, root, sink, trees_per_root):
            return False
        forest.begun[sink] += 1
    size, count = len(forest.changes), forest.changed[0]
    first = forest.noted[sink]
    everything = count - first > size
    changes, capacity, clipped = forest.changes, forest.capacity, False
    for step in range(size if everything else count - first):
        arc = step if everything else changes[(first + step) % size]
        if flow[arc] > capacity[arc]:
            clipped = True
            if not _clip(forest, stack, flow, arc, sink):
                return False
    forest.noted[sink] = count
    if clipped:
        waiting = np.sum(forest.supply)
        return _deliver(forest, stack, flow, sink, waiting, NONE) == waiting
    return True


@njit(cache=True, nogil=True)
def _admit(forest, stack, flow, sink, groups):
    """Add the units of the groups left behind to the flow."""
    total, first = NONE, 0
    for group in range(groups):
        for index in range(first, stack.size[group]):
            stack.owner[stack.order[index]] = group
        first = stack.size[group]
        stack.passed[group] = 0
        stack.offered[group] = stack.multiplicity[group]
        total += stack.multiplicity[group]
    return _deliver(forest, stack, flow, sink, total, groups) == total


@njit(cache=True, nogil=True)
def _dismiss(forest, stack, flow, sink, groups):
    """Take the units of the groups left behind out of the flow again."""
    for index in range(stack.size[groups - 1]):
        member = stack.order[index]
        stack.owner[member] = -1
        amount = stack.entered[member]
        stack.entered[member] = 0
        if amount and not _withdraw(forest, flow, member, sink, amount):
            return False
    return True


@njit(cache=True, nogil=True)
def _copies(forest, stack, flow, arc, groups, most):
    """Return how many copies, of at most ``most``, may take the arc; BROKEN on a bug.

    Leaves flow[sink] such that the arc can lose that much capacity.
    """
    sink, source = forest.arcs.head[arc], forest.arcs.tail[arc]
    if groups and not _admit(forest, stack, flow, sink, groups):
        return BROKEN
    copies = min(most, forest.capacity[arc])
    lacking = copies - (forest.capacity[arc] - flow[arc])
    if lacking > 0:
        flow[arc] -= lacking
        forest.capacity[arc] -= copies
        forest.supply[source] = lacking
        missing = lacking - _deliver(forest, stack, flow, sink, lacking, groups)
        forest.supply[source] = 0
        forest.capacity[arc] += copies
        flow[arc] += missing
        copies -= missing
    if groups and not _dismiss(forest, stack, flow, sink, groups):
        return BROKEN
    return copies


@njit(cache=True, nogil=True)
def plant(forest, stack, root, trees_per_root):
    """Begin a root: one group of all its trees."""
    stack.joined[:] = -1
    stack.order[:] = -1
    stack.order[0] = root
    stack.joined[root] = 0
    stack.depth[0] = 1
    stack.size[0] = 1
    stack.multiplicity[0] = trees_per_root
    stack.first[0] = 0
    stack.last[0] = 1
    stack.turn[0] = 0


@njit(cache=True, nogil=True)
def _cut_off(stack, copies):
    """Let ``copies`` of the growing group go on; the others stay behind as they are."""
    top = stack.depth[0] - 1
    stack.depth[0] += 1
    stack.size[top + 1] = stack.size[top]
    stack.first[top + 1] = stack.first[top]
    stack.last[top + 1] = stack.last[top]
    stack.turn[top + 1] = stack.turn[top]
    stack.multiplicity[top + 1] = copies
    stack.multiplicity[top] -= copies
    return top + 1


@njit(cache=True, nogil=True)
def _widest(forest, stack, sink, top, bound):
    """Return the widest arc below code ``bound`` from the full level into ``sink``.

    Codes order arcs by room, then the first listed first; returns (code, arc), or
    (0, BROKEN).
    """
    tail, _, start, moves = forest.arcs
    best, chosen, arcs = NONE, BROKEN, len(tail)
    for place in range(start[sink], start[sink + 1]):
        arc = moves[place] >> 1
        if moves[place] & 1 or forest.capacity[arc] == 0:
            continue
        joined = stack.joined[tail[arc]]
        if joined < stack.first[top] or joined >= stack.last[top]:
            continue
        code = forest.capacity[arc] * arcs + arcs - arc
        if best < code < bound:
            best, chosen = code, arc
    return best, chosen


@njit(cache=True, nogil=True)
def _join(forest, stack, top, arc, copies):
    """Give the arc's head to the growing group."""
    forest.capacity[arc] -= copies
    forest.changes[forest.changed[0] % len(forest.changes)] = arc
    forest.changed[0] += 1
    size = stack.size[top]
    stack.order[size] = forest.arcs.head[arc]
    stack.joined[stack.order[size]] = size
    stack.edge[size - 1] = arc
    stack.size[top] = size + 1


@njit(cache=True, nogil=True)
def _place(forest, stack, roots, index, trees_per_root, sink):
    """Hang ``sink`` below the full level of the growing group, if there is room at all.

    Copies without room are cut off.  Returns False on a bug.
    """
    top, bound = stack.depth[0] - 1, UNLIMITED
    while True:
        bound, arc = _widest(forest, stack, sink, top, bound)
        if arc == BROKEN:
            return True
        if not _mend(forest, stack, roots, index, trees_per_root, sink):
            return False
        most = stack.multiplicity[top]
        copies = _copies(forest, stack, forest.flow[sink], arc, top, most)
        if copies < 0:
            return False
        if copies > 0:
            if copies < most:
                top = _cut_off(stack, copies)
            _join(forest, stack, top, arc, copies)
            return True


@njit(cache=True, nogil=True)
def grow(forest, stack, roots, index, trees_per_root):
    """Finish the growing group; return its multiplicity, or BROKEN on a bug.

    Its arcs are left in ``stack.edge``, in breadth-first order.  Level by level, every
    node left is offered a place, by the arc with most room first.  Room for an edge never
    grows: what failed once fails for good, and for the groups cut off meanwhile too.
    """
    nodes = len(forest.supply)
    top = stack.depth[0] - 1
    for place in range(stack.size[top], nodes):
        if stack.order[place] >= 0:
            stack.joined[stack.order[place]] = -1
            stack.order[place] = -1
    while stack.size[top] < nodes:
        if stack.turn[top] == nodes:
            stack.first[top], stack.last[top] = stack.last[top], stack.size[top]
            stack.turn[top] = 0
            if stack.first[top] == stack.last[top]:
                return BROKEN
        sink = (roots[index] + stack.turn[top]) % nodes
        if stack.joined[sink] < 0:
            if not _place(forest, stack, roots, index, trees_per_root, sink):
                return BROKEN
            top = stack.depth[0] - 1
        stack.turn[top] += 1
    stack.depth[0] -= 1
    return stack.multiplicity[top]
