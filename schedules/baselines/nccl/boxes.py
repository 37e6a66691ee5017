"""Boxes of a fabric, and one box with everything outside of it as a single rank.

A ring of a fabric with equal boxes goes through one box after another.  In each box it is a path
over all ranks.  Rings of one box with one more rank, *outside*, are therefore rings of the fabric:
remove *outside*, and join the end in each box to the beginning in the next box.
"""

from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

import networkx as nx

from topoloom.synth.topology.topology import Link, NodeId, Topology

OUTSIDE = "*outside*"
"""The rank that stands for all nodes outside of a box."""


class BoxAlone(NamedTuple):
    """The first of several equal boxes, with the rank `OUTSIDE`.

    ``copies`` maps its nodes to those of each box.
    """

    topology: Topology
    copies: tuple[dict[NodeId, NodeId], ...]


def boxes(topology: Topology) -> tuple[tuple[NodeId, ...], ...]:
    """Return the ranks by box: a box is joined by links wider than the narrowest between ranks.

    >>> from topoloom.synth.fabrics import fabric
    >>> [len(boxes(fabric(name))) for name in ("dgx-a100-2", "dgx-h100-1", "dgx-1v")]
    [2, 1, 1]
    """
    widest = nx.Graph()
    widest.add_nodes_from(topology.nodes)
    capacity: defaultdict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for link in topology.links:
        capacity[link.source, link.target] += Fraction(link.capacity)
    for (source, target), one in capacity.items():
        widest.add_edge(source, target, weight=min(one, capacity.get((target, source), one)))
    tree = nx.maximum_spanning_tree(widest)
    ranks = set(topology.compute_nodes)
    # Switches at the ends of the tree connect nothing.
    while ends := [node for node, degree in tree.degree if degree < 2 and node not in ranks]:
        tree.remove_nodes_from(ends)
    least = min((data["weight"] for *_, data in tree.edges(data=True)), default=0)
    narrow = [(a, b) for a, b, data in tree.edges(data=True) if data["weight"] == least]
    wide = tree.copy()
    wide.remove_edges_from(narrow)
    parts = [ranks & part for part in nx.connected_components(wide)]
    if any(not part for part in parts) and all(len(part) < 2 for part in parts):
        return (topology.compute_nodes,)
    groups = [part for part in parts if part]
    if all(len(part) == 1 for part in groups):
        return (topology.compute_nodes,)
    position = topology.position
    ordered = (tuple(sorted(part, key=position.__getitem__)) for part in groups)
    return tuple(sorted(ordered, key=lambda part: position[part[0]]))


def box_alone(topology: Topology) -> BoxAlone | None:
    """Return the first box; None if the topology is a single box, or if its boxes differ.

    >>> from topoloom.synth.fabrics import fabric
    >>> alone = box_alone(fabric("mi250-4"))
    >>> len(alone.topology.compute_nodes), len(alone.copies)
    (17, 4)
    """
    inside = [nodes_inside(topology, box) for box in boxes(topology)]
    if len({len(nodes) for nodes in inside}) > 1 or len(inside) == 1:
        return None
    first = _with_outside(topology, inside[0])
    for nodes in inside:
        names = dict(zip(nodes, inside[0], strict=True))
        if _capacities(_with_outside(topology, nodes), names) != _capacities(first, {}):
            return None
    return BoxAlone(first, tuple(dict(zip(inside[0], nodes, strict=True)) for nodes in inside))


def nodes_inside(topology: Topology, box: tuple[NodeId, ...]) -> tuple[NodeId, ...]:
    """Return a box's ranks, and the switches with links to ranks of this box only."""
    near = nx.Graph((link.source, link.target) for link in topology.links)
    ranks, ours = set(topology.compute_nodes), set(box)
    switches = [node for node in topology.nodes if node in topology.switches and node in near]
    return (*box, *(one for one in switches if set() < ranks & set(near[one]) <= ours))


def _with_outside(topology: Topology, inside: tuple[NodeId, ...]) -> Topology:
    kept = set(inside)

    def merged(node: NodeId) -> NodeId:
        return node if node in kept else OUTSIDE

    links = [
        Link(merged(link.source), merged(link.target), link.capacity)
        for link in topology.links
        if link.source in kept or link.target in kept
    ]
    return Topology((*inside, OUTSIDE), links, switches=kept & set(topology.switches))


def _capacities(
    topology: Topology, names: dict[NodeId, NodeId]
) -> dict[tuple[NodeId, NodeId], Fraction]:
    """Return the capacity between nodes, under other names where given."""
    found: defaultdict[tuple[NodeId, NodeId], Fraction] = defaultdict(Fraction)
    for link in topology.links:
        ends = names.get(link.source, link.source), names.get(link.target, link.target)
        found[ends] += Fraction(link.capacity)
    return found
