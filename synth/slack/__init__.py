"""Allgathers that need not be eager: in which step every shard shall arrive, chosen.

In a breadth-first broadcast every shard travels as fast as it can, and some links carry more
than others.  Here only the number of steps is fixed: a shard arrives at a node in a step of our
choice, its *label* there, and goes on once all of it has arrived.  That keeps every schedule
exact and in few chunks (the theorem is `certificate.check_labels`), and mostly the loads can be
made even: one step more than the diameter brings most graphs to the optimal bandwidth.

`question` is what is asked, `both_ways` asks it of a graph and of its transpose, `problem` states
it as flat arrays, `greedy`, `plans`, `starts`, `tables`, `repair` and `search` solve it, `lifted`
takes the answer from a smaller graph, and `certificate` holds one and checks it on its own.
"""

from topoloom.synth.slack.certificate import Labels, check_labels
from topoloom.synth.slack.graph_and_transpose import BothWays, Point
from topoloom.synth.slack.problem import MAX_CELLS, MAX_DEGREE
from topoloom.synth.slack.solver import (
    MAX_PIECES,
    MAX_SEARCHED,
    MAX_SLACK,
    MAX_STEPS,
    default_moves,
    posed,
)
from topoloom.synth.topology.topology import Topology

__all__ = [
    "MAX_CELLS",
    "MAX_DEGREE",
    "MAX_PIECES",
    "MAX_SEARCHED",
    "MAX_SLACK",
    "MAX_STEPS",
    "BothWays",
    "Labels",
    "Point",
    "check_labels",
    "default_moves",
    "eager",
    "frontier_of",
    "labels",
    "points_of",
]


def labels(
    topology: Topology,
    steps: int,
    *,
    pieces: int = 1,
    moves: int | None = None,
    seed: int = 0,
) -> Labels:
    """Return labels of the least bandwidth found within a number of steps.

    Parameters
    ----------
    topology : Topology
        Direct-connect, strongly connected, at most `MAX_DEGREE` links into any node, of any
        capacities.
    steps : int
        At most so many, from the diameter to `MAX_STEPS`.
    pieces : int
        Cut a shard into so many pieces with labels of their own, 1 .. `MAX_PIECES`.  More
        win a little on very small graphs.
    moves : int, optional
        How many moves to look at, for each number of steps; `default_moves` if left out.
        With 0 only the quick greedy labels are made.  A line graph of more than 200,000 cells
        lifts labels of the graph below (`synth.slack.line_graph_lift`), made by its own
        `default_moves`; above `synth.slack.solver.MAX_ALONE` it has no others.
    seed : int
        Of the random choices, from 0.

    Returns
    -------
    Labels
        The same for the same arguments, on every machine.  Never worse than breadth-first
        broadcast, and the last of `frontier_of` within as many steps: of fewer steps if
        these are enough.

    Raises
    ------
    OutOfDomain
        ``steps`` is less than the diameter or above `MAX_STEPS`, or another number is out of
        its domain.
    NotMeasurable
        There are switches, too many links into a node, too many cells for the memory
        (`MAX_CELLS`), or capacities without a common measure of reasonable size.
    Unreachable, InvalidTopology
        Not strongly connected, or fewer than two nodes.

    Notes
    -----
    Time: greedy O(T N links) on a graph without known symmetry, O(T links) on a Cayley
    digraph; plans O(T^2 N links / 64); then about an eighth of a microsecond a move.  Memory: four
    bytes a cell, N^2 of them without symmetry.

    Examples
    --------
    >>> from topoloom.synth.evaluation.measure import measure
    >>> from topoloom.synth.edge_swaps.random_regular import random_regular
    >>> graph = random_regular(30, 3, seed=1)
    >>> measure(graph)
    Cost(steps=5, bandwidth=Fraction(43, 30))
    >>> labels(graph, 5).cost
    Cost(steps=5, bandwidth=Fraction(29, 30))
    """
    (*_, best) = posed(topology, pieces, seed).improving(steps, moves).values()
    return best


def eager(topology: Topology) -> Labels:
    """Return breadth-first broadcast as labels: every label is the distance, the loads exact.

    Domain and errors as `labels`.

    Examples
    --------
    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> eager(ring).arrival.tolist(), eager(ring).cost
    ([[0, 1, 2, 3]], Cost(steps=3, bandwidth=Fraction(3, 4)))
    """
    return posed(topology).eager()


def frontier_of(
    topology: Topology,
    most_steps: int | None = None,
    *,
    pieces: int = 1,
    moves: int | None = None,
    seed: int = 0,
) -> tuple[Labels, ...]:
    """Return the undominated labels of a graph, by increasing steps and decreasing bandwidth.

    The first have as many steps as the diameter.  ``most_steps`` is the diameter plus
    `MAX_SLACK` if left out; the rest as in `labels`, errors too.

    Examples
    --------
    >>> from topoloom.synth.edge_swaps.random_regular import random_regular
    >>> graph = random_regular(20, 3, seed=1)
    >>> [(some.cost.steps, str(some.cost.bandwidth)) for some in frontier_of(graph)]
    [(4, '1'), (6, '19/20')]
    """
    found: list[Labels] = []
    for made in posed(topology, pieces, seed).improving(most_steps, moves).values():
        found = [one for one in found if one.cost.steps < made.cost.steps] + [made]
    return tuple(found)


def points_of(
    topology: Topology, most_steps: int | None = None, *, moves: int | None = None, seed: int = 0
) -> tuple[Point, ...]:
    """Return what a graph reaches on itself and on its transpose, by number of steps.

    For every number of steps at which one direction gains, the best of either direction
    within that number, so that the costs of both fall together along the points.  Domain and
    errors as `labels`.

    Examples
    --------
    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> [point.costs[1] for point in points_of(ring)]
    [Cost(steps=3, bandwidth=Fraction(3, 4))]
    """
    return BothWays(topology, seed).points(most_steps, moves)
