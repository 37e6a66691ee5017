"""ForestColl: throughput-optimal collectives as packed spanning trees, on any fabric.

Read in this order: `demand` (who brings how much), `network` (integer capacities), `flow`
(the max-flow kernel), `optimality` (the best rate and the cut that proves it), `fewest_trees` (how
few trees come close to it); `automorphisms`, `linear`, `flow_program`, `proof`, `division` and
`balance` (where cuts alone do not tell the truth); `optimum` (all, in the topology's terms);
`allreduce` and `together` (both passes at once); `splitting_off`, `shares`,
`splitting` and `routes` (switches away); `shortest` (trees of shortest paths, where they do);
`symmetry` and `symmetric_forest` (images of a few trees, where these do); `packing`, `forest`,
`flow_repair`, `tree_growing` and `shortening` (trees elsewhere).

References
----------
.. [1] Zhao et al., "ForestColl", arXiv:2402.06787.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedules.forestcoll.balance import balanced
from schedules.forestcoll.demand import Demand, demand_of, require_paths
from schedules.forestcoll.network import Network, network_of
from schedules.forestcoll.optimality import Rate, entry_rate, tree_capacities
from schedules.forestcoll.optimum import Optimum, optimum, rates, require_counts
from schedules.forestcoll.ordering import in_order
from schedules.forestcoll.packing import pack
from schedules.forestcoll.routes import Routes
from schedules.forestcoll.shortest import shortest_trees
from schedules.forestcoll.splitting import Splitter
from schedules.forestcoll.symmetric_forest import Drawn, translated_trees
from schedules.forestcoll.symmetry import acting, rotations
from schedules.model import Collective, Tree, TreeSchedule
from synth.topology import NodeId, Topology
from synth.translations import translations

__all__ = ["Optimum", "allgather", "broadcast", "optimum"]


def allgather(
    topology: Topology,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    shards: Mapping[NodeId, int] | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule:
    """Return an allgather that reaches the optimum: a forest of spanning trees.

    Parameters
    ----------
    topology, trees_per_root, max_gap, shards, participants
        As for `optimum`.

    Returns
    -------
    TreeSchedule
        Per root the weights add up to k = ``optimum(...).trees_per_root``, times the size
        of its shard without the factor that all sizes share.  Every link
        carries trees of total weight at most capacity / unit_bandwidth, parallel links
        taken together.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule, TooLarge
        As for `optimum`.
    NoSchedule
        With a number of trees given: after rounding down to whole trees a switch, or a compute
        node that takes no part, lets out more than it takes in, and all of it is needed: it
        would have to copy data, and the cut bound may be out of reach.
    TooLarge
        The flows kept while packing pass `packing.MOST_FLOW_ENTRIES`.

    Notes
    -----
    Without switches, trees of shortest paths are tried first (`shortest`): where they reach
    the optimum, nothing is faster to find nor lower.  Then, on fabrics of parts that are
    alike, trees of a few roots whose images make up the forest (`symmetric_forest`).  Otherwise
    whole links become switch-free arcs (`splitting`), trees are packed into those
    (`packing`), made as shallow as exchanges can (`shortening`) and drawn along the paths
    the arcs stand for (`routes`).  A group of equal trees is cut where its edges are served
    by several paths.  Deterministic.

    Examples
    --------
    >>> pair = Topology("abs", [(x, "s") for x in "ab"] + [("s", x) for x in "ab"], switches="s")
    >>> [(tree.root, tree.weight, tree.edges) for tree in allgather(pair).trees]
    [('a', 1, (('a', 's', 'b'),)), ('b', 1, (('b', 's', 'a'),))]
    """
    demand = demand_of(topology, shards, participants)
    return _forest(topology, Collective.ALLGATHER, demand, trees_per_root, max_gap)


def broadcast(
    topology: Topology,
    root: NodeId,
    trees_per_root: int | None = None,
    *,
    max_gap: Fraction | int | None = None,
    participants: Iterable[NodeId] | None = None,
) -> TreeSchedule:
    """Return a broadcast that reaches the optimum: all trees have one root.

    Parameters
    ----------
    root : NodeId
        The compute node that brings the data; it takes part.
    topology, trees_per_root, max_gap, participants
        As for `optimum`.

    Raises
    ------
    InvalidTopology, Unreachable, NoSchedule, TooLarge
        As for `allgather`.  Only the root must reach the others.

    Examples
    --------
    >>> diamond = Topology("abcd", [(s, t) for s, t in ("ab", "ac", "bd", "cd", "bc", "cb")])
    >>> optimum(diamond, root="a").inverse_rate  # 2 links enter every node but a
    Fraction(1, 2)
    >>> sorted(tree.root for tree in broadcast(diamond, "a").trees)
    ['a', 'a']
    """
    demand = demand_of(topology, participants=participants, root=root)
    return _forest(topology, Collective.BROADCAST, demand, trees_per_root, max_gap)


def _forest(
    topology: Topology,
    collective: Collective,
    demand: Demand,
    trees_per_root: int | None,
    max_gap: Fraction | int | None,
) -> TreeSchedule:
    require_counts(trees_per_root, max_gap)
    require_paths(topology, demand)
    network = balanced(network_of(topology, demand)).network
    rate, trees = None, None
    if max_gap is None:
        # If trees reach the rate at which ranks can take in all they want, it is the optimum.
        rate = entry_rate(network, trees_per_root)
        trees = _of_shortest_paths(topology, network, rate)
    if rate is None or trees is None:
        rate = rates(network, trees_per_root, max_gap).rate
        trees = (
            _of_shortest_paths(topology, network, rate)
            or _symmetric(topology, network, rate)
            or _packed(topology, network, rate)
        )
    taking_part = set(demand.ranks)
    return TreeSchedule(
        collective=collective,
        topology=topology.digest,
        ranks=demand.ranks,
        trees_per_root=rate.trees_per_root,
        trees=tuple(trees),
        shards=() if set(demand.sizes) == {1} else demand.sizes,
        idle=tuple(node for node in topology.compute_nodes if node not in taking_part),
    )


def _of_shortest_paths(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree] | None:
    """Return trees of shortest paths at this rate, or None if there are none.

    They are sought where all nodes are ranks with equal shards.
    """
    if not (network.sizes == 1).all():
        return None
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    groups = shortest_trees(
        network.node_count, network.tail, network.head, room, rate.trees_per_root
    )
    if groups is None:
        return None
    nodes = topology.nodes
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    names = [(nodes[source], nodes[target]) for source, target in ends]
    return (
        Tree(nodes[group.root], group.multiplicity, tuple([names[a] for a in group.arcs.tolist()]))
        for group in groups
    )


def _symmetric(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree] | None:
    """Return images of the trees of a few roots, or None if there are none.

    They are sought where all ranks have equal shards.
    """
    if not (network.sizes[network.terminals] == 1).all():
        return None
    action = rotations(network)
    if action is None or len(action.roots) > 1:
        listed = in_order(network)
        found = None if listed is None else rotations(listed)
        if found is not None and (action is None or len(found.roots) < len(action.roots)):
            action = found
    if (action is None or len(action.roots) > 1) and len(network.terminals) == network.node_count:
        # What the recipe that the topology is named by knows of itself.
        action = acting(network, translations(topology))
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    found = action and translated_trees(network, room, rate.trees_per_root, action)
    if found is None:
        return None
    names = np.empty(topology.node_count, dtype=object)
    names[:] = topology.nodes
    return (_named(topology, names, tree) for tree in found)


def _named(topology: Topology, names: NDArray[Any], tree: Drawn) -> Tree:
    nodes = names[tree.nodes].tolist()
    edges = tuple([tuple(nodes[low:high]) for low, high in pairwise(tree.ends.tolist())])
    return Tree(topology.nodes[tree.root], tree.multiplicity, edges)


def _packed(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree]:
    """Return trees packed after the nodes that are no ranks are taken away."""
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    capacities = {pair: trees for pair, trees in zip(ends, room.tolist(), strict=True) if trees}
    routes = None
    trees = rate.trees_per_root * network.sizes
    if len(network.terminals) < network.node_count:
        splitter = Splitter(
            capacities, network.terminals, trees, rate.trees_per_root, topology.nodes
        )
        splitter.remove_switches()
        capacities, routes = splitter.capacities, splitter.routes
    return _trees(topology, network, capacities, routes, trees)


def _trees(
    topology: Topology,
    network: Network,
    capacities: dict[tuple[int, int], int],
    routes: Routes | None,
    trees: NDArray[np.int64],
) -> Iterator[Tree]:
    """Pack trees between the terminals and draw them on the topology."""
    nodes, ranks = topology.nodes, network.terminals
    pairs = list(capacities)
    ends = np.searchsorted(ranks, np.array(pairs, dtype=np.int64))
    room = np.array(list(capacities.values()), dtype=np.int64)
    names = [(nodes[source], nodes[target]) for source, target in pairs]
    for group in pack(len(ranks), ends[:, 0], ends[:, 1], room, trees[ranks]):
        root = nodes[ranks[group.root]]
        arcs = group.arcs.tolist()
        if routes is None:
            yield Tree(root, group.multiplicity, tuple([names[arc] for arc in arcs]))
            continue
        for weight, paths in routes.draw([pairs[arc] for arc in arcs], group.multiplicity):
            edges = tuple(tuple([nodes[place] for place in path]) for path in paths)
            yield Tree(root, weight, edges)
