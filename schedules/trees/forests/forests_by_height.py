"""Forests of low trees: the best rate found for every height.

Height costs latency, and low trees may have less throughput.  Candidates are the packed forest of
the best rate; forests with few trees, which are lower; both with other orders of node removal; and
trees grown to a limited height (`height_limited_trees`).  Rates are derived from the links.  No
optimality is proved for a limited height, but the height is at least the largest distance of a
rank, and the rate is at most the optimum.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import Tree, tree_height
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.demand import Demand
from topoloom.schedules.trees.flow.network import Network, network_of
from topoloom.schedules.trees.flow.optimality import Rate, best_rate_for
from topoloom.schedules.trees.flow.rank_distances import least_height
from topoloom.schedules.trees.forests.forest_at_rate import forest_at
from topoloom.schedules.trees.forests.height_limited_trees import GrownTree, height_limited_trees
from topoloom.schedules.trees.forests.lowest_packing import Packing
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.schedules.trees.rates.topology_rate import rates
from topoloom.schedules.trees.symmetry.neighbor_order import canonical_orders, renumbered
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import NodeId, Topology


@dataclass(frozen=True, slots=True)
class LowForest:
    """A forest whose trees have at most ``height`` hops.

    ``inverse_rate`` is derived from the links, in the topology's unit, per unit of size.
    """

    height: int
    inverse_rate: Fraction
    trees_per_root: int
    trees: tuple[Tree, ...]


def lowest_forest(
    topology: Topology, demand: Demand, max_height: int, count: int | None = None
) -> LowForest:
    """Return the forest of the best rate found with at most the given height.

    Args:
        topology, demand: The ranks and their data.
        max_height: At least 1.
        count: Trees per unit of size; default: any number.

    Raises:
        NoSchedule: A rank is farther than ``max_height`` from a root.
        TooLarge: No forest of this height is found, and the network is too large to grow one.

    >>> from topoloom.schedules.trees.flow.demand import demand_of
    >>> ring = Topology(range(4), [(i, (i + step) % 4) for i in range(4) for step in (1, 3)])
    >>> low = lowest_forest(ring, demand_of(ring), 2)
    >>> low.height, low.inverse_rate
    (2, Fraction(3, 2))
    """
    network = network_of(topology, demand)
    least = least_height(network)
    if max_height < least:
        raise NoSchedule(
            "max_height", f"must be at least {least}, the distance of some rank from a root"
        )
    fitting = [low for low in low_forests(topology, demand, count) if low.height <= max_height]
    if not fitting:
        raise TooLarge(
            "/topology", f"no trees of at most {max_height} hops were found, and it is too large"
        )
    return fitting[-1]


@lru_cache(maxsize=8)
def low_forests(
    topology: Topology, demand: Demand, count: int | None = None
) -> tuple[LowForest, ...]:
    """Return the best forest found for every useful height, the lowest first.

    Each is faster than all lower forests; the last is the fastest of all, and the lowest among
    equally fast forests.  Parameters as for `lowest_forest`.  Deterministic.
    """
    best: dict[int, LowForest] = {}
    for low in _tried(topology, demand, count):
        known = best.get(low.height)
        if known is None or _worth(low) < _worth(known):
            best[low.height] = low
    kept: list[LowForest] = []
    for _, low in sorted(best.items()):
        if not kept or low.inverse_rate < kept[-1].inverse_rate:
            kept.append(low)
    return tuple(kept)


def _worth(low: LowForest) -> tuple[Fraction, int]:
    return low.inverse_rate, len(low.trees)


def _tried(topology: Topology, demand: Demand, count: int | None) -> Iterator[LowForest]:
    """Yield forests; the first is the forest without a height limit."""
    network = usable_network(network_of(topology, demand)).network
    first, free, _ = rates(network, count)
    least, best = least_height(network), first.inverse / network.unit
    low = _low(network, topology, first.trees_per_root, forest_at(topology, network, first))
    # Beside a lowest forest of the best rate, no forest of a lower rate is useful, and none at all
    # beside one that has a single tree for each root.
    settled = (low.height, low.inverse_rate) == (least, best)
    roots = np.count_nonzero(network.sizes)
    yield low
    if settled and len(low.trees) == roots:
        return
    wanted = [first]
    if count is None:
        few = [k for k in limits.FEW_TREES if k < first.trees_per_root]
        # If all links are full, rounding may lower the height of some trees.
        wanted += [free] if free.trees_per_root > first.trees_per_root else []
        wanted += [best_rate_for(network, k, free) for k in few]
    for number, rate in enumerate(wanted):
        report_progress("packing low forests", number, len(wanted))
        if settled and rate.inverse > first.inverse:
            continue
        for low in _in_orders(topology, network, rate):
            lowest = (low.height, low.inverse_rate) == (least, best)
            yield low
            if lowest and len(low.trees) == roots:
                return
            settled |= lowest
    slower = {rate.trees_per_root for rate in wanted if rate.inverse > first.inverse}
    order = next(canonical_orders(network))
    inner, names = renumbered(network, order), [topology.nodes[node] for node in order.tolist()]
    for slack in limits.HEIGHT_SLACKS:
        report_progress("growing low forests", slack, len(limits.HEIGHT_SLACKS))
        for k in limits.FEW_TREES if count is None else (count,):
            if settled and k in slower:
                continue
            found = height_limited_trees(inner, k, slack)
            if found is not None:
                yield _low(network, topology, k, _named(names, found[0]))


def _in_orders(topology: Topology, network: Network, rate: Rate) -> Iterator[LowForest]:
    """Yield forests packed at one rate with the nodes in different orders."""
    ranks = len(network.terminals)
    work = ranks * ranks * len(network.tail) * rate.trees_per_root
    for order in islice(
        canonical_orders(network), max(1, min(limits.MAX_LOW_ORDERS, limits.MAX_LOW_WORK // work))
    ):
        try:
            trees = Packing(topology.nodes, network, rate, order).trees()
            yield _low(network, topology, rate.trees_per_root, trees)
        except (NoSchedule, TooLarge):
            # After rounding to whole trees, a switch may send more than it receives.
            continue


def _named(nodes: list[NodeId], trees: list[GrownTree]) -> Iterator[Tree]:
    """Yield grown trees with the ids of nodes; edges in breadth-first order."""
    for tree in trees:
        depth = {tree.root: 0}
        for path in tree.edges:
            depth[path[-1]] = depth[path[0]] + 1
        edges = sorted(tree.edges, key=lambda path: depth[path[-1]])
        yield Tree(nodes[tree.root], 1, tuple(tuple([nodes[at] for at in path]) for path in edges))


def _low(network: Network, topology: Topology, count: int, trees: Iterable[Tree]) -> LowForest:
    """Return a forest with its height and its rate, derived from the links."""
    listed = tuple(trees)
    loads: Counter[tuple[int, int]] = Counter()
    place = topology.position
    for tree in listed:
        for edge in tree.edges:
            for source, target in pairwise(edge):
                loads[place[source], place[target]] += tree.weight
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    room = dict(zip(ends, network.capacity.tolist(), strict=True))
    scale = max(Fraction(load, room[pair]) for pair, load in loads.items())
    height = max(tree_height(tree) for tree in listed)
    return LowForest(height, scale / count / network.unit, count, listed)
