"""Allgathers that need not be eager: in which step every shard shall arrive, chosen.

In a breadth-first broadcast every shard travels as fast as it can, and some links carry more
than others.  Here only the number of steps is fixed: a shard arrives at a node in a step of our
choice, its *label* there, and goes on once all of it has arrived.  That keeps every schedule
exact and in few chunks (the theorem is `certificate.check_labels`), and mostly the loads can be
made even: one step more than the diameter brings most graphs to the optimal bandwidth.

`problem` states the problem as flat arrays, `greedy`, `tables`, `repair` and `search` solve it,
`certificate` holds an answer and checks it on its own.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from synth.cost import Cost
from synth.errors import NotMeasurable, OutOfDomain
from synth.labels.certificate import Labels, check_labels
from synth.labels.problem import (
    MAX_CELLS,
    MAX_DEGREE,
    Integers,
    Problem,
    problem_of,
    require_labelled,
)
from synth.labels.search import Found, Search
from synth.labels.tables import tables_of
from synth.topology import Topology
from synth.translations import translations

__all__ = [
    "MAX_CELLS",
    "MAX_DEGREE",
    "MAX_PIECES",
    "MAX_SEARCHED",
    "MAX_SLACK",
    "MAX_STEPS",
    "Labels",
    "Point",
    "check_labels",
    "default_moves",
    "frontier_of",
    "labels",
    "points_of",
]

MAX_STEPS = 126
"""Labels are kept as 8 bits."""

MAX_SLACK = 2
"""How many steps more than the diameter are tried unless told: more hardly ever help."""

MAX_PIECES = 16
"""Most pieces that a shard can be cut into."""

MAX_SEARCHED = 200_000
"""Up to so many cells moves are looked at unless told; above, labels are greedy only."""

_LEAST_MOVES = 100_000
_MOVES_PER_CELL = 8


@dataclass(frozen=True, slots=True)
class Point:
    """An allgather and a reduce-scatter on one graph within a number of steps each.

    They are what `labels` finds for so many steps on the graph and on its transpose.
    """

    steps: int
    """The number: at least the steps of either."""
    gather: Labels
    """On the graph."""
    scatter: Labels
    """On its transpose: reversed, a reduce-scatter on the graph."""

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """What they cost."""
        return self.gather.cost, self.scatter.cost


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
        With 0 only the greedy labels are made.
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
    digraph; then about an eighth of a microsecond a move.  Memory: four bytes a cell,
    N^2 of them without symmetry.

    Examples
    --------
    >>> from synth.measure import measure
    >>> from synth.random_regular import random_regular
    >>> graph = random_regular(30, 3, seed=1)
    >>> measure(graph)
    Cost(steps=5, bandwidth=Fraction(43, 30))
    >>> labels(graph, 5).cost
    Cost(steps=5, bandwidth=Fraction(29, 30))
    """
    (*_, best) = _posed(topology, steps, pieces, moves, seed).improving().values()
    return best


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
    >>> from synth.random_regular import random_regular
    >>> graph = random_regular(20, 3, seed=1)
    >>> [(some.cost.steps, str(some.cost.bandwidth)) for some in frontier_of(graph)]
    [(4, '1'), (6, '19/20')]
    """
    found: list[Labels] = []
    for made in _posed(topology, most_steps, pieces, moves, seed).improving().values():
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
    require_labelled(topology)
    # A graph and its transpose have the same automorphisms.
    images = translations(topology)
    turned = topology.transpose()
    gathers = _posed(topology, most_steps, 1, moves, seed, images).improving()
    if turned == topology:
        return tuple(Point(steps, one, one) for steps, one in gathers.items())
    scatters = _posed(turned, most_steps, 1, moves, seed, images).improving()
    # Both directions have one diameter, so both begin with the same number of steps.
    every = sorted({*gathers, *scatters})
    return tuple(Point(steps, _within(gathers, steps), _within(scatters, steps)) for steps in every)


def default_moves(cells: int) -> int:
    """Return how many moves are looked at for a number of cells, unless told.

    A quarter of a second at most.  Above `MAX_SEARCHED` cells so few would change nothing, and
    those that do take seconds: none, then.

    >>> default_moves(100_000), default_moves(1_000_000)
    (900000, 0)
    """
    return _LEAST_MOVES + _MOVES_PER_CELL * cells if cells <= MAX_SEARCHED else 0


def _within(some: dict[int, Labels], steps: int) -> Labels:
    return some[max(enough for enough in some if enough <= steps)]


@dataclass(frozen=True, slots=True)
class _Question:
    """A problem, the search on it, and within how many steps and moves."""

    problem: Problem
    search: Search
    most: int
    moves: int

    def improving(self) -> dict[int, Labels]:
        """Return labels that gain, by the steps within which they are found, increasing.

        They may take fewer than these, and the first are of as many steps as the diameter.
        """
        within = self.search.eccentricity
        found = {within: self.eager()}
        if self.is_optimal(found[within]):
            return found
        for steps in range(within, self._enough() + 1):
            made = self.found(steps, self.moves)
            if made.cost.bandwidth < found[within].cost.bandwidth:
                found[steps], within = made, steps
            if self.is_optimal(found[within]):
                break
        return found

    def _enough(self) -> int:
        """Return the fewest steps for which greedy labels are optimal, or the most allowed."""
        for steps in range(self.search.eccentricity, self.most):
            if self.search.greedy(steps).total == self.search.least:
                return steps
        return self.most

    def eager(self) -> Labels:
        """Return breadth-first broadcast as labels, the distances, at its exact loads."""
        return _labels(self.problem, self.search.distance.astype(np.int8), whole=False)

    def found(self, steps: int, moves: int) -> Labels:
        return _labels(self.problem, _closed_up(self.search.find(steps, moves)), whole=True)

    def is_optimal(self, found: Labels) -> bool:
        return sum(found.loads) * self.problem.pieces <= self.search.least


def _posed(
    topology: Topology,
    most_steps: int | None,
    pieces: int,
    moves: int | None,
    seed: int,
    known: Integers | None = None,
) -> _Question:
    """Return the question, once every number in it is in its domain."""
    require_labelled(topology)
    if not 1 <= pieces <= MAX_PIECES:
        raise OutOfDomain("pieces", f"must be in 1 .. {MAX_PIECES}")
    if moves is not None and moves < 0:
        raise OutOfDomain("moves", "must be at least 0")
    if not 0 <= seed < 2**63:
        raise OutOfDomain("seed", "must be in 0 .. 2**63 - 1")
    images = translations(topology) if known is None else known
    cells = topology.node_count**2 // len(images) * pieces
    if cells > MAX_CELLS:
        raise NotMeasurable("/nodes", f"labels take {cells} cells; at most {MAX_CELLS}")
    problem = problem_of(topology, images, pieces)
    search = Search(problem, seed)
    most = most_steps
    if most is None:
        most = max(search.eccentricity, min(search.eccentricity + MAX_SLACK, MAX_STEPS))
    if not search.eccentricity <= most <= MAX_STEPS:
        raise OutOfDomain(
            "steps", f"must be from the diameter, {search.eccentricity}, to {MAX_STEPS}"
        )
    return _Question(problem, search, most, default_moves(cells) if moves is None else moves)


def _closed_up(found: Found) -> NDArray[np.int8]:
    """Return what was found without the steps in which nothing arrives."""
    used = np.flatnonzero(found.loads)
    renumbered: NDArray[np.int8] = np.zeros(len(found.loads), np.int8)
    renumbered[used] = np.arange(1, len(used) + 1)
    return renumbered[found.label]


def _labels(problem: Problem, label: NDArray[np.int8], *, whole: bool) -> Labels:
    """Return labels with the least loads that serve them, or the least ``whole`` ones.

    Whole, for all links of a node together and in pieces: then q d chunks per shard suffice.
    """
    steps = int(label.max())
    tables = tables_of(problem, label, np.zeros(steps + 1, np.int64))
    loads = [Fraction(0)] * steps
    for kind, weight in enumerate(problem.weight):
        filled = tables.filled[problem.kind == kind].max(0)
        for step in range(steps):
            for count, capacity in zip(filled[step + 1, 1:], weight[1:], strict=True):
                if capacity:
                    load = Fraction(int(count) * problem.unit, int(capacity))
                    loads[step] = max(loads[step], Fraction(ceil(load)) if whole else load)
    shards = tuple(load / problem.pieces for load in loads)
    return Labels(problem.images, problem.roots, label, shards)
