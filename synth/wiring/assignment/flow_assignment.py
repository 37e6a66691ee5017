"""Assign links to channels of plants of any shape: one flow per channel.

Links of one channel form a bipartite graph with lower and upper bounds on the links of each node.
Such graphs are the integer points of a flow polytope, and a linear program finds its vertices.  A
channel first takes the links that it joins today, as far as later channels have room for the rest.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array, hstack, vstack

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring.assignment.demand import Choice, Demand, Ends, Integers


def share_out(demand: Demand, most: int) -> tuple[Choice, int] | None:
    """Return a choice that keeps many links where they are, and how many any choice keeps at most.

    For directed demands without shared channels.  None if no choice was found.

    Args:
        most: An upper bound of the links that stay.

    One linear program per channel, of at most 3 E variables for E linked pairs of nodes.  What a
    first channel does not take, a second one takes.  So with two channels the choice is the best,
    its kept links are the upper bound, and None means that there is no choice.

    Both links that are there stay only if one channel has both, but they are on two channels.

    >>> links, room = (np.array([0, 1, 0, 1]), np.array([2, 3, 3, 2])), np.ones((2, 4), np.int64)
    >>> today = Counter({(0, 2): 1}), Counter({(1, 3): 1})
    >>> demand = Demand(4, *links, room, room, (False, False), False, today)
    >>> choice, most = share_out(demand, demand.most_kept())
    >>> demand.most_kept(), demand.kept(choice), most
    (2, 1, 1)
    """
    counted = sorted(Counter(demand.links).items())
    keys = [ends for ends, _ in counted]
    total = np.array([count for _, count in counted], np.int64)
    joined = np.array([[today[ends] for ends in keys] for today in demand.joined], np.int64)
    on = _filled(demand, keys, total, joined)
    if on is None:
        return None
    choice = _choice(demand, keys, on)
    return choice, demand.kept(choice) if demand.channels <= 2 else most


def most_rewarding_amounts(
    most: Integers,
    kept: tuple[Integers, Integers],
    rows: Any,
    low: Integers,
    high: Integers,
) -> Integers | None:
    """Return whole amounts of the greatest reward; None if no amounts are within limits.

    Args:
        most: The greatest amounts.
        kept (two int arrays): The reward of an amount x is min(x, first) + min(most - x, second);
            neither exceeds most.
        rows: The rows of a network: the amounts of a vertex are whole numbers.
        low, high: Limits of ``rows @ x``.

    The reward is concave: of an amount a first piece is rewarded, a second one indifferent, and a
    third one costs a reward.
    """
    live = np.flatnonzero(most)
    amounts = np.zeros(len(most), np.int64)
    if len(live):
        here, there, whole = kept[0][live], kept[1][live], most[live]
        both = np.maximum(0, here + there - whole)
        middle = np.maximum(0, whole - here - there) + both
        pieces: Any = np.concatenate([here - both, middle, there - both])
        within: Any = hstack([rows[:, live]] * 3).tocsr(), low, high
        solved: Any = milp(
            np.repeat([-1.0, 0.0, 1.0], len(live)),
            bounds=Bounds(0, pieces),
            constraints=LinearConstraint(*within),
        )
        if solved.x is None:
            return None
        amounts[live] = np.round(solved.x).astype(np.int64).reshape(3, -1).sum(axis=0)
    sums = rows @ amounts
    return amounts if ((low <= sums) & (sums <= high)).all() else None


def incidence(size: int, nodes: Sequence[int] | Integers) -> Any:
    """Return a sparse matrix of a row for each node and a one in each column, at its node."""
    columns = np.arange(len(nodes))
    return csc_array((np.ones(len(nodes), np.int64), (nodes, columns)), shape=(size, len(nodes)))


def _filled(demand: Demand, keys: list[Ends], total: Integers, joined: Integers) -> Integers | None:
    """Return the links of every pair of nodes by channel, filled in order; None if they fail."""
    rows = vstack([incidence(demand.size, side) for side in zip(*keys, strict=True)]).tocsc()
    room = np.concatenate([demand.sending, demand.receiving], axis=1)
    left, on = total.copy(), np.zeros_like(joined)
    for channel in range(demand.channels):
        report_progress("filling panels", channel, demand.channels)
        later = list(range(channel + 1, demand.channels))
        # Links of a node that exceed its sites on later channels must be placed now.
        low = np.maximum(0, rows @ left - room[later].sum(axis=0))
        kept = np.minimum(left, joined[channel]), np.minimum(left, joined[later].sum(axis=0))
        found = most_rewarding_amounts(left, kept, rows, low, room[channel])
        if found is None:
            return None
        on[channel] = found
        left = left - found
    return None if left.any() else on


def _choice(demand: Demand, keys: list[Ends], on: Integers) -> Choice:
    panels = np.arange(len(on))
    given = {key: np.repeat(panels, on[:, k]).tolist() for k, key in enumerate(keys)}
    return Choice.straight(np.array([given[ends].pop(0) for ends in demand.links], np.int64))
