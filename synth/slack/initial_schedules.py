"""Initial schedules of the search: greedy under several rules, then with planned deadlines.

The number of cells decides how many rules pay.  Deadlines derived from shortest paths are cheap
and too early.  Planned deadlines (`synth.slack.deadlines`) take two or three times the time of a
greedy schedule, and mostly gain more than the search afterwards.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.slack.deadlines import plan_memory
from topoloom.synth.slack.distances import distances
from topoloom.synth.slack.greedy import greedy
from topoloom.synth.slack.problem import Problem, load_bound

LARGE = 200_000
"""Few rules are tried from this many cells on."""

HUGE = 1 << 22
"""One rule and one plan are tried from this many cells on; each takes a second."""

Integers = NDArray[np.int64]

# (Waste in per mille, steps of lateness that deadlines are granted, whole loads).  Whole loads
# come first: the unused half of a link is mostly missing in the last step.
_GREEDY = ((0, 0, True), (0, 1, True), (0, 0, False), (0, 1, False), (0, 2, False))
_GREEDY_LARGE = _GREEDY[:3]
_GREEDY_HUGE = _GREEDY[:1]
# Planning rounds per step: one round first where the number of roots makes planning fast.
_ONCE, _AGAIN = (1,), (3,)
_FAR_OFF = Fraction(5, 4)
# Most steps squared times cells to plan: a plan visits all later steps in each step.
_MOST_PLANNED = 1 << 33


@dataclass(frozen=True, slots=True)
class DraftSchedule:
    """Arrival steps, (N, R), and the load of every step in pieces; load 0 is unused."""

    arrival: NDArray[np.int8]
    loads: Integers

    @property
    def total(self) -> int:
        """Sum of the loads, q N times T_B."""
        return int(self.loads.sum())


class InitialSchedules:
    """Initial schedules of a problem; different numbers of steps share the distances."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        self.distance, self._height = distances(problem)
        self.least = load_bound(problem)
        self.cells = problem.tail.shape[0] * len(problem.roots)
        self._seed = seed
        self._quick = len(problem.roots) >= WORD and self.cells <= HUGE
        self._opened: dict[int, tuple[DraftSchedule, NDArray[np.uint64]]] = {}
        self._begun: dict[int, tuple[DraftSchedule, NDArray[np.uint64]]] = {}
        self._plans: dict[tuple[int, int], DraftSchedule | None] = {}

    def quick(self, steps: int) -> DraftSchedule:
        """Return a schedule within ``steps``, at least the eccentricity, by the best quick rules.

        Where a plan beats the first rule, the other rules rarely beat the plan.
        """
        if not self._quick:
            return self._first(steps)[0]
        first, _ = self._open(steps)
        planned = self._planned(steps, first, _ONCE)
        return planned if planned.total < first.total else self._first(steps)[0]

    def state(self, steps: int) -> NDArray[np.uint64]:
        """Return the random state from which the search in ``steps`` continues."""
        return self._first(steps)[1].copy()

    def _first(self, steps: int) -> tuple[DraftSchedule, NDArray[np.uint64]]:
        """Return the best schedule of all quick rules, and the random state after them."""
        if steps not in self._begun:
            best, state = self._by_rules(steps)
            self._begun[steps] = self._planned(steps, best, _ONCE if self._quick else ()), state
        return self._begun[steps]

    def _open(self, steps: int) -> tuple[DraftSchedule, NDArray[np.uint64]]:
        """Return the schedule of the first rule, and the random state after it."""
        if steps in self._opened:
            return self._opened[steps]
        # A fresh state per number of steps: answers do not depend on the order of calls.
        state = seeded(self._seed, steps)
        waste, late, even = _GREEDY[0]
        first = self.greedy_draft(steps, waste, late, state, even=even)
        # Without granted lateness every cell meets its deadline, so the schedule is complete.
        assert first is not None
        if self._quick:
            self._opened[steps] = first, state
        return first, state

    def _by_rules(self, steps: int) -> tuple[DraftSchedule, NDArray[np.uint64]]:
        best, state = self._open(steps)
        state = state.copy()
        ways = _GREEDY_LARGE if self.cells > LARGE else _GREEDY
        for waste, late, even in (_GREEDY_HUGE if self.cells > HUGE else ways)[1:]:
            if best.total == self.least:
                break
            draft = self.greedy_draft(steps, waste, late, state, even=even)
            if draft is not None and draft.total < best.total:
                best = draft
        return best, state

    def planned(self, steps: int) -> DraftSchedule:
        """Return the best of the greedy schedules and of all plans that the size allows."""
        best = self._first(steps)[0]
        if self.cells > HUGE:
            # A plan takes a second here and helps only close to the bound.
            far_off = Fraction(best.total, self.least) > _FAR_OFF
            return best if far_off else self._planned(steps, best, _ONCE)
        return self._planned(steps, best, _AGAIN if self._quick else _ONCE + _AGAIN)

    def _planned(self, steps: int, best: DraftSchedule, rounds: tuple[int, ...]) -> DraftSchedule:
        """Return the best of a schedule and of greedy ones with ``rounds`` of planned deadlines."""
        if best.total == self.least or steps**2 * self.cells > _MOST_PLANNED:
            return best
        for times in rounds:
            draft = self._plan(steps, times)
            if draft is not None and draft.total < best.total:
                best = draft
            if best.total == self.least:
                break
        return best

    def _plan(self, steps: int, times: int) -> DraftSchedule | None:
        if (steps, times) in self._plans:
            return self._plans[steps, times]
        state = seeded(self._seed, steps, times)
        draft = self.greedy_draft(steps, 0, 0, state, even=True, rounds=times)
        if self._quick:
            self._plans[steps, times] = draft
        return draft

    def greedy_draft(
        self,
        steps: int,
        waste: int,
        late: int,
        state: NDArray[np.uint64],
        *,
        even: bool = False,
        rounds: int = 0,
    ) -> DraftSchedule | None:
        """Return the greedy schedule of one rule (`synth.slack.greedy`); None if incomplete."""
        height = self._height.copy() if rounds else self._height
        memory = plan_memory(self._problem, steps)
        arrival, loads, left = greedy(
            self._problem, height, memory, rounds, waste, late, even, state
        )
        return DraftSchedule(arrival, loads) if left == 0 else None
