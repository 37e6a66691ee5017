"""Choose the method that makes a forest at a given rate.

`forest_at` takes the first method that reaches the rate:

1. Shortest-path trees, if all nodes are ranks with equal shards (`packing.shortest_path_trees`).
   They are the fastest to find and the lowest.
2. Symmetric trees, if all ranks have equal shards: trees of one root per orbit of a group of
   automorphisms, and their images (`symmetry.rotations`, `symmetry.rank_order`,
   `symmetry.symmetric_forest`).
3. Packing: remove switches (`switch_removal`), pack trees between ranks (`packing.spanning_trees`),
   reduce their height (`packing.height_reduction`). Racks are one rank each (`racks`). Small
   networks are packed without racks, too, and in several orders of the nodes; the lowest forest
   wins.

All limits are in `topoloom.schedules.trees.limits`.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Tree, tree_height
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate, tree_capacities
from topoloom.schedules.trees.flow.rank_distances import least_height
from topoloom.schedules.trees.forests.topology_trees import named_trees
from topoloom.schedules.trees.packing.shortest_path_trees import shortest_trees
from topoloom.schedules.trees.packing.spanning_trees import pack
from topoloom.schedules.trees.racks.contraction import Contracted, contract_racks
from topoloom.schedules.trees.racks.expansion import expand_racks
from topoloom.schedules.trees.switch_removal.edge_splitting import Splitter
from topoloom.schedules.trees.switch_removal.path_bundles import Path, Routes
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.schedules.trees.symmetry.neighbor_order import (
    canonical_orders,
    neighbor_order,
    renumbered,
)
from topoloom.schedules.trees.symmetry.rank_order import rank_order
from topoloom.schedules.trees.symmetry.rotations import Action, acting, rotations
from topoloom.schedules.trees.symmetry.symmetric_forest import search_pays, symmetric_trees
from topoloom.synth.progress import single_stage
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import NodeId, Topology


def forest_at(topology: Topology, network: Network, rate: Rate) -> Iterable[Tree]:
    """Return trees at a rate that the cuts of a network allow; the first method wins."""
    return (
        shortest_path_forest(topology, network, rate)
        or symmetric(topology, network, rate)
        or packed(topology, network, rate)
    )


def shortest_path_forest(topology: Topology, network: Network, rate: Rate) -> Iterator[Tree] | None:
    """Return shortest-path trees at this rate, or None.

    They are tried where all nodes are ranks with equal shards.
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
    """Return images of the trees of a few roots, or None.

    They are tried where all ranks have equal shards.
    """
    if not (network.sizes[network.terminals] == 1).all():
        return None
    if not search_pays(network, 1 if _of_one_kind(network) else 2):
        return None
    network, order, action = _acting_on(topology, network)
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    found = action and symmetric_trees(network, room, rate.trees_per_root, action)
    if found is None:
        return None
    return named_trees([topology.nodes[node] for node in order.tolist()], found)


class _Numbered(NamedTuple):
    """A network whose node i is node ``order[i]`` of another, and a group acting on its ranks."""

    network: Network
    order: Ints
    action: Action | None

    @property
    def roots(self) -> int:
        """The number of representative roots: orbits of ranks under the group."""
        return len(self.network.terminals if self.action is None else self.action.roots)


def _acting_on(topology: Topology, network: Network) -> _Numbered:
    """Return the renumbered network and its group with the fewest representative roots.

    Candidate groups depend less and less on the numbering of the nodes.
    """
    same = np.arange(network.node_count)
    best = _Numbered(network, same, rotations(network))
    if best.roots > 1:
        order = neighbor_order(network)
        other = renumbered(network, order)
        best = min(best, _Numbered(other, order, rotations(other)), key=_roots)
    if best.roots == 1:
        return best
    all_ranks = len(network.terminals) == network.node_count
    # The heights of trees with several kinds of ranks depend on the node numbers.
    order = same if all_ranks else next(canonical_orders(network))
    other = renumbered(network, order)
    listed = rank_order(other)
    if listed is not None:
        best = min(_Numbered(other, order, rotations(listed)), best, key=_roots)
    if all_ranks and best.roots > 1:
        # Symmetry known from the topology's recipe.
        known = _Numbered(network, same, acting(network, semiregular_group(topology)))
        best = min(known, best, key=_roots)
    return best


def _roots(numbered: _Numbered) -> int:
    return numbered.roots


def _of_one_kind(network: Network) -> bool:
    """Return whether all ranks have the same number and widths of arcs in and out."""
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
    """Return trees packed after the removal of all nodes that are no ranks.

    Racks are merged into one rank each during packing (`racks`).  Small networks are also packed
    without this step, and the lower forest is kept.

    The order of node removal depends on the structure of the network alone, so that any order of
    the topology has trees of the same heights.  Small networks try several orders for lower
    trees.
    """
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    found = contract_racks(network, room, rate.trees_per_root)
    forest = None if found is None else _between_racks(topology, rate, found)
    if forest is None or _work(network, rate) <= limits.MAX_REPEATED_WORK:
        plain = list(_lowest(topology.nodes, network, rate).trees())
        forest = plain if forest is None else min(forest, plain, key=_worth)
    return sorted(forest, key=lambda tree: topology.position[tree.root])


def _between_racks(topology: Topology, rate: Rate, found: Contracted) -> list[Tree] | None:
    """Return trees packed between racks and expanded within; None if a switch had to copy."""
    between = Rate(Fraction(1), rate.trees_per_root, rate.inside[found.nodes])
    names = [topology.nodes[node] for node in found.nodes.tolist()]
    try:
        packing = _lowest(names, found.network, between)
    except NoSchedule:
        return None
    return list(expand_racks(packing.trees(), found.racks, topology.nodes, rate.trees_per_root))


def _worth(forest: list[Tree]) -> tuple[int, int]:
    return max(map(tree_height, forest)), len(forest)


def _work(network: Network, rate: Rate) -> int:
    return len(network.terminals) ** 2 * len(network.tail) * rate.trees_per_root


def _lowest(names: Sequence[NodeId], network: Network, rate: Rate) -> "Packing":
    """Return the packing of least height among a few orders."""
    orders = canonical_orders(network)
    tried = max(1, min(limits.MAX_ORDERS, limits.MAX_REPEATED_WORK // _work(network, rate)))
    lowest = Packing(names, network, rate, next(orders))
    least = least_height(network) if tried > 1 else 0
    for number, order in enumerate(islice(orders, tried - 1), start=1):
        if lowest.height == least:
            break
        try:
            with single_stage("packing trees in other orders", number, tried):
                other = Packing(names, network, rate, order)
        except NoSchedule:
            # Excess outflow of a switch is dropped in turn: some orders fail.
            continue
        lowest = min(lowest, other, key=lambda one: (one.height, len(one.groups)))
    return lowest


class Packing:
    """Trees packed with the nodes of a network removed in a given order.

    ``groups`` are trees between the ranks; ``height`` is the maximum height.
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
        """Yield the trees on the topology; only once, since this consumes the routes."""
        pairs, routes = self._pairs, self._routes
        sole = pairs if routes is None else [routes.sole(pair) for pair in pairs]
        known: dict[Path, tuple[NodeId, ...]] = {}
        for path in pairs if routes is None else routes.paths():
            known[path] = tuple([self._nodes[place] for place in path])
        # Most arcs represent a single path, which needs no accounting.
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
