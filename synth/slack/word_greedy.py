"""Greedy slack schedules of a portion of the roots, 64 cells at a time.

The rule is that of `synth.slack.greedy`, with whole loads and without plans, and so is the
schedule.  Measured on a random graph of 16,381 nodes of degree 4: a third of the time.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.kernels.splitmix import below
from topoloom.synth.slack.greedy_selection import all_fit
from topoloom.synth.slack.problem import Problem
from topoloom.synth.slack.root_words import (
    count_sets,
    let_arrive,
    list_able,
    move_common,
    note_arrivals,
    open_links,
    unite,
)
from topoloom.synth.slack.word_selection import Step, choose, working_memory


def greedy_words(
    problem: Problem,
    cells: Any,
    steps: int,
    state: NDArray[np.uint64],
    filled: NDArray[np.int32],
    loads: NDArray[np.int64],
    arrival: NDArray[np.int8],
) -> None:
    """Plan all cells of a problem beside the cells of other roots.

    Args:
        cells: `synth.slack.root_words.cell_words`.
        steps: At least the eccentricity.
        state: Of `synth.kernels.splitmix`.
        filled ((steps + 1, G, 2**d)): Cells by step, group and set of links that they need, to
            which the new ones are added.
        loads ((steps + 1,)): Of other roots; raised to those of all.
        arrival ((N, R)): Receives the arrival steps, unless it has no columns.
    """
    groups, sets = len(problem.members), problem.weight.shape[1]
    group = working_memory(problem, cells.arrived.shape[1])
    every, urgent = np.zeros((2, groups, sets), np.int64)
    for number in range(1, steps + 1):
        root, node = below(state, len(problem.roots)), below(state, len(problem.tail))
        left = steps - number
        every[:] = urgent[:] = filled[number]
        _count_able(problem, cells, left, every, urgent, group)
        load = max(int(loads[number]), _whole_load(problem, every, urgent, left == 0))
        loads[number] = load
        step = Step(number, left, load, root, node)
        _choose_all(problem, cells, step, every, urgent, filled[number], group, arrival)


@njit(cache=True, nogil=True)
def _count_able(problem: Any, cells: Any, left: int, every: Any, urgent: Any, group: Any) -> None:
    """Open links, and add the cells that could arrive, and the urgent ones, by group and set."""
    tail, arrived, came, opened, idle = (
        problem.tail,
        cells.arrived,
        cells.came,
        cells.opened,
        cells.idle,
    )
    able, high, over, height = group.rest, group.rank, group.over, cells.height
    for node in range(len(tail)):
        if open_links(tail, node, arrived, came, opened, idle, able, 0):
            g = problem.group[node]
            unite(opened, node, over)
            count_sets(able, 0, over, every, g)
            if left < len(height):
                move_common(able, 0, height, left, node, high)
                count_sets(high, 0, over, urgent, g)


@njit(cache=True, nogil=True)
def _whole_load(problem: Any, every: Any, urgent: Any, last: bool) -> int:
    """Return the largest load of whole links that fills them all, or a larger forced load."""
    forced, free = 0, -1
    full = problem.weight.shape[1] - 1
    for g in range(len(every)):
        weight = problem.weight[problem.kind[g]]
        for links in range(1, full + 1):
            if weight[links] > 0:
                forced = max(forced, -(-urgent[g, links] * problem.unit // weight[links]))
                able = every[g, full] - every[g, full ^ links]
                load = able * problem.unit // weight[links]
                free = load if free < 0 else min(free, load)
    return forced if last else max(forced, free - free % problem.unit)


@njit(cache=True, nogil=True)
def _choose_all(
    problem: Any,
    cells: Any,
    step: Any,
    every: Any,
    urgent: Any,
    held: Any,
    group: Any,
    arrival: Any,
) -> None:
    """Let cells arrive: all those of a group that fit together, else those that should first."""
    members, come = problem.members, group.come
    for g in range(len(members)):
        for place in range(members.shape[1]):
            list_able(cells.opened, members[g, place], group.rest, place)
        # Where all cells fit, none has to be chosen.
        if all_fit(problem, g, every[g], step.load):
            held[g] = every[g]
            come[:] = group.rest
        else:
            choose(problem, g, cells, step, urgent, held, group)
        for place in range(members.shape[1]):
            node = members[g, place]
            let_arrive(node, come, place, cells.arrived, cells.came, cells.opened)
            note_arrivals(node, come, place, step.number, arrival)
