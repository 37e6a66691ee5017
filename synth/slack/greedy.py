"""Greedy slack schedules: fill every step with cells so that (nearly) no link capacity is wasted.

Masks depend only on earlier arrivals, so the cells of a step are independent.  The load n of a
step is the largest with which every group can fill its links: for every set C of links, at least
n capacity(C) cells can enter by C.  Deadlines may force a larger load.  The sets of cells that fit
form a polymatroid, so greedy choice by priority is optimal: urgent cells first, then cells that
are the only possible predecessor of a neighbor.
"""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.kernels.splitmix import below
from topoloom.synth.slack.deadlines import plan_deadlines
from topoloom.synth.slack.greedy_selection import (
    FAR,
    Able,
    all_fit,
    choose_cells,
    clear_counts,
    list_cells,
    mark_all,
    mark_chosen,
    rank_cells,
    sum_subsets,
    tally,
)

_PER_MILLE = 1000


@njit(cache=True, nogil=True)
def greedy(
    problem: Any,
    height: Any,
    plans: Any,
    rounds: int,
    waste: int,
    late: int,
    even: bool,
    state: Any,
) -> Any:
    """Return arrival steps, the load of every step in pieces, and the number of missing cells.

    Args:
        height ((N, R) int16): Initially from `synth.slack.distances`; overwritten in every step if
            ``rounds`` > 0.
        planned (DeadlinePlans): Working memory of `synth.slack.deadlines`; determines the number of
            steps.
        rounds: Planning rounds per step; 0 takes deadlines from ``height``.
        waste: Per mille of the link capacity that may stay unused in a step.
        late: Steps of lateness that deadlines are granted.
        even: Whether loads fill whole links unless deadlines force others.
        state: Of `synth.kernels.splitmix`.

    Arrival steps, (N, R) int8, are stored by node: a step then reads a few whole rows of a node.
    Loads are (steps + 1,) int64.
    """
    roots, members, group = problem.roots, problem.members, problem.group
    rows, (nodes, degree), groups = len(roots), problem.tail.shape, len(members)
    steps = len(plans.level) - 1
    full, ranks = (1 << degree) - 1, (steps + late + 1) * (degree + 1)
    arrival = np.full((nodes, rows), FAR, np.int8)
    mask = np.zeros((nodes, rows), np.uint8)
    able = Able(
        np.zeros(nodes, np.int64),
        np.empty((nodes, rows), np.uint16),
        np.empty((nodes, rows), np.int16),
    )
    need = np.zeros(rows, np.uint8)
    for row in range(rows):
        arrival[roots[row], row] = 0
    loads = np.zeros(steps + 1, np.int64)
    left = rows * (nodes - 1)
    count = np.zeros((ranks, full + 1), np.int32)  # By rank and mask; entry 0 is the total.
    table = np.zeros((2, groups, full + 1), np.int64)
    for step in range(1, steps + 1):
        _open(problem, step - 1, arrival, mask)
        first, shift = below(state, rows), below(state, nodes)
        last = step == steps
        for node in range(nodes):
            list_cells(able, node, first, mask)
        if rounds > 0 and not last and not _all_come(problem, able, mask, table, even):
            plan_deadlines(problem, arrival, mask, step, rounds, shift, plans, height)
        table[:] = 0
        until = -1 if last else steps + late - step
        for node in range(nodes):
            tally(able, node, until, height, mask, table[:, group[node]])
        sum_subsets(table, degree)
        loads[step] = _load(problem, table, waste, even, last)
        for g in range(groups):
            # Where all cells fit, none has to be chosen.
            if all_fit(problem, g, table[0, g], loads[step]):
                for node in members[g]:
                    left -= mark_all(able, node, step, arrival, mask)
                continue
            clear_counts(count)
            for node in members[g]:
                if not last:
                    _only_hope(problem, node, arrival, mask, need)
                rank_cells(able, node, until, height, need, degree, mask, count)
            choose_cells(problem, g, count, loads[step])
            begin = 0
            while begin < len(members[g]) and members[g, begin] < shift:
                begin += 1
            for index in range(len(members[g])):
                node = members[g, (begin + index) % len(members[g])]
                left -= mark_chosen(able, node, step, count, arrival, mask)
    return arrival, loads, left


@njit(cache=True, nogil=True)
def _all_come(problem: Any, able: Any, mask: Any, table: Any, even: bool) -> bool:
    """Return whether all available cells together fill all links exactly.

    Then all groups have equally many, and every link set has enough: no choice is needed.
    """
    table[:] = 0
    for node in range(len(mask)):
        here, rows, every = mask[node], able.row[node], table[0, problem.group[node]]
        for index in range(np.uint64(able.filled[node])):
            every[np.uint64(here[np.uint64(rows[index])])] += 1
    sum_subsets(table, problem.tail.shape[1])
    load = _load(problem, table, 0, even, False)
    full = table.shape[2] - 1
    for g in range(table.shape[1]):
        if table[0, g, full] * problem.unit != problem.weight[problem.kind[g], full] * load:
            return False
    return True


@njit(cache=True, nogil=True)
def _open(problem: Any, step: int, arrival: Any, mask: Any) -> None:
    """Open the links from the cells that arrived in a step to their successors."""
    tail, (nodes, rows) = problem.tail, arrival.shape
    # Of the type of the arrival steps: wider comparisons take longer.
    last: Any = np.int8(step)
    for node in range(nodes):
        for k in range(tail.shape[1]):
            if tail[node, k] < 0:
                continue
            there, here, bits = arrival[tail[node, k]], arrival[node], mask[node]
            bit = np.uint8(1 << k)
            for row in range(np.uint64(rows)):
                came = (there[row] == last) & (here[row] == FAR)
                bits[row] |= bit if came else np.uint8(0)


@njit(cache=True, nogil=True)
def _only_hope(problem: Any, node: int, arrival: Any, mask: Any, need: Any) -> None:
    """Count, for every root, the successors of a node's cell that have no open link yet."""
    need[:] = 0
    for edge in range(problem.start[node], problem.start[node + 1]):
        after, bits = arrival[problem.head[edge]], mask[problem.head[edge]]
        for row in range(np.uint64(len(need))):
            need[row] += (after[row] == FAR) & (bits[row] == 0)


@njit(cache=True, nogil=True)
def _load(problem: Any, table: Any, waste: int, even: bool, last: bool) -> int:
    """Return the load of a step: the forced load, or the largest of little enough waste."""
    weight, kind, unit = problem.weight, problem.kind, problem.unit
    groups, full = len(kind), weight.shape[1] - 1
    forced = free = 0
    for g in range(groups):
        for links in range(1, full + 1):
            capacity = weight[kind[g], links]
            if capacity > 0 and table[1, g, links] > 0:
                forced = max(forced, -(-table[1, g, links] * unit // capacity))
        free = max(free, table[0, g, full] * unit // max(1, weight[kind[g], full]))
    if last:
        return forced
    low, high = 0, free
    while low < high:
        load = (low + high + 1) // 2
        lost = offered = 0
        for g in range(groups):
            most = 0
            for links in range(1, full + 1):
                able = table[0, g, full] - table[0, g, full ^ links]
                most = max(most, weight[kind[g], links] * load - unit * able)
            lost += most
            offered += weight[kind[g], full] * load
        if lost * _PER_MILLE <= waste * offered:
            low = load
        else:
            high = load - 1
    if even:
        low -= low % unit
    return max(forced, low)
