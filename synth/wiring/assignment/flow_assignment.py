"""Assign links to channels of plants of any shape: one flow per channel.

Links of one channel form a bipartite graph with lower and upper bounds on the links of each node.
Such graphs are the integer points of a flow polytope, and a linear program finds its vertices.  A
channel first takes the links that it joins today, as far as later channels have room for the rest.
"""

import random
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, vstack

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.demand import Choice, Demand, Integers


class _Amounts:
    """Number of links of each pair of nodes on each channel."""

    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        counted = sorted(Counter(demand.links).items())
        self.keys = [ends for ends, _ in counted]
        self.total = np.array([count for _, count in counted], np.int64)
        ends = np.array(self.keys, np.int64).reshape(-1, 2)
        self.u, self.v = ends[:, 0], ends[:, 1]
        self.joined = np.array(
            [[joined[key] for key in self.keys] for joined in demand.joined], np.int64
        ).reshape(-1, len(self.keys))
        self.on = np.zeros((demand.channels, len(self.keys)), np.int64)

    def at_nodes(self, amounts: Integers) -> tuple[Integers, Integers]:
        size = self.demand.size
        out = np.bincount(self.u, weights=amounts, minlength=size).astype(np.int64)
        into = np.bincount(self.v, weights=amounts, minlength=size).astype(np.int64)
        return out, into

    def split(
        self,
        most: Integers,
        kept: Integers,
        lost: Integers,
        out: tuple[Integers, Integers],
        into: tuple[Integers, Integers],
    ) -> Integers | None:
        """Return amounts x <= most whose sums at nodes are within limits, of most reward.

        The reward of x is min(x, kept) + min(most - x, lost); None if there is no x.
        """
        live = np.flatnonzero(most)
        count = len(live)
        if not count:
            nothing = np.zeros(len(most), np.int64)
            return None if (out[0] > 0).any() or (into[0] > 0).any() else nothing
        # x = y + z + w: y is rewarded, z is indifferent, w costs a reward elsewhere.
        overlap = np.maximum(0, kept + lost - most)[live]
        sizes = [
            kept[live] - np.minimum(overlap, kept[live]),
            np.maximum(0, (most - kept - lost)[live]) + overlap,
            lost[live] - np.minimum(overlap, lost[live]),
        ]
        cost = np.repeat([-1.0, 0.0, 1.0], count)
        column = np.tile(live, 3)
        size = self.demand.size
        shape = (size, 3 * count)
        ones, where = np.ones(3 * count), np.arange(3 * count)
        rows = [coo_array((ones, (ends[column], where)), shape=shape) for ends in (self.u, self.v)]
        most_of: Any = np.concatenate(sizes).astype(float)
        low: Any = np.concatenate([out[0], into[0]]).astype(float)
        high: Any = np.concatenate([out[1], into[1]]).astype(float)
        result: Any = milp(
            cost,
            integrality=np.zeros(3 * count),
            bounds=Bounds(0, most_of),
            constraints=LinearConstraint(vstack(rows).tocsr(), low, high),
        )
        if result.x is None:
            return None
        parts = np.round(result.x).astype(np.int64).reshape(3, count)
        amounts = np.zeros(len(most), np.int64)
        amounts[live] = parts.sum(axis=0)
        sums = self.at_nodes(amounts)
        for (low, high), total in zip((out, into), sums, strict=True):
            if (total < low).any() or (total > high).any():
                return None
        return amounts


def share_out(demand: Demand) -> Choice | None:
    """Return a choice that keeps many links where they are; None if none was found.

    For directed demands without shared channels.  With at most two channels it is the best
    choice, and None means that there is none.

    Notes
    -----
    One linear program per channel, of at most 3 E variables for E linked pairs of nodes.
    """
    amounts = _Amounts(demand)
    return _choice(amounts) if fill(amounts) else None


def fill(amounts: _Amounts) -> bool:
    """Put all links on channels, one channel after the other; try several orders."""
    channels = range(amounts.demand.channels)
    orders = [tuple(channels), tuple(reversed(channels))]
    if len(channels) <= 4:
        orders += [order for order in permutations(channels) if order not in orders]
    draw = random.Random(0)
    while len(channels) > 4 and len(orders) < limits.MAX_FILL_ORDERS:
        orders.append(tuple(draw.sample(channels, len(channels))))
    return any(_fill_in(amounts, order) for order in orders[: limits.MAX_FILL_ORDERS])


def _fill_in(amounts: _Amounts, order: tuple[int, ...]) -> bool:
    demand = amounts.demand
    left = amounts.total.copy()
    amounts.on[:] = 0
    for step, channel in enumerate(order):
        report_progress("filling panels", step, len(order))
        later = list(order[step + 1 :])
        out, into = amounts.at_nodes(left)
        # Links of a node that exceed its sites on later channels must be placed now.
        low_out = np.maximum(0, out - demand.sending[later].sum(axis=0))
        low_in = np.maximum(0, into - demand.receiving[later].sum(axis=0))
        kept = np.minimum(left, amounts.joined[channel])
        lost = np.minimum(left, amounts.joined[later].sum(axis=0))
        found = amounts.split(
            left,
            kept,
            lost,
            (low_out, demand.sending[channel]),
            (low_in, demand.receiving[channel]),
        )
        if found is None:
            return False
        amounts.on[channel] = found
        left = left - found
    return not left.any()


def _choice(amounts: _Amounts) -> Choice:
    given = {
        key: np.repeat(np.arange(len(amounts.on)), amounts.on[:, k]).tolist()
        for k, key in enumerate(amounts.keys)
    }
    return Choice.straight(
        np.array([given[ends].pop(0) for ends in amounts.demand.links], np.int64)
    )
