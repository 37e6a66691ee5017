"""Kernel that measures breadth-first broadcast for a range of destinations."""

from typing import Any

import numpy as np
from numba import njit

from topoloom.synth.evaluation.bfs_broadcast import towards
from topoloom.synth.evaluation.load_balance import better, heaviest
from topoloom.synth.kernels.scalars import int64

# Up to this degree a table of all link sets is faster than the flows of `heaviest`.
MAX_TABLE_DEGREE = 8
# Up to this degree a table counts equal masks; above, sorting does.
MAX_COUNTED_DEGREE = 16


@njit(cache=True, nogil=True)
def measure_range(
    links: Any,
    goals: Any,
    search: Any,
    memory: Any,
    masks: Any,
    counts: Any,
    table: Any,
    weight: Any,
    numerators: Any,
    denominators: Any,
) -> int:
    """Raise the largest load of every step to that of the destinations ``goals``.

    ``numerators[t] / denominators[t]`` is the largest load of step t so far, in shards per unit
    of capacity.  Returns the longest distance, or -1 if a node does not reach a destination.
    ``masks`` and ``counts`` have one entry per node.  ``table``, all zero, has 2 ** degree entries
    for the largest degree up to `MAX_COUNTED_DEGREE`, possibly of another node than the widest.
    ``weight`` has as many for degrees up to `MAX_TABLE_DEGREE`.
    """
    longest, weighed = 0, int64(-1)
    for goal in goals:
        steps = towards(links, goal, search)
        if search.level[steps + 1] < len(links.start) - 1:
            return -1
        longest = max(longest, steps)
        start = links.start[goal]
        degree = links.start[goal + 1] - start
        capacity = links.capacity[start : start + degree]
        small = degree <= MAX_TABLE_DEGREE
        if small and (weighed < 0 or not _same(links, goal, weighed)):
            _weigh(capacity, degree, weight)
            weighed = goal
        for step in range(1, steps + 1):
            low, high = search.level[step], search.level[step + 1]
            if small:
                top, bottom = _heaviest_by_table(search, low, high, degree, table, weight)
                if better(top, bottom, numerators[step], denominators[step]):
                    numerators[step], denominators[step] = top, bottom
                continue
            rows = _distinct(search, low, high, degree, masks, counts, table)
            numerators[step], denominators[step] = heaviest(
                masks,
                counts,
                rows,
                capacity,
                degree,
                numerators[step],
                denominators[step],
                memory,
            )
    return longest


@njit(cache=True, nogil=True)
def raise_loads(over: Any, under: Any, numerators: Any, denominators: Any) -> None:
    """Raise loads ``numerators / denominators`` to ``over / under`` where the latter is larger."""
    for step in range(len(over)):
        if better(over[step], under[step], numerators[step], denominators[step]):
            numerators[step], denominators[step] = over[step], under[step]


@njit(cache=True, nogil=True)
def _same(links: Any, node: int, other: int) -> bool:
    """Return whether the links into two nodes have the same capacities, in order."""
    start, begin = links.start[node], links.start[other]
    degree = links.start[node + 1] - start
    if links.start[other + 1] - begin != degree:
        return False
    for place in range(degree):
        if links.capacity[start + place] != links.capacity[begin + place]:
            return False
    return True


@njit(cache=True, nogil=True)
def _weigh(capacity: Any, degree: int, weight: Any) -> None:
    """Fill ``weight[S]`` with the capacity of every set S of links."""
    weight[0] = 0
    for link in range(degree):
        for rest in range(1 << link):
            weight[(1 << link) + rest] = weight[rest] + capacity[link]


@njit(cache=True, nogil=True)
def _heaviest_by_table(
    search: Any, low: int, high: int, degree: int, table: Any, weight: Any
) -> tuple[int, int]:
    """Return the largest load of any set of links, by subset sums.

    ``table`` must be all zero and is all zero afterwards.
    """
    size = 1 << degree
    for index in range(low, high):
        table[search.mask[search.order[index]]] += 1
    # table[S] counts the shards of mask S; sum over subsets, one link at a time.
    bit = 1
    while bit < size:
        for links in range(size):
            if links & bit:
                table[links] += table[links ^ bit]
        bit <<= 1
    top, bottom = int64(0), int64(1)
    for links in range(1, size):
        if better(table[links], weight[links], top, bottom):
            top, bottom = table[links], weight[links]
    table[:size] = 0
    return top, bottom


@njit(cache=True, nogil=True)
def _distinct(
    search: Any, low: int, high: int, degree: int, masks: Any, counts: Any, table: Any
) -> int:
    """List the distinct masks of a level, fewest links first, and count each.

    In this order `spread` places shards without a choice first.
    """
    rows = int64(0)
    if degree <= MAX_COUNTED_DEGREE:
        for index in range(low, high):
            mask = search.mask[search.order[index]]
            if table[mask] == 0:
                masks[rows] = mask
                rows += 1
            table[mask] += 1
        for row in range(rows):
            counts[row] = table[masks[row]]
            table[masks[row]] = 0
    else:
        level = np.empty(high - low, np.int64)
        for index in range(low, high):
            level[index - low] = search.mask[search.order[index]]
        level.sort()
        for index in range(len(level)):
            if index == 0 or level[index] != level[index - 1]:
                masks[rows] = level[index]
                counts[rows] = 0
                rows += 1
            counts[rows - 1] += 1
    _by_size(masks, counts, rows, degree)
    return rows


@njit(cache=True, nogil=True)
def _by_size(masks: Any, counts: Any, rows: int, degree: int) -> None:
    """Sort masks, with their counts, by number of links; stable."""
    place = np.zeros(degree + 2, np.int64)
    for row in range(rows):
        place[_bits(masks[row]) + 1] += 1
    for size in range(degree + 1):
        place[size + 1] += place[size]
    old_masks, old_counts = masks[:rows].copy(), counts[:rows].copy()
    for row in range(rows):
        size = _bits(old_masks[row])
        masks[place[size]] = old_masks[row]
        counts[place[size]] = old_counts[row]
        place[size] += 1


@njit(cache=True, nogil=True)
def _bits(mask: int) -> int:
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count
