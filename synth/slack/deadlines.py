"""Deadlines of cells: a plan of later arrivals states when earlier cells must have arrived.

A *plan* names for every cell without an open link one predecessor cell that opens a link.
The *slack* of a cell is the number of steps it can wait without delaying any cell planned after
it.  A plan uses one of the possible predecessors of a cell; with all shortest paths
(`synth.slack.distances`) nearly every cell looks urgent where paths are short.

`synth.slack.predecessors` chooses predecessors so that few are urgent and these are spread evenly
over links.  An urgent cell makes its predecessors urgent, down to the cells that can arrive now.
So a plan may be made several times; later rounds avoid overloaded links and the cells that need
them.

64 roots are planned at once, one bit of a word each.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.slack.predecessors import choose_predecessors
from topoloom.synth.slack.problem import Problem

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

# Avoid links whose urgent load exceeds this many tenths of the maximum.
_CROWDED = 8
# Cells of this slack or more rank equally.
_SLACK = 3


class DeadlinePlans(NamedTuple):
    """Working memory for N nodes of d links in G groups and schedules of a number of steps.

    Covers 64 roots, one bit of a word each, by the earliest possible arrival step of a cell.
    """

    level: Words
    """(steps + 1, N): cells that could arrive in the step."""
    chosen: Words
    """(steps + 1, N): chosen predecessors of at most the current slack."""
    before: Words
    """(steps + 1, N): chosen predecessors of less slack."""
    avoided: Words
    """(steps + 1, N): cells reachable over crowded links only."""
    reached: Words
    """(N,): cells that have arrived or could arrive by now."""
    wanted: Words
    """(N,): cells that need a predecessor."""
    through: Counts
    """(steps + 1, G, d): urgent cells by link."""
    most: Counts
    """(steps + 1, G): urgent load of a group, d times the maximum over its links."""
    crowded: NDArray[np.bool_]
    """(steps + 1, G, d): links to avoid."""


def plan_memory(problem: Problem, steps: int) -> DeadlinePlans:
    """Return working memory for the plans of a problem."""
    nodes, degree = problem.tail.shape
    groups = len(problem.members)
    level, chosen, before, avoided = np.zeros((4, steps + 1, nodes), np.uint64)
    reached, wanted = np.zeros((2, nodes), np.uint64)
    return DeadlinePlans(
        level,
        chosen,
        before,
        avoided,
        reached,
        wanted,
        np.zeros((steps + 1, groups, degree), np.int64),
        np.zeros((steps + 1, groups), np.int64),
        np.zeros((steps + 1, groups, degree), np.bool_),
    )


@njit(cache=True, nogil=True)
def plan_deadlines(
    problem: Any,
    arrival: Any,
    mask: Any,
    step: int,
    rounds: int,
    shift: int,
    plans: Any,
    height: Any,
) -> None:
    """Write to ``height`` how many steps must remain after each cell that could arrive in a step.

    ``arrival`` and ``mask`` are those of `synth.slack.greedy` before ``step``, not the last.
    ``height`` is (N, R), with values up to the steps left; if all cells of the largest value
    arrive in the step, a later plan meets all deadlines.  O(rounds steps R links / 64).
    """
    steps = len(plans.level) - 1
    rows = arrival.shape[1]
    plans.crowded[:] = False
    for turn in range(rounds):
        plans.through[:], plans.most[:] = 0, 0
        last = turn == rounds - 1
        slack = min(_SLACK, steps - step) if last else 1
        for first in range(0, rows, WORD):
            some = min(WORD, rows - first)
            _levels(problem, arrival, mask, step, first, some, plans)
            if turn > 0:
                _avoid(problem, mask, step, first, some, plans)
            for wait in range(slack):
                choose_predecessors(problem, mask, step, first, wait, shift, plans)
                if last:
                    _write(plans, step, first, some, wait, height)
                plans.before[:] = plans.chosen
            if last:
                plans.chosen[step] = plans.level[step]
                _write(plans, step, first, some, slack, height)
        if not last:
            _crowd(step, plans)


@njit(cache=True, nogil=True)
def _levels(
    problem: Any, arrival: Any, mask: Any, step: int, first: int, some: int, plans: Any
) -> None:
    """Compute the earliest arrival step of the cells of some roots, and reset the choices."""
    tail, level, reached = problem.tail, plans.level, plans.reached
    nodes, degree = tail.shape
    plans.chosen[:], plans.before[:], plans.avoided[:] = 0, 0, 0
    begin, able_now = np.uint64(first), level[step]
    for node in range(np.uint64(nodes)):
        come = able = np.uint64(0)
        masks, arrivals = mask[node], arrival[node]
        for lane in range(np.uint64(some)):
            # Branchless: the branches would be unpredictable.
            able |= np.uint64(masks[begin + lane] != 0) << lane
            come |= np.uint64(arrivals[begin + lane] < step) << lane
        able_now[node], reached[node] = able, able | come
    for later in range(step + 1, len(level)):
        earlier, now = level[later - 1], level[later]
        for node in range(np.uint64(nodes)):
            could = np.uint64(0)
            for k in range(np.uint64(degree)):
                if tail[node, k] >= 0:
                    could |= earlier[np.uint64(tail[node, k])]
            now[node] = could & ~reached[node]
        for node in range(np.uint64(nodes)):
            reached[node] |= now[node]


@njit(cache=True, nogil=True)
def _avoid(problem: Any, mask: Any, step: int, first: int, some: int, plans: Any) -> None:
    """Mark the cells reachable only over crowded links or from cells so marked."""
    tail, level, group = problem.tail, plans.level, problem.group
    nodes, degree = tail.shape
    for node in range(nodes):
        crowded = plans.crowded[step, group[node]]
        full = 0
        for k in range(degree):
            full |= int(crowded[k]) << k
        if full:
            for lane in range(some):
                if mask[node, first + lane] & ~full == 0:
                    plans.avoided[step, node] |= np.uint64(1) << np.uint64(lane)
            plans.avoided[step, node] &= level[step, node]
    for later in range(step + 1, len(level) - 1):
        for node in range(nodes):
            good = np.uint64(0)
            for k in range(degree):
                before = tail[node, k]
                if before >= 0 and not plans.crowded[later, group[node], k]:
                    good |= level[later - 1, before] & ~plans.avoided[later - 1, before]
            plans.avoided[later, node] = level[later, node] & ~good


@njit(cache=True, nogil=True)
def _crowd(step: int, plans: Any) -> None:
    """Mark the links with the highest urgent loads as crowded."""
    for later in range(step, len(plans.level) - 1):
        through = plans.through[later]
        limit = 0
        for g in range(through.shape[0]):
            for k in range(through.shape[1]):
                limit = max(limit, through[g, k] * _CROWDED)
        for g in range(through.shape[0]):
            for k in range(through.shape[1]):
                plans.crowded[later, g, k] |= through[g, k] * 10 > limit


@njit(cache=True, nogil=True)
def _write(plans: Any, step: int, first: int, some: int, wait: int, height: Any) -> None:
    """Write the height of the cells of slack ``wait`` that could arrive in a step."""
    high = len(plans.level) - 1 - step - wait
    for node in range(len(height)):
        new = plans.chosen[step, node] & ~plans.before[step, node]
        lane = 0
        while new != 0:
            if new & np.uint64(1):
                height[node, first + lane] = high
            new >>= np.uint64(1)
            lane += 1
