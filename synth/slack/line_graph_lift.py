"""Labels of a line graph out of labels of the graph whose links are its nodes.

Let the nodes of L be the links of G.  The shard of a link e = (a, b) takes one step to the links
out of b, and goes on as the shard of b does in G: a link out of u gets it one step after u gets
the shard of b there.  So labels of G of T steps and bandwidth T_B make labels of L of T + 1 steps
and at most T_B + 1 / N, N the nodes of G (arXiv:2202.03356 has it of breadth-first broadcast): in
step 1 every link into a node takes one shard, and in step t + 1 what comes to a node of L is what
comes to one of G in step t, d times, over as many links.

On line graphs of line graphs, where many nodes have the same neighbours, a search of its own hardly
ever comes near that, and G has d^2 times fewer cells.
"""

from math import ceil
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.slack.certificate import Labels
from topoloom.synth.slack.initial_schedules import Found
from topoloom.synth.slack.problem import Integers, Problem, least_loads
from topoloom.synth.topology.topology import Topology

__all__ = ["Lifting", "LineOf", "lifted", "line_of"]


class LineOf(NamedTuple):
    """The graph that a problem's is the line graph of; its node i is the link of these ends."""

    graph: Topology
    images: Integers
    """Automorphisms of it that act freely: those of the line graph, if they do, else one."""
    comes: Integers
    goes: Integers


def line_of(problem: Problem) -> LineOf | None:
    """Return what a problem's graph is the line graph of; None if it is none, or not a plain one.

    All links are alike, and d lead into and out of every node.  In a line graph two nodes have
    the links into them from the same nodes or have no such node in common (Heuchenne, 1964).
    O(N d log N).

    Examples
    --------
    >>> from topoloom.synth.recipes.build import build
    >>> from topoloom.synth.slack.problem import problem_of
    >>> from topoloom.synth.recipes.recipe import parse
    >>> kautz = problem_of(build(parse("LineGraph(1, Complete(3))")), np.arange(6)[None])
    >>> found = line_of(kautz)
    >>> found.graph.node_count, found.comes.tolist(), found.goes.tolist()
    (3, [0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])
    >>> line_of(problem_of(build(parse("Circulant(12, 2, 3)")), np.arange(12)[None])) is None
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
    return LineOf(graph, _moved(problem.images, comes), comes, goes)


def _renumbered(comes: Integers, goes: Integers) -> tuple[Integers, Integers]:
    """Return ends numbered as those of links that are sorted by where they come from, or go.

    The former as `synth.recipes.expansions.line_graph` has them, the latter as its transposes do:
    labels of the graph are then those that are found for it when it is asked for itself.
    """
    for sorted_by in (comes, goes):
        _, first, at = np.unique(sorted_by, return_index=True, return_inverse=True)
        number = np.argsort(np.argsort(first))
        if (np.diff(number[at.reshape(-1)]) >= 0).all():
            return number[comes], number[goes]
    return comes, goes


def _moved(images: Integers, comes: Integers) -> Integers:
    """Return what automorphisms of the line graph do to the nodes, if all but one move each."""
    _, first = np.unique(comes, return_index=True)
    moved = comes[images[:, first]]
    return moved[:1] if (moved[1:] == moved[0]).any() else moved


def lifted(problem: Problem, line: LineOf, labels: Labels) -> NDArray[np.int8]:
    """Return labels of a line graph out of those of the graph, (N, R) by node and root."""
    by_owner = labels.unfolded()[0]
    label = by_owner[line.comes[:, None], line.goes[problem.roots]]
    label += np.int8(1)
    label[problem.roots, np.arange(len(problem.roots))] = 0
    return label


class Below(Protocol):
    """What is asked of the graph below (`synth.slack.solver.Question`)."""

    @property
    def eccentricity(self) -> int:
        """The fewest steps."""
        ...

    def eager(self) -> Labels:
        """Return breadth-first broadcast."""
        ...

    def within(self, steps: int, moves: int | None) -> Labels:
        """Return the best labels found, by as many moves as usual if None."""
        ...


class Lifting:
    """Replaces `synth.slack.local_search.Search` on a line graph too large for a search."""

    def __init__(self, problem: Problem, line: LineOf, below: Below, *, alike: bool) -> None:
        """Lift labels; by as many moves as are asked for here if ``alike``."""
        self._problem, self._line, self._below, self._alike = problem, line, below, alike
        self.eccentricity = below.eccentricity + 1
        self.least = least_loads(problem)

    @property
    def distance(self) -> NDArray[np.int8]:
        """How far every node is from every root."""
        return lifted(self._problem, self._line, self._below.eager())

    def find(self, steps: int, moves: int) -> Found:
        """Return labels in ``steps``, at least the eccentricity, and what their loads are at most.

        The loads of a step are d times those of the step before in the graph below.
        """
        labels = self._below.within(steps - 1, moves if self._alike else None)
        degree = self._problem.tail.shape[1]
        return Found(
            lifted(self._problem, self._line, labels),
            np.array([0, degree, *(ceil(load) * degree for load in labels.loads)]),
        )
