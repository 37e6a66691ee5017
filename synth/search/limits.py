"""Limits and thresholds of the frontier search, each with its reason.

Units: a *cell* is a pair of a root and a node of a slack schedule, N^2 for a graph of N nodes
without symmetry. A *word* is 64 bits of a neighborhood bitset, read in a third of a nanosecond. A
pair of nodes is *late* if its distance exceeds the wanted diameter.

"Measured" is the effect of another value on 17 frontiers that the atlas does not hold: 14 of 25 to
1,057 nodes, 3 of 2,500 to 3,000 nodes.
"""

from fractions import Fraction
from os import cpu_count

from topoloom.synth.evaluation.cost import Links
from topoloom.synth.limits import MAX_HOSTS

# Feasibility: `feasibility`

MAX_NODES = MAX_HOSTS
"""Most hosts of a frontier."""

MAX_SUGGESTION_DISTANCE = 64
"""Largest difference in hosts or ports between a refused request and a suggestion in the error."""

# Recipes: `recipe_enumeration`

MAX_NODES_BY_FAMILIES = 2048
"""Nodes up to which a graph is left out for graphs of its own families only. Measured with 24 sizes
up to 1,024 nodes: one more point, in 1.4 times the time. At 10,000 nodes of degree 4: no other
point, in 17 s of CPU time in place of 7."""

# Measuring: `candidates`

PROBED_DESTINATIONS = (24, 24 * 8, 24 * 64)
"""Destinations after which a measurement stops if another candidate dominates the cost so far.
Measured: without these stops 8 % more time."""

MAX_MEASURED_LINKS = 1 << 22
"""Links of all graphs of one size that are measured: 1,024 graphs of 1,024 nodes and degree 4, 64
graphs of 16,384 nodes."""

MIN_MEASURED_GRAPHS = 8
"""Graphs of one size that are measured however large they are."""

MAX_OPERAND_WORK = 1 << 28
"""Links times destinations of a graph that is measured as the operand of an operator. Three graphs
of 5,000 nodes, 32 ports and no symmetry took longer than the rest of a frontier of 10,000 nodes."""

MIN_NODES_PER_ORBIT = 8
"""Nodes per orbit from which a one-way graph is made two-way at large sizes: a graph with more
orbits is measured at more destinations, and random two-way graphs are ahead of it."""

# Sampled candidates and slack schedules: `sampled_candidates`, `slack_candidates`

MAX_SAMPLED_CELLS = 1 << 22
"""Cells of a sampled graph (2,048 nodes) up to which slack schedules are made in every frontier."""

MAX_QUICK_CELLS = 200_000
"""Cells up to which a slack schedule takes milliseconds: it is made on every candidate, and for all
numbers of steps at once. Measured: four times the cells take 13 % more time, a quarter 4 % less."""

FAR_BEHIND = 8
"""A local search is skipped on a graph that misses the bandwidth bound in both directions by this
factor more than another graph in as many steps: local search hardly ever makes up for that. Without
the limit some frontiers took a quarter longer."""

SLACK_WORKERS = min(4, cpu_count() or 1)
"""Threads that make slack schedules."""

# Large sizes: `large_sizes`

GOOD_BANDWIDTH = Fraction(51, 50)
"""Ratio to the bandwidth bound up to which a candidate is good: the search adds nothing with the
same number of steps."""

EVEN_BANDWIDTH = Fraction(501, 500)
"""Ratio to the bandwidth bound up to which a candidate of a large size counts as even."""

EVEN_STEPS = {Links.UNIDIRECTIONAL: 2, Links.BIDIRECTIONAL: 3}
"""Steps above Moore's bound within which a large size should have an even candidate. Measured: with
two steps more, 1 of 3 large frontiers loses a point, in 20 % less time."""

MAX_LARGE_CELLS = 1 << 28
"""Cells up to which large sizes have slack schedules: the limit of slack schedules themselves."""

LARGE_SLACK_GRAPHS, HUGE_SLACK_GRAPHS = 2, 1
"""Resized graphs of a large size with slack schedules; fewer where local search takes too long."""

# Line graphs: `line_graph_candidates`

