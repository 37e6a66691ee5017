"""What is asked of labels on one graph: posed once, answered for any number of steps and moves."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import NotMeasurable, OutOfDomain
from topoloom.synth.kernels.lru_cache import Recent, key_of
from topoloom.synth.slack.certificate import Labels
from topoloom.synth.slack.initial_schedules import LARGE, Found
from topoloom.synth.slack.line_graph_lift import Lifting, line_of
from topoloom.synth.slack.load_tables import tables_of
from topoloom.synth.slack.local_search import Search
from topoloom.synth.slack.problem import MAX_CELLS, Integers, Problem, problem_of, require_labelled
from topoloom.synth.symmetry.semiregular_groups import translations
from topoloom.synth.topology.topology import Topology

__all__ = [
    "MAX_ALONE",
    "MAX_PIECES",
    "MAX_SEARCHED",
    "MAX_SLACK",
    "MAX_STEPS",
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

MAX_SEARCHED = 1 << 24
"""Up to so many cells plans are made, and moves looked at; above, labels are greedy unless told."""

MAX_ALONE = 1 << 22
"""Labels of line graphs of more cells are lifted and not looked for themselves."""

_LEAST_MOVES = 100_000
_MOVES_PER_CELL = 8
_QUICK_DEGREE = 6
_QUICK_CELLS = 40_000
# Beside the steps and moves of labels, where broadcast is remembered: none take no step.
_EAGER = 0, 0
# Cells of the questions that are remembered, some ten bytes each.
_REMEMBERED = 1 << 23


def default_moves(cells: int, degree: int) -> int:
    """Return how many moves are looked at, at most, for a number of cells, unless told.

    A quarter of a second at most: with more than 6 links into a node, of which all sets are
    counted, half as many moves for each more, where there are more than 40,000 cells.  Above
    200,000 cells there are no more moves than there: mostly the first win nothing.  Above 4 million
    so few are not looked at, but labels are planned; above `MAX_SEARCHED` that takes too long.

    >>> default_moves(100_000, 4), default_moves(100_000, 8), default_moves(30_000, 8)
    (900000, 225000, 340000)
    >>> default_moves(1_000_000, 4), default_moves(100_000_000, 4)
    (1700000, 0)
    """
    if cells > MAX_SEARCHED:
        return 0
    cells = min(cells, LARGE)
    halved = max(0, degree - _QUICK_DEGREE) if cells > _QUICK_CELLS else 0
    return (_LEAST_MOVES + _MOVES_PER_CELL * cells) >> halved


@dataclass(frozen=True, eq=False, slots=True)
class Question:
    """A problem and the search on it; what was found once is not looked for again."""

    problem: Problem
    search: Search | Lifting
    cells: int
    seed: int
    _known: dict[tuple[int, int], Labels] = field(default_factory=dict)
    _lifting: list[Lifting | None] = field(default_factory=list)
    _busy: Lock = field(default_factory=Lock)

    @property
    def eccentricity(self) -> int:
        """The fewest steps: the diameter."""
        return self.search.eccentricity

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
        within = self.eccentricity
        found = {within: self.eager()}
        if self.is_optimal(found[within]):
            return found
        for steps in range(within, most + 1):
            made = self.found(steps, looked)
            if made.cost.bandwidth < found[within].cost.bandwidth:
                found[steps], within = made, steps
            if self.is_optimal(found[within]):
                break
        return found

    def _most(self, steps: int | None) -> int:
        least = self.eccentricity
        if steps is None:
            return max(least, min(least + MAX_SLACK, MAX_STEPS))
        if not least <= steps <= MAX_STEPS:
            raise OutOfDomain("steps", f"must be from the diameter, {least}, to {MAX_STEPS}")
        return steps

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
            if isinstance(self.search, Search) and not self.is_optimal(made):
                made = self._better_lifted(made, steps, moves)
            self._known[steps, moves] = made
        return self._known[steps, moves]

    def _better_lifted(self, made: Labels, steps: int, moves: int) -> Labels:
        """Return labels out of those of the graph that this one is the line graph of, if better.

        Where this one has too many cells for moves, that one mostly has not.
        """
        if not self._lifting:
            self._lifting.append(_lifting(self.problem, self.cells, self.seed))
        (lifting,) = self._lifting
        if lifting is None or steps < lifting.eccentricity:
            return made
        label = lifting.find(steps, moves).label
        return min(made, _labels(self.problem, label, whole=True), key=_bandwidth)

    def within(self, steps: int, moves: int | None) -> Labels:
        """Return `found`, by as many moves as usual if None; others may ask meanwhile."""
        usual = default_moves(self.cells, self.problem.tail.shape[1])
        # Whoever waits here is asked by nobody below.
        with self._busy:
            return self.found(steps, usual if moves is None else moves)

    def is_optimal(self, found: Labels) -> bool:
        """Whether no labels cost less bandwidth."""
        return sum(found.loads) * self.problem.pieces <= self.search.least


def posed(
    topology: Topology, pieces: int = 1, seed: int = 0, known: Integers | None = None
) -> Question:
    """Return the question of the labels of a topology, once every number in it is in its domain.

    ``known`` are its translations, where they were looked for already.  Errors as
    `synth.slack.labels`.
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
    if known_already is not None:
        return known_already
    lifting = _lifting(problem, cells, seed) if cells > MAX_ALONE else None
    search = Search(problem, seed) if lifting is None else lifting
    return _recent.keep(key, Question(problem, search, cells, seed), cells)


def _lifting(problem: Problem, cells: int, seed: int) -> Lifting | None:
    """Return how labels are lifted; None for what is no line graph."""
    line = line_of(problem)
    if line is None:
        return None
    below = posed(line.graph, seed=seed, known=line.images)
    # Where this one has too many cells for many moves, that one mostly has not.
    return Lifting(problem, line, below, alike=cells <= LARGE)


def _closed_up(found: Found) -> NDArray[np.int8]:
    """Return what was found without the steps in which nothing arrives."""
    used = np.flatnonzero(found.loads)
    if len(used) == len(found.loads) - 1:
        return found.label
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
