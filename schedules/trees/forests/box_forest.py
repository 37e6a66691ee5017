"""Expand trees between boxes to trees between ranks: along cables, and spread in every box.

A tree enters a box at one rank: its root, or the end of a cable.  From there a tree inside the box
reaches all ranks, and the cables onward start at the ranks that have them.  A tree of h hops
between boxes has at most 2 h + 1 hops where trees inside boxes have height 1.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate, tree_capacities
from topoloom.schedules.trees.forests.box_contraction import (
    BoxNetwork,
    Pair,
    contract_boxes,
    trees_between,
)
from topoloom.schedules.trees.forests.inner_trees import has_room, one_hop_trees, packed_trees
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.synth.topology.topology import NodeId

Edge = tuple[Any, ...]


class _Copies:
    """Items, each with a number of copies, taken in order."""

    def __init__(self, items: Iterable[tuple[Any, int]]) -> None:
        self._items = [[item, copies] for item, copies in reversed(list(items)) if copies]

    @property
    def first(self) -> Any:
        return self._items[-1][0]

    @property
    def left(self) -> int:
        """The number of copies of the first item."""
        return self._items[-1][1]

    def take(self, copies: int) -> None:
        self._items[-1][1] -= copies
        if not self._items[-1][1]:
            self._items.pop()


def box_forest(names: Sequence[NodeId], network: Network, rate: Rate) -> list[Tree] | None:
    """Return trees of all ranks at a rate, packed between boxes; None where this is impossible.

    Args:
        names: Ids of the nodes; the number before the first point is that of the box.
        network, rate: A network and a rate that its cuts allow.

    None if the nodes are no boxes (`contract_boxes`), or if a box has too little capacity to spread
    the data that enters it.  Boxes of equal inside and equal loads are solved once.
    O(boxes * packing of a box + packing of the boxes + size of the trees).

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.schedules.trees.flow.optimality import best_rate
    >>> from topoloom.synth.boxes.expression import topology_of_boxes
    >>> pair = topology_of_boxes("Boxes(Complete(2), Complete(2))")
    >>> network = network_of(pair)
    >>> box_forest(pair.nodes, network, best_rate(network))[0].edges
    (('0.0', '0.1'), ('0.0', '1.0'), ('1.0', '1.1'))
    """
    room = tree_capacities(network, rate.scale, rate.trees_per_root)
    found = contract_boxes(names, network, room)
    if found is None:
        return None
    trees = trees_between(found, rate.trees_per_root)
    cables = _allotted(found, trees)
    started = rate.trees_per_root * network.sizes
    inside = _spread(found, cables, started, names)
    if inside is None:
        return None
    roots = [
        _Copies((node, int(started[node])) for node in found.nodes(box).tolist())
        for box in range(found.box_count)
    ]
    supply = {pair: _Copies(arcs) for pair, arcs in cables.items()}
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    return [
        one
        for tree in trees
        for one in _expanded(tree, roots[int(tree.root)], supply, inside, ends, names)
    ]


def _allotted(found: BoxNetwork, trees: Iterable[Tree]) -> dict[Pair, list[tuple[int, int]]]:
    """Return how many trees use each cable between two boxes: shares of the capacities."""
    used = dict.fromkeys(found.cables, 0)
    for tree in trees:
        for pair in tree.edges:
            used[pair] += tree.weight
    shares = {}
    for pair, arcs in found.cables.items():
        room, left = int(found.network.capacity[list(arcs)].sum()), used[pair]
        shares[pair] = []
        for arc in arcs:
            mine = int(found.network.capacity[arc])
            share = -(-left * mine // room)
            shares[pair].append((arc, share))
            room, left = room - mine, left - share
    return shares


def _spread(
    found: BoxNetwork,
    cables: dict[Pair, list[tuple[int, int]]],
    started: Ints,
    names: Sequence[NodeId],
) -> dict[int, _Copies] | None:
    """Return the trees inside boxes by the node that they start at; None for too little room.

    ``started`` is the number of trees that start at each node.
    """
    network, entering = found.network, started.copy()
    for arcs in cables.values():
        for arc, copies in arcs:
            entering[network.head[arc]] += copies
    solved: dict[bytes, list[Tree] | None] = {}
    inside: dict[int, _Copies] = {}
    for box in range(found.box_count):
        nodes = found.nodes(box)
        inner = _box_alone(network, nodes, entering)
        key = b"|".join(
            part.tobytes()
            for part in (inner.terminals, inner.sizes, inner.tail, inner.head, inner.capacity)
        )
        if key not in solved:
            solved[key] = _forest_inside(inner)
        forest = solved[key]
        if forest is None:
            return None
        by_root: dict[int, list[tuple[tuple[Edge, ...], int]]] = {}
        for tree in forest:
            edges = tuple(tuple(names[nodes[int(node)]] for node in path) for path in tree.edges)
            by_root.setdefault(int(nodes[int(tree.root)]), []).append((edges, tree.weight))
        inside |= {root: _Copies(items) for root, items in by_root.items()}
    return inside


def _forest_inside(box: Network) -> list[Tree] | None:
    """Return trees of a box, with its node numbers; None if the box has too little capacity."""
    found = one_hop_trees(box)
    return packed_trees(box) if found is None and has_room(box) else found


def _box_alone(network: Network, nodes: Ints, entering: Ints) -> Network:
    """Return the part of a network inside a box, with nodes in their order."""
    place = np.full(network.node_count, -1)
    place[nodes] = np.arange(len(nodes))
    tail, head = place[network.tail], place[network.head]
    kept = (tail >= 0) & (head >= 0) & (network.capacity > 0)
    order = np.lexsort((head[kept], tail[kept]))
    ranks = place[network.terminals]
    return replace(
        network,
        node_count=len(nodes),
        terminals=ranks[ranks >= 0],
        sizes=entering[nodes],
        tail=tail[kept][order],
        head=head[kept][order],
        capacity=network.capacity[kept][order],
    )


def _expanded(
    tree: Tree,
    roots: _Copies,
    supply: dict[Pair, _Copies],
    inside: dict[int, _Copies],
    ends: list[tuple[int, int]],
    names: Sequence[NodeId],
) -> Iterator[Tree]:
    """Yield trees between ranks for the copies of a tree between boxes."""
    left = tree.weight
    while left:
        root = roots.first
        arcs = [ends[supply[pair].first] for pair in tree.edges]
        entries = [root, *(head for _, head in arcs)]
        drawn = [roots, *(supply[pair] for pair in tree.edges), *(inside[one] for one in entries)]
        share = min(left, *(copies.left for copies in drawn))
        yield Tree(names[root], share, _edges(names, root, arcs, inside))
        for copies in drawn:
            copies.take(share)
        left -= share


def _edges(
    names: Sequence[NodeId],
    root: int,
    arcs: Iterable[tuple[int, int]],
    inside: dict[int, _Copies],
) -> tuple[Edge, ...]:
    """Return the edges of a tree between ranks, breadth first."""
    depth = {names[root]: 0}
    rows: list[tuple[int, Edge]] = []

    def add(path: Edge) -> None:
        rows.append((depth[path[0]], path))
        depth[path[-1]] = depth[path[0]] + 1

    for path in inside[root].first:
        add(path)
    for near, far in arcs:
        add((names[near], names[far]))
        for path in inside[far].first:
            add(path)
    rows.sort(key=lambda row: row[0])
    return tuple(path for _, path in rows)
