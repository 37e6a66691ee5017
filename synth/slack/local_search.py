"""The search for labels of little load: greedy, planned, lower and raise, squeeze.

1. *Greedy* (`synth.slack.greedy`), without waste.  On random graphs that is the optimum as
   soon as there is a step to spare.
2. *Planned.*  Where it is not, greedy again, by deadlines that are planned
(`synth.slack.deadlines`). 3. *Lower and raise.*  From a greedy run that wastes some of the links:
the load of every step
   is set to the mean number of arrivals, the labels repaired, and the loads raised where the
   repair leaves something overfull.  That helps where many nodes have the same neighbours.
4. *Squeeze.*  Lower the load of one step and repair; where another step stays overfull raise
   that by one, as long as something is won; otherwise take all of it back.

All is decided by a seed and a number of moves to look at, never by a clock.
"""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below, seeded
from topoloom.synth.slack.initial_schedules import HUGE, LARGE, Found, Starts
from topoloom.synth.slack.load_tables import Tables, set_loads, tables_of
from topoloom.synth.slack.min_conflicts import repair, take_back
from topoloom.synth.slack.problem import Problem

__all__ = ["Search"]

Integers = NDArray[np.int64]

_JOURNAL = 1 << 18
# Per mille of waste, and by how many steps deadlines are thought to be later.
_WASTING = ((0, 0), (10, 0), (20, 0), (50, 0), (100, 0))
# Of what a step is overfull by, how much its load is raised by.
_RAISED = 7
_SHIFTS = 100
# Cells from which on few moves are looked at where the first win nothing, unless told to.
_MIDDLING = 40_000
# So few would change nothing where there are very many cells.
_FEW = 1 << 21
# Exponents of the probability of worse moves: small problems want heat, large ones do not.
_COLD, _WARM = 3, 1


