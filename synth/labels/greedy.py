"""Labels step by step: in every step as many cells as waste (nearly) nothing of the links.

Masks come from what the tails hold now, so the steps are independent.  The load n of a
step is the largest at which every group can fill its links: for every set C of them, cells
that can enter by C must be n capacity(C) at least; and no less than what deadlines force.
Which cells then come is a matter of a polymatroid, so that greedy by priority is right: the
urgent first, then those that are the only hope of a neighbour.
"""

from typing import Any

import numpy as np
from numba import njit

from synth.splitmix import below

__all__ = ["FAR", "distances", "greedy"]

FAR = 127
"""The label of a cell that has none yet, larger than every step."""

_PER_MILLE = 1000


@njit(cache=True, nogil=True)
def distances(problem: Any) -> Any:
    """Return how far every node is from every root, and how high above the farthest.

    The height of w is the longest way on from w along shortest paths from the root.  Two
    (R, N) arrays of int16.  O(R links).
    """
    roots, tail, start, head = problem.roots, problem.tail, problem.start, problem.head
    count, (nodes, degree) = len(roots), tail.shape
    distance = np.full((count, nodes), -1, np.int16)
    height = np.zeros((count, nodes), np.int16)
    order = np.empty(nodes, np.int64)
    for row in range(count):
        far, high = distance[row], height[row]
        far[roots[row]] = 0
        order[0] = roots[row]
        filled, index = 1, 0
        while index < filled:
            node = order[index]
            index += 1
            for edge in range(start[node], start[node + 1]):
                after = head[edge]
                if far[after] < 0:
                    far[after] = far[node] + 1
                    order[filled] = after
                    filled += 1
        for index in range(filled - 1, 0, -1):
            node = order[index]
            for k in range(degree):
                before = tail[node, k]
                if before >= 0 and far[before] + 1 == far[node]:
                    high[before] = max(high[before], high[node] + 1)
    return distance, height


@njit(cache=True, nogil=True)
def greedy(
    problem: Any, height: Any, steps: int, waste: int, late: int, even: bool, state: Any
) -> Any:
    """Return labels, the load of every step in pieces, and how many cells have no label.

    Parameters
    ----------
    height : (R, N) int16
        As `distances` gives it.
    waste : int
        Per mille of the links that may go unused in a step for want of cells.
    late : int
        By how many steps deadlines are thought to be later than they are.
    even : bool
        Loads that fill whole links, where nothing forces others.
    state : array of uint64
        Of `synth.splitmix`.
    """
    roots, tail, group = problem.roots, problem.tail, problem.group
    rows, (nodes, degree), groups = len(roots), tail.shape, len(problem.members)
    full, ranks = (1 << degree) - 1, (steps + late + 1) * (degree + 1)
    label = np.full((rows, nodes), FAR, np.int8)
    mask = np.zeros((rows, nodes), np.uint8)
    rank = np.zeros((rows, nodes), np.int16)
    chosen = np.empty(nodes, np.int64)
    for row in range(rows):
        label[row, roots[row]] = 0
        _pass_on(problem, row, roots[row], label, mask)
    loads = np.zeros(steps + 1, np.int64)
    left = rows * (nodes - 1)
    count = np.zeros((groups, ranks, full + 1), np.int32)
    table = np.zeros((2, groups, full + 1), np.int64)
    for step in range(1, steps + 1):
        count[:] = 0
        table[:] = 0
        last = step == steps
        for row in range(rows):
            for node in range(nodes):
                if mask[row, node]:
                    wait = max(0, steps + late - height[row, node] - step)
                    need = _only_hope(problem, row, node, label, mask)
                    place = 0 if last else wait * (degree + 1) + degree - min(need, degree)
                    rank[row, node] = place
                    count[group[node], place, mask[row, node]] += 1
                    table[0, group[node], mask[row, node]] += 1
                    table[1, group[node], mask[row, node]] += wait == 0 or last
        _sum_subsets(table, degree)
        loads[step] = _load(problem, table, waste, even, last)
        _choose(problem, count, loads[step], degree)
        left -= _mark(problem, step, count, label, mask, rank, chosen, state)
    return label, loads, left


