"""Slack schedules of a line graph, lift_arrivals from its root graph.

Let the nodes of L be the links of G.  The shard of a link e = (a, b) reaches the links out of b in
one step, and then follows the shard of b in G: a link out of u receives it one step after u
receives the shard of b.  So a schedule of G with T steps and bandwidth T_B lifts to a schedule of
L with T + 1 steps and at most T_B + 1 / N, N the nodes of G (arXiv:2202.03356 proves it for
breadth-first broadcast).  In step 1 every link into a node carries one shard.  In step t + 1 a
node of L receives d times the shards that a node of G receives in step t, over as many links.

On line graphs of line graphs many nodes share their neighbors; a direct search rarely comes near
the lift_arrivals schedule, and G has d^2 times fewer cells.
"""

from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.slack.certificate import SlackSchedule
from topoloom.synth.slack.initial_schedules import DraftSchedule
from topoloom.synth.slack.problem import Integers, Problem, load_bound
from topoloom.synth.topology.topology import Topology


class RootGraph(NamedTuple):
    """Root graph of a line graph: node i of the line graph is link ``comes[i]`` to ``goes[i]``."""

    graph: Topology
    images: Integers
    """Automorphisms of the line graph as they act on the root graph; the identity if not free."""
    comes: Integers
    goes: Integers


def root_graph_of(problem: Problem) -> RootGraph | None:
    """Return the root graph of a problem's graph; None if the graph is no plain line graph.

    All links have equal capacity, and d links enter and leave every node.  In a line graph the
    in-neighborhoods of two nodes are equal or disjoint (Heuchenne, 1964).  O(N d log N).

    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.slack.problem import slack_problem
    >>> from topoloom.synth.recipes.recipe import parse
    >>> kautz = slack_problem(build(parse("LineGraph(1, Complete(3))")), np.arange(6)[None])
    >>> found = root_graph_of(kautz)
    >>> found.graph.node_count, found.comes.tolist(), found.goes.tolist()
    (3, [0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])
    >>> circulant = slack_problem(build(parse("Circulant(12, 2, 3)")), np.arange(12)[None])
    >>> root_graph_of(circulant) is None
    True
    """
    tail = problem.tail
    nodes, degree = tail.shape
    alike = len(problem.weight) == 1 and len(set(problem.weight[0, 1 << np.arange(degree)])) == 1
    if not alike or degree < 2 or nodes % degree or problem.pieces > 1 or (tail < 0).any():
        return None
    before, comes = np.unique(np.sort(tail, axis=1), axis=0, return_inverse=True)
    comes, goes = comes.reshape(-1), np.full(nodes, -1)
    if len(before) * degree != nodes or (np.bincount(comes) != degree).any():
        return None
    goes[before] = np.arange(len(before))[:, None]
    if (goes < 0).any() or (comes == goes).any():
        return None
    comes, goes = _renumbered(comes, goes)
    graph = Topology.direct(len(before), comes, goes)
    if graph.has_parallel_links:
        return None
    return RootGraph(graph, _moved(problem.images, comes), comes, goes)


def _renumbered(comes: Integers, goes: Integers) -> tuple[Integers, Integers]:
    """Return the ends renumbered so that links are sorted by source or by target, if possible.

    `synth.recipes.expansions.line_graph` sorts by source, and its transpose by target.  The root
    graph then equals the graph built directly, and so do its schedules.
    """
    for sorted_by in (comes, goes):
        _, first, at = np.unique(sorted_by, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first))
        if (np.diff(number[at.reshape(-1)]) >= 0).all():
            return number[comes], number[goes]
    return comes, goes


def _moved(images: Integers, comes: Integers) -> Integers:
    """Return the action of line-graph automorphisms on the root graph, if semiregular there."""
    _, first = np.unique(comes, return_index=True)
    moved = comes[images[:, first]]
    return moved[:1] if (moved[1:] == moved[0]).any() else moved


def lift_arrivals(problem: Problem, line: RootGraph, schedule: SlackSchedule) -> NDArray[np.int8]:
    """Return the arrival steps of a line graph, (N, R), lift_arrivals from its root graph."""
    by_owner = schedule.unfolded()[0]
    arrival = by_owner[line.comes[:, None], line.goes[problem.roots]]
    arrival += np.int8(1)
    arrival[problem.roots, np.arange(len(problem.roots))] = 0
    return arrival


class RootSolver(Protocol):
    """The solver of the root graph (`synth.slack.solver.SlackSolver`), as the lift uses it."""

    @property
    def eccentricity(self) -> int:
        """The least number of steps."""
        ...

    def bfs_schedule(self) -> SlackSchedule:
        """Return breadth-first broadcast."""
        ...

    def within(self, steps: int, moves: int | None) -> SlackSchedule:
        """Return the best schedule found, with the default number of moves if None."""
        ...


class LiftedSearch:
    """Replaces `synth.slack.local_search.LocalSearch` on a line graph too large for a search."""

    def __init__(
        self, problem: Problem, line: RootGraph, below: RootSolver, *, alike: bool
    ) -> None:
        """Lift schedules; pass on the number of moves if ``alike``, else use the default."""
        self._problem, self._line, self._below, self._alike = problem, line, below, alike
        self.eccentricity = below.eccentricity + 1
        self.least = load_bound(problem)

    @property
    def distance(self) -> NDArray[np.int8]:
        """Distance of every node from every root."""
        return lift_arrivals(self._problem, self._line, self._below.bfs_schedule())

    def find(self, steps: int, moves: int) -> DraftSchedule:
        """Return a schedule within ``steps``, at least the eccentricity, and bounds on its loads.

        The load of a step is d times the load of the step before in the root graph.
        """
        schedule = self._below.within(steps - 1, moves if self._alike else None)
        degree = self._problem.tail.shape[1]
        return DraftSchedule(
            lift_arrivals(self._problem, self._line, schedule),
            np.array([0, degree, *(ceil(load) * degree for load in schedule.loads)]),
        )
