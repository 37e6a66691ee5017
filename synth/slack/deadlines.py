"""Plans of how cells that cannot come yet could: they say by when others have to have come.

A *plan* names for every cell to which no link is open one cell before it, by whose label it will be
open.  Cells in no hurry may wait as long as nothing that is planned after them is late: their
*slack*.  A cell that can come in many ways is planned in one of them only; along all shortest paths
(`synth.slack.distances`) nearly every cell at a distance seems urgent where paths are short.

Cells before others are chosen for few of them to be urgent, and those evenly over the links
(`synth.slack.predecessors`).  An urgent cell makes others before it urgent, down to those that
could come now.  So a plan may be made several times: links over which by far too many are urgent
are avoided then, and cells that all need such links, too.

64 roots are planned at once, one bit each of a word.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.work_estimates import WORD
from topoloom.synth.slack.predecessors import rely
from topoloom.synth.slack.problem import Problem

__all__ = ["Plan", "plan", "plan_of"]

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

# Of the most that are urgent over one link into any node, the tenths from which it is avoided.
_CROWDED = 8
# Slack from which on cells are told apart no more.
_SLACK = 3


class Plan(NamedTuple):
    """Working memory for N nodes of d links in groups, G, and labels of so many steps.

    Of 64 roots, one bit each of a word; by the step in which a cell could come at the earliest.
    """

    level: Words
    """(steps + 1, N): cells that could come then."""
    chosen: Words
    """(steps + 1, N): those on which others rely, of this slack or less."""
    before: Words
    """(steps + 1, N): those of less slack."""
    avoided: Words
    """(steps + 1, N): those that crowded links lead to alone."""
    reached: Words
    """(N,): cells that have come or could by now."""
    wanted: Words
    """(N,): cells that need another before them."""
    through: Counts
    """(steps + 1, G, d): how many urgent ones come over a link."""
    most: Counts
    """(steps + 1, G): how many urgent ones count for a group, d times the most of a link."""
    crowded: NDArray[np.bool_]
    """(steps + 1, G, d): links that are avoided."""


def plan_of(problem: Problem, steps: int) -> Plan:
    """Return working memory of plans of a problem."""
    nodes, degree = problem.tail.shape
    groups = len(problem.members)
    level, chosen, before, avoided = np.zeros((4, steps + 1, nodes), np.uint64)
    reached, wanted = np.zeros((2, nodes), np.uint64)
    return Plan(
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
def plan(
    problem: Any, label: Any, mask: Any, step: int, rounds: int, shift: int, made: Any, height: Any
) -> None:
    """Say of every cell that could come in a step how many steps must be left after it.

    ``label`` and ``mask`` are as `synth.slack.greedy` has them before the step, which is not the
    last.  The numbers, at most those of the steps, are written to ``height``, (N, R); in the step
    all of as many must come, and then a later plan finds all in time.
    O(rounds steps R links / 64).
    """
    steps = len(made.level) - 1
    rows = label.shape[1]
    made.crowded[:] = False
    for turn in range(rounds):
        made.through[:], made.most[:] = 0, 0
        last = turn == rounds - 1
        slack = min(_SLACK, steps - step) if last else 1
        for first in range(0, rows, WORD):
            some = min(WORD, rows - first)
            _levels(problem, label, mask, step, first, some, made)
            if turn > 0:
                _avoid(problem, mask, step, first, some, made)
            for wait in range(slack):
                rely(problem, mask, step, first, wait, shift, made)
                if last:
                    _write(made, step, first, some, wait, height)
                made.before[:] = made.chosen
            if last:
                made.chosen[step] = made.level[step]
                _write(made, step, first, some, slack, height)
        if not last:
            _crowd(step, made)


@njit(cache=True, nogil=True)
def _levels(
    problem: Any, label: Any, mask: Any, step: int, first: int, some: int, made: Any
) -> None:
    """Note when the cells of some roots could come, and forget what was chosen of others."""
    tail, level, reached = problem.tail, made.level, made.reached
    nodes, degree = tail.shape
    made.chosen[:], made.before[:], made.avoided[:] = 0, 0, 0
    begin, able_now = np.uint64(first), level[step]
    for node in range(np.uint64(nodes)):
        come = able = np.uint64(0)
        masks, labels = mask[node], label[node]
        for lane in range(np.uint64(some)):
            # Added up without branches, of which many would be foretold wrongly.
            able |= np.uint64(masks[begin + lane] != 0) << lane
            come |= np.uint64(labels[begin + lane] < step) << lane
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
def _avoid(problem: Any, mask: Any, step: int, first: int, some: int, made: Any) -> None:
    """Note the cells that crowded links lead to alone, or others of which that is true."""
    tail, level, group = problem.tail, made.level, problem.group
    nodes, degree = tail.shape
    for node in range(nodes):
        crowded = made.crowded[step, group[node]]
        full = 0
        for k in range(degree):
            full |= int(crowded[k]) << k
        if full:
            for lane in range(some):
                if mask[node, first + lane] & ~full == 0:
                    made.avoided[step, node] |= np.uint64(1) << np.uint64(lane)
            made.avoided[step, node] &= level[step, node]
    for later in range(step + 1, len(level) - 1):
        for node in range(nodes):
            good = np.uint64(0)
            for k in range(degree):
                before = tail[node, k]
                if before >= 0 and not made.crowded[later, group[node], k]:
                    good |= level[later - 1, before] & ~made.avoided[later - 1, before]
            made.avoided[later, node] = level[later, node] & ~good


@njit(cache=True, nogil=True)
def _crowd(step: int, made: Any) -> None:
    """Mark the links over which by far the most urgent cells come as crowded."""
    for later in range(step, len(made.level) - 1):
        through = made.through[later]
        limit = 0
        for one in range(through.shape[0]):
            for k in range(through.shape[1]):
                limit = max(limit, through[one, k] * _CROWDED)
        for one in range(through.shape[0]):
            for k in range(through.shape[1]):
                made.crowded[later, one, k] |= through[one, k] * 10 > limit


@njit(cache=True, nogil=True)
def _write(made: Any, step: int, first: int, some: int, wait: int, height: Any) -> None:
    """Write the height of the cells of so much slack that could come in a step."""
    high = len(made.level) - 1 - step - wait
    for node in range(len(height)):
        new = made.chosen[step, node] & ~made.before[step, node]
        lane = 0
        while new != 0:
            if new & np.uint64(1):
                height[node, first + lane] = high
            new >>= np.uint64(1)
            lane += 1
