"""How few trees per root come close to the optimum, or reach it.

Few trees mean large pieces and small programs.  The best rate of k trees per root is not
monotone in k: three may be worse than two.  So every k is tried in turn, but by one question
only, whether it is within the gap, and mostly by cuts already known to forbid smaller ones.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees.flow.max_flow import arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import (
    Rate,
    data_inside,
    nearby_order,
    tree_capacities,
)
from topoloom.schedules.trees.rates.balanced_capacities import can_be_trimmed, excess
from topoloom.synth.progress import tell

MOST_TREES_TRIED = 100_000
"""Limit on the numbers of trees per root that are tried one after another."""

MOST_LOOKS = 1 << 28
"""Limit on arcs looked at for the least number that reaches the optimum: about a second."""


class LeastTrees(NamedTuple):
    """A number of trees that reaches the optimum; ``proven`` if cuts forbid every smaller one."""

    trees: int
    proven: bool


def least_trees(network: Network, best: Rate) -> LeastTrees:
    """Return the least number of trees per root that reaches the best rate.

    Parameters
    ----------
    network : Network
        Nodes that only forward let out no more than they take in, or can be trimmed so
        (`balance`).
    best : Rate
        Its `best_rate`.

    Returns
    -------
    LeastTrees
        Not proven where a smaller number passed every cut, but switches would have to copy, or
        more than `MOST_LOOKS` arcs would be looked at.

    Notes
    -----
    At the best rate a cut that proves it is full, and so each of its arcs must carry whole
    trees: with U = k p / q and g the common factor of their capacities, k p g / q is
    whole, and k a multiple of q / gcd(q, g).  Only such numbers are tried.  q itself fills every
    arc, and always does.

    Examples
    --------
    The way back is the bottleneck; the way there need not be full:

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.schedules.trees.flow.optimality import best_rate
    >>> from topoloom.synth.topology.topology import Topology
    >>> pair = network_of(Topology(range(2), [(0, 1, 7), (1, 0, 5)]))
    >>> best = best_rate(pair)
    >>> best.trees_per_root, least_trees(pair, best)
    (5, LeastTrees(trees=1, proven=True))
    """
    enough, proven = best.trees_per_root, True
    trials = _Trials(network)
    for trees in range(_step(network, best), enough, _step(network, best)):
        tell("trying numbers of trees", trees, enough)
        if trials.looks > MOST_LOOKS:
            return LeastTrees(enough, proven=False)
        rate = Rate(best.inverse * trees, trees, best.inside)
        if trials.forbid(rate):
            continue
        if _can_be_packed(network, rate):
            return LeastTrees(trees, proven)
        proven = False
    return LeastTrees(enough, proven)


def is_least(network: Network, best: Rate) -> bool:
    """Return whether the cut of a best rate alone forbids fewer trees than it has."""
    return _step(network, best) == best.trees_per_root


def _step(network: Network, best: Rate) -> int:
    """Return what the number of trees is a multiple of, by the cut that proves the rate."""
    leaving, _ = _cut(network, best.inside)
    common = int(np.gcd.reduce(network.capacity[leaving]))
    return best.trees_per_root // gcd(best.trees_per_root, common)


def _can_be_packed(network: Network, rate: Rate) -> bool:
    """Return whether trees that no cut forbids can be packed for sure."""
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    if not excess(replace(network, capacity=room)):
        return True
    work = len(network.terminals) * len(network.tail) ** 2
    return work <= MOST_LOOKS and can_be_trimmed(network, rate)


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
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.schedules.trees.flow.optimality import best_rate
    >>> from topoloom.synth.topology.topology import Topology
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
    trials = _Trials(network)
    enough = enough_trees(network, best, max_gap)
    for trees in range(1, min(enough, MOST_TREES_TRIED) + 1):
        tell("trying numbers of trees", trees - 1, min(enough, MOST_TREES_TRIED))
        if not trials.forbid(Rate(best.inverse * (1 + max_gap) * trees, trees, best.inside)):
            return trees
    raise TooLarge(
        "max_gap",
        f"needs more than {MOST_TREES_TRIED} trees per root, and no more are tried;"
        f" {enough} are enough",
    )


class _Trials:
    """Asks whether cuts forbid a rate, those first that have forbidden one before.

    ``looks`` counts the arcs looked at, as if a flow looked at every arc for every rank.
    """

    def __init__(self, network: Network) -> None:
        self.network, self.looks = network, 0
        self._arcs = arcs_of(network.node_count, network.tail, network.head)
        self._terminals = nearby_order(self._arcs, network.terminals)
        self._exits = np.zeros((0, len(network.tail)), np.bool_)
        self._needs = np.zeros(0, np.int64)

    def forbid(self, rate: Rate) -> bool:
        """Return whether some cut lets out too few trees, and remember it."""
        network, trees = self.network, rate.trees_per_root
        room = tree_capacities(network, rate.scale, trees)
        self.looks += (len(self._needs) + 1) * len(room)
        if (self._exits @ room < self._needs * trees).any():
            return True
        self.looks += len(self._terminals) * len(room)
        scratch = scratch_for(network.node_count)
        flow, supply = np.zeros_like(room), np.zeros(network.node_count, np.int64)
        _, missing = shortfall(
            self._arcs, room, self._terminals, 0, trees * network.sizes, flow, supply, scratch
        )
        if not missing:
            return False
        leaving, inside = _cut(network, scratch.level[: network.node_count] < 0)
        self._exits, self._needs = (
            np.vstack([self._exits, leaving]),
            np.append(self._needs, inside),
        )
        return True


def _cut(network: Network, inside: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """Return the arcs that leave a cut, and the size of the shards that begin inside."""
    return inside[network.tail] & ~inside[network.head], data_inside(network, inside)
