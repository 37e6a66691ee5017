"""Trees packed with many equivalent ranks as one: the *joint rank*.

Beside a fault, a group of automorphisms moves most ranks.  Images of a few trees span these, and
leave some capacity of every arc.  Here the moved ranks become one rank, which has all their trees
and arcs, and trees that span this rank and the others are packed (`lowest_packing`).

A packed tree of the joint rank completes any image: since the image spans all moved ranks, an edge
out of the joint rank may start at any of them.  By Edmonds' theorem such trees exist wherever every
cut of the small network carries enough, which one flow for each of its ranks decides.
"""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.optimality import Rate
from topoloom.schedules.trees.forests.lowest_packing import lowest_packing
from topoloom.schedules.trees.switch_removal.optimistic_splitting import OptimisticSplits
from topoloom.schedules.trees.symmetry.automorphisms import Ints

Steps = list[tuple[tuple[int, ...], int]]
"""Edges of a tree as paths of nodes, and the depth at which each ends."""


class JointTree(NamedTuple):
    """``weight`` equal trees between the joint rank and the others, by the numbers of nodes.

    ``stem`` are the edges before the joint rank, the last of them into it if the root is another
    rank.  ``ways`` are the edges behind it: for each edge out of it the node next to it, and the
    edges from there on, with their depths above that of the moved rank where the way starts.
    """

    root: int
    weight: int
    stem: Steps
    ways: list[tuple[int, Steps]]


def joint_trees(
    network: Network, left: Ints, moved: Ints, trees_per_root: int
) -> list[JointTree] | None:
    """Return trees of the moved ranks as one, and of all others; None if the cuts forbid some.

    Args:
        network: All ranks have equal shards.
        left: Number of trees that each arc can still carry.
        moved: The moved ranks; the first of them stands for all.

    Ranks 0 to 2 of a star become one:

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> links = [(rank, "w") for rank in range(4)] + [("w", rank) for rank in range(4)]
    >>> star = network_of(Topology([*range(4), "w"], links, switches="w"))
    >>> for tree in joint_trees(star, 3 * star.capacity, np.arange(3), 1):
    ...     print(tree)
    JointTree(root=0, weight=3, stem=[], ways=[(4, [((0, 4, 3), 1)])])
    JointTree(root=3, weight=1, stem=[((3, 4, 0), 1)], ways=[])
    """
    joined, nodes = _joined(network, left, moved)
    joined = _with_direct_ways(joined, int(np.searchsorted(nodes, moved[0])), trees_per_root)
    if joined is None:
        return None
    rate = Rate(Fraction(1), trees_per_root, np.ones(joined.node_count, np.bool_))
    try:
        packing = lowest_packing(nodes.tolist(), joined, rate)
    except NoSchedule:
        return None
    trees = [_divided(tree, int(moved[0])) for tree in packing.trees()]
    return sorted(trees, key=lambda tree: (tree.root, -tree.weight))


def joint_nodes(network: Network, moved: Ints) -> Ints:
    """Return the nodes of the network in which the first of the moved ranks stands for all."""
    place = np.arange(network.node_count)
    place[moved] = moved[0]
    tail, head = place[network.tail], place[network.head]
    beside = (tail != moved[0]) & (head != moved[0])
    return np.unique(np.concatenate([tail[beside], head[beside], place[network.terminals]]))


def _joined(network: Network, left: Ints, moved: Ints) -> tuple[Network, Ints]:
    """Return the network with the moved ranks as one, without switches that join only these.

    Its node i is node ``nodes[i]`` of the given network.
    """
    place = np.arange(network.node_count)
    place[moved] = moved[0]
    tail, head = place[network.tail], place[network.head]
    nodes = joint_nodes(network, moved)
    near = np.zeros(network.node_count, np.bool_)
    near[nodes] = True
    kept = near[tail] & near[head] & (tail != head) & (left > 0)
    codes, arc = np.unique(tail[kept] * network.node_count + head[kept], return_inverse=True)
    capacity = np.zeros(len(codes), np.int64)
    np.add.at(capacity, arc, left[kept])
    sizes = np.bincount(place[network.terminals], minlength=network.node_count)[nodes]
    joined = replace(
        network,
        node_count=len(nodes),
        terminals=np.flatnonzero(sizes),
        sizes=sizes,
        tail=np.searchsorted(nodes, codes // network.node_count),
        head=np.searchsorted(nodes, codes % network.node_count),
        capacity=capacity,
    )
    return joined, nodes


def _with_direct_ways(joined: Network, joint: int, trees_per_root: int) -> Network | None:
    """Return the network with less capacity from other ranks to switches next to the joint rank.

    Switches are split off evenly, so that these ranks would relay what the joint rank can send to
    the same nodes.  Only capacity that no cut needs is removed.  None if the cuts forbid trees.
    """
    ends = list(zip(joined.tail.tolist(), joined.head.tolist(), strict=True))
    room = dict(zip(ends, joined.capacity.tolist(), strict=True))
    shares = trees_per_root * joined.sizes
    cuts = OptimisticSplits(joined.node_count, joined.terminals, shares, room, [])
    if not cuts.hold():
        return None
    is_rank = joined.is_rank
    for tail, head in ends:
        if is_rank[tail] and tail != joint and not is_rank[head] and (joint, head) in room:
            more = max(0, room[tail, head] - trees_per_root)
            room[tail, head] -= cuts.lower((tail, head), more)
    capacity = np.array(list(room.values()), np.int64)
    kept = capacity > 0
    return replace(joined, tail=joined.tail[kept], head=joined.head[kept], capacity=capacity[kept])


def _divided(tree: Tree, joint: int) -> JointTree:
    """Return a packed tree with its edges before and behind the joint rank apart."""
    found = JointTree(int(tree.root), tree.weight, [], [])
    known = {found.root: (0, found.stem)}
    for edge in tree.edges:
        path = tuple(map(int, edge))
        depth, part = known[path[0]]
        if path[0] == joint:
            depth, part = 0, Steps()
            found.ways.append((path[1], part))
        part.append((path, depth + 1))
        known[path[-1]] = depth + 1, part
    return found
