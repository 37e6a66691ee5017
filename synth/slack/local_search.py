"""Local search for slack schedules of little load: greedy, plan, lower and raise, squeeze.

1. *Greedy* (`synth.slack.greedy`), without waste.  Optimal on random graphs as soon as a step
   is to spare.
2. *Plan.*  Otherwise greedy again with planned deadlines (`synth.slack.deadlines`).
3. *Lower and raise.*  Start from a greedy run that wastes some of the links, set the load of
   every step to the mean number of arrivals, repair the schedule, and raise the loads where the
   repair leaves a step overfull.  Helps where many nodes have the same neighbors.
4. *Squeeze.*  Lower the load of one step and repair.  If another step stays overfull, raise its
   load by one while the sum still falls; otherwise undo.

A seed and a number of moves determine the result; no clock does.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below, seeded
from topoloom.synth.slack.initial_schedules import HUGE, LARGE, DraftSchedule, InitialSchedules
from topoloom.synth.slack.load_tables import Tables, load_tables, set_loads
from topoloom.synth.slack.min_conflicts import repair, undo_moves
from topoloom.synth.slack.problem import Problem

Integers = NDArray[np.int64]

_JOURNAL = 1 << 18
# Waste in per mille, and steps of lateness that deadlines are granted.
_WASTING = ((0, 0), (10, 0), (20, 0), (50, 0), (100, 0))
# A load rises by its overload divided by this number.
_RAISED = 7
_SHIFTS = 100
# Above this many cells the search stops early where the first moves gain nothing.
_MIDDLING = 40_000
# Fewer moves than this have no effect on huge problems.
_FEW = 1 << 21
# Exponents of the acceptance probability of worse moves: small problems need a warm search.
_COLD, _WARM = 3, 1


class LocalSearch:
    """The search on one problem; different numbers of steps share its tables."""

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        self._problem = problem
        self._starts = InitialSchedules(problem, seed)
        self.distance = self._starts.distance
        self.eccentricity = int(self.distance.max())
        self.least = self._starts.least
        self._state = seeded(seed)
        self._journal = np.empty((_JOURNAL, 3), np.int32)
        self._left = 0

    def find(self, steps: int, moves: int) -> DraftSchedule:
        """Return the best schedule found within ``steps``, at least the eccentricity.

        Tries at most ``moves`` moves, plus those of one cell.  With 0 the schedule comes from the
        quick rules (`synth.slack.initial_schedules`).
        """
        if moves == 0:
            return self._starts.quick(steps)
        best = self._starts.planned(steps)
        few = moves <= _FEW
        if best.total == self.least or (few and self._starts.cells > HUGE):
            return best
        # Large problems gain more by squeezing than by shifting.
        cells, large = self._starts.cells, self._starts.cells > LARGE
        self._state = self._starts.state(steps)
        self._left = moves
        if cells > _MIDDLING and (few or not large):
            return self._squeezed_while_it_pays(best, moves)
        starts = [(best, _WARM)]
        lowered = self._lowered(steps, moves // 4)
        if lowered is not None:
            starts.insert(0, (lowered, _COLD))
        limit = min(draft.total for draft, _ in starts) * 11 // 10
        starts = [(draft, cold) for draft, cold in starts if draft.total <= limit]
        if large and len(starts) == 1:
            return self._squeezed(*starts[0], self._left)
        share, results = self._left // (2 * len(starts)), []
        for draft, cold in starts:
            results.append((self._squeezed(draft, cold, share), _COLD + _WARM - cold))
        best, cold = min(results, key=lambda result: result[0].total)
        if large:
            return self._squeezed(best, cold, self._left)
        best = self._squeezed(best, cold, self._left // 2)
        best = self._shifted(best, False, self._left // 2)
        return self._shifted(best, True, self._left)

    def _squeezed_while_it_pays(self, best: DraftSchedule, moves: int) -> DraftSchedule:
        """Return a schedule of less load; stop early where the first moves gain nothing.

        Lowered schedules rarely fit at this size, and shifts gain one or two pieces.
        """
        share = moves * 3 // 8
        squeezed = self._squeezed(best, _WARM, share, share // 2)
        if squeezed.total in (best.total, self.least):
            return squeezed
        return self._squeezed(squeezed, _COLD, share // 2, share // 4)

    def _lowered(self, steps: int, moves: int) -> DraftSchedule | None:
        """Return the best of some wasteful schedules, lowered and raised until they fit."""
        best, share = None, moves // len(_WASTING)
        for waste, late in _WASTING:
            start = self._starts.greedy_draft(steps, waste, late, self._state)
            if start is None:
                continue
            tables = load_tables(self._problem, start.arrival, start.loads)
            loads = np.minimum(start.loads, self._needed(tables))
            budget = share
            while budget > 0 and (best is None or loads.sum() < best.total):
                excess = set_loads(self._problem, tables, loads)
                excess, _, looked = self._repair(tables, excess, min(budget, share // 4), _COLD)
                budget -= looked
                if excess == 0:
                    best = DraftSchedule(tables.arrival.copy(), loads)
                    break
                loads = loads + self._over(tables, loads)
        return best

    def _squeezed(
        self, draft: DraftSchedule, cold: int, moves: int, patience: int | None = None
    ) -> DraftSchedule:
        """Return a schedule of less load, lowered one step at a time.

        Stops once ``patience`` moves have gained nothing.
        """
        problem, loads = self._problem, draft.loads.copy()
        tables = load_tables(problem, draft.arrival, loads)
        jump, failed = np.maximum(1, loads // 20), np.zeros(len(loads), np.int64)
        share = max(10_000, moves // 40)
        end = self._left - moves
        doubtful = end if patience is None else self._left - patience
        while loads.sum() > self.least and self._left > end:
            if self._left <= doubtful and loads.sum() == draft.total:
                break
            live = [step for step in range(1, len(loads)) if loads[step] and failed[step] < 2]
            if not live:
                # Every step has failed twice: start again with a larger share of moves.
                share, failed[:], jump = share * 4, 0, np.maximum(1, loads // 20)
                continue
            waste = loads - self._needed(tables)
            step = max(live, key=lambda step: (waste[step] + 1) / (1 + failed[step]))
            less = min(jump[step], loads.sum() - self.least, loads[step])
            lowered = self._lowered_by(
                tables, loads, step, less, min(share, self._left - end), cold
            )
            if lowered is not None:
                loads = lowered
                continue
            failed[step] += jump[step] == 1
            jump[step] = max(1, jump[step] // 3)
        return DraftSchedule(tables.arrival.copy(), loads)

    def _shifted(self, draft: DraftSchedule, free: bool, moves: int) -> DraftSchedule:
        """Return a schedule with one piece less in total, shifting loads to overfull steps."""
        problem, best, loads = self._problem, draft, draft.loads.copy()
        tables = load_tables(problem, draft.arrival, loads)
        share, end = max(2_000, moves // _SHIFTS), self._left - moves
        while best.total > self.least and self._left > end:
            if loads.sum() == best.total:
                loads[self._of(np.flatnonzero(loads))] -= 1
            excess = set_loads(problem, tables, loads)
            excess, _, _ = self._repair(tables, excess, min(share, self._left - end), _WARM, free)
            if excess == 0:
                best = DraftSchedule(tables.arrival.copy(), loads.copy())
                continue
            over = tables.excess.sum(0)
            worst = int(np.argmax(over))
            givers = (loads > 0) & (over == 0)
            if not givers.any():
                givers = loads > 0
            givers[worst] = False
            if givers.any():
                loads[self._of(np.flatnonzero(givers))] -= 1
                loads[worst] += 1
        return best

    def _of(self, some: Integers) -> int:
        """Return a uniformly random element of ``some``."""
        return int(some[below(self._state, len(some))])

    def _lowered_by(
        self, tables: Tables, loads: Integers, step: int, less: int, moves: int, cold: int
    ) -> Integers | None:
        """Lower the load of a step, raising others if needed; None with no change if stuck."""
        lowered, journals = loads.copy(), []
        lowered[step] -= less
        while True:
            excess = set_loads(self._problem, tables, lowered)
            excess, applied, _ = self._repair(tables, excess, moves, cold)
            journals.append(self._journal[:applied].copy())
            if excess == 0:
                return lowered
            stuck = tables.excess.sum(0) > 0
            stuck[step] = False
            if not stuck.any() or lowered.sum() + stuck.sum() >= loads.sum():
                break
            lowered[stuck] += 1
        for journal in journals[::-1]:
            undo_moves(self._problem, tables, journal)
        set_loads(self._problem, tables, loads)
        return None

    def _repair(
        self, tables: Tables, excess: int, moves: int, cold: int, free: bool = False
    ) -> tuple[int, int, int]:
        result = repair(
            self._problem, tables, excess, moves, cold, free, self._journal, self._state
        )
        self._left -= result[2]
        return result

    def _needed(self, tables: Tables) -> Integers:
        """Return the loads if the arrivals of every step were spread evenly over all nodes."""
        problem = self._problem
        arrived = tables.filled[:, :, -1].sum(0, dtype=np.int64)
        return -(-arrived * problem.unit // int(problem.weight[problem.kind, -1].sum()))

    def _over(self, tables: Tables, loads: Integers) -> Integers:
        """Return the raises of the loads: a share of the overload of each step."""
        problem = self._problem
        over = np.zeros(len(loads), np.int64)
        for kind, weight in enumerate(problem.weight):
            filled = tables.filled[problem.kind == kind][:, :, weight > 0].max(0)
            needed = -(-filled.astype(np.int64) * problem.unit // weight[weight > 0])
            over = np.maximum(over, needed.max(1) - loads)
        return np.where(tables.excess.any(0), np.maximum(1, -(-over // _RAISED)), 0)
