"""Forests at a given rate, on the topology: by shortest paths, by symmetry, or packed."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Tree, tree_height
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate, tree_capacities
from topoloom.schedules.trees.flow.rank_distances import least_height
from topoloom.schedules.trees.forests.topology_trees import named
from topoloom.schedules.trees.packing.shortest_path_trees import shortest_trees
from topoloom.schedules.trees.packing.spanning_trees import pack
from topoloom.schedules.trees.racks.contraction import Contracted, contracted
from topoloom.schedules.trees.racks.expansion import expanded
from topoloom.schedules.trees.switch_removal.edge_splitting import Splitter
from topoloom.schedules.trees.switch_removal.path_bundles import Path, Routes
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.schedules.trees.symmetry.neighbor_order import (
    by_neighbours,
    canonical_orders,
    renumbered,
)
from topoloom.schedules.trees.symmetry.rank_order import in_order
from topoloom.schedules.trees.symmetry.rotations import Action, acting, rotations
from topoloom.schedules.trees.symmetry.symmetric_forest import pays, translated_trees
from topoloom.synth.progress import as_one
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import NodeId, Topology

__all__ = ["Packing", "forest_at", "of_shortest_paths", "packed"]

MOST_ORDERS = 8
"""Orders of the nodes in which trees are packed at most."""

FEW_STEPS = 1 << 24
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
    if not pays(network, 1 if _of_one_kind(network) else 2):
        return None
    network, order, action = _acting_on(topology, network)
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    found = action and translated_trees(network, room, rate.trees_per_root, action)
    if found is None:
        return None
    return named([topology.nodes[node] for node in order.tolist()], found)


class _Numbered(NamedTuple):
    """A network whose node i is node ``order[i]`` of another, and a group that moves its ranks."""

    network: Network
    order: Ints
    action: Action | None

    @property
    def roots(self) -> int:
        """How many roots stand for all; as many as there are ranks where nothing moves them."""
        return len(self.network.terminals if self.action is None else self.action.roots)


def _acting_on(topology: Topology, network: Network) -> _Numbered:
    """Return the network as it is numbered for the group that leaves the fewest roots, and that.

    Groups are sought with less and less trust in how the nodes are numbered.
    """
    same = np.arange(network.node_count)
    best = _Numbered(network, same, rotations(network))
    if best.roots > 1:
        order = by_neighbours(network)
        other = renumbered(network, order)
        best = min(best, _Numbered(other, order, rotations(other)), key=_roots)
    if best.roots == 1:
        return best
    all_ranks = len(network.terminals) == network.node_count
    # How high trees of several kinds of ranks are depends on the numbers of the nodes.
    order = same if all_ranks else next(canonical_orders(network))
    other = renumbered(network, order)
    listed = in_order(other)
    if listed is not None:
        best = min(_Numbered(other, order, rotations(listed)), best, key=_roots)
    if all_ranks and best.roots > 1:
        # What the recipe that the topology is named by knows of itself.
        known = _Numbered(network, same, acting(network, semiregular_group(topology)))
        best = min(known, best, key=_roots)
    return best


def _roots(numbered: _Numbered) -> int:
    return numbered.roots


def _of_one_kind(network: Network) -> bool:
    """Return whether as many arcs, as wide, lead into and out of every rank."""
    for ends in (network.head, network.tail):
        count = np.bincount(ends, minlength=network.node_count)[network.terminals]
        if count.min() < count.max():
            return False
        order = np.lexsort((network.capacity, ends))
        rooms = network.capacity[order][network.is_rank[ends[order]]].reshape(len(count), -1)
        if (rooms != rooms[0]).any():
            return False
    return True


def packed(topology: Topology, network: Network, rate: Rate) -> list[Tree]:
    """Return trees packed after the nodes that are no ranks are taken away.

    Racks are one rank each while trees are packed (`racks`); small networks are packed without
    that as well, and the lower forest is kept.

    Nodes are taken in an order that depends on the structure of the network alone, so that
    any order of the topology has trees of the same heights; of a small network in several, for
    the lowest trees.
    """
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    found = contracted(network, room, rate.trees_per_root)
    forest = None if found is None else _between_racks(topology, rate, found)
    if forest is None or _work(network, rate) <= FEW_STEPS:
        plain = list(_lowest(topology.nodes, network, rate).trees())
        forest = plain if forest is None else min(forest, plain, key=_worth)
    return sorted(forest, key=lambda tree: topology.position[tree.root])


def _between_racks(topology: Topology, rate: Rate, found: Contracted) -> list[Tree] | None:
    """Return trees packed between racks and spread in them; None if a switch had to copy."""
    between = Rate(Fraction(1), rate.trees_per_root, rate.inside[found.nodes])
    names = [topology.nodes[node] for node in found.nodes.tolist()]
    try:
        packing = _lowest(names, found.network, between)
    except NoSchedule:
        return None
    return list(expanded(packing.trees(), found.racks, topology.nodes, rate.trees_per_root))


def _worth(forest: list[Tree]) -> tuple[int, int]:
    return max(map(tree_height, forest)), len(forest)


def _work(network: Network, rate: Rate) -> int:
    return len(network.terminals) ** 2 * len(network.tail) * rate.trees_per_root


def _lowest(names: Sequence[NodeId], network: Network, rate: Rate) -> "Packing":
    """Return the packing of least height among those in a few orders."""
    orders = canonical_orders(network)
    tried = max(1, min(MOST_ORDERS, FEW_STEPS // _work(network, rate)))
    lowest = Packing(names, network, rate, next(orders))
    least = least_height(network) if tried > 1 else 0
    for number, order in enumerate(islice(orders, tried - 1), start=1):
        if lowest.height == least:
            break
        try:
            with as_one("packing trees in other orders", number, tried):
                other = Packing(names, network, rate, order)
        except NoSchedule:
            # What a switch lets out too much of is given up in turn: not every order ends well.
            continue
        lowest = min(lowest, other, key=lambda one: (one.height, len(one.groups)))
    return lowest


class Packing:
    """Trees packed with the nodes of a network taken in a given order.

    ``groups`` are trees between the ranks, ``height`` is that of the highest.
    """

    def __init__(self, names: Sequence[NodeId], network: Network, rate: Rate, order: Ints) -> None:
        self._nodes = [names[node] for node in order.tolist()]
        network = renumbered(network, order)
        room = tree_capacities(network, rate.scale, rate.trees_per_root)
        ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
        capacities = {pair: trees for pair, trees in zip(ends, room.tolist(), strict=True) if trees}
        self._routes: Routes | None = None
        trees = rate.trees_per_root * network.sizes
        if len(network.terminals) < network.node_count:
            splitter = Splitter(
                capacities, network.terminals, trees, rate.trees_per_root, self._nodes
            )
            splitter.remove_switches()
            capacities, self._routes = splitter.capacities, splitter.routes
        self._ranks = network.terminals
        self._pairs = list(capacities)
        between = np.searchsorted(self._ranks, np.array(self._pairs, dtype=np.int64))
        left = np.array(list(capacities.values()), dtype=np.int64)
        tail, head = between[:, 0], between[:, 1]
        self.groups = pack(len(self._ranks), tail, head, left, trees[self._ranks])
        self.height = max(group.height for group in self.groups)

    def trees(self) -> Iterator[Tree]:
        """Yield the trees as they lie on the topology; once, for it uses the routes up."""
        pairs, routes = self._pairs, self._routes
        sole = pairs if routes is None else [routes.sole(pair) for pair in pairs]
        known: dict[Path, tuple[NodeId, ...]] = {}
        for path in pairs if routes is None else routes.paths():
            known[path] = tuple([self._nodes[place] for place in path])
        # Most arcs stand for one path, of which no account need be kept.
        ways = [() if path is None else known[path] for path in sole]
        several = {arc for arc, path in enumerate(sole) if path is None}
        ranks = self._ranks.tolist()
        for group in self.groups:
            root, arcs = self._nodes[ranks[group.root]], group.arcs.tolist()
            edges = [ways[arc] for arc in arcs]
            if routes is None or several.isdisjoint(arcs):
                yield Tree(root, group.multiplicity, tuple(edges))
                continue
            places = [place for place, arc in enumerate(arcs) if arc in several]
            asked = [pairs[arcs[place]] for place in places]
            for weight, paths in routes.draw(asked, group.multiplicity):
                for place, path in zip(places, paths, strict=True):
                    edges[place] = known[path]
                yield Tree(root, weight, tuple(edges))
