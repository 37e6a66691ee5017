"""Choose the method that makes a forest at a given rate.

`forest_at` takes the first method that reaches the rate:

1. Shortest-path trees, if all nodes are ranks with equal shards (`packing.shortest_path_trees`).
   They are the fastest to find and the lowest.
2. Trees between boxes, spread inside each box, if cables join ranks of boxes (`box_forest`).
3. Symmetric trees, if all ranks have equal shards: trees of one root per orbit of a group of
   automorphisms, and their images (`symmetry.rotations`, `symmetry.rank_order`,
   `symmetry.symmetric_forest`).  Beside a fault, a group that moves most ranks
   (`symmetry.equivalent_ranks`), and trees completed by the others (`completed_forest`).
4. Packing: remove switches (`switch_removal`), pack trees between ranks (`packing.spanning_trees`),
   reduce their height (`packing.height_reduction`). Racks are one rank each (`racks`). Small
   networks are packed without racks, too, and in several orders of the nodes; the lowest forest
   wins.

All limits are in `topoloom.schedules.trees.limits`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Tree, tree_height
from topoloom.schedules.model.tree_table import TreeTable
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate, tree_capacities
from topoloom.schedules.trees.forests.box_forest import box_forest
from topoloom.schedules.trees.forests.completed_forest import completed_trees
from topoloom.schedules.trees.forests.lowest_packing import lowest_packing, packing_work
from topoloom.schedules.trees.forests.topology_trees import named_trees
from topoloom.schedules.trees.packing.shortest_path_trees import shortest_trees
from topoloom.schedules.trees.racks.contraction import Contracted, contract_racks
from topoloom.schedules.trees.racks.expansion import expand_racks
from topoloom.schedules.trees.symmetry.automorphisms import Ints, generators
from topoloom.schedules.trees.symmetry.equivalent_ranks import equivalent_ranks
from topoloom.schedules.trees.symmetry.neighbor_order import (
    canonical_orders,
    neighbor_order,
    renumbered,
)
from topoloom.schedules.trees.symmetry.orbit_tree_growing import TOLLS
from topoloom.schedules.trees.symmetry.rank_order import rank_order
from topoloom.schedules.trees.symmetry.rotations import Action, acting, rotations
from topoloom.schedules.trees.symmetry.symmetric_forest import symmetric_trees
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology


def forest_at(topology: Topology, network: Network, rate: Rate) -> Iterable[Tree]:
    """Return trees at a rate that the cuts of a network allow; the first method wins."""
    return (
        shortest_path_forest(topology, network, rate)
        or forest_between_boxes(topology, network, rate)
        or _symmetric_or_lower(topology, network, rate)
        or forest_without_switches(topology, network, rate)
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


def forest_between_boxes(topology: Topology, network: Network, rate: Rate) -> list[Tree] | None:
    """Return trees packed between boxes and spread inside, or None.

    Small networks are also packed without boxes, and the lower forest is kept.
    """
    forest = None if topology.multicast else box_forest(topology.nodes, network, rate)
    if forest is None or packing_work(network, rate) > limits.MAX_REPEATED_WORK:
        return forest
    try:
        plain = list(lowest_packing(topology.nodes, network, rate).trees())
    except NoSchedule:
        return forest
    return min(forest, plain, key=_worth)


def symmetric(
    topology: Topology, network: Network, rate: Rate, gaps: Sequence[Fraction] = (Fraction(0),)
) -> TreeTable | None:
    """Return images of the trees of a few roots, or None.

    They are tried where all ranks have equal shards.  ``gaps`` are the excesses over the time of
    the rate, as shares, that are tried in turn.  With a gap every root has `limits.MANY_TREES`
    trees: of few trees, rounding down takes more capacity than the gap adds.
    """
    if not (network.sizes[network.terminals] == 1).all():
        return None
    if not _search_pays(network, 1 if _of_one_kind(network) else 2):
        return None
    chosen = _acting_on(topology, network)
    network, order, action = chosen
    if action is None or not _search_pays(network, chosen.roots):
        return None
    names = [topology.nodes[node] for node in order.tolist()]
    whole = not len(action.others(network.terminals))
    for gap in gaps:
        count = limits.MANY_TREES if gap else rate.trees_per_root
        room = tree_capacities(network, rate.inverse * count * (1 + gap), count)
        if whole:
            found = symmetric_trees(network, room, count, action)
        else:
            tries = 1 if gap < gaps[-1] else len(TOLLS)
            found = completed_trees(network, room, count, action, tries)
        if found is not None:
            return named_trees(names, found)
    return None


def _symmetric_or_lower(topology: Topology, network: Network, rate: Rate) -> Iterable[Tree] | None:
    """Return images of the trees of a few roots, or None.

    Trees completed beside a fault may be high: where packing is fast, packed trees are kept instead
    if they are lower and not too many.
    """
    found = symmetric(topology, network, rate)
    if found is None or packing_work(network, rate) > limits.MAX_COMPARED_WORK:
        return found
    if len(equivalent_ranks(network)) == len(network.terminals):
        return found
    try:
        plain = forest_without_switches(topology, network, rate)
    except NoSchedule:
        return found
    most = max(len(found), limits.MAX_TREES_PER_RANK * len(network.terminals))
    return found if len(plain) > most else min(list(found), plain, key=_worth)


def _search_pays(network: Network, roots: int) -> bool:
    """Return whether a search for trees of ``roots`` roots pays, compared with packing."""
    ranks = len(network.terminals)
    return roots == 1 or limits.MAX_PACKED_RANKS < ranks < network.node_count


class _Numbered(NamedTuple):
    """A network whose node i is node ``order[i]`` of another, and a group acting on its ranks."""

    network: Network
    order: Ints
    action: Action | None

    @property
    def roots(self) -> int:
        """The number of roots whose trees are grown: one per orbit, and all ranks in no orbit."""
        ranks = self.network.terminals
        if self.action is None:
            return len(ranks)
        return len(self.action.roots) + len(self.action.others(ranks))


def _acting_on(topology: Topology, network: Network) -> _Numbered:
    """Return the renumbered network and its group with the fewest roots.

    Candidate groups depend less and less on the numbering of the nodes.  A fault leaves most ranks
    equivalent: groups that move only these are the last candidates.
    """
    best = _in_given_order(network)
    if best.roots == 1:
        return best
    all_ranks = len(network.terminals) == network.node_count
    # The heights of trees with several kinds of ranks depend on the node numbers.
    order = np.arange(network.node_count) if all_ranks else next(canonical_orders(network))
    other = renumbered(network, order)
    best = _by_blocks(other, order, other, best)
    if all_ranks and best.roots > 1:
        # Symmetry known from the topology's recipe.
        known = acting(network, semiregular_group(topology))
        best = min(_Numbered(network, order, known), best, key=_roots)
    moved = equivalent_ranks(other)
    if best.roots == 1 or len(moved) == len(network.terminals):
        return best
    part = _in_given_order(replace(network, terminals=np.sort(order[moved])))
    part = _by_blocks(replace(other, terminals=moved), order, other, part)
    place = np.argsort(part.order)
    whole = replace(part.network, terminals=np.sort(place[network.terminals]))
    return min(best, part._replace(network=whole), key=_roots)


def _in_given_order(network: Network) -> _Numbered:
    """Return the group of rotations of the ranks as listed, or in the order of their neighbors."""
    best = _Numbered(network, np.arange(network.node_count), rotations(network))
    if best.roots == 1:
        return best
    order = neighbor_order(network)
    other = renumbered(network, order)
    return min(best, _Numbered(other, order, rotations(other)), key=_roots)


def _by_blocks(network: Network, order: Ints, whole: Network, best: _Numbered) -> _Numbered:
    """Return the better of a group and of the rotations of blocks of ranks.

    The automorphisms of the ``whole`` network map the ranks of ``network``, some of its, to these.
    """
    if best.roots == 1:
        return best
    listed = rank_order(network, generators(whole, whole.kinds))
    if listed is None:
        return best
    return min(_Numbered(network, order, rotations(listed)), best, key=_roots)


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


def forest_without_switches(topology: Topology, network: Network, rate: Rate) -> list[Tree]:
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
    if forest is None or packing_work(network, rate) <= limits.MAX_REPEATED_WORK:
        plain = list(lowest_packing(topology.nodes, network, rate).trees())
        forest = plain if forest is None else min(forest, plain, key=_worth)
    return sorted(forest, key=lambda tree: topology.position[tree.root])


def _between_racks(topology: Topology, rate: Rate, found: Contracted) -> list[Tree] | None:
    """Return trees packed between racks and expanded within; None if a switch had to copy."""
    between = Rate(Fraction(1), rate.trees_per_root, rate.inside[found.nodes])
    names = [topology.nodes[node] for node in found.nodes.tolist()]
    try:
        packing = lowest_packing(names, found.network, between)
    except NoSchedule:
        return None
    return list(expand_racks(packing.trees(), found.racks, topology.nodes, rate.trees_per_root))


def _worth(forest: list[Tree]) -> tuple[int, int]:
    return max(map(tree_height, forest)), len(forest)
