"""Slack schedules: allgathers with a chosen arrival step for each shard at each node.

In a breadth-first broadcast every shard travels as fast as possible, and some links carry more
than others.  A slack schedule fixes only the number of steps.  The search chooses the *arrival
step* of each (shard, node) pair; a node forwards a shard only after all of the shard has arrived.
The schedule stays exact and needs few chunks (theorem: `certificate.check_slack_schedule`).
For most graphs one step more than the diameter suffices for the optimal bandwidth.

`problem` states the problem as flat arrays.  `solver` solves it with `distances`, `deadlines`,
`predecessors`, `greedy`, `initial_schedules`, `load_tables`, `min_conflicts`, `local_search` and
`line_graph_lift`, and with `portions`, `root_words` and `word_greedy` where cells are very many.
`graph_and_transpose` solves a graph together with its transpose.
`certificate` checks a schedule independently of the search.
"""

from topoloom.synth.slack.certificate import SlackSchedule, check_slack_schedule
from topoloom.synth.slack.graph_and_transpose import GraphAndTranspose, SchedulePair
from topoloom.synth.slack.problem import MAX_CELLS, MAX_DEGREE
from topoloom.synth.slack.solver import (
    MAX_PIECES,
    MAX_SEARCHED,
    MAX_SLACK,
    MAX_STEPS,
    default_moves,
    slack_solver,
)
from topoloom.synth.topology.topology import Topology

__all__ = [
    "MAX_CELLS",
    "MAX_DEGREE",
    "MAX_PIECES",
    "MAX_SEARCHED",
    "MAX_SLACK",
    "MAX_STEPS",
    "GraphAndTranspose",
    "SchedulePair",
    "SlackSchedule",
    "bfs_schedule",
    "check_slack_schedule",
    "default_moves",
    "slack_frontier",
    "slack_schedule",
]


def slack_schedule(
    topology: Topology,
    steps: int,
    *,
    pieces: int = 1,
    moves: int | None = None,
    seed: int = 0,
) -> SlackSchedule:
    """Return the slack schedule of least bandwidth found within a number of steps.

    Args:
        topology: Direct-connect, strongly connected, at most `MAX_DEGREE` links into any node, of
            any capacities.
        steps: Upper limit on the steps, from the diameter to `MAX_STEPS`.
        pieces: Pieces per shard, each with its own arrival steps, 1 .. `MAX_PIECES`.  More pieces
            gain a little on very small graphs.
        moves: Moves to try for each number of steps; `default_moves` by default.  0 returns the
            greedy schedule.  A line graph of more than 200,000 cells also lifts the schedule of its
            root graph (`synth.slack.line_graph_lift`) with the root's `default_moves`; above
            `synth.slack.solver.MAX_ALONE` cells it only lifts.
        seed: Random seed, from 0.

    Returns:
        Deterministic on every machine.  Never worse than breadth-first broadcast.  The last
        entry of `slack_frontier` with at most that many steps.

    Raises:
        OutOfDomain: ``steps`` is less than the diameter or above `MAX_STEPS`, or another number is
            out of its domain.
        NotMeasurable: There are switches, too many links into a node, too many cells for the memory
            (`MAX_CELLS`), or capacities without a common measure of reasonable size.
        Unreachable, InvalidTopology: Not strongly connected, or fewer than two nodes.

    Time: greedy O(T N links) on a graph without known symmetry, O(T links) on a Cayley
    digraph; deadline plans O(T^2 N links / 64); then about an eighth of a microsecond a move.
    Memory: four bytes a cell; N^2 cells without symmetry.

    >>> from topoloom.synth.evaluation.measure import measure
    >>> from topoloom.synth.edge_swaps.random_regular import random_regular
    >>> graph = random_regular(30, 3, seed=1)
    >>> measure(graph)
    Cost(steps=5, bandwidth=Fraction(43, 30))
    >>> slack_schedule(graph, 5).cost
    Cost(steps=5, bandwidth=Fraction(29, 30))
    """
    (*_, best) = slack_solver(topology, pieces, seed).pareto_front(steps, moves).values()
    return best


def bfs_schedule(topology: Topology) -> SlackSchedule:
    """Return breadth-first broadcast as a slack schedule, with exact loads.

    Arrival steps are distances.  Domain and errors as `slack_schedule`.

    >>> ring = Topology(range(4), [(i, (i + 1) % 4) for i in range(4)])
    >>> bfs_schedule(ring).arrival.tolist(), bfs_schedule(ring).cost
    ([[0, 1, 2, 3]], Cost(steps=3, bandwidth=Fraction(3, 4)))
    """
    return slack_solver(topology).bfs_schedule()


def slack_frontier(
    topology: Topology,
    most_steps: int | None = None,
    *,
    pieces: int = 1,
    moves: int | None = None,
    seed: int = 0,
) -> tuple[SlackSchedule, ...]:
    """Return the Pareto-optimal schedules of a graph, by increasing steps.

    The first has as many steps as the diameter.  ``most_steps`` defaults to the diameter plus
    `MAX_SLACK`.  Other parameters and errors as `slack_schedule`.

    >>> from topoloom.synth.edge_swaps.random_regular import random_regular
    >>> graph = random_regular(20, 3, seed=1)
    >>> [(some.cost.steps, str(some.cost.bandwidth)) for some in slack_frontier(graph)]
    [(4, '1'), (6, '19/20')]
    """
    front: list[SlackSchedule] = []
    for schedule in slack_solver(topology, pieces, seed).pareto_front(most_steps, moves).values():
        front = [other for other in front if other.cost.steps < schedule.cost.steps] + [schedule]
    return tuple(front)
