"""What is asked of labels on one graph: posed once, answered for any number of steps and moves."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from synth.cost import Cost
from synth.errors import NotMeasurable, OutOfDomain
from synth.labels.certificate import Labels
from synth.labels.lifted import LineOf, lifted, line_of
from synth.labels.problem import (
    MAX_CELLS,
    Integers,
    Problem,
    problem_of,
    require_labelled,
)
from synth.labels.search import Found, Search
from synth.labels.tables import tables_of
from synth.recent import Recent, key_of
from synth.topology import Topology
from synth.translations import translations

__all__ = [
    "MAX_PIECES",
    "MAX_SEARCHED",
    "MAX_SLACK",
    "MAX_STEPS",
    "BothWays",
    "Point",
    "Question",
    "default_moves",
    "posed",
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
_QUICK_DEGREE = 6
_QUICK_CELLS = 40_000
# Beside the steps and moves of labels, where broadcast is remembered: none take no step.
_EAGER = 0, 0
# Cells of the questions that are remembered, some ten bytes each.
_REMEMBERED = 1 << 23


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


def default_moves(cells: int, degree: int) -> int:
    """Return how many moves are looked at, at most, for a number of cells, unless told.

    A quarter of a second at most: with more than 6 links into a node, of which all sets are
    counted, half as many moves for each more, where there are more than 40,000 cells.  Above
    `MAX_SEARCHED` cells so few would change nothing, and those that do take seconds: none, then.

    >>> default_moves(100_000, 4), default_moves(100_000, 8), default_moves(30_000, 8)
    (900000, 225000, 340000)
    >>> default_moves(1_000_000, 4)
    0
    """
    if cells > MAX_SEARCHED:
        return 0
    halved = max(0, degree - _QUICK_DEGREE) if cells > _QUICK_CELLS else 0
    return (_LEAST_MOVES + _MOVES_PER_CELL * cells) >> halved


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """A problem and the search on it; what was found once is not looked for again."""

    problem: Problem
    search: Search
    cells: int
    seed: int
    _known: dict[tuple[int, int], Labels] = field(default_factory=dict)
    _lines: list[tuple[LineOf, "Question"] | None] = field(default_factory=list)
    _busy: Lock = field(default_factory=Lock)

    def improving(self, most_steps: int | None, moves: int | None) -> dict[int, Labels]:
        """Return labels that gain, by the steps within which they are found, increasing.

        They may take fewer than these, and the first are of as many steps as the diameter.

        Raises
        ------
        OutOfDomain
            There are fewer steps than the diameter or more than `MAX_STEPS`, or moves below 0.
        """
        if moves is not None and moves < 0:
            raise OutOfDomain("moves", "must be at least 0")
        most = self._most(most_steps)
        usual = default_moves(self.cells, self.problem.tail.shape[1])
        with self._busy:
            return self._improving(most, usual if moves is None else moves)

    def _improving(self, most: int, looked: int) -> dict[int, Labels]:
        within = self.search.eccentricity
        found = {within: self.eager()}
        if self.is_optimal(found[within]):
            return found
        for steps in range(within, self._enough(most) + 1):
            made = self.found(steps, looked)
            if made.cost.bandwidth < found[within].cost.bandwidth:
                found[steps], within = made, steps
            if self.is_optimal(found[within]):
                break
        return found

    def _most(self, steps: int | None) -> int:
        least = self.search.eccentricity
        if steps is None:
            return max(least, min(least + MAX_SLACK, MAX_STEPS))
        if not least <= steps <= MAX_STEPS:
            raise OutOfDomain("steps", f"must be from the diameter, {least}, to {MAX_STEPS}")
        return steps

    def _enough(self, most: int) -> int:
        """Return the fewest steps for which greedy labels are optimal, or the most allowed."""
        for steps in range(self.search.eccentricity, most):
            if self.search.greedy(steps).total == self.search.least:
                return steps
        return most

    def eager(self) -> Labels:
        """Return breadth-first broadcast as labels, the distances, at its exact loads."""
        if _EAGER not in self._known:
            distance = self.search.distance.astype(np.int8)
            self._known[_EAGER] = _labels(self.problem, distance, whole=False)
        return self._known[_EAGER]

    def found(self, steps: int, moves: int) -> Labels:
        """Return the best labels found in so many steps."""
        if (steps, moves) not in self._known:
            label = _closed_up(self.search.find(steps, moves))
            made = _labels(self.problem, label, whole=True)
            if not self.is_optimal(made):
                made = self._better_lifted(made, steps, moves)
            self._known[steps, moves] = made
        return self._known[steps, moves]

    def _better_lifted(self, made: Labels, steps: int, moves: int) -> Labels:
        """Return labels out of those of the graph that this one is the line graph of, if better.

        Where this one has too many cells for moves, that one mostly has not.
        """
        if not self._lines:
            line = line_of(self.problem)
            self._lines.append(
                line and (line, posed(line.graph, seed=self.seed, known=line.images))
            )
        (there,) = self._lines
        if there is None or steps - 1 < there[1].search.eccentricity:
            return made
        line, below = there
        if self.cells > MAX_SEARCHED:
            moves = default_moves(below.cells, self.problem.tail.shape[1])
        # Others may ask it as well; whoever waits here is asked by nobody below.
        with below._busy:
            of_line = below.found(steps - 1, moves)
        label = lifted(self.problem, line, of_line.unfolded()[0])
        return min(made, _labels(self.problem, label, whole=True), key=_bandwidth)

    def is_optimal(self, found: Labels) -> bool:
        """Whether no labels cost less bandwidth."""
        return sum(found.loads) * self.problem.pieces <= self.search.least


def posed(
    topology: Topology, pieces: int = 1, seed: int = 0, known: Integers | None = None
) -> Question:
    """Return the question of the labels of a topology, once every number in it is in its domain.

    ``known`` are its translations, where they were looked for already.  Errors as
    `synth.labels.labels`.
    """
    require_labelled(topology)
    if not 1 <= pieces <= MAX_PIECES:
        raise OutOfDomain("pieces", f"must be in 1 .. {MAX_PIECES}")
    if not 0 <= seed < 2**63:
        raise OutOfDomain("seed", "must be in 0 .. 2**63 - 1")
    images = translations(topology) if known is None else known
    cells = topology.node_count**2 // len(images) * pieces
    if cells > MAX_CELLS:
        raise NotMeasurable("/nodes", f"labels take {cells} cells; at most {MAX_CELLS}")
    problem = problem_of(topology, images, pieces)
    key = key_of(problem, seed)
    known_already = _recent.get(key)
    return known_already or _recent.keep(
        key, Question(problem, Search(problem, seed), cells, seed), cells
    )


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
    return Labels(problem.images, problem.roots, np.ascontiguousarray(label.T), shards)


def _bandwidth(one: Labels) -> Fraction:
    return one.cost.bandwidth


_recent: Recent[Question] = Recent(_REMEMBERED)


class BothWays:
    """A graph and its transpose, posed once for questions of several numbers of steps and moves.

    ``known`` are the graph's translations, where they were looked for already.  Domain and errors
    as `synth.labels.labels`.
    """

    def __init__(self, topology: Topology, seed: int = 0, known: Integers | None = None) -> None:
        require_labelled(topology)
        # A graph and its transpose have the same automorphisms.
        images = translations(topology) if known is None else known
        turned = topology.transpose()
        self._gather = posed(topology, seed=seed, known=images)
        same = turned == topology
        self._scatter = self._gather if same else posed(turned, seed=seed, known=images)

    @property
    def cells(self) -> int:
        """Of how many cells the labels of one direction are."""
        return self._gather.cells

    def points(self, most_steps: int | None, moves: int | None) -> tuple[Point, ...]:
        """Return what is reached either way, by number of steps; see `synth.labels.points_of`."""
        gathers = self._gather.improving(most_steps, moves)
        if self._scatter is self._gather:
            return tuple(Point(steps, one, one) for steps, one in gathers.items())
        scatters = self._scatter.improving(most_steps, moves)
        # Both directions have one diameter, so both begin with the same number of steps.
        return tuple(
            Point(steps, _within(gathers, steps), _within(scatters, steps))
            for steps in sorted({*gathers, *scatters})
        )


def _within(some: dict[int, Labels], steps: int) -> Labels:
    return some[max(enough for enough in some if enough <= steps)]
