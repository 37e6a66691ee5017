"""The fewest trees per root that reach the optimum, or come within a gap of it.

Few trees mean large pieces and small programs.  The best rate of k trees per root is not monotone
in k: three may be worse than two.  Every k is therefore tried in turn, but only for feasibility
within the gap, and mostly by cuts that excluded smaller k.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil, gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import (
    Rate,
    data_inside,
    nearby_order,
    tree_capacities,
)
from topoloom.schedules.trees.rates.balanced_capacities import can_be_trimmed, excess
from topoloom.synth.progress import report_progress


class LeastTrees(NamedTuple):
    """A number of trees that reaches the optimum; ``proven`` if cuts exclude all smaller ones."""

    trees: int
    proven: bool


def least_trees(network: Network, best: Rate) -> LeastTrees:
    """Return the least number of trees per root that reaches the best rate.

    Args:
        network: Forwarding nodes send no more than they receive, or can be trimmed to this
            (`balanced_capacities`).
        best: Its `best_rate`.

    Returns:
        Not proved where a smaller number satisfies every cut but switches would have to copy, or
        where more than `limits.MAX_TREE_COUNT_VISITS` arc visits are needed.

    At the best rate a cut that proves it is saturated, so each of its arcs carries whole trees.
    With U = k p / q and g the common factor of their capacities, k p g / q is whole, and k is a
    multiple of q / gcd(q, g).  Only such numbers are tried.  q itself saturates every arc, and is
    always feasible.

    The arc back is the bottleneck; the arc there need not be saturated:

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
        report_progress("trying numbers of trees", trees, enough)
        if trials.looks > limits.MAX_TREE_COUNT_VISITS:
            return LeastTrees(enough, proven=False)
        rate = Rate(best.inverse * trees, trees, best.inside)
        if trials.forbid(rate):
            continue
        if _can_be_packed(network, rate):
            return LeastTrees(trees, proven)
        proven = False
    return LeastTrees(enough, proven)


def is_least(network: Network, best: Rate) -> bool:
    """Return whether the cut of a best rate alone excludes fewer trees than the rate has."""
    return _step(network, best) == best.trees_per_root


def _step(network: Network, best: Rate) -> int:
    """Return a divisor of the number of trees, by the cut that proves the rate."""
    leaving, _ = _cut(network, best.inside)
    common = int(np.gcd.reduce(network.capacity[leaving]))
    return best.trees_per_root // gcd(best.trees_per_root, common)


def _can_be_packed(network: Network, rate: Rate) -> bool:
    """Return whether trees that no cut excludes are packable for certain."""
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    if not excess(replace(network, capacity=room)):
        return True
    work = len(network.terminals) * len(network.tail) ** 2
    return work <= limits.MAX_TREE_COUNT_VISITS and can_be_trimmed(network, rate)


def enough_trees(network: Network, best: Rate, max_gap: Fraction) -> int:
    """Return a number of trees per root that is within the gap for certain.

    The number of the best rate itself has no gap.  Alternatively let b be the least capacity.  At U
    = k/x + 1/b every arc e carries floor(U b_e) > U b_e - 1 >= k b_e / x trees, hence no cut lacks
    any (ForestColl, section 5.6 on fixed k).  So k trees per root take at most 1 + x / (k b) times
    the optimal time, which is within the gap for k >= x / (gap b).

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
    """Return the least k whose best rate takes at most 1 + max_gap times the time of ``best``.

    Args:
        best: Its `best_rate`.
        max_gap: At least 0.

    Raises:
        TooLarge: No k up to `limits.MAX_TREES_TRIED` is within the gap.

    k trees per root are within the gap iff they fit at U = (1 + max_gap) k / x, since a larger U
    reduces no arc.  Later k are first checked against the cuts that excluded earlier k.  Only a k
    that satisfies all of these costs flows, one per rank.  Some k up to `enough_trees` succeeds.
    """
    trials = _Trials(network)
    enough = enough_trees(network, best, max_gap)
    for trees in range(1, min(enough, limits.MAX_TREES_TRIED) + 1):
        report_progress("trying numbers of trees", trees - 1, min(enough, limits.MAX_TREES_TRIED))
        if not trials.forbid(Rate(best.inverse * (1 + max_gap) * trees, trees, best.inside)):
            return trees
    raise TooLarge(
        "max_gap",
        f"needs more than {limits.MAX_TREES_TRIED} trees per root, the maximum; {enough} suffice",
    )


class _Trials:
    """Checks whether cuts exclude a rate, starting with cuts that excluded earlier rates.

    ``looks`` counts the arc visits, as if a flow visited every arc for every rank.
    """

    def __init__(self, network: Network) -> None:
        self.network, self.looks = network, 0
        self._arcs = arcs_of(network.node_count, network.tail, network.head)
        self._terminals = nearby_order(self._arcs, network.terminals)
        self._exits = np.zeros((0, len(network.tail)), np.bool_)
        self._needs = np.zeros(0, np.int64)

    def forbid(self, rate: Rate) -> bool:
        """Return whether some cut carries too few trees, and record it."""
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
    """Return the arcs that leave a cut, and the size of the shards that start inside."""
    return inside[network.tail] & ~inside[network.head], data_inside(network, inside)
