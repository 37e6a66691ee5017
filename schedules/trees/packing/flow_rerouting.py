"""Withdrawal and delivery of units in the warm flows of the packing kernel.

A flow to y is an array of whole units per arc.  When an arc loses capacity, its excess units
become ``supply`` at the tail of the arc, whole units by node, until `deliver` routes them to y
along a shortest path of the residual network.  Apart from its supplies, and the units that enter
from suspended groups (`suspended_groups`), the flow satisfies conservation at all times.  Without
supply it is therefore a flow of the same value as before.
"""

import numpy as np

from topoloom.schedules.trees.flow.max_flow import ONE_MOVE, U1
from topoloom.schedules.trees.packing.kernel_state import BROKEN, ENTER, LEAVE, PASS, RETURN
from topoloom.schedules.trees.packing.residual_search import backward_search, bidirectional_search
from topoloom.synth.kernels.uncounted import uncounted


@uncounted
def withdraw(forest, flow, origin, sink, amount):
    """Withdraw ``amount`` units that leave ``origin`` from the flow to ``sink``."""
    path, place, supply = forest.path, forest.place, forest.supply
    tail, _, start, moves, ends = forest.arcs
    while amount > 0:
        node, length, bottleneck = np.uint64(origin), 0, amount
        place[node] = 0
        while node != sink and supply[node] == 0:
            first, index = np.uint64(start[node]), np.uint64(start[node + U1])
            found = False
            while index > first and not found:
                index -= U1
                found = (moves[index] & ONE_MOVE) == ONE_MOVE and flow[moves[index] >> ONE_MOVE] > 0
            if not found:
                return False
            path[length] = moves[index] >> ONE_MOVE
            length += 1
            node = np.uint64(ends[index])
            if place[node] >= 0:
                # A circulation of units serves no sink: remove it, continue here.
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
def _carry(forest, stack, flow, origin, sink, amount):
    """Move up to ``amount`` units along the path found from ``origin``; return the number."""
    capacity, nodes, after, by = forest.capacity, len(forest.supply), forest.after, forest.by
    entered, passed = forest.entered[sink], stack.passed
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
            node = after[state]
            entered[node] += amount
            forest.held[sink] += amount
            if not stack.entry[node]:
                stack.entry[node] = 1
                stack.entries[stack.listed[0]] = node
                stack.listed[0] += 1
        elif move == LEAVE:
            entered[state] -= amount
            forest.held[sink] -= amount
        elif move == PASS:
            passed[state - nodes] += amount
        else:
            passed[state + 1 - nodes] -= amount
        state = after[state]
    return amount


@uncounted
def deliver(forest, stack, flow, sink, want, groups, likely, alone):
    """Deliver up to ``want`` units of pending supply to ``sink``; return the number.

    If ``likely`` is not negative, this node has most of the supply; with ``alone``, all of it.
    """
    nodes, sent, supply, offered = len(forest.supply), 0, forest.supply, stack.offered
    if likely >= 0:
        while sent < want and supply[likely] > 0 and likely != sink:
            if not bidirectional_search(forest, flow, likely, sink):
                break
            amount = min(want - sent, supply[likely])
            amount = _carry(forest, stack, flow, likely, sink, amount)
            supply[likely] -= amount
            sent += amount
        if alone and groups == 0:
            return sent
    while sent < want:
        origin = backward_search(forest, stack, flow, sink, groups)
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
