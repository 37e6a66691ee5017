"""Units of the suspended groups of the current root, kept in the warm flows.

During a test (`tree_growing`) each suspended group supplies one unit per copy, as a node of its own
joined to all its members; a unit may thus change the member by which it enters the network.
The node sets of the groups are nested: a unit of group i may enter by any node of the groups up to
i.  Hence a flow need not record the group of a unit.  It records how many units enter by each node.
All of them are units of groups if, for every i, no more enter outside group i - 1 than groups from
i on have.

Units therefore stay in the flow from one test to the next, although the root has completed and
suspended groups meanwhile.  They are initially the root's own units, which the flow brought to its
sink before the root began.  Each test withdraws excess units; units are rarely missing.
"""

from topoloom.schedules.trees.packing.flow_rerouting import withdraw
from topoloom.schedules.trees.packing.kernel_state import BROKEN, NONE
from topoloom.synth.kernels.uncounted import inlined, uncounted

BLOCK = 128
"""Nodes per block in the search for entering units."""


@inlined
def resume(stack, top):
    """Resume the suspended group ``top``: its nodes no longer supply its units."""
    first = stack.size[top - 1] if top > 0 else NONE
    for place in range(first, stack.size[top]):
        stack.owner[stack.order[place]] = BROKEN


@inlined
def _list_entries(stack, entered):
    """List the nodes where units enter."""
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
    """Withdraw units that enter by nodes of ``group`` from the flow; all if ``amount`` < 0."""
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
def settle_groups(forest, stack, sink, groups):
    """Withdraw units of no group from the flow; return the number of missing units.

    Missing units remain ``offered``, for `deliver` to route.  BROKEN on a bug.
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
    # Missing units come from the largest groups with remaining units.
    rest, passed = lacking, NONE
    for group in range(groups - 1, -1, -1):
        left = stack.multiplicity[group] + passed - kept[group]
        stack.offered[group] = min(left, rest)
        rest -= stack.offered[group]
        passed = left - stack.offered[group]
        stack.passed[group] = passed
    return lacking