@njit(cache=True, nogil=True)
def _pass_on(problem: Any, row: int, node: int, label: Any, mask: Any) -> None:
    """Offer a cell that has just got its label to the cells after it."""
    for edge in range(problem.start[node], problem.start[node + 1]):
        after = problem.head[edge]
        if label[row, after] == FAR:
            mask[row, after] |= 1 << problem.place[edge]


@njit(cache=True, nogil=True)
def _only_hope(problem: Any, row: int, node: int, label: Any, mask: Any) -> int:
    """Return how many cells after this one can come by no link yet."""
    hope = 0
    for edge in range(problem.start[node], problem.start[node + 1]):
        after = problem.head[edge]
        hope += label[row, after] == FAR and mask[row, after] == 0
    return hope


@njit(cache=True, nogil=True)
def _sum_subsets(table: Any, degree: int) -> None:
    """Turn counts by mask into counts of masks within every set."""
    for part in range(table.shape[0]):
        for one in range(table.shape[1]):
            for k in range(degree):
                for links in range(1 << degree):
                    if links >> k & 1:
                        table[part, one, links] += table[part, one, links ^ (1 << k)]


@njit(cache=True, nogil=True)
def _load(problem: Any, table: Any, waste: int, even: bool, last: bool) -> int:
    """Return the load of a step: what is forced, or if more what wastes little enough."""
    weight, kind, unit = problem.weight, problem.kind, problem.unit
    groups, full = len(kind), weight.shape[1] - 1
    forced = free = 0
    for one in range(groups):
        for links in range(1, full + 1):
            capacity = weight[kind[one], links]
            if capacity > 0 and table[1, one, links] > 0:
                forced = max(forced, -(-table[1, one, links] * unit // capacity))
        free = max(free, table[0, one, full] * unit // max(1, weight[kind[one], full]))
    if last:
        return forced
    low, high = 0, free
    while low < high:
        load = (low + high + 1) // 2
        lost = offered = 0
        for one in range(groups):
            most = 0
            for links in range(1, full + 1):
                able = table[0, one, full] - table[0, one, full ^ links]
                most = max(most, weight[kind[one], links] * load - unit * able)
            lost += most
            offered += weight[kind[one], full] * load
        if lost * _PER_MILLE <= waste * offered:
            low = load
        else:
            high = load - 1
    if even:
        low -= low % unit
    return max(forced, low)


@njit(cache=True, nogil=True)
def _choose(problem: Any, count: Any, load: int, degree: int) -> None:
    """Lower the counts of cells, by rank and mask, to those that come in the step."""
    full = (1 << degree) - 1
    room = np.empty(full + 1, np.int64)
    for one in range(count.shape[0]):
        for links in range(full + 1):
            room[links] = problem.weight[problem.kind[one], links] * load // problem.unit
        for place in range(count.shape[1]):
            for links in range(1, full + 1):
                fit = count[one, place, links]
                if fit == 0:
                    continue
                rest = full ^ links
                more = rest
                while True:
                    fit = min(fit, room[links | more])
                    if more == 0:
                        break
                    more = (more - 1) & rest
                count[one, place, links] = fit
                more = rest
                while fit > 0:
                    room[links | more] -= fit
                    if more == 0:
                        break
                    more = (more - 1) & rest


@njit(cache=True, nogil=True)
def _mark(
    problem: Any,
    step: int,
    count: Any,
    label: Any,
    mask: Any,
    rank: Any,
    chosen: Any,
    state: Any,
) -> int:
    """Give the label to the chosen counts of cells; return how many."""
    rows, nodes = label.shape
    group, total = problem.group, 0
    first = below(state, rows)
    shift = below(state, nodes)
    for number in range(rows):
        row = (first + number) % rows
        filled = 0
        for index in range(nodes):
            node = (index + shift + row) % nodes
            bits = mask[row, node]
            if bits and count[group[node], rank[row, node], bits] > 0:
                count[group[node], rank[row, node], bits] -= 1
                chosen[filled] = node
                filled += 1
        for index in range(filled):
            label[row, chosen[index]] = step
            mask[row, chosen[index]] = 0
        for index in range(filled):
            _pass_on(problem, row, chosen[index], label, mask)
        total += filled
    return total