class Search:
    """The search on one problem; labels of several numbers of steps share what it knows."""

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        self._problem = problem
        self._starts = Starts(problem, seed)
        self.distance = self._starts.distance
        self.eccentricity = int(self.distance.max())
        self.least = self._starts.least
        self._state = seeded(seed)
        self._journal = np.empty((_JOURNAL, 3), np.int32)
        self._left = 0

    def find(self, steps: int, moves: int) -> Found:
        """Return the best labels found in ``steps``, at least the eccentricity.

        At most ``moves`` moves are looked at, plus those of one cell.  With none, labels are as
        quick rules have them (`synth.slack.initial_schedules`).
        """
        if moves == 0:
            return self._starts.quick(steps)
        best = self._starts.planned(steps)
        few = moves <= _FEW
        if best.total == self.least or (few and self._starts.cells > HUGE):
            return best
        # From large ones on loads are better squeezed than shifted.
        cells, large = self._starts.cells, self._starts.cells > LARGE
        self._state = self._starts.state(steps)
        self._left = moves
        if cells > _MIDDLING and (few or not large):
            return self._squeezed_while_it_pays(best, moves)
        starts = [(best, _WARM)]
        lowered = self._lowered(steps, moves // 4)
        if lowered is not None:
            starts.insert(0, (lowered, _COLD))
        limit = min(found.total for found, _ in starts) * 11 // 10
        starts = [(found, cold) for found, cold in starts if found.total <= limit]
        if large and len(starts) == 1:
            return self._squeezed(*starts[0], self._left)
        share, results = self._left // (2 * len(starts)), []
        for found, cold in starts:
            results.append((self._squeezed(found, cold, share), _COLD + _WARM - cold))
        best, cold = min(results, key=lambda result: result[0].total)
        if large:
            return self._squeezed(best, cold, self._left)
        best = self._squeezed(best, cold, self._left // 2)
        best = self._shifted(best, False, self._left // 2)
        return self._shifted(best, True, self._left)

    def _squeezed_while_it_pays(self, best: Found, moves: int) -> Found:
        """Return labels of less load; few moves are looked at where the first win nothing.

        Lowered ones hardly ever fit in here, and shifts win one or two.
        """
        share = moves * 3 // 8
        squeezed = self._squeezed(best, _WARM, share, share // 2)
        if squeezed.total in (best.total, self.least):
            return squeezed
        return self._squeezed(squeezed, _COLD, share // 2, share // 4)

    def _lowered(self, steps: int, moves: int) -> Found | None:
        """Return the best of some wasteful labels, lowered and raised until they fit."""
        best, share = None, moves // len(_WASTING)
        for waste, late in _WASTING:
            start = self._starts.made(steps, waste, late, self._state)
            if start is None:
                continue
            tables = tables_of(self._problem, start.label, start.loads)
            loads = np.minimum(start.loads, self._needed(tables))
            budget = share
            while budget > 0 and (best is None or loads.sum() < best.total):
                excess = set_loads(self._problem, tables, loads)
                excess, _, looked = self._repair(tables, excess, min(budget, share // 4), _COLD)
                budget -= looked
                if excess == 0:
                    best = Found(tables.label.copy(), loads)
                    break
                loads = loads + self._over(tables, loads)
        return best

    def _squeezed(self, found: Found, cold: int, moves: int, patience: int | None = None) -> Found:
        """Return labels of less load, lowered step by step.

        Ended once so many moves as there is ``patience`` for have won nothing at all.
        """
        problem, loads = self._problem, found.loads.copy()
        tables = tables_of(problem, found.label, loads)
        jump, failed = np.maximum(1, loads // 20), np.zeros(len(loads), np.int64)
        share = max(10_000, moves // 40)
        end = self._left - moves
        doubtful = end if patience is None else self._left - patience
        while loads.sum() > self.least and self._left > end:
            if self._left <= doubtful and loads.sum() == found.total:
                break
            live = [step for step in range(1, len(loads)) if loads[step] and failed[step] < 2]
            if not live:
                # Each step has failed twice: all over again, and look longer.
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
        return Found(tables.label.copy(), loads)

    def _shifted(self, found: Found, free: bool, moves: int) -> Found:
        """Return labels of less load: one less in all, shifted to where it is missing."""
        problem, best, loads = self._problem, found, found.loads.copy()
        tables = tables_of(problem, found.label, loads)
        share, end = max(2_000, moves // _SHIFTS), self._left - moves
        while best.total > self.least and self._left > end:
            if loads.sum() == best.total:
                loads[self._of(np.flatnonzero(loads))] -= 1
            excess = set_loads(problem, tables, loads)
            excess, _, _ = self._repair(tables, excess, min(share, self._left - end), _WARM, free)
            if excess == 0:
                best = Found(tables.label.copy(), loads.copy())
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
        """Return one of some steps, each as likely."""
        return int(some[below(self._state, len(some))])

    def _lowered_by(
        self, tables: Tables, loads: Integers, step: int, less: int, moves: int, cold: int
    ) -> Integers | None:
        """Lower the load of a step, raising others if need be; None, and nothing done, if stuck."""
        lowered, journals = loads.copy(), []
        lowered[step] -= less
        while True:
            excess = set_loads(self._problem, tables, lowered)
            excess, made, _ = self._repair(tables, excess, moves, cold)
            journals.append(self._journal[:made].copy())
            if excess == 0:
                return lowered
            stuck = tables.excess.sum(0) > 0
            stuck[step] = False
            if not stuck.any() or lowered.sum() + stuck.sum() >= loads.sum():
                break
            lowered[stuck] += 1
        for journal in journals[::-1]:
            take_back(self._problem, tables, journal)
        set_loads(self._problem, tables, loads)
        return None

    def _repair(
        self, tables: Tables, excess: int, moves: int, cold: int, free: bool = False
    ) -> tuple[int, int, int]:
        found = repair(self._problem, tables, excess, moves, cold, free, self._journal, self._state)
        self._left -= found[2]
        return found

    def _needed(self, tables: Tables) -> Integers:
        """Return the loads if every step's arrivals were spread evenly over all nodes."""
        problem = self._problem
        arrived = tables.filled[:, :, -1].sum(0, dtype=np.int64)
        return -(-arrived * problem.unit // int(problem.weight[problem.kind, -1].sum()))

    def _over(self, tables: Tables, loads: Integers) -> Integers:
        """Return by how much to raise the loads: a share of what they are overfull by."""
        problem = self._problem
        over = np.zeros(len(loads), np.int64)
        for kind, weight in enumerate(problem.weight):
            filled = tables.filled[problem.kind == kind][:, :, weight > 0].max(0)
            needed = -(-filled.astype(np.int64) * problem.unit // weight[weight > 0])
            over = np.maximum(over, needed.max(1) - loads)
        return np.where(tables.excess.any(0), np.maximum(1, -(-over // _RAISED)), 0)
