"""The linear program of OptCCL for collectives in steps, implemented from its description.

Shapley, Agarwal, Shmoys: "OptCCL", SIGCOMM 2026 (DOI 10.1145/3789240.3829207): a multicommodity
flow over the time-expanded network, in which nodes keep and copy what they have, for any number of
collectives at once.  Its program needs a commercial solver; here HiGHS solves the same model,
without its column generation, so on small fabrics only.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix


class Demand(NamedTuple):
    """An amount of data that goes from a root to members, copied on the way.

    ``inward``: from the members to the root instead, added on the way.
    """

    root: int
    members: frozenset[int]
    size: Fraction = Fraction(1)
    inward: bool = False


def gathered(nodes: int) -> list[Demand]:
    """Return an allgather of shards of size 1."""
    return [Demand(root, frozenset(range(nodes)) - {root}) for root in range(nodes)]


def scattered(nodes: int) -> list[Demand]:
    """Return a reduce-scatter to shards of size 1."""
    return [one._replace(inward=True) for one in gathered(nodes)]


def exchanged(nodes: int) -> list[Demand]:
    """Return an all-to-all in which every host sends a shard, an N-th of it to each host."""
    block = Fraction(1, nodes)
    return [
        Demand(root, frozenset({member}), block)
        for root in range(nodes)
        for member in range(nodes)
        if member != root
    ]


def least_rounds(
    nodes: int,
    links: Mapping[tuple[int, int], Fraction],
    steps: int,
    demands: Sequence[Demand] | None = None,
) -> float | None:
    """Return the least total length of ``steps`` steps; None if they are too few.

    The length of a step is the most shards that a link of capacity 1 carries in it; parts of shards
    count as fractions.  Without ``demands`` it is an allgather.

    Variables.  y[k, e, t]: amount of demand k on link e in step t; f[k, v, e, t]: the part of it
    for member v, at most y; u[t]: the length of step t.  Data that leaves a node for v by the end
    of a step must have arrived before the step.  An inward demand is the same backwards, in time
    and over the links.  (sum of members + demands) E S + S variables for E links, S steps.

    >>> ring = {(at, (at + 1) % 3): Fraction(1) for at in range(3)}
    >>> round(least_rounds(3, ring, 2), 6), least_rounds(3, ring, 1)
    (2.0, None)
    >>> round(least_rounds(3, ring, 2, [*gathered(3), *scattered(3), *exchanged(3)]), 6)
    5.0
    """
    demands = gathered(nodes) if demands is None else demands
    slots = len(links) * steps
    flows = [(at, member) for at, one in enumerate(demands) for member in sorted(one.members)]
    many = len(flows) * slots
    total = many + len(demands) * slots + steps
    rows = _Rows()
    for number, (at, member) in enumerate(flows):
        for slot in range(slots):
            rows.add({number * slots + slot: 1, many + at * slots + slot: -1}, 0)
        inward = demands[at].inward
        ends = [(far, near) if inward else (near, far) for near, far in links]
        for kept in _kept(ends, nodes, steps, demands[at].root):
            rows.add({number * slots + slot: value for slot, value in kept.items()}, 0)
        arrived = {
            number * slots + link * steps + when: 1.0 if near == member else -1.0
            for link, (near, far) in enumerate(ends)
            for when in range(steps)
            if member in (near, far)
        }
        rows.add(arrived, -float(demands[at].size))
    for link, pair in enumerate(links):
        for step in range(steps):
            load = {
                many + at * slots + link * steps + (steps - 1 - step if one.inward else step): 1.0
                for at, one in enumerate(demands)
            }
            rows.add(load | {total - steps + step: -float(links[pair])}, 0)
    costs = np.zeros(total)
    costs[total - steps :] = 1
    solved = linprog(costs, A_ub=rows.matrix(total), b_ub=rows.bounds, method="highs")
    return float(solved.fun) if solved.status == 0 else None


def _kept(
    ends: Sequence[tuple[int, int]], nodes: int, steps: int, root: int
) -> Iterator[dict[int, float]]:
    """Yield, by node and step, the outflow by its end less the earlier inflow, by slot."""
    for node in set(range(nodes)) - {root}:
        for step in range(steps):
            entries: dict[int, float] = {}
            for link, (near, far) in enumerate(ends):
                for when in range(step + 1):
                    if near == node:
                        entries[link * steps + when] = 1
                    elif far == node and when < step:
                        entries[link * steps + when] = -1
            yield entries


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
