"""Every limit of ForestColl: what the limit limits, and why.

*Visits* are arcs or pairs of neighbors that an algorithm looks at. *Work* is roots * ranks * arcs *
trees per root, which the time of packing grows with (for one packing at most `MAX_GROUPS` trees).
Block sizes of kernels, and the work between two checks for cancellation, stay with their kernels.
"""

from fractions import Fraction

# The choice of a method: `forests.forest_at_rate`

MAX_SHORTEST_ENTRIES = 1 << 28
"""Nodes * nodes * trees per root of shortest-path trees: one byte each."""

MAX_SHORTEST_IN_DEGREE = 64
"""Arcs into a node of shortest-path trees: their sets are bits of one integer."""

MAX_SYMMETRIC_VISITS = 1 << 30
"""Visits for the trees of one root per orbit: some seconds, which packing may need less of."""

MAX_PACKED_RANKS = 128
"""Ranks up to which packing takes seconds, and yields lower trees for unequal ranks: symmetric
trees of several orbits are used above only."""

MAX_JOINT_NODES = 64
"""Nodes around a fault, with the moved ranks as one, among which trees are packed in a fraction of
a second: 12 in DGX boxes, above 100 in fat trees, where racks are packed faster."""

MAX_IMAGES = 1 << 26
"""Ranks * nodes of a group of automorphisms: every element stores the image of each node, in 8
bytes."""

MAX_PARTS_AT_ONCE = 8
"""Parts of a network that bliss orders at once in milliseconds. 8 boxes of NDv2 take 4 ms, 16 take
6 s, 32 minutes; part by part they take milliseconds."""

MAX_FLOW_ENTRIES = 1 << 28
"""Nodes * arcs of a network that trees are packed into: the flows take 8 bytes each."""

MAX_GROUPS = 8
"""Trees per root that the work of packing counts: equal trees are packed as a group. mi300x-4
without a link in one direction has 7,943 trees per root, in 9 groups."""

MAX_ORDERS, MAX_REPEATED_WORK = 8, 1 << 25
"""Orders of the nodes in which trees are packed, for the lowest forest; and their work in all."""

MAX_COMPARED_WORK, MAX_TREES_PER_RANK = 1 << 27, 2
"""Work of packing, and trees for each rank, up to which packing competes with images of trees
beside a fault. Measured: 160 ranks of rail-40-4 without a link, 0.2 s, height 4 instead
of 15."""

# Lower symmetric forests: `symmetry.symmetric_forest`

MAX_LOWER_VISITS = 1 << 23
"""Visits for lower trees."""

MAX_ARC_ORDERS = 8
"""Orders of the arcs that are tried for lower trees."""

# Packing: `packing`, `switch_removal`

MIN_ROOTS_AT_ONCE = 4
"""Roots that are grown together, untested: two or three are tested as fast."""

MAX_TESTED_ROOTS = 64
"""Roots that are tested before the next try without tests."""

TREES_PER_NEW_TREE = 4
"""Trees of a forest per tree that height reduction may add."""

LOOSENINGS_PER_TREE = 1
"""Times per tree that height reduction may loosen a forest."""

MAX_SPLITTING_VISITS = 1 << 28
"""Pairs of neighbors that removing switches visits in a second or two; above, portions grow."""

# Numbers of trees and linear programs: `rates`, `linear_program`

MAX_TREES_TRIED = 100_000
"""Numbers of trees per root that are tried one after another."""

MAX_TREE_COUNT_VISITS = 1 << 28
"""Visits for the least number of trees at the optimal rate: about a second."""

MAX_COLUMNS, MAX_SECONDS = 40_000, 120.0
"""Columns of a linear program, about half a minute; and the time limit of the solver."""

MAX_COPYING = 4
"""Switches up to which trees are copied at any set of them: each switch doubles the program."""

MAX_SIMPLEX_COLUMNS = 4_000
"""Columns up to which the simplex method is faster than the interior-point method."""

MAX_CUT_ROUNDS, MAX_NESTED_CUTS = 30, 20
"""Rounds that add violated cuts to a linear program without flows; above, flows are faster. An 8x8
mesh without a link in one direction takes 3 rounds, 0.3 s instead of 21 s. And cuts that one flow
to a receiver yields in a round."""

MANY_TREES, MANY_TREES_GAP = 1_024, Fraction(1, 1_000)
"""Trees per root of an allreduce's pass above which fewer trees within this gap are taken. Of
mi250-2 without a link the optimum takes 4,000 to 10 million, and 0.1 % less about 100."""

MAX_EXACT_IMAGES = 64
"""Trees per root up to which the passes of an allreduce are sought as images of a few trees without
a gap. All links between boxes are full at the optimum, and growing misses it by a few trees of a
thousand roots; packing 1,024 GPUs takes above 15 minutes."""

MAX_JOINT_WORK = 1 << 35
"""Work, with all ranks as roots, up to which both passes of an allreduce are packed above
`MAX_PACKED_RANKS` ranks: about two minutes for each. Above, they run one after the other, and the
schedule states what this costs."""

# Trees of limited height: `forests.forests_by_height`, `forests.height_limited_trees`

MAX_LOW_ORDERS, MAX_LOW_WORK = 64, 1 << 30
"""Orders of the nodes in which forests of one rate are packed, and their work in all."""

FEW_TREES = (1, 2, 3, 4)
"""Trees per root that are tried besides those of the optimum."""

HEIGHT_SLACKS = (0, 1, 2, 3)
"""Hops above the least height that are tried."""

MAX_GROWTH, GROWTH_ROUNDS = 40_000_000, 6
"""Trees * arcs * rounds of growing, about half a minute; and rounds."""
