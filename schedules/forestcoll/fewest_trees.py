"""How few trees per root come close to the optimum.

Few trees mean large pieces and small programs.  The best rate of k trees per root is not
monotone in k: three may be worse than two.  So every k is tried in turn, but by one question
only, whether it is within the gap, and mostly by cuts already known to forbid smaller ones.
"""

from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from schedules.errors import TooLarge
from schedules.forestcoll.flow import arcs_of, scratch_for, shortfall
from schedules.forestcoll.network import Network
from schedules.forestcoll.optimality import Rate, data_inside, nearby_order, tree_capacities
from synth.progress import tell

__all__ = ["MOST_TREES_TRIED", "enough_trees", "fewest_trees"]

MOST_TREES_TRIED = 100_000
"""Limit on the numbers of trees per root that are tried one after another."""


def enough_trees(network: Network, best: Rate, max_gap: Fraction) -> int:
    """Return a number of trees per root that is surely within the gap.

    Notes
    -----
    The number of the best rate itself has no gap.  And let b be the least capacity.  At
    U = k/x + 1/b every arc e carries floor(U b_e) > U b_e - 1 >= k b_e / x trees, hence no
    cut lacks any (ForestColl, section 5.6 on fixed k).  So k trees per root take at most
    1 + x / (k b) times as long as the optimum, which is within the gap for k >= x / (gap b).

    Examples
    --------
    >>> from schedules.forestcoll.network import network_of
    >>> from schedules.forestcoll.optimality import best_rate
    >>> from synth.topology import Topology
    >>> pair = network_of(Topology(range(2), [(0, 1, 7), (1, 0, 5)]))
    >>> best = best_rate(pair)
    >>> best.trees_per_root, enough_trees(pair, best, Fraction(1, 2))
    (5, 2)
    """
    if not max_gap:
        return best.trees_per_root
    bound = ceil(1 / (best.inverse * max_gap * int(network.capacity.min())))
    return min(best.trees_per_root, bound)


def fewest_trees(network: Network, best: Rate, max_gap: Fraction) -> int:
    """Return the least k whose best rate takes at most 1 + max_gap times as long as ``best``.

    Parameters
    ----------
    network : Network
    best : Rate
        Its `best_rate`.
    max_gap : Fraction
        Not negative.

    Raises
    ------
    TooLarge
        No k up to `MOST_TREES_TRIED` is within the gap.

    Notes
    -----
    k trees per root are within the gap iff they fit at U = (1 + max_gap) k / x, since a
    larger U leaves no arc less room.  A cut that forbids some k is asked first for the later
    ones; only a k that all of these allow costs flows, as many as there are ranks.
    Some k up to `enough_trees` is found.
    """
    arcs = arcs_of(network.node_count, network.tail, network.head)
    scratch = scratch_for(network.node_count)
    flow, supply = np.zeros(len(network.tail), np.int64), np.zeros(network.node_count, np.int64)
    terminals = nearby_order(arcs, network.terminals)
    exits = np.zeros((0, len(network.tail)), np.bool_)
    needs = np.zeros(0, np.int64)
    shares = network.sizes
    enough = enough_trees(network, best, max_gap)
    for trees in range(1, min(enough, MOST_TREES_TRIED) + 1):
        tell("trying numbers of trees", trees - 1, min(enough, MOST_TREES_TRIED))
        room = tree_capacities(network, best.inverse * (1 + max_gap) * trees, trees)
        if (exits @ room < needs * trees).any():
            continue
        _, missing = shortfall(arcs, room, terminals, 0, trees * shares, flow, supply, scratch)
        if not missing:
            return trees
        leaving, inside = _cut(network, scratch.level[: network.node_count] < 0)
        exits, needs = np.vstack([exits, leaving]), np.append(needs, inside)
    raise TooLarge(
        "max_gap",
        f"needs more than {MOST_TREES_TRIED} trees per root, and no more are tried;"
        f" {enough} are enough",
    )


def _cut(network: Network, inside: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """Return the arcs that leave a cut, and the size of the shards that begin inside."""
    return inside[network.tail] & ~inside[network.head], data_inside(network, inside)
