"""Stage 1: the best allgather rate of a network, exactly, with a cut that proves it.

Symbols, as in the ForestColl paper: C the ranks, b_e the bandwidth of arc e, k the trees per
unit of size, x the bandwidth of those trees, U = k / x.  w(S) is the total shard size of the
ranks in S, which is |S & C| for equal shards.  A root of size s has k s trees.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.max_flow import Arcs, arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.flow.network import Network, guard
from topoloom.synth.progress import report_progress


class Rate(NamedTuple):
    """``scale`` is U: k trees per unit of size fit if arc e carries floor(U * b_e) trees.

    ``inside`` marks the nodes of the cut that excludes any smaller U.
    """

    scale: Fraction
    trees_per_root: int
    inside: NDArray[np.bool_]

    @property
    def inverse(self) -> Fraction:
        """1/x = U / k, in the network's unit of capacity."""
        return self.scale / self.trees_per_root


def best_rate(network: Network) -> Rate:
    """Return the least 1/x over all schedules, as the fraction U / k in lowest terms.

    1/x = max w(S) / out(S) over node sets S that miss a rank (ForestColl, sections 5.1 and
    5.7).  Newton's method on that ratio: for the current p/q, every rank must receive q per
    unit of size from each rank in the network p * b.  A rank that does not yields a cut S with
    p out(S) < q w(S), whose ratio is the next, larger value.  Ranks that pass also pass for
    larger ratios, so each is checked until it passes once.

    The capacities of a `Network` have no common factor: with 1/x = p/q the least k that makes
    every U * b_e whole is q.  `fewest_trees` decides whether a smaller k suffices.

    Time: one small flow per compute node, and one more per improvement of the ratio.
    """
    inside, ratio = _first_cut(network)

    def capacities(value: Fraction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        guard(value.numerator * int(network.capacity.sum()) + value.denominator * network.data)
        return value.numerator * network.capacity, value.denominator * network.sizes

    def of_cut(inside: NDArray[np.bool_]) -> Fraction:
        return Fraction(data_inside(network, inside), int(_leaving(network, inside).sum()))

    ratio, inside = _climb(network, ratio, inside, capacities, of_cut)
    return Rate(Fraction(ratio.numerator), ratio.denominator, inside)


def entry_rate(network: Network, trees_per_root: int | None) -> Rate:
    """Return the rate at which each rank can receive all its data.

    This is an upper bound for every schedule: each rank must receive k trees per unit of the
    others' data.  With ``trees_per_root`` None, k is the least that reaches the bound.  The cut is
    around the most constrained rank.
    """
    inside, ratio = _first_cut(network)
    if trees_per_root is None:
        return Rate(Fraction(ratio.numerator), ratio.denominator, inside)
    entering: dict[int, list[int]] = {node: [] for node in network.terminals.tolist()}
    for node, capacity in zip(network.head.tolist(), network.capacity.tolist(), strict=True):
        if node in entering:
            entering[node].append(capacity)
    alike = {
        (trees_per_root * (network.data - int(network.sizes[node])), tuple(sorted(capacities)))
        for node, capacities in entering.items()
    }
    scale = max(least_scale(list(capacities), demand) for demand, capacities in alike if demand)
    return Rate(scale, trees_per_root, inside)


def best_rate_for(network: Network, trees_per_root: int, free: Rate) -> Rate:
    """Return the least U for which ``trees_per_root`` trees per unit of size can be packed.

    ``free`` is the `best_rate` of the network; its cut is the start of the search.

    A cut S needs sum of floor(U * b_e) >= k w(S) over the arcs that leave it, and the
    least such U is a multiple of some 1 / b_e (ForestColl, section 5.6 on fixed k).  The
    search climbs from cut to cut as in `best_rate`, without a grid or tolerance.
    """
    inside, _ = _first_cut(network)

    def of_cut(inside: NDArray[np.bool_]) -> Fraction:
        demand = trees_per_root * data_inside(network, inside)
        return least_scale(_leaving(network, inside).tolist(), demand)

    def capacities(value: Fraction) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return tree_capacities(network, value, trees_per_root), trees_per_root * network.sizes

    if of_cut(free.inside) > of_cut(inside):
        inside = free.inside
    scale, inside = _climb(network, of_cut(inside), inside, capacities, of_cut)
    return Rate(scale, trees_per_root, inside)


def tree_capacities(network: Network, scale: Fraction, trees_per_root: int) -> NDArray[np.int64]:
    """Return floor(scale * capacity): the number of trees that each arc can carry."""
    guard(scale.numerator * int(network.capacity.sum()) + trees_per_root * network.data)
    return network.capacity * scale.numerator // scale.denominator


def least_scale(capacities: list[int], demand: int) -> Fraction:
    """Return the least U with sum of floor(U * b) >= demand; O(m log m) for m capacities.

    >>> least_scale([2, 3], 4)  # floor(2 * 1) + floor(3 * 1) = 5; below 1 it is 1 + 2
    Fraction(1, 1)
    """
    counts = Counter(capacities)
    scale = Fraction(demand, sum(capacities))
    steps = {b: scale.numerator * b // scale.denominator for b in counts}
    missing = demand - sum(steps[b] * count for b, count in counts.items())
    jumps = [(Fraction(step + 1, b), b) for b, step in steps.items()]
    heapq.heapify(jumps)
    while missing > 0:
        scale, b = jumps[0]
        steps[b] += 1
        heapq.heapreplace(jumps, (Fraction(steps[b] + 1, b), b))
        missing -= counts[b]
    return scale


def _climb(
    network: Network,
    value: Fraction,
    inside: NDArray[np.bool_],
    capacities: Callable[[Fraction], tuple[NDArray[np.int64], NDArray[np.int64]]],
    of_cut: Callable[[NDArray[np.bool_]], Fraction],
) -> tuple[Fraction, NDArray[np.bool_]]:
    """Raise ``value`` from violated cut to violated cut until every terminal passes."""
    arcs = arcs_of(network.node_count, network.tail, network.head)
    scratch = scratch_for(network.node_count)
    flow, supply = np.zeros(len(network.tail), np.int64), np.zeros(network.node_count, np.int64)
    terminals = nearby_order(arcs, network.terminals)
    first = 0
    while True:
        report_progress("raising the bound", int(first), len(terminals))
        capacity, share = capacities(value)
        first, missing = shortfall(arcs, capacity, terminals, first, share, flow, supply, scratch)
        if not missing:
            return value, inside
        inside = scratch.level[: network.node_count] < 0
        value = of_cut(inside)


def nearby_order(arcs: Arcs, terminals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the terminals in breadth-first order, so that each is close to earlier ones."""
    return terminals[np.argsort(_turns(arcs, terminals[0])[terminals], kind="stable")]


@njit(cache=True, nogil=True)
def _turns(arcs, first):
    """Return positions in breadth-first order, ignoring arc directions; -1 if unreachable."""
    nodes = len(arcs.start) - 1
    turn = np.full(nodes, -1, np.int64)
    queue = np.empty(nodes, np.int64)
    queue[0], turn[first], known = first, 0, 1
    for done in range(nodes):
        if done == known:
            break
        node = queue[done]
        for place in range(arcs.start[node], arcs.start[node + 1]):
            other = arcs.ends[place]
            if turn[other] < 0:
                turn[other] = known
                queue[known] = other
                known += 1
    return turn


def _first_cut(network: Network) -> tuple[NDArray[np.bool_], Fraction]:
    """Return the worst cut that excludes exactly one rank, and its ratio."""
    entering = np.zeros(network.node_count, np.int64)
    np.add.at(entering, network.head, network.capacity)
    wanted = network.data - network.sizes[network.terminals]
    rooms = entering[network.terminals].tolist()
    # Equivalent ranks have equal cuts: the first of each kind suffices.
    first: dict[tuple[int, int], int] = {}
    for node, want, room in zip(network.terminals.tolist(), wanted.tolist(), rooms, strict=True):
        if want > 0:
            first.setdefault((want, room), node)
    ratio, worst = max(
        ((Fraction(want, room), node) for (want, room), node in first.items()),
        key=lambda one: one[0],
    )
    inside = np.ones(network.node_count, np.bool_)
    inside[worst] = False
    return inside, ratio


def _leaving(network: Network, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
    return network.capacity[inside[network.tail] & ~inside[network.head]]


def data_inside(network: Network, inside: NDArray[np.bool_]) -> int:
    """Return w(S), the total size of the shards that start inside a cut."""
    return int(network.sizes[inside].sum())
