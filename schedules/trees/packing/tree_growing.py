"""The packing kernel: grow one group of equal trees and keep every other root packable.

**Groups.**  A group is a set of trees that are equal so far: ``multiplicity`` copies of
one tree on the nodes R.  Growing the edge (x, y) for a group keeps the rest packable iff
every node set X that contains y, not x, and meets R, is entered by more capacity than the
groups that lie wholly outside X need (ForestColl, section 5.5, after Berczi and Frank).
If this holds for some copies only, the others are suspended as a group of their own.

**One warm flow per destination.**  All relevant sets X for (x, y) contain y.  So for each node y
the kernel keeps a flow that brings every unit of every later root to y.  A test of (x, y) removes
units from the arc and reroutes them from x to y; most tests find the arc free and need no search.
Capacity used elsewhere may break the flows of other destinations.  Each flow is repaired when its
destination is next tested; repair always succeeds, because each test preserves feasibility.

The result of a failed test holds for all later tests: `tight_sets` answers those it covers.
Speculative roots (`speculative_roots`; ``untested``) need no tests.

**Suspended groups of the current root** form a stack.  Each was suspended while the group above
it grew, so its nodes are a prefix of the same ``order``, and the sets are nested.  In a test they
supply their units as nodes of their own, joined to all their members: a unit may change the member
by which it enters.  Such a node is reachable from any of its members.
"""

import numpy as np

from topoloom.schedules.trees.flow.max_flow import ONE_MOVE, U1
from topoloom.schedules.trees.packing.flow_rerouting import deliver
from topoloom.schedules.trees.packing.kernel_state import BROKEN, NONE
from topoloom.schedules.trees.packing.suspended_groups import resume
from topoloom.schedules.trees.packing.tight_sets import record_tight_set
from topoloom.schedules.trees.packing.warm_flow_repair import repair_flow
from topoloom.synth.kernels.uncounted import inlined, uncounted


@inlined
def _copies(forest, stack, flow, arc, groups, most):
    """Return the number of copies, at most ``most``, that may take the arc.

    Updates flow[sink], which is current, such that the arc can lose this much capacity.
    """
    sink, source = forest.arcs.head[arc], forest.arcs.tail[arc]
    copies = min(most, forest.capacity[arc])
    lacking = copies - (forest.capacity[arc] - flow[arc])
    if lacking > 0:
        flow[arc] -= lacking
        forest.capacity[arc] -= copies
        forest.supply[source] = lacking
        missing = lacking - deliver(forest, stack, flow, sink, lacking, groups, source, True)
        forest.supply[source] = 0
        forest.capacity[arc] += copies
        flow[arc] += missing
        copies -= missing
        if missing > 0:
            record_tight_set(forest, stack)
    return copies


@inlined
def _plant(stack, inside, root, trees):
    """Start a root: one group of all its trees."""
    stack.joined[:] = -1
    stack.owner[:] = -1
    stack.order[:] = -1
    stack.order[0] = root
    stack.joined[root] = 0
    stack.depth[0] = 1
    stack.size[0] = 1
    stack.multiplicity[0] = trees[root]
    stack.first[0] = 0
    stack.last[0] = 1
    stack.turn[0] = 0
    stack.touched[0] = inside[root]


@inlined
def _cut_off(stack, copies):
    """Continue with ``copies`` of the growing group; suspend the others."""
    top = stack.depth[0] - 1
    for place in range(stack.size[top - 1] if top > 0 else NONE, stack.size[top]):
        stack.owner[stack.order[place]] = top
    stack.depth[0] += 1
    stack.size[top + 1] = stack.size[top]
    stack.first[top + 1] = stack.first[top]
    stack.last[top + 1] = stack.last[top]
    stack.turn[top + 1] = stack.turn[top]
    stack.touched[top + 1] = stack.touched[top]
    stack.multiplicity[top + 1] = copies
    stack.multiplicity[top] -= copies
    return top + 1


@inlined
def _widest(forest, stack, sink, top, last):
    """Return the widest arc from the full level into ``sink``, or BROKEN without one.

    Starts after arc ``last``, unless that is BROKEN: arcs are ordered by decreasing capacity, then
    by index.  Arcs that would enter a tight set again are excluded (`tight_sets`).
    """
    _, _, start, moves, ends = forest.arcs
    capacity, joined = forest.capacity, stack.joined
    first, end, best = stack.first[top], stack.last[top], NONE + BROKEN
    inside, full = forest.inside, forest.inside[sink] & stack.touched[top]
    place, stop = np.uint64(start[sink]), np.uint64(start[np.uint64(sink) + U1])
    while place < stop:
        move, source = moves[place], ends[place]
        place += U1
        if move & ONE_MOVE or not first <= joined[source] < end:
            continue
        room, arc = capacity[move >> ONE_MOVE], np.int64(move >> ONE_MOVE)
        if room == 0:
            continue
        if last >= 0 and (room > capacity[last] or (room == capacity[last] and arc <= last)):
            continue
        # Moves list the arcs into a node by index, so ties go to the first.
        if (best < 0 or room > capacity[best]) and full & ~inside[source] == 0:
            best = arc
    return best


