"""Limits of planning, each with its reason.

*Variables* are paths of links. *Nodes* are branch-and-bound nodes: they limit
the time of a solver without a clock, so that equal inputs get equal plans.

"Measured" is the effect of a method that is turned off: on 50 instances of
``benchmarks.bench_wiring`` (12 to 256 hosts), on 100 random plants of 8 to 40 hosts and 100 of the
tests, and on 4 instances of 1,024 hosts whose links change.
"""

# Programs of paths: `routes`, `plans.led_plan`

MAX_EXACT_VARIABLES = 750
"""Paths up to which an integer program decides about the fewest moves on panels; a second at most.
Measured: without the program 4,538 moves in place of 4,100 on the random plants."""

MAX_SEVERAL_VARIABLES = 5_000
"""The same where a host has several ports on a panel; a few seconds at most.  Measured on 150 hosts
with two duplex ports on each of four panels and 64 changed links: 208 moves are proven to be the
fewest, in place of at least 206."""

MAX_PATH_NODES = 200
"""Nodes after which the best plan found so far is taken."""

MAX_PATH_VARIABLES = 20_000
"""Paths of the strands of all links up to which an integer program decides over trunks, and whether
there is any wiring on panels; 8 s.  Above, paths over trunks are shorter, or links stay as a whole
or not at all.  Measured on four panels of 64 hosts: with the latter alone 247 moves in place of
198."""

MAX_RELAXED_VARIABLES = 3_000
"""Paths up to which the relaxation of the program bounds seconds and drained hosts. Measured:
without the program the bound of 64 hosts falls from 741 to 32 seconds."""

MAX_OBJECTIVE_NODES = 1000
"""Nodes after which the best plan for seconds or drained hosts found so far is taken."""

# Edge colorings: `coloring`

CHAIN_CHOICES = 16
"""Alternating chains that are followed for an edge whose ends have no free color in common."""

KICKS_PER_EDGE = 60
"""Times per edge that the Kempe search takes a color away from an edge that is in the way.
Measured: without Kempe chains an integer program decides about missing ports: 62 moves in place of
162 at 64 hosts of 6 ports, but over ten minutes in place of 1.3 s at 256 hosts of 8 ports."""

MAX_PRICE_STEPS, PRICE_RESTART, MAX_PRICED_OPTIONS = 5_000, 250, 330_000_000
"""Steps of the search for prices, steps up to a restart, and options (edges times colors) in all
steps: 1.3 s at 4,096 hosts of 4 ports.  Measured at 1,024 hosts: the bound of 638 moves, proven by
the linear program in minutes, is met up to 1 move."""

MAX_BRANCHED = 16
"""New edges up to which their colors branch."""

SEARCHES_PER_BRANCH, MAX_BRANCH_SEARCHES = 2, 300
"""Searches for the prices of a branch before an edge of the branch gets its color, each of
`PRICE_RESTART` steps, and those of all branches.  Measured with 8 changed links: 512 hosts need up
to 293 searches to prove an optimum, and three searches of a branch raise no bound above two."""

WALK_STEPS_PER_EDGE, MAX_WALK_STEPS = 10_000, 200_000_000
"""Steps of which every walk of conflicts takes a share, for each edge and at most.  The walks take
up to 1.8 s at 256 hosts of 4 ports."""

# Swaps of channels: `assignment.channel_swaps`

MAX_SWAP_ROUNDS, MAX_SWAPS = 6, 100_000
"""Times that links of every pair of channels change places for seconds or drained hosts, and
changes that are tried. Measured: without them 1,500 seconds in place of 1,380, and 360 in place of
300."""

# Paths over panels and trunks: `routes`

MAX_TRUNKS = 3
"""Trunks between two hosts."""

MAX_PATHS = 64
"""Paths between two sides of panels that are weighed, those of fewest trunks first."""

# Placement: `placement`

MAX_PLACED_HOSTS = 4096
"""Hosts among which places are chosen."""

PROPOSALS_PER_NODE, MAX_PROPOSALS = 6_000, 12_000_000
"""Moves that simulated annealing tries: for each node, and in all."""

MAX_CLOSED_WALK_NODES = 1024
"""Nodes up to which closed walks bound the kept links: counting them takes the cube of the size."""
