"""Solver of the slack-schedule problem of one graph, for any number of steps and moves."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import NotMeasurable, OutOfDomain
from topoloom.synth.kernels.lru_cache import LruCache, digest_of
from topoloom.synth.slack.certificate import SlackSchedule
from topoloom.synth.slack.initial_schedules import LARGE
from topoloom.synth.slack.line_graph_lift import LiftedSearch, root_graph_of
from topoloom.synth.slack.load_tables import load_tables
from topoloom.synth.slack.local_search import LocalSearch
from topoloom.synth.slack.portions import PortionedSearch
from topoloom.synth.slack.problem import (
    MAX_CELLS,
    Integers,
    Problem,
    require_schedulable,
    slack_problem,
)
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

MAX_STEPS = 126
"""Arrival steps are stored in 8 bits."""

MAX_SLACK = 2
"""Default number of steps beyond the diameter; more rarely help."""

MAX_PIECES = 16
"""Most pieces of a shard."""

MAX_SEARCHED = 1 << 24
"""Most cells for which deadlines are planned and moves tried by default; above, greedy only."""

MAX_AT_ONCE = 1 << 26
"""Most cells of one greedy run; above, the roots run in portions (`synth.slack.portions`)."""

MAX_ALONE = 1 << 22
"""Schedules of line graphs with more cells are lifted, not searched for."""

_LEAST_MOVES = 100_000
_MOVES_PER_CELL = 8
_QUICK_DEGREE = 6
_QUICK_CELLS = 40_000
# Key of the breadth-first schedule; no schedule has 0 steps.
_EAGER = 0, 0
# Total cells of the cached solvers, about ten bytes each.
_REMEMBERED = 1 << 23


def default_moves(cells: int, degree: int) -> int:
    """Return the default number of moves for a number of cells and an in-degree.

    A quarter of a second at most.  Above 40,000 cells, each link into a node beyond 6 halves the
    number, as the kernels count all sets of these links.  Above 200,000 cells the number stays
    constant: the first moves mostly gain nothing.  Above 4 million cells the search plans
    deadlines but tries no moves; above `MAX_SEARCHED` planning takes too long as well.

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
class SlackSolver:
    """A problem, its search, and the schedules found so far."""

    problem: Problem
    search: LocalSearch | LiftedSearch | PortionedSearch
    cells: int
    seed: int
    _known: dict[tuple[int, int, bool], SlackSchedule] = field(default_factory=dict)
    _lifted_search: list[LiftedSearch | None] = field(default_factory=list)
    _busy: Lock = field(default_factory=Lock)

    @property
    def eccentricity(self) -> int:
        """The least number of steps: the diameter."""
        return self.search.eccentricity

    def pareto_front(
        self, most_steps: int | None, moves: int | None, *, whole: bool = True
    ) -> dict[int, SlackSchedule]:
        """Return the schedules that improve on all shorter ones, by increasing step limit.

        A schedule may take fewer steps than its limit.  The first limit is the diameter.  If not
        ``whole``, schedules planned in portions have no arrival steps, which take a byte a cell.

        Raises:
            OutOfDomain: ``most_steps`` is below the diameter or above `MAX_STEPS`, or ``moves`` is
                below 0.
        """
        if moves is not None and moves < 0:
            raise OutOfDomain("moves", "must be at least 0")
        most = self._most(most_steps)
        usual = default_moves(self.cells, self.problem.tail.shape[1])
        with self._busy:
            return self._pareto_front(most, usual if moves is None else moves, whole)

    def _pareto_front(self, most: int, looked: int, whole: bool) -> dict[int, SlackSchedule]:
        within = self.eccentricity
        front = {within: self.bfs_schedule(whole=whole)}
        if self.is_optimal(front[within]):
            return front
        if isinstance(self.search, PortionedSearch):
            # Measured: steps to spare gain nothing in portions.
            most = within
        for steps in range(within, most + 1):
            schedule = self.best_schedule(steps, looked, whole=whole)
            if schedule.cost.bandwidth < front[within].cost.bandwidth:
                front[steps], within = schedule, steps
            if self.is_optimal(front[within]):
                break
        return front

    def _most(self, steps: int | None) -> int:
        least = self.eccentricity
        if steps is None:
            return max(least, min(least + MAX_SLACK, MAX_STEPS))
        if not least <= steps <= MAX_STEPS:
            raise OutOfDomain("steps", f"must be from the diameter, {least}, to {MAX_STEPS}")
        return steps

    def bfs_schedule(self, *, whole: bool = True) -> SlackSchedule:
        """Return breadth-first broadcast: arrival steps are distances, loads are exact."""
        key = *_EAGER, whole
        if key not in self._known:
            if isinstance(self.search, PortionedSearch) and not whole:
                self._known[key] = _counted(self.problem, self.search.shortest, rounded=False)
            else:
                distance = self.search.distance.astype(np.int8)
                self._known[key] = _with_loads(self.problem, distance, rounded=False)
        return self._known[key]

    def best_schedule(self, steps: int, moves: int, *, whole: bool = True) -> SlackSchedule:
        """Return the best schedule found within ``steps``."""
        key = steps, moves, whole
        if key not in self._known:
            self._known[key] = self._best_schedule(*key)
        return self._known[key]

    def _best_schedule(self, steps: int, moves: int, whole: bool) -> SlackSchedule:
        if isinstance(self.search, PortionedSearch) and not whole:
            return _counted(self.problem, self.search.filled(steps), rounded=True)
        arrival = self.search.find(steps, moves).arrival
        schedule = _with_loads(self.problem, arrival, rounded=True)
        if isinstance(self.search, LocalSearch) and not self.is_optimal(schedule):
            schedule = self._better_lifted(schedule, steps, moves)
        return schedule

    def _better_lifted(self, schedule: SlackSchedule, steps: int, moves: int) -> SlackSchedule:
        """Return the better of a schedule and the one lift_arrivals from the root graph, if any.

        The root graph often has few enough cells for a search where this graph has too many.
        """
        if not self._lifted_search:
            self._lifted_search.append(_lifted_search(self.problem, self.cells, self.seed))
        (lifting,) = self._lifted_search
        if lifting is None or steps < lifting.eccentricity:
            return schedule
        arrival = lifting.find(steps, moves).arrival
        return min(schedule, _with_loads(self.problem, arrival, rounded=True), key=_bandwidth)

    def within(self, steps: int, moves: int | None) -> SlackSchedule:
        """Return `best_schedule`, with `default_moves` if ``moves`` is None.  Thread-safe."""
        usual = default_moves(self.cells, self.problem.tail.shape[1])
        # No deadlock: a solver waits only for the solver of its root graph, never the reverse.
        with self._busy:
            return self.best_schedule(steps, usual if moves is None else moves)

    def is_optimal(self, schedule: SlackSchedule) -> bool:
        """Whether the schedule has the least possible bandwidth."""
        return sum(schedule.loads) * self.problem.pieces <= self.search.least


