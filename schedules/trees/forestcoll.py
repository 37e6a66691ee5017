"""ForestColl: throughput-optimal collectives as packed spanning trees, on any fabric.

Read the packages in this order:

- `flow`: demand, integer capacities, maximum flow, the best rate and the cut that proves it;
- `linear_program`: the rate where cuts alone are not tight, with a certificate;
- `rates`: the fewest trees close to the best rate, and all rates in the topology's terms;
- `switch_removal`: whole links become arcs between ranks;
- `symmetry`: automorphisms, and forests that are images of a few trees;
- `packing`: shortest-path trees, or trees packed by ForestColl's algorithm and made shallow;
- `racks`: hosts below one leaf switch as one rank;
- `forests`: the choice among these, and trees of limited height;
- `concurrent_passes`: both passes of an allreduce at once.

References:
    .. [1] Zhao et al., "ForestColl", arXiv:2402.06787.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
from topoloom.schedules.model.tree_table import TreeTable
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.demand import Demand, demand_of, require_paths
from topoloom.schedules.trees.flow.network import copying_nodes, network_of
from topoloom.schedules.trees.flow.optimality import entry_rate
from topoloom.schedules.trees.forests.forest_at_rate import (
    forest_at,
    shortest_path_forest,
    symmetric,
)
from topoloom.schedules.trees.forests.forests_by_height import lowest_forest
from topoloom.schedules.trees.linear_program.pattern_parts import PatternPart
from topoloom.schedules.trees.multicast import spliced_tree
from topoloom.schedules.trees.rates.balanced_capacities import usable_network
from topoloom.schedules.trees.rates.fewest_trees import few_trees_within, is_least
from topoloom.schedules.trees.rates.pattern_counts import PatternCounts, pattern_counts
from topoloom.schedules.trees.rates.topology_rate import Optimum, optimum, rates, require_counts
from topoloom.synth.topology.topology import NodeId, Topology

__all__ = ["Optimum", "allgather", "broadcast", "optimum"]


def allgather(
    topology: Topology,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    max_height: int | None = None,
    shards: Mapping[NodeId, int] | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule:
    """Return an allgather at the optimal rate: a forest of spanning trees.

    Args:
        topology, trees_per_root, max_gap, shards, participants: As for `optimum`.
        max_height: Maximum height of the trees, at the best rate found for such forests.

    Returns:
        Per root the weights sum to k = ``optimum(...).trees_per_root``, times the size of its
        shard without the common factor of all sizes.  Every link carries trees of total weight
        at most capacity / unit_bandwidth, with parallel links merged.

    Raises:
        InvalidTopology, Unreachable, NoSchedule, TooLarge: As for `optimum`.
        NoSchedule: With a given number of trees: after rounding down to whole trees, a switch or an
            idle compute node sends more than it receives, and all of it is needed.  The node would
            have to copy data, and the cut bound may be unreachable.
        TooLarge: The flows kept during packing exceed `limits.MAX_FLOW_ENTRIES`.

    Without switches, shortest-path trees are tried first (`shortest_path_trees`): where they reach
    the optimum, they are the fastest to find and the lowest.  Second, on fabrics of equivalent
    parts, images of the trees of a few roots (`symmetric_forest`).  Otherwise whole links become
    switch-free arcs (`switch_removal`), trees are packed into these arcs (`packing`), made shallow
    by exchanges (`height_reduction`) and expanded to paths (`path_bundles`).  A group of equal
    trees is split where its edges use several paths.  Deterministic.

    >>> pair = Topology("abs", [(x, "s") for x in "ab"] + [("s", x) for x in "ab"], switches="s")
    >>> [(tree.root, tree.weight, tree.edges) for tree in allgather(pair).trees]
    [('a', 1, (('a', 's', 'b'),)), ('b', 1, (('b', 's', 'a'),))]
    """
    demand = demand_of(topology, shards, participants)
    return _forest(topology, Collective.ALLGATHER, demand, trees_per_root, max_gap, max_height)


def allgather_by_images(
    topology: Topology, max_gap: Fraction, participants: Iterable[NodeId] | None = None
) -> TreeSchedule | None:
    """Return an allgather by images of the trees of a few roots, or None if none are found.

    Args:
        topology, participants: As for `allgather`.
        max_gap: Excess over the optimal time, as a share, unless the optimum takes at most
            `limits.MAX_EXACT_IMAGES` trees per root, and these are found.

    Raises:
        InvalidTopology, Unreachable, NoSchedule: As for `optimum`.

    >>> pair = Topology("abs", [(x, "s") for x in "ab"] + [("s", x) for x in "ab"], switches="s")
    >>> [tree.root for tree in allgather_by_images(pair, Fraction(0)).trees]
    ['a', 'b']
    """
    demand = demand_of(topology, None, participants)
    require_paths(topology, demand)
    network = usable_network(network_of(topology, demand), copying_nodes(topology)).network
    rate = rates(network, None, None).rate
    few = rate.trees_per_root <= limits.MAX_EXACT_IMAGES
    found = symmetric(topology, network, rate, (Fraction(0), max_gap) if few else (max_gap,))
    if found is None:
        return None
    count = int(found.weights[found.roots == found.roots[0]].sum())
    return _schedule(topology, Collective.ALLGATHER, demand, count, found)


def allgather_within(
    topology: Topology,
    inverse_rate: Fraction,
    max_trees: int,
    *,
    shards: Mapping[NodeId, int] | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule | None:
    """Return an allgather of few trees per root within an inverse rate, or None if none is found.

    Args:
        topology, shards, participants: As for `allgather`.
        inverse_rate: At least that of the optimum; in the topology's unit.
        max_trees: Maximum number of trees per root.

    Raises:
        InvalidTopology, Unreachable, NoSchedule, TooLarge: As for `optimum`.

    Numbers of trees that no cut excludes are tried in turn.  Where a switch would have to copy,
    since its links are rounded down to whole trees, the next number is an eighth larger: each tree
    more has its share of the slack.

    >>> pair = Topology(range(2), [(0, 1, 1000), (1, 0, 999)])
    >>> [allgather_within(pair, Fraction(1, rate), 9).trees_per_root for rate in (999, 998)]
    [1, 1]
    """
    demand = demand_of(topology, shards, participants)
    require_paths(topology, demand)
    network = usable_network(network_of(topology, demand), copying_nodes(topology)).network
    for rate in few_trees_within(network, inverse_rate * network.unit, max_trees):
        try:
            trees = tuple(forest_at(topology, network, rate))
        except NoSchedule:
            continue
        return _schedule(topology, Collective.ALLGATHER, demand, rate.trees_per_root, trees)
    return None


def broadcast(
    topology: Topology,
    root: NodeId,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    max_height: int | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule:
    """Return a broadcast at the optimal rate: all trees have one root.

    Args:
        root: The compute node that brings the data; a participant.
        topology, trees_per_root, max_gap, max_height, participants: As for `allgather`.

    Raises:
        InvalidTopology, Unreachable, NoSchedule, TooLarge: As for `allgather`.  Only the root must
            reach all others.

    >>> diamond = Topology("abcd", [(s, t) for s, t in ("ab", "ac", "bd", "cd", "bc", "cb")])
    >>> optimum(diamond, root="a").inverse_rate  # 2 links enter every node but a
    Fraction(1, 2)
    >>> sorted(tree.root for tree in broadcast(diamond, "a").trees)
    ['a', 'a']
    """
    demand = demand_of(topology, participants=participants, root=root)
    return _forest(topology, Collective.BROADCAST, demand, trees_per_root, max_gap, max_height)


def _forest(
    topology: Topology,
    collective: Collective,
    demand: Demand,
    trees_per_root: int | None,
    max_gap: Fraction | int | None,
    max_height: int | None,
) -> TreeSchedule:
    require_counts(trees_per_root, max_gap)
    require_paths(topology, demand)
    if max_height is not None:
        if max_gap is not None:
            raise NoSchedule("max_height", "must not be given together with max_gap")
        low = lowest_forest(topology, demand, max_height, trees_per_root)
        return _schedule(topology, collective, demand, low.trees_per_root, low.trees)
    within = usable_network(network_of(topology, demand), copying_nodes(topology))
    network = within.network
    if within.parts and within.proof and trees_per_root is None and max_gap is None:
        counts = pattern_counts(within.parts, within.proof.rate / network.data)
        trees = _pattern_trees(topology, within.parts, counts)
        return _schedule(topology, collective, demand, counts.trees_per_root, trees)
    rate, trees = None, None
    if max_gap is None:
        # Trees at the rate at which ranks can receive all their data are optimal.
        rate = entry_rate(network, trees_per_root)
        if trees_per_root is not None or is_least(network, rate):
            trees = shortest_path_forest(topology, network, rate)
    if rate is None or trees is None:
        rate = rates(network, trees_per_root, max_gap).rate
        trees = forest_at(topology, network, rate)
    if within.copying:
        copying = [topology.nodes[node] for node in within.copying]
        trees = [spliced_tree(tree, copying) for tree in trees]
    return _schedule(topology, collective, demand, rate.trees_per_root, trees)


def _pattern_trees(
    topology: Topology, parts: Sequence[PatternPart], counts: PatternCounts
) -> Iterator[Tree]:
    """Yield the trees of all patterns of copies, drawn through the switches that copy them."""
    for part, rate, weight in zip(parts, counts.rates, counts.weights, strict=True):
        copying = [topology.nodes[node] for node in part.copying]
        for tree in forest_at(topology, part.network, rate):
            yield replace(spliced_tree(tree, copying), weight=tree.weight * weight)


def _schedule(
    topology: Topology,
    collective: Collective,
    demand: Demand,
    trees_per_root: int,
    trees: Iterable[Tree],
) -> TreeSchedule:
    taking_part = set(demand.ranks)
    return TreeSchedule(
        collective=collective,
        topology=topology.digest,
        ranks=demand.ranks,
        trees_per_root=trees_per_root,
        trees=trees if isinstance(trees, TreeTable) else tuple(trees),
        shards=() if set(demand.sizes) == {1} else demand.sizes,
        idle=tuple(node for node in topology.compute_nodes if node not in taking_part),
    )
