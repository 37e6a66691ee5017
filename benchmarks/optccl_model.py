"""The linear program of OptCCL for an allgather in steps, written from its description.

Shapley, Agarwal, Shmoys: "OptCCL", SIGCOMM 2026 (DOI 10.1145/3789240.3829207): a multicommodity
flow over the time-expanded network, in which nodes keep and copy what they have.  Its program
needs a commercial solver; here HiGHS solves the same model, without its column generation, so on
small fabrics only.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

__all__ = ["least_rounds"]


def least_rounds(nodes: int, links: Mapping[tuple[int, int], Fraction], steps: int) -> float | None:
    """Return the least total length of so many steps of an allgather; None if they are too few.

    A step is as long as the most shards that a link of capacity 1 carries in it; parts of shards
    count as such.

    Variables.  y[s, e, t]: how much of the shard of s crosses link e in step t; f[s, v, e, t]: how
    much of that is on the way to v, at most y; u[t], the length of step t.  What left a node for v
    by the end of a step must have come to it before.  N (N - 1) E S + N E S + S variables for N
    nodes, E links, S steps.

    >>> ring = {(at, (at + 1) % 3): Fraction(1) for at in range(3)}
    >>> round(least_rounds(3, ring, 2), 6), least_rounds(3, ring, 1)
    (2.0, None)
    """
    ends, slots = list(links), len(links) * steps
    pairs = [(s, v) for s in range(nodes) for v in range(nodes) if s != v]
    many = len(pairs) * slots
    total = many + nodes * slots + steps
    rows = _Rows()
    for at, (source, target) in enumerate(pairs):
        for slot in range(slots):
            rows.add({at * slots + slot: 1, many + source * slots + slot: -1}, 0)
        for node in range(nodes):
            if node == source:
                continue
            for step in range(steps):
                # Left by the end of a step, less what came before it.
                entries: dict[int, float] = {}
                for link, (near, far) in enumerate(ends):
                    first = at * slots + link * steps
                    for when in range(step + 1):
                        if near == node:
                            entries[first + when] = 1
                        elif far == node and when < step:
                            entries[first + when] = -1
                rows.add(entries, 0)
        arrived: dict[int, float] = {}
        for link, (near, far) in enumerate(ends):
            for when in range(steps):
                if target in (near, far):
                    arrived[at * slots + link * steps + when] = 1 if near == target else -1
        rows.add(arrived, -1)
    for link, pair in enumerate(ends):
        for step in range(steps):
            load = {many + s * slots + link * steps + step: 1.0 for s in range(nodes)}
            rows.add(load | {total - steps + step: -float(links[pair])}, 0)
    costs = np.zeros(total)
    costs[total - steps :] = 1
    solved = linprog(costs, A_ub=rows.matrix(total), b_ub=rows.bounds, method="highs")
    return float(solved.fun) if solved.status == 0 else None


class _Rows:
    """Rows of a sparse matrix, each at most a bound."""

    def __init__(self) -> None:
        self.at: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.bounds: list[float] = []

    def add(self, entries: Mapping[int, float], bound: float) -> None:
        self.at += [len(self.bounds)] * len(entries)
        self.columns += entries
        self.values += entries.values()
        self.bounds.append(bound)

    def matrix(self, columns: int) -> coo_matrix:
        return coo_matrix((self.values, (self.at, self.columns)), (len(self.bounds), columns))
