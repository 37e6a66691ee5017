"""The fewest trees per root that reach the optimum, or come within a gap of it.

Few trees mean large pieces and small programs.  The best rate of k trees per root is not monotone
in k: three may be worse than two.  Every k is therefore tried in turn, but only for feasibility
within the gap, and mostly by cuts that excluded smaller k.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, gcd, inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.flow.network import Network, guard
from topoloom.schedules.trees.flow.optimality import (
    Rate,
    best_rate_for,
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
    trials, step = _Trials(network, limits.MAX_TREE_COUNT_VISITS), _step(network, best)
    numbers = range(step, enough, step)
    while (trees := trials.first_allowed(best.inverse, numbers)) is not None:
        if _can_be_packed(network, Rate(best.inverse * trees, trees, best.inside)):
            return LeastTrees(trees, proven)
        numbers, proven = range(trees + step, enough, step), False
    return LeastTrees(enough, proven and trials.looks <= limits.MAX_TREE_COUNT_VISITS)


def is_least(network: Network, best: Rate) -> bool:
    """Return whether the cut of a best rate alone excludes fewer trees than the rate has."""
    return _step(network, best) == best.trees_per_root


def _step(network: Network, best: Rate) -> int:
    """Return a divisor of the number of trees, by the cut that proves the rate."""
    leaving, _ = _cut(network, best.inside)
    common = int(np.gcd.reduce(network.capacity[leaving]))
    return best.trees_per_root // gcd(best.trees_per_root, common)


def _can_be_packed(network: Network, rate: Rate, unknown: bool = False) -> bool:
    """Return whether trees that no cut excludes are packable, ``unknown`` if that takes long."""
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    if not excess(replace(network, capacity=room)):
        return True
    work = len(network.terminals) * len(network.tail) ** 2
    return unknown if work > limits.MAX_TREE_COUNT_VISITS else can_be_trimmed(network, rate)


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
    """Return the least k found whose best rate takes at most 1 + max_gap times the best time.

    Args:
        network, best: As for `least_trees`.
        max_gap: At least 0.

    Raises:
        TooLarge: No k up to `limits.MAX_TREES_TRIED` is within the gap.

    k trees per root are within the gap iff they fit at U = (1 + max_gap) k / x, since a larger U
    reduces no arc.  Later k are first checked against the cuts that excluded earlier k.  Only a k
    that satisfies all of these costs flows, one per rank.  Without forwarding nodes, some k up to
    `enough_trees` succeeds.  Where rounding to whole trees makes switches copy, larger k follow, up
    to that of `least_trees`.
    """
    largest = min(best.trees_per_root, limits.MAX_TREES_TRIED)
    for found in few_trees_within(network, best.inverse * (1 + max_gap), largest):
        rate = best_rate_for(network, found.trees_per_root, best)
        if _can_be_packed(network, rate, unknown=True):
            return found.trees_per_root
    least = least_trees(network, best).trees
    if least <= limits.MAX_TREES_TRIED:
        return least
    enough = enough_trees(network, best, max_gap)
    raise TooLarge(
        "max_gap",
        f"needs more than {limits.MAX_TREES_TRIED} trees per root, the maximum; {enough} suffice",
    )


def few_trees_within(network: Network, inverse: Fraction, most: int) -> Iterator[Rate]:
    """Yield rates of at most ``most`` trees per root within an inverse rate, if cuts allow them.

    Each is for a caller who could not pack the one before: numbers grow by an eighth, and the last
    is the largest number that the cuts allow.

    Args:
        inverse: 1/x in the network's unit of capacity, at least that of its `best_rate`.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> pair = network_of(Topology(range(2), [(0, 1, 7), (1, 0, 5)]))
    >>> [rate.trees_per_root for rate in few_trees_within(pair, Fraction(5, 24), 20)]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20]
    """
    trials, inside = _Trials(network), np.ones(network.node_count, np.bool_)
    first: int | None = 1
    while first is not None and first <= most:
        first = trials.first_allowed(inverse, range(first, most + 1))
        if first is not None:
            yield Rate(inverse * first, first, inside)
            first += max(1, min(first // 8, most - first))


_BLOCK = 64
"""Numbers of trees that are checked against the known cuts at once."""


class _Trials:
    """Seeks numbers of trees that no cut excludes, starting with cuts that excluded earlier ones.

    ``looks`` counts the arc visits, as if a flow visited every arc for every rank; the search ends
    above ``most_looks``.
    """

    def __init__(self, network: Network, most_looks: float = inf) -> None:
        self.network, self.looks, self._most_looks = network, 0, most_looks
        self._arcs = arcs_of(network.node_count, network.tail, network.head)
        self._terminals = nearby_order(self._arcs, network.terminals)
        self._exits = np.zeros((0, len(network.tail)), np.int64)
        self._needs = np.zeros(0, np.int64)

    def first_allowed(self, inverse: Fraction, numbers: range) -> int | None:
        """Return the first number of trees per root that no cut excludes at an inverse rate."""
        for start in range(0, len(numbers), _BLOCK):
            report_progress("trying numbers of trees", start, len(numbers))
            block = numbers[start : start + _BLOCK]
            rooms, trees = _rooms(self.network, inverse, block), np.array(block)
            known = 0
            while len(trees):
                exits, needs = self._exits[known:], self._needs[known:]
                self.looks += (len(needs) + 1) * rooms.size
                known += len(needs)
                if self.looks > self._most_looks:
                    return None
                left = (rooms @ exits.T >= trees[:, None] * needs).all(axis=1)
                rooms, trees = rooms[left], trees[left]
                if len(trees) and self._is_allowed(rooms[0], int(trees[0])):
                    return int(trees[0])
        return None

    def _is_allowed(self, room: NDArray[np.int64], trees: int) -> bool:
        """Return whether no cut carries too few trees; record it otherwise."""
        network = self.network
        self.looks += len(self._terminals) * len(room)
        scratch = scratch_for(network.node_count)
        flow, supply = np.zeros_like(room), np.zeros(network.node_count, np.int64)
        _, missing = shortfall(
            self._arcs, room, self._terminals, 0, trees * network.sizes, flow, supply, scratch
        )
        if not missing:
            return True
        leaving, inside = _cut(network, scratch.level[: network.node_count] < 0)
        self._exits = np.vstack([self._exits, leaving])
        self._needs = np.append(self._needs, inside)
        return False


def _rooms(network: Network, inverse: Fraction, numbers: range) -> NDArray[np.int64]:
    """Return `tree_capacities` at an inverse rate for several numbers of trees, a row for each."""
    # For trees t = g m and inverse * g = p / q, the room is floor(b p m / q); with b p = a q + r,
    # it is a m + floor(r m / q), which overflows later.
    common = gcd(numbers.start, numbers.step)
    scale, most = inverse * common, numbers[-1] // common
    top, bottom = scale.numerator, scale.denominator
    capacity = int(network.capacity.sum())
    guard(top * capacity + (top * most // bottom + 1) * capacity + bottom * most)
    guard(numbers[-1] * network.data)
    whole, rest = np.divmod(network.capacity * top, bottom)
    times = np.array(numbers)[:, None] // common
    return whole * times + rest * times // bottom


def _cut(network: Network, inside: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
    """Return the arcs that leave a cut, and the size of the shards that start inside."""
    return inside[network.tail] & ~inside[network.head], data_inside(network, inside)
