"""Units of the groups left behind by the root at work, kept in the warm flows.

During a test (`tree_growing`) each group left behind supplies a unit per copy, as a node of its own
joined to all its members; so a unit may change the member by which it enters the network.  Their
sets of nodes are nested: a unit of group i may enter by any node of the groups up to i.  Hence a
flow need not tell whose a unit is.  It keeps how many enter by each node, and all of them are
units of groups if, for every i, no more enter outside group i - 1 than groups from i on have.

So units stay in the flow from one test to the next, though the root has finished groups and left
others behind meanwhile.  They begin as the root's own, which the flow brought to its sink before
the root began; at each test those that are too many are taken out, and rarely one lacks.
"""

from topoloom.schedules.trees.flow.max_flow import inlined, uncounted
from topoloom.schedules.trees.packing.flow_rerouting import withdraw
from topoloom.schedules.trees.packing.kernel_state import BROKEN, NONE

BLOCK = 128
"""Nodes that are looked at together for units that enter there."""


@inlined
def resume(stack, top):
    """Let group ``top``, left behind so far, grow: its nodes no longer supply its units."""
    first = stack.size[top - 1] if top > 0 else NONE
    for place in range(first, stack.size[top]):
        stack.owner[stack.order[place]] = BROKEN


@inlined
def _list_entries(stack, entered):
    """List the nodes by which units enter."""
    for index in range(stack.listed[0]):
        stack.entry[stack.entries[index]] = 0
    filled, first, nodes = NONE, NONE, len(entered)
    while first < nodes:
        end = min(first + BLOCK, nodes)
        some = entered[first]
        for node in range(first, end):
            some |= entered[node]
        if some:
            for node in range(first, end):
                if entered[node] > 0:
                    stack.entries[filled] = node
                    stack.entry[node] = 1
                    filled += 1
        first = end
    stack.listed[0] = filled


@uncounted
def _remove(forest, stack, sink, group, amount):
    """Take so many units that enter by nodes of ``group`` out of the flow; all if negative."""
    entered = forest.entered[sink]
    for index in range(stack.listed[0]):
        node = stack.entries[index]
        if stack.owner[node] == group and entered[node] > 0 and amount != 0:
            less = entered[node] if amount < 0 else min(amount, entered[node])
            if not withdraw(forest, forest.flow[sink], node, sink, less):
                return False
            entered[node] -= less
            forest.held[sink] -= less
            amount -= less if amount > 0 else NONE
    return True


@inlined
def settle(forest, stack, sink, groups):
    """Take out of the flow what is not of the groups; return how many of theirs lack.

    Those are left as ``offered``, for `deliver` to bring in.  BROKEN on a bug.
    """
    if forest.held[sink] == 0 and groups == 0:
        return NONE
    entered, kept = forest.entered[sink], stack.offered
    _list_entries(stack, entered)
    if not _remove(forest, stack, sink, BROKEN, BROKEN):
        return BROKEN
    kept[:groups] = 0
    for index in range(stack.listed[0]):
        node = stack.entries[index]
        if entered[node] > 0:
            kept[stack.owner[node]] += entered[node]
    lacking = NONE
    for group in range(groups - 1, -1, -1):
        most = stack.multiplicity[group] + lacking
        if kept[group] > most:
            if not _remove(forest, stack, sink, group, kept[group] - most):
                return BROKEN
            kept[group] = most
        lacking = most - kept[group]
    # What lacks is that of the largest groups that have units to spare.
    rest, passed = lacking, NONE
    for group in range(groups - 1, -1, -1):
        left = stack.multiplicity[group] + passed - kept[group]
        stack.offered[group] = min(left, rest)
        rest -= stack.offered[group]
        passed = left - stack.offered[group]
        stack.passed[group] = passed
    return lacking
