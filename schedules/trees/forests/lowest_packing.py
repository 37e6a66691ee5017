"""Packed forests: switches are split off, and trees are packed between the ranks.

Small networks are packed in several orders of the nodes; the lowest forest wins.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate, tree_capacities
from topoloom.schedules.trees.flow.rank_distances import least_height
from topoloom.schedules.trees.packing.spanning_trees import pack
from topoloom.schedules.trees.switch_removal.edge_splitting import Splitter
from topoloom.schedules.trees.switch_removal.path_bundles import Path, Routes
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.schedules.trees.symmetry.neighbor_order import canonical_orders, renumbered
from topoloom.synth.progress import single_stage
from topoloom.synth.topology.topology import NodeId


def packing_work(network: Network, rate: Rate) -> int:
    """Return roots * ranks * arcs * groups of trees per root: the time of packing grows with it."""
    groups = min(rate.trees_per_root, limits.MAX_GROUPS)
    roots = int(np.count_nonzero(network.sizes))
    return roots * len(network.terminals) * len(network.tail) * groups


def lowest_packing(names: Sequence[NodeId], network: Network, rate: Rate) -> "Packing":
    """Return the packing of least height among a few orders."""
    orders = canonical_orders(network)
    tried = max(1, min(limits.MAX_ORDERS, limits.MAX_REPEATED_WORK // packing_work(network, rate)))
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
