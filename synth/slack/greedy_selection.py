"""Choice of the cells of one step of a greedy slack schedule, node by node and group by group.

The cells that could arrive at a node are listed and counted by mask.  Where not all fit within the
load, they are ranked and chosen by rank and mask: cells of one rank and mask are alike.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FAR = 127
"""Placeholder for a cell without an arrival step, larger than every step."""

_BLOCK = np.uint64(64)


class Able(NamedTuple):
    """The cells that could arrive in a step, and their priority, by node."""

    filled: NDArray[np.int64]
    """(N,): number of cells."""
    row: NDArray[np.uint16]
    """(N, R): their root indices; `MAX_CELLS` allows 2^16 of them."""
    rank: NDArray[np.int16]
    """(N, R): their priorities, urgent first."""


@njit(cache=True, nogil=True)
def list_cells(able: Any, node: int, first: int, mask: Any) -> None:
    """List the cells at a node that could arrive, starting at root ``first`` cyclically."""
    here, listed = mask[node], able.row[node]
    rows = np.uint64(len(here))
    filled = np.uint64(0)
    for begin, end in ((np.uint64(first), rows), (np.uint64(0), np.uint64(first))):
        low = begin
        while low < end:
            high = min(low + _BLOCK, end)
            some = np.uint8(0)
            for row in range(low, high):
                some |= here[row]
            # Most blocks of an early step are empty.
            if some:
                # Branchless: the branch would be mispredicted half the time.
                for row in range(low, high):
                    listed[filled] = row
                    filled += np.uint64(here[row] != 0)
            low = high
    able.filled[node] = filled


@njit(cache=True, nogil=True)
def tally(able: Any, node: int, until: int, height: Any, mask: Any, table: Any) -> None:
    """Count all cells and urgent cells at a node by mask.

    ``until`` is the number of steps left for heights above a cell, -1 in the last step.
    """
    high, here, rows = height[node], mask[node], able.row[node]
    every, urgent = table[0], table[1]
    for index in range(np.uint64(able.filled[node])):
        row = np.uint64(rows[index])
        links = np.uint64(here[row])
        every[links] += 1
        urgent[links] += high[row] >= until


@njit(cache=True, nogil=True)
def clear_counts(count: Any) -> None:
    """Set the counts by rank and mask to 0; entry 0 of a rank says whether it has any."""
    for place in range(len(count)):
        if count[place, 0]:
            count[place] = 0


@njit(cache=True, nogil=True)
def rank_cells(
    able: Any, node: int, until: int, height: Any, need: Any, degree: int, mask: Any, count: Any
) -> None:
    """Rank the cells at a node, urgent first, and count them by rank and mask.

    ``until`` as for `tally`; ``count`` as for `clear_counts`.
    """
    high, here = height[node], mask[node]
    rows, ranks = able.row[node], able.rank[node]
    for index in range(np.uint64(able.filled[node])):
        row = np.uint64(rows[index])
        wait = max(0, until - high[row])
        rank = 0 if until < 0 else wait * (degree + 1) + degree - min(need[row], degree)
        ranks[index] = rank
        place = np.uint64(rank)
        count[place, np.uint64(here[row])] += 1
        count[place, np.uint64(0)] = 1


@njit(cache=True, nogil=True)
def all_fit(problem: Any, g: int, every: Any, load: int) -> bool:
    """Return whether all cells of a group, counted by sets of links, fit within a load."""
    for links in range(1, len(every)):
        if every[links] > problem.weight[problem.kind[g], links] * load // problem.unit:
            return False
    return True


@njit(cache=True, nogil=True)
def mark_all(able: Any, node: int, step: int, arrival: Any, mask: Any) -> int:
    """Assign the step to all cells at a node, and return their number."""
    here, rows, arrivals = mask[node], able.row[node], arrival[node]
    for index in range(np.uint64(able.filled[node])):
        row = np.uint64(rows[index])
        arrivals[row], here[row] = step, 0
    return able.filled[node]


@njit(cache=True, nogil=True)
def sum_subsets(table: Any, degree: int) -> None:
    """Replace counts by mask with counts of masks within every link set."""
    for part in range(table.shape[0]):
        for g in range(table.shape[1]):
            sums = table[part, g]
            for k in range(degree):
                bit = 1 << k
                for low in range(0, 1 << degree, 2 * bit):
                    for links in range(low, low + bit):
                        sums[links + bit] += sums[links]


@njit(cache=True, nogil=True)
def choose_cells(problem: Any, g: int, count: Any, load: int) -> None:
    """Reduce the counts of a group's cells, by rank and mask, to those that arrive in the step."""
    none, first = np.uint64(0), np.uint64(1)
    full = np.uint64(count.shape[1] - 1)
    room = np.empty(full + first, np.int64)
    for links in range(full + first):
        room[links] = problem.weight[problem.kind[g], links] * load // problem.unit
    for place in range(np.uint64(len(count))):
        for links in range(first, full + first if count[place, none] else none):
            fit = np.int64(count[place, links])
            if fit == 0:
                continue
            rest = np.uint64(full ^ links)
            more = rest
            # Often these links have no room left: then nothing fits.
            while fit > 0:
                fit = min(fit, room[links | more])
                if more == none:
                    break
                more = (more - first) & rest
            count[place, links] = fit
            more = rest
            while fit > 0:
                room[links | more] -= fit
                if more == none:
                    break
                more = (more - first) & rest


@njit(cache=True, nogil=True)
def mark_chosen(able: Any, node: int, step: int, count: Any, arrival: Any, mask: Any) -> int:
    """Assign the step to the chosen counts of the cells at a node; return their number."""
    total = 0
    here, rows, ranks, arrivals = mask[node], able.row[node], able.rank[node], arrival[node]
    for index in range(np.uint64(able.filled[node])):
        row, place = np.uint64(rows[index]), np.uint64(ranks[index])
        links = np.uint64(here[row])
        # Branchless: the branch would be mispredicted often.
        come = count[place, links] > 0
        count[place, links] -= come
        arrivals[row] = step if come else FAR
        here[row] = np.uint64(0) if come else links
        total += come
    return total
