"""Forests at a given rate, on the topology: by shortest paths, by symmetry, or packed."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedules.errors import NoSchedule
from schedules.forestcoll.automorphisms import Ints
from schedules.forestcoll.listing import by_neighbours, canonical_orders, renumbered
from schedules.forestcoll.network import Network
from schedules.forestcoll.optimality import Rate, tree_capacities
from schedules.forestcoll.ordering import in_order
from schedules.forestcoll.packing import pack
from schedules.forestcoll.routes import Routes
from schedules.forestcoll.shortest import shortest_trees
from schedules.forestcoll.splitting import Splitter
from schedules.forestcoll.symmetric_forest import Drawn, translated_trees
from schedules.forestcoll.symmetry import acting, rotations
from schedules.model import Tree, tree_height
from synth.progress import as_one
from synth.topology import NodeId, Topology
from synth.translations import translations

__all__ = ["forest_at", "of_shortest_paths", "packed", "packed_in_order"]

MOST_ORDERS = 8
"""Orders of the nodes in which trees are packed at most."""

FEW_STEPS = 1 << 25
"""Limit on ranks * ranks * arcs * trees per root, summed over these orders."""


def forest_at(topology: Topology, network: Network, rate: Rate) -> Iterable[Tree]:
    """Return trees at a rate that the cuts of a network allow, by the first way that can."""
    return (
        of_shortest_paths(topology, network, rate)
        or symmetric(topology, network, rate)
        or packed(topology, network, rate)
    )


def of_shortest_paths(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree] | None:
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


def symmetric(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree] | None:
    """Return images of the trees of a few roots, or None if there are none.

    They are sought where all ranks have equal shards.
    """
    if not (network.sizes[network.terminals] == 1).all():
        return None
    action = None
    for order in (lambda: network, lambda: by_neighbours(network), lambda: in_order(network)):
        listed = order()
        found = None if listed is None else rotations(listed)
        if found is not None and (action is None or len(found.roots) < len(action.roots)):
            action = found
        if action is not None and len(action.roots) == 1:
            break
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


def packed(topology: Topology, network: Network, rate: Rate) -> list[Tree]:
    """Return trees packed after the nodes that are no ranks are taken away.

    Nodes are taken in an order that depends on the structure of the network alone, so that
    any order of the topology has trees of the same heights; of a small network in several, for
    the lowest trees.
    """
    orders = canonical_orders(network)
    work = len(network.terminals) ** 2 * len(network.tail) * rate.trees_per_root
    tried = max(1, min(MOST_ORDERS, FEW_STEPS // work))
    lowest = list(packed_in_order(topology, network, rate, next(orders)))
    for number, order in enumerate(islice(orders, tried - 1), start=1):
        try:
            with as_one("packing trees in other orders", number, tried):
                trees = list(packed_in_order(topology, network, rate, order))
        except NoSchedule:
            # What a switch lets out too much of is given up in turn: not every order ends well.
            continue
        lowest = min(lowest, trees, key=_how_high)
    return sorted(lowest, key=lambda tree: topology.position[tree.root])


def _how_high(trees: list[Tree]) -> tuple[int, int]:
    return max(map(tree_height, trees)), len(trees)


def packed_in_order(
    topology: Topology, network: Network, rate: Rate, order: Ints
) -> Iterator[Tree]:
    """Return trees packed with the nodes taken in a given order."""
    names = [topology.nodes[node] for node in order.tolist()]
    return _packed(names, renumbered(network, order), rate)


def _packed(nodes: Sequence[NodeId], network: Network, rate: Rate) -> Iterator[Tree]:
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    capacities = {pair: trees for pair, trees in zip(ends, room.tolist(), strict=True) if trees}
    routes = None
    trees = rate.trees_per_root * network.sizes
    if len(network.terminals) < network.node_count:
        splitter = Splitter(capacities, network.terminals, trees, rate.trees_per_root, nodes)
        splitter.remove_switches()
        capacities, routes = splitter.capacities, splitter.routes
    return _trees(nodes, network, capacities, routes, trees)


def _trees(
    nodes: Sequence[NodeId],
    network: Network,
    capacities: dict[tuple[int, int], int],
    routes: Routes | None,
    trees: NDArray[np.int64],
) -> Iterator[Tree]:
    """Pack trees between the terminals and draw them on the topology."""
    ranks = network.terminals
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
