"""Spanning arborescences of least cost, in a dense matrix of costs.

References:
    Edmonds, "Optimum branchings", 1967: every node takes its cheapest arc; cycles are contracted.
"""

import numpy as np
from numpy.typing import NDArray

FORBIDDEN = 1 << 61
"""The cost of an arc that no arborescence uses."""

Ints = NDArray[np.int64]


def least_arborescence(cost: Ints, root: int) -> Ints:
    """Return the parent of every node in an arborescence of least cost; the root is its own.

    Args:
        cost (int64 array, shape (nodes, nodes)): ``cost[u, v]`` from 0 to `FORBIDDEN`, of the arc
            from u to v; the diagonal is ignored.

    O(nodes^2) for each round of contractions.

    >>> least_arborescence(np.array([[0, 5, 9], [9, 0, 1], [9, 1, 0]]), 0).tolist()
    [0, 0, 1]
    """
    nodes = len(cost)
    cost = cost.copy()
    np.fill_diagonal(cost, FORBIDDEN)
    into = cost.argmin(axis=0)
    into[root] = root
    far, label = into, np.arange(nodes)
    for _ in range(nodes.bit_length()):
        label = np.minimum(label, label[far])
        far = far[far]
    on_cycle = np.zeros(nodes, np.bool_)
    on_cycle[far] = True
    on_cycle[root] = False
    if not on_cycle.any():
        return into
    # Cycles become one node each: the least position on it.
    part = np.where(on_cycle, label, np.arange(nodes))
    kept = np.unique(part)
    number = np.searchsorted(kept, part)
    lower = cost - cost[into, np.arange(nodes)]
    rows, tails = _contracted(lower, number, len(kept))
    small, heads = _contracted(rows.T, number, len(kept))
    small, heads = small.T, heads.T
    parent = least_arborescence(small, int(number[root]))
    found = into
    for head in range(len(kept)):
        if head != number[root]:
            node = heads[parent[head], head]
            found[node] = tails[parent[head], node]
    return found


def _contracted(values: Ints, number: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the least of the rows with each number, and from which row it is."""
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(count))
    least = np.minimum.reduceat(values[order], starts, axis=0)
    which = np.broadcast_to(order[starts][:, None], least.shape).copy()
    sizes = np.diff(np.append(starts, len(order)))
    for at in np.flatnonzero(sizes > 1).tolist():
        members = order[starts[at] : starts[at] + sizes[at]]
        which[at] = members[values[members].argmin(axis=0)]
    return least, which