@inlined
def _join(forest, stack, top, arc, copies):
    """Add the arc's head to the growing group."""
    forest.capacity[arc] -= copies
    forest.changes[forest.changed[0] % len(forest.changes)] = arc
    forest.changed[0] += 1
    size = stack.size[top]
    stack.order[size] = forest.arcs.head[arc]
    stack.joined[stack.order[size]] = size
    stack.edge[size - 1] = arc
    stack.touched[top] |= forest.inside[stack.order[size]]
    stack.size[top] = size + 1


@inlined
def _place(forest, stack, roots, index, trees, untested, sink):
    """Attach ``sink`` below the full level of the growing group, if there is capacity.

    Copies without capacity are suspended.  Returns False on a bug.
    """
    top, arc = stack.depth[0] - 1, NONE + BROKEN
    while True:
        arc = _widest(forest, stack, sink, top, arc)
        if arc == BROKEN:
            return True
        most = stack.multiplicity[top]
        if untested:
            copies = min(most, forest.capacity[arc])
        else:
            if not repair_flow(forest, stack, roots, index, trees, sink, top):
                return False
            copies = _copies(forest, stack, forest.flow[sink], arc, top, most)
        if copies > 0:
            if copies < most:
                top = _cut_off(stack, copies)
            _join(forest, stack, top, arc, copies)
            return True


@inlined
def _look_below(forest, stack, top):
    """Mark the nodes that an arc of the network enters from the full level."""
    _, _, start, moves, ends = forest.arcs
    below = stack.below
    below[:] = 0
    for index in range(stack.first[top], stack.last[top]):
        node = np.uint64(stack.order[index])
        for place in range(np.uint64(start[node]), np.uint64(start[node + U1])):
            below[ends[place]] |= np.int64(moves[place] & ONE_MOVE)


@inlined
def _finish(forest, stack, roots, index, trees, untested):
    """Complete the growing group; return its multiplicity, or BROKEN on a bug.

    Its arcs are stored in ``stack.edge``, in breadth-first order.  Level by level, every remaining
    node is tried, with its widest arc first.  The capacity for an edge never increases: an edge
    that fails once fails for good, also for groups suspended meanwhile.
    """
    nodes = len(forest.supply)
    top = stack.depth[0] - 1
    resume(stack, top)
    for place in range(stack.size[top], nodes):
        if stack.order[place] >= 0:
            stack.joined[stack.order[place]] = -1
            stack.order[place] = -1
    _look_below(forest, stack, top)
    while stack.size[top] < nodes:
        if stack.turn[top] == nodes:
            stack.first[top], stack.last[top] = stack.last[top], stack.size[top]
            stack.turn[top] = 0
            if stack.first[top] == stack.last[top]:
                return BROKEN
            _look_below(forest, stack, top)
        sink = roots[index] + stack.turn[top]
        sink -= nodes if sink >= nodes else 0
        if stack.below[sink] and stack.joined[sink] < 0:
            if not _place(forest, stack, roots, index, trees, untested, sink):
                return BROKEN
            top = stack.depth[0] - 1
        stack.turn[top] += 1
    stack.depth[0] -= 1
    return stack.multiplicity[top]


@uncounted
def grow_groups(forest, stack, roots, index, end, trees, untested, rows, multiplicities, whose):
    """Complete groups of the roots from ``index`` to before ``end``, at most one per row.

    Continues with the current root, if any.  Fills the arcs, multiplicities and root indices of
    the groups.  Returns the number of completed groups, BROKEN on a bug.

    Called once for many roots: passing forty arrays from Python takes 0.03 ms.
    """
    done = 0
    while done < len(rows) and (index < end or stack.depth[0] > 0):
        if stack.depth[0] == 0:
            _plant(stack, forest.inside, roots[index], trees)
        multiplicities[done] = _finish(forest, stack, roots, index, trees, untested)
        if multiplicities[done] < 1:
            return BROKEN
        for place in range(rows.shape[1]):
            rows[done, place] = stack.edge[place]
        whose[done] = index
        done += 1
        index += stack.depth[0] == 0
    return done
