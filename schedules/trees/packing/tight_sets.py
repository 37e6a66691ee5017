"""Sets of nodes that no more trees can enter than must: what a failed test is remembered by.

A test of an arc (x, y) that fails for some copies ends with a set X that holds y, not x: the
capacity that enters X is what the groups and roots wholly outside need, each for one entry.  So X
is *tight*, and it stays so: each tree outside enters X at least once, and while it does, capacity
and need fall together; and if one entered twice, the rest could not be packed any more.  Hence a
group that meets X takes no arc into it, for whatever root, and need not be tested there.

Sets are kept as bits, the last `MOST` that were found, so that an arc asks for all at once.
"""

from topoloom.schedules.trees.flow.max_flow import uncounted
from topoloom.schedules.trees.packing.kernel_state import NONE, ONE

MOST = 62
"""Sets that are kept, a bit each of a whole number."""


@uncounted
def learn(forest, stack):
    """Keep the set in which the search that failed last ended, in place of the oldest one."""
    bit = ONE << (forest.known[0] % MOST)
    forest.known[0] += 1
    by_front = forest.seen[2] == 1
    for node in range(len(forest.inside)):
        if forest.reached[node] < 0 if by_front else forest.after[node] >= 0:
            forest.inside[node] |= bit
        else:
            forest.inside[node] &= ~bit
    # Groups are nested: those meet the set that are larger than the place of its first node.
    group, place, found = NONE, NONE, NONE
    while group < stack.depth[0]:
        while place < stack.size[group] and not found:
            found = forest.inside[stack.order[place]] & bit
            place += 1
        stack.touched[group] = (stack.touched[group] & ~bit) | found
        group += 1
