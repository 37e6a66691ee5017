"""A cheap cyclic order of ranks: a heuristic for the asymmetric traveling salesman problem.

First the cheapest cover by cycles, an assignment problem; then cycles are merged by exchanges of
two links; then segments are moved and reversed while that helps.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

SEGMENTS = (1, 2, 3, 4, 8)
"""Lengths of the segments that are moved."""

NO_LINK = 1e6
"""Cost of a pair without a path."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def cheap_order(cost: Floats) -> list[int] | None:
    """Return a cheap cyclic order, or None if the search finds none without a missing pair.

    Args:
        cost ((N, N) array): Cost from each rank to each other, `NO_LINK` for pairs without a path.
            Its diagonal is overwritten.

    >>> cost = np.full((4, 4), NO_LINK)
    >>> for rank in range(4):
    ...     cost[rank, (rank + 3) % 4] = 1
    >>> cheap_order(cost)
    [0, 3, 2, 1]
    """
    np.fill_diagonal(cost, 2 * NO_LINK)
    _, after = linear_sum_assignment(cost)
    order = _improved(cost, _merged(cost, after))
    if cost[order, np.roll(order, -1)].max() >= NO_LINK:
        return None
    return order.tolist()


def _merged(cost: Floats, after: Ints) -> Ints:
    """Merge the cycles of a permutation, two at a time, by the cheapest exchange of two links."""
    count = len(after)
    cycle = np.full(count, -1)
    for start in range(count):
        node = start
        while cycle[node] < 0:
            cycle[node], node = start, after[node]
    while (cycle != cycle[0]).any():
        now = cost[np.arange(count), after]
        crossed = cost[:, after]
        change = crossed + crossed.T - now[:, None] - now[None, :]
        change[cycle[:, None] == cycle[None, :]] = np.inf
        one, other = np.unravel_index(np.argmin(change), change.shape)
        after[one], after[other] = after[other], after[one]
        cycle[cycle == cycle[other]] = cycle[one]
    order = [0]
    while after[order[-1]] != 0:
        order.append(int(after[order[-1]]))
    return np.array(order)


def _improved(cost: Floats, order: Ints) -> Ints:
    """Move and reverse segments until no such change helps."""
    better = True
    while better:
        order, better = _reversed(cost, order)
        for length in SEGMENTS:
            for start in range(len(order) if length + 2 <= len(order) else 0):
                turned = np.roll(order, -start)
                segment, rest = turned[:length], turned[length:]
                first, last = segment[0], segment[-1]
                joined = cost[rest[-1], rest[0]]
                gain = cost[rest[-1], first] + cost[last, rest[0]] - joined
                added = cost[rest[:-1], first] + cost[last, rest[1:]] - cost[rest[:-1], rest[1:]]
                place = int(np.argmin(added))
                if added[place] < gain - 1e-9:
                    order = np.concatenate([rest[: place + 1], segment, rest[place + 1 :]])
                    better = True
    return order


def _reversed(cost: Floats, order: Ints) -> tuple[Ints, bool]:
    """Reverse the segment whose reversal saves most, until none does."""
    better = False
    while True:
        after = np.roll(order, -1)
        forth = np.concatenate([[0], np.cumsum(cost[order, after])])
        back = np.concatenate([[0], np.cumsum(cost[after, order])])
        # The segment after place i up to place j: entered at its end, left at its beginning.
        change = cost[np.ix_(order, order)] + cost[np.ix_(after, after)]
        change += back[None, :-1] - back[1:, None] - forth[None, 1:] + forth[:-1, None]
        change[np.tril_indices(len(order), 1)] = np.inf
        i, j = np.unravel_index(np.argmin(change), change.shape)
        if change[i, j] >= -1e-9:
            return order, better
        order = np.concatenate([order[: i + 1], order[i + 1 : j + 1][::-1], order[j + 1 :]])
        better = True
