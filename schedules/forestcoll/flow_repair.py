"""The warm flows of the packing kernel: how units are taken out, rerouted and brought in.

A flow to y is an array of whole units per arc.  Units whose arc has lost capacity are kept as
``supply``, whole units by node, at the tail of that arc until `deliver` routes them on to y,
along a shortest path of the residual network, searched backwards from y.  Apart from its
supplies the flow obeys conservation all the time; so when no supply is left it is a flow again,
of the same value as before.

During a test the groups left behind by the root at work take part as nodes of their own,
numbered after the network's.  Group i has arcs of no limit to the nodes that the next
smaller group lacks (``entered`` units), and to that smaller group (``passed``), since it
may use all its nodes as well.

Profile (generalized Kautz graph of 640 nodes, all roots tested): searches that begin at both
ends, where units wait at one node, look at 30 nodes; those that bring in units of groups left
behind at 100 to 230, half of all that are looked at.
"""

import numpy as np

from schedules.forestcoll.flow import uncounted
from schedules.forestcoll.forest import BROKEN, NONE, ONE

__all__ = ["deliver", "repair", "withdraw"]

ENTER, LEAVE, PASS, RETURN = (np.int64(code) for code in (-1, -2, -3, -4))
"""Steps towards the sink that are not moves over arcs: from a group into a node, that taken
back, from a group to the next smaller one, that taken back."""

LANES = 8
"""So many arcs, side by side, are compared in the time of one by number."""

BLOCK = 256
"""Arcs that are compared before the first that passes its room is sought."""


@uncounted
def withdraw(forest, flow, origin, sink, amount):
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


@uncounted
def _see(forest, state, after, by, filled):
    """Queue a state found from ``after`` by the move ``by``, unless seen before."""
    if forest.after[state] >= 0:
        return filled
    forest.after[state] = after
    forest.by[state] = by
    forest.queue[filled] = state
    return filled + 1


@uncounted
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


@uncounted
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
            before = head[arc] if move & 1 else tail[arc]
            if after[before] >= 0:
                continue
            if flow[arc] > 0 if move & 1 else flow[arc] < capacity[arc]:
                after[before] = state
                by[before] = move
                queue[filled] = before
                filled += 1
    return BROKEN


@uncounted
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


@uncounted
def _meet(forest, flow, origin, sink):
    """Search from ``origin`` and back from ``sink`` at once; say whether they meet.

    Then the path is left as `_find` leaves it.  No groups are looked at.  The side with the
    shorter queue goes on; two small neighbourhoods are less than one large one.
    """
    capacity, nodes = forest.capacity, len(forest.supply)
    tail, head, start, moves = forest.arcs
    after, by, queue = forest.after, forest.by, forest.queue
    reached, came_by, front = forest.reached, forest.came_by, forest.front
    after[:nodes] = -1
    reached[:] = -1
    after[sink], queue[0], back, behind = sink, sink, 0, ONE
    reached[origin], front[0], ahead, before = origin, origin, 0, ONE
    while back < behind and ahead < before:
        if behind - back <= before - ahead:
            node = queue[back]
            back += 1
            for place in range(start[node], start[node + 1]):
                move = moves[place]
                arc = move >> 1
                other = head[arc] if move & 1 else tail[arc]
                if after[other] >= 0:
                    continue
                if flow[arc] > 0 if move & 1 else flow[arc] < capacity[arc]:
                    after[other], by[other] = node, move
                    if reached[other] >= 0:
                        return _joined(forest, origin, other)
                    queue[behind] = other
                    behind += 1
        else:
            node = front[ahead]
            ahead += 1
            for place in range(start[node], start[node + 1]):
                # The same arc, as a move that leads from the other end.
                move = moves[place] ^ 1
                arc = move >> 1
                other = tail[arc] if move & 1 else head[arc]
                if reached[other] >= 0:
                    continue
                if flow[arc] > 0 if move & 1 else flow[arc] < capacity[arc]:
                    reached[other], came_by[other] = node, move
                    if after[other] >= 0:
                        return _joined(forest, origin, other)
                    front[before] = other
                    before += 1
    return False


@uncounted
def _joined(forest, origin, middle):
    """Turn the way from ``origin`` to ``middle`` around; returns True."""
    node = middle
    while node != origin:
        last = forest.reached[node]
        forest.after[last], forest.by[last] = node, forest.came_by[node]
        node = last
    return True


@uncounted
def deliver(forest, stack, flow, sink, want, groups, likely):
    """Bring up to ``want`` units of pending supply to ``sink``; return how many came.

    Node ``likely`` has most of it, if that is no negative number.
    """
    nodes, sent, supply, offered = len(forest.supply), 0, forest.supply, stack.offered
    if groups == 0 and likely >= 0:
        while sent < want and supply[likely] > 0 and likely != sink:
            if not _meet(forest, flow, likely, sink):
                break
            amount = min(want - sent, supply[likely])
            amount = _carry(forest, stack, flow, likely, sink, amount)
            supply[likely] -= amount
            sent += amount
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


@uncounted
def _clip(forest, stack, flow, arc, sink):
    """Take off what the arc can no longer carry; units without a detour wait at its tail."""
    excess = flow[arc] - forest.capacity[arc]
    flow[arc] -= excess
    forest.supply[forest.arcs.tail[arc]] += excess
    after = forest.arcs.head[arc]
    excess -= deliver(forest, stack, flow, after, excess, NONE, forest.arcs.tail[arc])
    # The rest no longer arrives at the head; what waits at nodes on the way makes up for it.
    return withdraw(forest, flow, after, sink, excess)


@uncounted
def _next_excess(flow, capacity, first):
    """Return the first arc from ``first`` on whose flow passes its room, or how many there are."""
    count = len(flow)
    while first < count:
        end = min(first + BLOCK, count)
        excess = 0
        for arc in range(first, end):
            excess |= flow[arc] > capacity[arc]
        if excess:
            while flow[first] <= capacity[first]:
                first += 1
            return first
        first = end
    return first


@uncounted
def repair(forest, stack, roots, index, trees, sink):
    """Bring flow[sink] up to date: roots up to ``index`` left out, capacities kept."""
    flow = forest.flow[sink]
    while forest.begun[sink] <= index:
        root = roots[forest.begun[sink]]
        if root != sink and not withdraw(forest, flow, root, sink, trees[root]):
            return False
        forest.begun[sink] += 1
    size, count = len(forest.changes), forest.changed[0]
    place, clipped = NONE, False
    if (count - forest.noted[sink]) * LANES > size:
        # Arc by arc, many at once, is faster than here and there.
        while True:
            place = _next_excess(flow, forest.capacity, place)
            if place == size:
                break
            clipped = True
            if not _clip(forest, stack, flow, place, sink):
                return False
    else:
        place = forest.noted[sink] % size
        for _ in range(count - forest.noted[sink]):
            arc = forest.changes[place]
            # No division: that would take longer than all else here.
            place = place + 1 if place + 1 < size else NONE
            if flow[arc] > forest.capacity[arc]:
                clipped = True
                if not _clip(forest, stack, flow, arc, sink):
                    return False
    forest.noted[sink] = count
    if clipped:
        waiting = np.sum(forest.supply)
        return deliver(forest, stack, flow, sink, waiting, NONE, BROKEN) == waiting
    return True
