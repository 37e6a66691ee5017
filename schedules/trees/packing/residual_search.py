"""Searches of the residual network of a warm flow for nodes whose units can reach a sink.

A path is stored as the state `after` each state and the move `by` which it proceeds, from the first
state found to the sink.  States are nodes, and the suspended groups of the current root
(`suspended_groups`), numbered after the network's nodes.  Group i has arcs of unlimited capacity to
the nodes that the next smaller group lacks, and to that smaller group, whose nodes it may use.

Profile (generalized Kautz graph of 640 nodes, all roots tested): bidirectional searches, for units
at one node, visit 30 nodes; searches that include groups visit 100 to 230.
"""

import numpy as np

from topoloom.schedules.trees.flow.max_flow import ONE_MOVE, U0, U1
from topoloom.schedules.trees.packing.kernel_state import BROKEN, ENTER, LEAVE, ONE, PASS, RETURN
from topoloom.synth.kernels.uncounted import inlined, uncounted


@uncounted
def _see(forest, state, after, by, filled):
    """Queue a state found from ``after`` by the move ``by``, unless already visited."""
    if forest.after[state] >= 0:
        return filled
    forest.after[state] = after
    forest.by[state] = by
    forest.queue[filled] = state
    return filled + 1


@uncounted
def _see_around_group(forest, stack, sink, group, groups, filled):
    """Queue the states that can supply a node of a suspended group."""
    nodes = len(forest.supply)
    state = nodes + group
    if group + 1 < groups:
        filled = _see(forest, state + 1, state, PASS, filled)
    if group > 0 and stack.passed[group] > 0:
        filled = _see(forest, state - 1, state, RETURN, filled)
    for index in range(stack.listed[0]):
        member = stack.entries[index]
        if stack.owner[member] == group and forest.entered[sink, member] > 0:
            filled = _see(forest, member, state, LEAVE, filled)
    return filled


@uncounted
def _unmark(forest):
    """Clear the visited states of the last search."""
    after, reached, queue, front, seen = (
        forest.after,
        forest.reached,
        forest.queue,
        forest.front,
        forest.seen,
    )
    for index in range(seen[0]):
        after[queue[index]] = -1
        reached[queue[index]] = -1
    for index in range(seen[1]):
        after[front[index]] = -1
        reached[front[index]] = -1
    seen[0] = 0
    seen[1] = 0


@inlined
def backward_search(forest, stack, flow, sink, groups):
    """Search backwards from ``sink``; return the first state with supply, or BROKEN."""
    # Local arrays: passing a tuple of arrays per node costs more than the work.
    capacity, supply, nodes = forest.capacity, forest.supply, len(forest.supply)
    _, _, start, moves, ends = forest.arcs
    after, by, queue = forest.after, forest.by, forest.queue
    _unmark(forest)
    after[sink] = sink
    queue[0] = sink
    index, filled, found = 0, ONE, BROKEN
    while index < filled:
        state = queue[index]
        index += 1
        if state >= nodes:
            if stack.offered[state - nodes] > 0:
                found = np.int64(state)
                break
            filled = _see_around_group(forest, stack, sink, state - nodes, groups, filled)
            continue
        if supply[state] > 0:
            found = np.int64(state)
            break
        if groups > 0 and stack.owner[state] >= 0:
            filled = _see(forest, nodes + stack.owner[state], state, ENTER, filled)
        place, end = np.uint64(start[state]), np.uint64(start[state + U1])
        while place < end:
            before, move = ends[place], moves[place]
            place += U1
            if after[before] >= 0:
                continue
            arc = move >> ONE_MOVE
            if flow[arc] > 0 if move & ONE_MOVE else flow[arc] < capacity[arc]:
                after[before] = state
                by[before] = move
                queue[filled] = before
                filled += 1
    forest.seen[0] = filled
    forest.seen[2] = 0
    return found


@inlined
def bidirectional_search(forest, flow, origin, sink):
    """Search from ``origin`` and backwards from ``sink``; return whether the searches meet.

    If they meet, the path is stored as `backward_search` stores it; else the states reached from
    each end, and which search is exhausted.  Groups are ignored.  The side with the shorter queue
    advances, since two small neighborhoods are smaller than one large neighborhood.
    """
    capacity = forest.capacity
    _, _, start, moves, ends = forest.arcs
    after, by, queue = forest.after, forest.by, forest.queue
    reached, came_by, front = forest.reached, forest.came_by, forest.front
    _unmark(forest)
    after[sink], queue[0], back, behind = sink, sink, U0, U1
    reached[origin], front[0], ahead, before = origin, origin, U0, U1
    middle = BROKEN
    while middle < 0 and back < behind and ahead < before:
        if behind - back <= before - ahead:
            node = queue[back]
            back += U1
            place, end = np.uint64(start[node]), np.uint64(start[node + U1])
            while place < end:
                other = ends[place]
                move = moves[place]
                place += U1
                if after[other] >= 0:
                    continue
                arc = move >> ONE_MOVE
                if flow[arc] > 0 if move & ONE_MOVE else flow[arc] < capacity[arc]:
                    after[other], by[other] = node, move
                    if reached[other] >= 0:
                        middle = np.int64(other)
                        break
                    queue[behind] = other
                    behind += U1
        else:
            node = front[ahead]
            ahead += U1
            place, end = np.uint64(start[node]), np.uint64(start[node + U1])
            while place < end:
                other = ends[place]
                # The same arc, as a move from the other end.
                move = moves[place] ^ ONE_MOVE
                place += U1
                if reached[other] >= 0:
                    continue
                arc = move >> ONE_MOVE
                if flow[arc] > 0 if move & ONE_MOVE else flow[arc] < capacity[arc]:
                    reached[other], came_by[other] = node, move
                    if after[other] >= 0:
                        middle = np.int64(other)
                        break
                    front[before] = other
                    before += U1
    forest.seen[0] = behind
    forest.seen[1] = before
    forest.seen[2] = back < behind
    if middle >= 0:
        _turn(forest, origin, middle)
    return middle >= 0


@uncounted
def _turn(forest, origin, middle):
    """Reverse the path from ``origin`` to ``middle``."""
    node = middle
    while node != origin:
        last = forest.reached[node]
        forest.after[last], forest.by[last] = node, forest.came_by[node]
        node = last
