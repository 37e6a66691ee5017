"""Greedy slack schedules of very large graphs, planned for a portion of the roots at a time.

Cells of different roots share nothing but the links.  So each portion of the roots is planned
beside the counts of the cells of earlier portions, by step, node and mask (`synth.slack.greedy`).
The memory is that of one portion, and later portions fill links that earlier ones leave unused.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.evaluation.all_pairs import count_shards
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.slack.deadlines import plan_memory
from topoloom.synth.slack.distances import distances, heights
from topoloom.synth.slack.greedy import greedy, no_cells
from topoloom.synth.slack.initial_schedules import DraftSchedule
from topoloom.synth.slack.problem import Integers, Problem, load_bound

PORTION = 1 << 25
"""Most cells of a portion, a dozen bytes each.  Measured on a random graph of 16,381 nodes of
degree 4: 0.6 GB, and 1.008 times the bound."""

# Steps of a first search; where a distance is longer, twice as many.
_FEW_STEPS = 16

Counts = NDArray[np.int32]


class PortionedSearch:
    """Replaces `synth.slack.local_search.LocalSearch` on a graph of very many cells."""

    def __init__(self, problem: Problem, seed: int = 0) -> None:
        self._problem, self._seed = problem, seed
        self.least = load_bound(problem)
        cells = len(problem.tail) * len(problem.roots)
        self._portions = min(len(problem.roots), -(-cells // PORTION))
        self._counted: dict[int, Counts] = {}
        self.shortest = self._shortest()
        self.eccentricity = self.shortest.shape[1] - 1

    def find(self, steps: int, moves: int) -> DraftSchedule:
        """Return a schedule within ``steps``, at least the eccentricity; there are no moves."""
        arrival = np.empty((len(self._problem.tail), len(self._problem.roots)), np.int8)
        loads = np.zeros(steps + 1, np.int64)
        for rows, found, so_far in self._greedily(steps):
            arrival[:, rows], loads = found, so_far
        return DraftSchedule(arrival, loads)

    @property
    def distance(self) -> NDArray[np.int8]:
        """Distance of every node from every root."""
        whole = np.empty((len(self._problem.tail), len(self._problem.roots)), np.int8)
        for rows, part in self._parts():
            whole[:, rows] = distances(part)[0]
        return whole

    def filled(self, steps: int) -> Counts:
        """Return the cells of `find` by group, step and set of links; no arrival step is kept."""
        if steps not in self._counted:
            for _ in self._greedily(steps):
                pass
        return self._counted[steps]

    def _parts(self) -> Iterator[tuple[Integers, Problem]]:
        """Yield the rows of every portion, and the problem of these roots alone."""
        rows = np.arange(len(self._problem.roots))
        for first in range(self._portions):
            some = rows[first :: self._portions]
            yield some, self._problem._replace(roots=self._problem.roots[some])

    def _shortest(self) -> Counts:
        """Return the cells of breadth-first broadcast by group, step and set of links."""
        problem, steps, longest = self._problem, _FEW_STEPS, -1
        total = np.zeros((0, 0, 0), np.int32)
        while longest < 0:
            total = np.zeros((len(problem.members), steps + 1, problem.weight.shape[1]), np.int32)
            longest = count_shards(problem.tail, problem.roots, problem.group, total)
            steps *= 2
        return total[:, : longest + 1]

    def _greedily(self, steps: int) -> Iterator[tuple[Integers, NDArray[np.int8], Integers]]:
        """Yield the rows, the arrival steps, and the loads so far, of every portion."""
        held = no_cells(self._problem, steps)
        loads, state = np.zeros(steps + 1, np.int64), seeded(self._seed, steps)
        for rows, part in self._parts():
            height, plans = heights(part), plan_memory(part, steps)
            found, loads, left = greedy(part, height, plans, 0, 0, 0, True, state, held, loads)
            # Without granted lateness every cell meets its deadline.
            assert left == 0
            yield rows, found, loads
        self._counted[steps] = _by_sets(held)


def _by_sets(held: Counts) -> Counts:
    """Return the counts of masks within every set of links, by group and step."""
    filled = np.ascontiguousarray(held.transpose(1, 0, 2))
    sets = np.arange(filled.shape[2])
    for k in range(len(sets).bit_length() - 1):
        within = sets[sets >> k & 1 == 1]
        filled[:, :, within] += filled[:, :, within ^ (1 << k)]
    return filled
