"""The warm flows of the packing kernel, brought up to date before a test.

Since a flow was last used roots have begun, arcs have lost capacity, and groups have been left
behind or finished.  Most arcs still have room for what runs over them; where one has not, the
units that are too many look for a detour to the head of the arc, and what finds none waits at
its tail until all is clipped, and is then delivered.
"""

import numpy as np

from topoloom.schedules.trees.flow.max_flow import inlined, uncounted
from topoloom.schedules.trees.packing.flow_rerouting import deliver, withdraw
from topoloom.schedules.trees.packing.kernel_state import BROKEN, NONE
from topoloom.schedules.trees.packing.suspended_groups import settle

LANES = 8
"""So many arcs, side by side, are compared in the time of one by number."""

BLOCK = 256
"""Arcs that are compared before the first that passes its room is sought."""


@inlined
def _clip(forest, stack, flow, arc, sink, alone):
    """Take off what the arc can no longer carry; return how many units have no detour.

    Those wait at its tail.  ``alone`` says that no others wait.  BROKEN on a bug.
    """
    excess = flow[arc] - forest.capacity[arc]
    flow[arc] -= excess
    forest.supply[forest.arcs.tail[arc]] += excess
    after = forest.arcs.head[arc]
    excess -= deliver(forest, stack, flow, after, excess, NONE, forest.arcs.tail[arc], alone)
    # The rest no longer arrives at the head; what waits at nodes on the way makes up for it.
    return excess if withdraw(forest, flow, after, sink, excess) else BROKEN


@uncounted
def _next_excess(flow, capacity, first):
    """Return the first arc from ``first`` on whose flow passes its room, or how many there are."""
    count = len(flow)
    while first < count:
        # Differences that are negative leave their sign; slices, since then numba compares many
        # at once: a tenth of the time.
        flows, rooms = flow[first : first + BLOCK], capacity[first : first + BLOCK]
        sign = rooms[0] - flows[0]
        for index in range(len(flows)):
            sign |= rooms[index] - flows[index]
        if sign < 0:
            while flow[first] <= capacity[first]:
                first += 1
            return first
        first += BLOCK
    return count


@inlined
def _begin(forest, roots, index, trees, sink):
    """Take units of roots before ``index`` out of the flow; those of that root enter there."""
    while forest.begun[sink] <= index:
        root = roots[forest.begun[sink]]
        if root != sink:
            if forest.begun[sink] == index:
                forest.entered[sink, root] += trees[root]
                forest.held[sink] += trees[root]
            elif not withdraw(forest, forest.flow[sink], root, sink, trees[root]):
                return False
        forest.begun[sink] += 1
    return True


@inlined
def _clip_all(forest, stack, flow, sink):
    """Clip the arcs whose capacity fell; return how many units wait then, or BROKEN on a bug."""
    size, count = len(forest.changes), forest.changed[0]
    place, waiting = NONE, NONE
    if (count - forest.noted[sink]) * LANES > size:
        # Arc by arc, many at once, is faster than here and there.
        while True:
            place = _next_excess(flow, forest.capacity, place)
            if place == size:
                break

            left = _clip(forest, stack, flow, place, sink, waiting == 0)
            if left < 0:
                return BROKEN
            waiting += left
    else:
        place = forest.noted[sink] % size
        for _ in range(count - forest.noted[sink]):
            arc = forest.changes[place]
            # No division: that would take longer than all else here.
            place = place + 1 if place + 1 < size else NONE
            if flow[arc] > forest.capacity[arc]:
                left = _clip(forest, stack, flow, arc, sink, waiting == 0)
                if left < 0:
                    return BROKEN
                waiting += left
    forest.noted[sink] = count
    return np.sum(forest.supply) if waiting else NONE


@inlined
def repair(forest, stack, roots, index, trees, sink, groups):
    """Bring flow[sink] up to date: units of later roots and of so many groups, no others."""
    flow = forest.flow[sink]
    if not _begin(forest, roots, index, trees, sink):
        return False
    lacking = settle(forest, stack, sink, groups)
    if lacking < 0:
        return False
    waiting = _clip_all(forest, stack, flow, sink)
    if waiting < 0:
        return False
    want = lacking + waiting
    return want == 0 or deliver(forest, stack, flow, sink, want, groups, BROKEN, False) == want