MAX_LINE_GRAPH_NODES = 8192
"""Nodes up to which line graphs of smaller frontiers take part: larger ones have too many
cells."""

LINE_GRAPH_STEPS, LINE_GRAPH_STEPS_OF_DEGREE_2 = 1, 2
"""Steps above Moore's bound within which a good candidate should be known; otherwise line graphs
are tried."""

LINE_GRAPHS, LARGE_LINE_GRAPHS = 2, 1
"""Line graphs that are tried, and the number above `LARGE_LINE_GRAPH_NODES` nodes, where a slack
schedule takes seconds and half a gigabyte for each number of steps."""

LARGE_LINE_GRAPH_NODES = 4096

LINE_GRAPH_RESIZE_WORDS = 1 << 29
"""Words that are read to insert nodes into a line graph or to remove them: 0.2 s."""

# Random seeds: `random_seeds`

MAX_SEED_DEGREE = 8
"""Degree up to which random graphs are made: the limit of slack schedules, which they serve."""

SEED_STEPS = 8
"""Steps above Moore's bound within which random graphs are looked for."""

MAX_LATE_SHARE = 0.6
"""Late pairs per node up to which targeted swaps shorten a random graph; beyond, swaps hardly ever
succeed."""

MAX_EXPECTED_LATE_SHARE = 10
"""Late pairs per node, expected in a random graph, above which a depth is not tried. Measured with
4,000 nodes of 4 two-way ports: 151 are expected and 119 occur beyond 8 links, 0.2 and 0.1 beyond 9.
"""

SEED_SWAP_WORDS = 1 << 29
"""Words that targeted swaps of one random graph read: 0.2 s."""

SEEDS = 3
"""Random graphs for each radius."""

SEED_SWAPS, MIN_SEED_SWAPS_OF_LARGER_RADIUS, MIN_SEED_SWAPS = 10_000, 2_500, 500
"""Most swaps that widen one random graph; the fewest with which the larger radius serves alone; and
the fewest at all. At 60 random sizes the smaller radius left as many pairs late, or more."""

SEED_WIDENING_WORDS = 1 << 28
"""Words that the swaps of all random graphs of one radius read: 0.1 s."""

SMALL_SEED_NODES = 64
"""Nodes up to which both radii are tried: either may win there."""

LARGE_SEED_NODES = 2048
"""Nodes above which both radii are tried, and of graphs with equally few late pairs that of the
largest minimum neighborhood is taken: early walks into a node decide about its slack schedule. Of
three graphs of 4,000 nodes of degree 4 the one whose neighborhoods of radius 2 all hold 17 nodes
reached the bandwidth bound in 10 steps; the others missed it by 1.5 percent."""

EARLY_RADIUS = 5
"""Radius up to which neighborhoods are compared."""

# Resized candidates: `resize`, `resized_candidates`

SWAP_PATIENCE = 500
"""Targeted swaps after which a tenth of the late pairs must be gone; otherwise the search ends."""

MAX_LATE_SHARE_OF = {"Inserted": 0.5, "Removed": 0.25}
"""Late pairs per node up to which a resized graph is shortened; for inserted nodes, counted before
swaps."""

MIN_RESIZED_NODES = 24
"""Nodes from which graphs of near sizes are resized; smaller sizes are in the atlas."""

RESIZED_STEPS, RESIZED_STEPS_OF_FEW_LINKS = 1, 3
"""Steps above Moore's bound for which graphs are resized; more for degree 2 and two-way links. For
more steps random graphs are as good."""

NODES_PER_NEW_NODE = 32
"""Nodes of a graph for each node that may be inserted or removed. Line graphs may take more."""

RESIZED_GRAPHS = 6
"""Graphs of near sizes, the best first, that are resized for each number of steps."""

SHORTENED_GRAPHS = 2
"""Resized graphs with late pairs, the fewest first, that targeted swaps shorten."""

RESIZED_SWAP_WORDS = 1 << 29
"""Words that these swaps read for one graph: 0.2 s."""

RESIZE_WORDS = 1 << 30
"""Words that are read to insert nodes into one graph or to remove them: a third of a second."""
