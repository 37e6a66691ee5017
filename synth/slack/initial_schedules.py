"""Labels to begin a search with: greedy ones by several rules, then by deadlines that are planned.

Which rules are worth their time depends on how many cells there are.  Deadlines that follow from
shortest paths are quick to tell and too early; planned ones (`synth.slack.deadlines`) take two
or three times the time of greedy labels, and mostly win more than all that comes after.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.slack.deadlines import plan_of
from topoloom.synth.slack.distances import distances
from topoloom.synth.slack.greedy import greedy
from topoloom.synth.slack.problem import Problem, least_loads

__all__ = ["HUGE", "LARGE", "Found", "Starts"]

LARGE = 200_000
"""From so many cells on few rules are tried."""

HUGE = 1 << 22
"""From so many cells on one rule is tried, and one plan, as each takes a second."""

Integers = NDArray[np.int64]

# Per mille of waste, and by how many steps deadlines are thought to be later; whole links.
# Whole links first: the rest of one that is half full is mostly missing in the last step.
_GREEDY = ((0, 0, True), (0, 1, True), (0, 0, False), (0, 1, False), (0, 2, False))
_GREEDY_LARGE = _GREEDY[:3]
_GREEDY_HUGE = _GREEDY[:1]
# How often every step is planned: once first, where there are roots enough for it to be quick.
_ONCE, _AGAIN = (1,), (3,)
_FAR_OFF = Fraction(5, 4)
# Steps squared times cells of what is planned: a plan looks at all later steps in each.
_MOST_PLANNED = 1 << 33


@dataclass(frozen=True, slots=True)
class Found:
    """Labels, (N, R), and the load of every step in pieces; load 0 is unused."""

    label: NDArray[np.int8]
    loads: Integers

    @property
    def total(self) -> int:
        """The sum of the loads, q N times T_B."""
        return int(self.loads.sum())


class Starts:
    """What labels of a problem begin with; those of several numbers of steps share distances."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        self.distance, self._height = distances(problem)
        self.least = least_loads(problem)
        self.cells = problem.tail.shape[0] * len(problem.roots)
        self._seed = seed
        self._quick = len(problem.roots) >= WORD and self.cells <= HUGE
        self._opened: dict[int, tuple[Found, NDArray[np.uint64]]] = {}
        self._begun: dict[int, tuple[Found, NDArray[np.uint64]]] = {}
        self._plans: dict[tuple[int, int], Found | None] = {}

    def quick(self, steps: int) -> Found:
        """Return labels in ``steps``, at least the largest distance, by the rules that win most.

        Where a plan wins over the first rule the others hardly ever win over the plan.
        """
        if not self._quick:
            return self._first(steps)[0]
        first, _ = self._open(steps)
        planned = self._planned(steps, first, _ONCE)
        return planned if planned.total < first.total else self._first(steps)[0]

    def state(self, steps: int) -> NDArray[np.uint64]:
        """Return the state of random numbers with which the search in ``steps`` goes on."""
        return self._first(steps)[1].copy()

    def _first(self, steps: int) -> tuple[Found, NDArray[np.uint64]]:
        """Return the best labels by all rules that are quick, and the state they leave."""
        if steps not in self._begun:
            best, state = self._by_rules(steps)
            self._begun[steps] = self._planned(steps, best, _ONCE if self._quick else ()), state
        return self._begun[steps]

    def _open(self, steps: int) -> tuple[Found, NDArray[np.uint64]]:
        """Return labels by the first rule, and the state it leaves."""
        if steps in self._opened:
            return self._opened[steps]
        # Anew, so that the answer for some steps does not depend on what was asked before.
        state = seeded(self._seed, steps)
        waste, late, even = _GREEDY[0]
        first = self.made(steps, waste, late, state, even=even)
        # Without lateness a cell comes at its deadline at the latest: it has labels.
        assert first is not None
        if self._quick:
            self._opened[steps] = first, state
        return first, state

    def _by_rules(self, steps: int) -> tuple[Found, NDArray[np.uint64]]:
        best, state = self._open(steps)
        state = state.copy()
        ways = _GREEDY_LARGE if self.cells > LARGE else _GREEDY
        for waste, late, even in (_GREEDY_HUGE if self.cells > HUGE else ways)[1:]:
            if best.total == self.least:
                break
            made = self.made(steps, waste, late, state, even=even)
            if made is not None and made.total < best.total:
                best = made
        return best, state

    def planned(self, steps: int) -> Found:
        """Return the best of greedy labels and those of as many plans as there is time for."""
        best = self._first(steps)[0]
        if self.cells > HUGE:
            # Where they take a second, plans help only not too far above the bound.
            far_off = Fraction(best.total, self.least) > _FAR_OFF
            return best if far_off else self._planned(steps, best, _ONCE)
        return self._planned(steps, best, _AGAIN if self._quick else _ONCE + _AGAIN)

    def _planned(self, steps: int, best: Found, rounds: tuple[int, ...]) -> Found:
        """Return the best of labels and of greedy ones with deadlines planned so many times."""
        if best.total == self.least or steps**2 * self.cells > _MOST_PLANNED:
            return best
        for times in rounds:
            made = self._plan(steps, times)
            if made is not None and made.total < best.total:
                best = made
            if best.total == self.least:
                break
        return best

    def _plan(self, steps: int, times: int) -> Found | None:
        if (steps, times) in self._plans:
            return self._plans[steps, times]
        state = seeded(self._seed, steps, times)
        made = self.made(steps, 0, 0, state, even=True, rounds=times)
        if self._quick:
            self._plans[steps, times] = made
        return made

    def made(
        self,
        steps: int,
        waste: int,
        late: int,
        state: NDArray[np.uint64],
        *,
        even: bool = False,
        rounds: int = 0,
    ) -> Found | None:
        """Return greedy labels by one rule, as `synth.slack.greedy` has it; None if not of all."""
        height = self._height.copy() if rounds else self._height
        memory = plan_of(self._problem, steps)
        label, loads, left = greedy(self._problem, height, memory, rounds, waste, late, even, state)
        return Found(label, loads) if left == 0 else None
