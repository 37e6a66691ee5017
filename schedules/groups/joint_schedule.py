"""Schedules of several groups that run at once and together reach the joint rate."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.groups.cheapest_trees import GroupTree
from topoloom.schedules.groups.exact_trees import Weights, on_grid
from topoloom.schedules.groups.group_symmetry import regular_orbits
from topoloom.schedules.groups.joint_program import JointProgram
from topoloom.schedules.groups.joint_rate import require_connected_groups
from topoloom.schedules.groups.joint_trees import joint_trees
from topoloom.schedules.groups.traffic import GroupTraffic, placed_traffic, require_traffic
from topoloom.schedules.model.schedule import (
    Collective,
    Route,
    RouteSchedule,
    Schedule,
    SequenceSchedule,
    Tree,
    TreeSchedule,
)
from topoloom.schedules.trees.flow.network import Network, network_of
from topoloom.synth.topology.topology import NodeId, Topology

MAX_UNITS = 1 << 20
"""Maximum parts of the data of a root; finer weights are rounded to this number of parts."""

Ints = NDArray[np.int64]
Path: TypeAlias = tuple[int, ...]
Paths: TypeAlias = tuple[Path, ...]
RootTrees: TypeAlias = dict[tuple[int, int], dict[Paths, Fraction]]
"""By pass and root: weighted trees, as paths of positions."""


def traffic_schedules(
    topology: Topology, traffic: Iterable[GroupTraffic]
) -> tuple[tuple[Schedule, ...], ...]:
    """Return the schedules of the groups of every kind; all run at once, at the joint rate.

    Parameters, errors and complexity as for `schedules.groups.joint_rate.traffic_rates`.

    Returns:
        Trees for an allgather or a reduce-scatter, both passes at once for an allreduce, routes for
        an all-to-all.  Hosts of other groups are idle and forward.
        `schedules.verify.groups.joint_time` is the time of all together.

    Trees of one root of each orbit under a semiregular group are found, and copied to the others.
    Where exact weights need more than `MAX_UNITS` parts, rounding loses about a millionth of the
    joint rate for every tree of a root.

    >>> from topoloom.schedules.verify.groups import joint_time
    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> both = [
    ...     GroupTraffic("tensor", ((0, 1), (2, 3)), Collective.ALLREDUCE, 600),
    ...     GroupTraffic("data", ((0, 2), (1, 3)), Collective.ALLGATHER, 400),
    ... ]
    >>> pairs, others = traffic_schedules(ring, both)
    >>> len(pairs), len(others)
    (2, 2)
    >>> sized = [(one, 600) for one in pairs] + [(one, 400) for one in others]
    >>> joint_time(sized, ring)
    Fraction(800, 1)
    """
    traffic = require_traffic(topology, traffic)
    network = network_of(topology)
    placed = placed_traffic(topology, traffic)
    orbits, images = regular_orbits(topology, network, *(one.groups for one in placed))
    program = JointProgram(network, placed, orbits)
    require_connected_groups(program, topology, traffic)
    weights = joint_trees(program).weights
    if lcm(*(weight.denominator for _, weight in weights)) > MAX_UNITS:
        weights = on_grid(weights, MAX_UNITS)
    found = _spread(program, weights, images, network)
    return tuple(
        tuple(_schedule(topology, members, one.collective, found[kind]) for members in one.groups)
        for kind, one in enumerate(traffic)
    )


def _spread(
    program: JointProgram, weights: Weights, images: Ints, network: Network
) -> dict[int, RootTrees]:
    """Return by kind the weighted trees of every pass and root, with all images."""
    found: dict[int, RootTrees] = defaultdict(lambda: defaultdict(lambda: defaultdict(Fraction)))
    for column, weight in weights:
        roots = program.classes[column.kind]
        share = weight * roots.count / len(images)
        for number, tree in enumerate(column.trees):
            paths = _paths(tree, network)
            for image in images.tolist():
                moved = tuple(tuple(image[node] for node in path) for path in paths)
                found[roots.kind][number, image[tree.root]][moved] += share
    return found


def _paths(tree: GroupTree, network: Network) -> Paths:
    """Return the nodes of each path in the direction of the data, in breadth-first order."""
    below: dict[int, list[tuple[int, Path]]] = defaultdict(list)
    for parent, child, arcs in tree.paths:
        ends = network.tail if tree.inward else network.head
        path = (parent, *(int(ends[arc]) for arc in arcs))
        below[parent].append((child, path[::-1] if tree.inward else path))
    order, level = list[Path](), [tree.root]
    while level:
        edges = [edge for node in level for edge in below[node]]
        order += [path for _, path in edges]
        level = [child for child, _ in edges]
    return tuple(order)


def _schedule(
    topology: Topology,
    members: Sequence[NodeId],
    collective: Collective,
    found: RootTrees,
) -> Schedule:
    """Return the schedule of one group."""
    inside, place = set(members), topology.position
    ranks = tuple(node for node in topology.compute_nodes if node in inside)
    idle = tuple(node for node in topology.compute_nodes if node not in inside)
    scale = lcm(
        *(share.denominator for (_, root), trees in found.items() if topology.nodes[root] in inside
          for share in trees.values())
    )  # fmt: skip

    def trees_of(number: int) -> Iterator[Tree]:
        for rank in ranks:
            for paths, share in found.get((number, place[rank]), {}).items():
                edges = tuple(tuple(topology.nodes[node] for node in path) for path in paths)
                yield Tree(rank, int(share * scale), edges)

    if collective is Collective.ALL_TO_ALL:
        weights: dict[tuple[NodeId, ...], int] = defaultdict(int)
        for tree in trees_of(0):
            for edge in tree.edges:
                weights[edge] += tree.weight
        routes = tuple(Route(path, weight) for path, weight in weights.items())
        return RouteSchedule(collective, topology.digest, ranks, scale, routes, idle)
    if collective is not Collective.ALLREDUCE:
        return _trees(topology, collective, ranks, idle, tuple(trees_of(0)))
    passes = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    parts = tuple(
        _trees(topology, one, ranks, idle, tuple(trees_of(number)))
        for number, one in enumerate(passes)
    )
    return SequenceSchedule(collective, topology.digest, parts, together=True)


def _trees(
    topology: Topology,
    collective: Collective,
    ranks: tuple[NodeId, ...],
    idle: tuple[NodeId, ...],
    trees: tuple[Tree, ...],
) -> TreeSchedule:
    """Return a tree schedule whose shards are as large as the trees of their roots."""
    sums = dict.fromkeys(ranks, 0)
    for tree in trees:
        sums[tree.root] += tree.weight
    common = gcd(*sums.values())
    sizes = tuple(size // common for size in sums.values())
    shards = () if set(sizes) == {1} else sizes
    return TreeSchedule(collective, topology.digest, ranks, common, trees, shards, idle)
