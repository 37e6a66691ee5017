"""Tight sets: node sets whose entering capacity is exactly what later trees need.

A test of an arc (x, y) that fails for some copies ends with a set X that contains y, not x: the
capacity into X is what the groups and roots wholly outside need, one entry each.  So X is *tight*,
and stays tight.  Each tree outside enters X at least once; with each first entry, capacity and need
decrease together.  A second entry would make the rest unpackable.  Hence a group that meets X takes
no arc into X, for any root, and needs no test there.

Sets are stored as bits, the last `MOST` sets found, so that one operation checks an arc against
all.
"""

from topoloom.schedules.trees.packing.kernel_state import NONE, ONE
from topoloom.synth.kernels.uncounted import uncounted

MOST = 62
"""Maximum number of stored sets, one bit each of an integer."""


@uncounted
def record_tight_set(forest, stack):
    """Store the set in which the last failed search ended, in place of the oldest."""
    bit = ONE << (forest.known[0] % MOST)
    forest.known[0] += 1
    by_front = forest.seen[2] == 1
    for node in range(len(forest.inside)):
        if forest.reached[node] < 0 if by_front else forest.after[node] >= 0:
            forest.inside[node] |= bit
        else:
            forest.inside[node] &= ~bit
    # Groups are nested: those larger than the position of the set's first node meet the set.
    group, place, found = NONE, NONE, NONE
    while group < stack.depth[0]:
        while place < stack.size[group] and not found:
            found = forest.inside[stack.order[place]] & bit
            place += 1
        stack.touched[group] = (stack.touched[group] & ~bit) | found
        group += 1
