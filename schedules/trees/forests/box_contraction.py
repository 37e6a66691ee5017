"""Boxes as single ranks: trees between boxes, each along the cables.

A *box* is the set of nodes whose ids begin with one number, ``"3.gpu0"`` and ``"3.nvswitch"``.
Every link between boxes is a cable from a rank to a rank.

**Trees between boxes exist** at every rate of the whole network, with the trees of all ranks of a
box rooted at the box: a cut between boxes is a cut of the network, and Edmonds' theorem needs no
other.  `box_forest` spreads them inside the boxes, which needs capacity there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate
from topoloom.schedules.trees.forests.lowest_packing import lowest_packing
from topoloom.schedules.trees.packing.shortest_path_trees import shortest_trees
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.synth.boxes.cable_classes import box_number
from topoloom.synth.topology.topology import NodeId

Pair: TypeAlias = tuple[Any, ...]
"""Two boxes by index; an edge of a tree between boxes."""


class BoxNetwork(NamedTuple):
    """A network whose capacities count trees, divided into boxes.

    ``box`` is the index of the box of each node, ``cables`` the arcs from one box to another.
    """

    network: Network
    box: Ints
    cables: dict[Pair, tuple[int, ...]]

    @property
    def box_count(self) -> int:
        """The number of boxes."""
        return int(self.box.max()) + 1

    def nodes(self, box: int) -> Ints:
        """Return the nodes of a box, ascending."""
        return np.flatnonzero(self.box == box)


def contract_boxes(names: Sequence[NodeId], network: Network, room: Ints) -> BoxNetwork | None:
    """Return a network divided into boxes; None if its nodes are no boxes of ranks.

    Args:
        names: Ids of the nodes.
        network: Result None if its links share limits.
        room: Number of trees that each arc can carry.

    O(nodes + arcs).

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.boxes.expression import topology_of_boxes
    >>> pair = topology_of_boxes("Boxes(Complete(2), Complete(2))")
    >>> network = network_of(pair)
    >>> found = contract_boxes(pair.nodes, network, network.capacity)
    >>> found.box.tolist(), sorted(found.cables)
    ([0, 0, 1, 1], [(0, 1), (1, 0)])
    """
    numbers = [box_number(name) for name in names]
    if None in numbers or network.shared:
        return None
    kinds, box = np.unique(np.array(numbers), return_inverse=True)
    is_rank = network.is_rank
    ranks = np.bincount(box[is_rank], minlength=len(kinds))
    between = (box[network.tail] != box[network.head]) & (room > 0)
    ends_are_ranks = is_rank[network.tail[between]] & is_rank[network.head[between]]
    if len(kinds) < 2 or ranks.min() < 1 or ranks.max() < 2 or not ends_are_ranks.all():
        return None
    cables: dict[Pair, list[int]] = defaultdict(list)
    for arc in np.flatnonzero(between).tolist():
        cables[int(box[network.tail[arc]]), int(box[network.head[arc]])].append(arc)
    return BoxNetwork(
        replace(network, capacity=room), box, {pair: tuple(arcs) for pair, arcs in cables.items()}
    )


def trees_between(found: BoxNetwork, trees_per_root: int) -> list[Tree]:
    """Return trees between boxes: ``trees_per_root`` per unit of data in the root's box."""
    network, pairs = found.network, list(found.cables)
    tail, head = np.array(pairs, np.int64).T
    capacity = np.array([network.capacity[list(arcs)].sum() for arcs in found.cables.values()])
    sizes = np.zeros(found.box_count, np.int64)
    np.add.at(sizes, found.box, network.sizes)
    if sizes.min() == sizes.max():
        trees = trees_per_root * int(sizes[0])
        groups = shortest_trees(found.box_count, tail, head, capacity, trees)
        if groups is not None:
            return [
                Tree(one.root, one.multiplicity, tuple(_named(pairs, one.arcs))) for one in groups
            ]
    boxes = replace(
        network,
        node_count=found.box_count,
        terminals=np.arange(found.box_count),
        sizes=sizes,
        tail=np.ascontiguousarray(tail),
        head=np.ascontiguousarray(head),
        capacity=capacity,
    )
    rate = Rate(Fraction(1), trees_per_root, np.zeros(found.box_count, np.bool_))
    return list(lowest_packing(range(found.box_count), boxes, rate).trees())


def _named(pairs: list[Pair], arcs: Ints) -> Iterator[Pair]:
    return (pairs[arc] for arc in arcs.tolist())
