"""Greedy slack schedules of very large graphs, planned for a portion of the roots at a time.

Cells of different roots share nothing but the links.  So each portion of the roots is planned
beside the counts of the cells of earlier portions, by step, node and set of links
(`synth.slack.word_greedy`).  The memory is that of one portion, and later portions fill links that
earlier ones leave unused.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.evaluation.all_pairs import count_shards
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.slack.distances import distances
from topoloom.synth.slack.greedy_selection import FAR
from topoloom.synth.slack.initial_schedules import DraftSchedule
from topoloom.synth.slack.problem import Integers, Problem, load_bound
from topoloom.synth.slack.root_words import cell_words
from topoloom.synth.slack.word_greedy import greedy_words

PORTION = 1 << 25
"""Most cells of a portion, two or three bytes each.  Measured on a random graph of 16,381 nodes of
degree 4: 1.011 times the bound."""

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
        for rows, found in self._greedily(steps, loads, keep=True):
            arrival[:, rows] = found
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
            for _ in self._greedily(steps, np.zeros(steps + 1, np.int64), keep=False):
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
        problem, steps = self._problem, _FEW_STEPS
        total = _no_counts(problem, steps)
        while (longest := count_shards(problem.tail, problem.roots, problem.group, total)) < 0:
            steps *= 2
            total = _no_counts(problem, steps)
        return np.ascontiguousarray(total[: longest + 1].transpose(1, 0, 2))

    def _greedily(
        self, steps: int, loads: Integers, *, keep: bool
    ) -> Iterator[tuple[Integers, NDArray[np.int8]]]:
        """Yield the rows and the arrival steps of every portion; fill in the loads.

        Arrival steps have no columns unless they are to be kept.
        """
        problem = self._problem
        filled = _no_counts(problem, steps)
        state = seeded(self._seed, steps)
        for rows, part in self._parts():
            arrival = np.full((len(problem.tail), len(rows) if keep else 0), FAR, np.int8)
            cells = cell_words(part, self.eccentricity)
            greedy_words(part, cells, steps, state, filled, loads, arrival)
            if keep:
                arrival[part.roots, np.arange(len(rows))] = 0
            yield rows, arrival
        self._counted[steps] = np.ascontiguousarray(filled.transpose(1, 0, 2))


def _no_counts(problem: Problem, steps: int) -> Counts:
    """Return zeros by step, group and set of links."""
    return np.zeros((steps + 1, len(problem.members), problem.weight.shape[1]), np.int32)