def slack_solver(
    topology: Topology, pieces: int = 1, seed: int = 0, known: Integers | None = None
) -> SlackSolver:
    """Return the solver of a topology.

    ``known`` are the semiregular automorphisms if already computed.  Errors as
    `synth.slack.slack_schedule`.
    """
    require_schedulable(topology)
    if not 1 <= pieces <= MAX_PIECES:
        raise OutOfDomain("pieces", f"must be in 1 .. {MAX_PIECES}")
    if not 0 <= seed < 2**63:
        raise OutOfDomain("seed", "must be in 0 .. 2**63 - 1")
    images = semiregular_group(topology) if known is None else known
    cells = topology.node_count**2 // len(images) * pieces
    if cells > MAX_CELLS:
        raise NotMeasurable("/nodes", f"slack schedules take {cells} cells; at most {MAX_CELLS}")
    problem = slack_problem(topology, images, pieces)
    key = digest_of(problem, seed)
    known_already = _recent.get(key)
    if known_already is not None:
        return known_already
    lifting = _lifted_search(problem, cells, seed) if cells > MAX_ALONE else None
    search: LocalSearch | LiftedSearch | PortionedSearch
    if lifting is not None:
        search = lifting
    else:
        search = (LocalSearch if cells <= MAX_AT_ONCE else PortionedSearch)(problem, seed)
    return _recent.keep(key, SlackSolver(problem, search, cells, seed), cells)


def _lifted_search(problem: Problem, cells: int, seed: int) -> LiftedSearch | None:
    """Return the lifting search of a line graph; None for other graphs."""
    line = root_graph_of(problem)
    if line is None:
        return None
    below = slack_solver(line.graph, seed=seed, known=line.images)
    # The root graph often has few enough cells for more moves than this graph.
    return LiftedSearch(problem, line, below, alike=cells <= LARGE)


def _with_loads(problem: Problem, arrival: NDArray[np.int8], *, rounded: bool) -> SlackSchedule:
    """Return the schedule with its `_loads`, without the steps in which nothing arrives."""
    filled = load_tables(problem, arrival, np.zeros(int(arrival.max()) + 1, np.int64)).filled
    loads = _loads(problem, filled, rounded=rounded)
    if not all(loads):
        arrival = np.cumsum([0, *map(bool, loads)], dtype=np.int8)[arrival]
    return replace(_scheduled(problem, loads), arrival=np.ascontiguousarray(arrival.T))


def _counted(problem: Problem, filled: NDArray[np.int32], *, rounded: bool) -> SlackSchedule:
    """Return the schedule of numbers of cells, without arrival steps."""
    return _scheduled(problem, _loads(problem, filled, rounded=rounded))


def _scheduled(problem: Problem, loads: list[Fraction]) -> SlackSchedule:
    shards = tuple(load / problem.pieces for load in loads if load)
    none = np.empty((0, len(problem.tail)), np.int8)
    return SlackSchedule(problem.images, problem.roots, none, shards)


def _loads(problem: Problem, filled: NDArray[np.int32], *, rounded: bool) -> list[Fraction]:
    """Return the least sufficient load of every step, in pieces.

    If ``rounded``, loads are rounded up to whole pieces over all links of a node; then q d chunks
    per shard suffice.
    """
    loads = [Fraction(0)] * (filled.shape[1] - 1)
    for kind, weight in enumerate(problem.weight):
        most = filled[problem.kind == kind].max(0)
        for step in range(len(loads)):
            for count, capacity in zip(most[step + 1, 1:], weight[1:], strict=True):
                if capacity:
                    load = Fraction(int(count) * problem.unit, int(capacity))
                    loads[step] = max(loads[step], Fraction(ceil(load)) if rounded else load)
    return loads


def _bandwidth(schedule: SlackSchedule) -> Fraction:
    return schedule.cost.bandwidth


_recent: LruCache[SlackSolver] = LruCache(_REMEMBERED)
