"""Repair of the warm flows of the packing kernel before a test.

Since the last use of a flow, roots have begun, arcs have lost capacity, and groups have been
suspended or completed.  Most arcs still have capacity for their flow.  Elsewhere the excess units
take a detour to the head of the arc.  Units without a detour wait at its tail until all arcs are
clipped, and are then delivered.
"""

import numpy as np

from topoloom.schedules.trees.packing.flow_rerouting import deliver, withdraw
from topoloom.schedules.trees.packing.kernel_state import BROKEN, NONE
from topoloom.schedules.trees.packing.suspended_groups import settle_groups
from topoloom.synth.kernels.uncounted import inlined, uncounted

LANES = 8
"""Number of consecutive arcs that are compared in the time of one indexed arc."""

BLOCK = 256
"""Number of arcs compared at once before the search for the first excess."""


@inlined
def _clip(forest, stack, flow, arc, sink, alone):
    """Remove the excess flow of an arc; return the number of units without a detour.

    Those wait at its tail.  ``alone`` means that no other units wait.  BROKEN on a bug.
    """
    excess = flow[arc] - forest.capacity[arc]
    flow[arc] -= excess
    forest.supply[forest.arcs.tail[arc]] += excess
    after = forest.arcs.head[arc]
    excess -= deliver(forest, stack, flow, after, excess, NONE, forest.arcs.tail[arc], alone)
    # The remaining units no longer reach the head; units that wait along the path replace them.
    return excess if withdraw(forest, flow, after, sink, excess) else BROKEN


@uncounted
def _next_excess(flow, capacity, first):
    """Return the first arc from ``first`` on whose flow exceeds its capacity, or the arc count."""
    count = len(flow)
    while first < count:
        # Signs of differences mark the excess; Numba vectorizes slices, which takes a tenth of
        # the time.
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
    """Withdraw units of roots before ``index`` from the flow; those of that root enter there."""
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
    """Clip the arcs with reduced capacity; return the units that wait, or BROKEN on a bug."""
    size, count = len(forest.changes), forest.changed[0]
    place, waiting = NONE, NONE
    if (count - forest.noted[sink]) * LANES > size:
        # A sequential, vectorized scan is faster than random access.
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
            # A division would take longer than the rest of the loop.
            place = place + 1 if place + 1 < size else NONE
            if flow[arc] > forest.capacity[arc]:
                left = _clip(forest, stack, flow, arc, sink, waiting == 0)
                if left < 0:
                    return BROKEN
                waiting += left
    forest.noted[sink] = count
    return np.sum(forest.supply) if waiting else NONE


@inlined
def repair_flow(forest, stack, roots, index, trees, sink, groups):
    """Update flow[sink] to the units of later roots and of ``groups`` groups."""
    flow = forest.flow[sink]
    if not _begin(forest, roots, index, trees, sink):
        return False
    lacking = settle_groups(forest, stack, sink, groups)
    if lacking < 0:
        return False
    waiting = _clip_all(forest, stack, flow, sink)
    if waiting < 0:
        return False
    want = lacking + waiting
    return want == 0 or deliver(forest, stack, flow, sink, want, groups, BROKEN, False) == want
