"""Automorphisms of a network that map groups to groups, and the orbits they make.

The average of any joint schedule over these automorphisms is a joint schedule.  So one member of
each orbit of members, and one load for each orbit of links, decide the best rate of all groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import arc_images, colored_graph, orbits
from topoloom.synth.symmetry.canonical_forms import graph_class
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class GroupOrbits:
    """Orbit numbers of nodes, arcs, shared limits and groups of a network."""

    nodes: Ints
    arcs: Ints
    limits: Ints
    groups: Ints


def group_orbits(network: Network, *kinds: Sequence[Sequence[int]]) -> GroupOrbits:
    """Return the orbits under all automorphisms that map groups of a kind to such groups.

    Args:
        kinds: Groups of node positions; those of one kind are disjoint.  Groups are numbered
            through all kinds.

    Every group becomes a vertex joined to its members; bliss computes the automorphisms
    (`schedules.trees.symmetry.automorphisms`).

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = Topology(range(6), [(i, (i + s) % 6) for i in range(6) for s in (1, 5)])
    >>> found = group_orbits(network_of(ring), [(0, 1, 2), (3, 4, 5)])
    >>> found.nodes.tolist(), found.groups.tolist()
    ([0, 1, 0, 0, 1, 0], [0, 0])
    """
    held = [{node for members in groups for node in members} for groups in kinds]
    ranks = network.is_rank.tolist()
    edges, painted = colored_graph(
        network,
        [(rank, *(node in members for members in held)) for node, rank in enumerate(ranks)],
    )
    first, color = len(painted), max(painted) + 1
    for kind, groups in enumerate(kinds):
        for members in groups:
            edges += [(len(painted), node) for node in members]
            painted.append(color + kind)
    found = graph_class()(len(painted), edges).automorphism_group(color=painted)
    every = [np.array(image, np.int64) for image in found]
    images = [image[: network.node_count] for image in every]
    arcs = arc_images(network, images)
    return GroupOrbits(
        orbits(network.node_count, images),
        orbits(len(network.tail), arcs),
        orbits(len(network.shared), [_limit_images(network, image) for image in arcs]),
        orbits(len(painted) - first, [image[first:] - first for image in every]),
    )


def regular_orbits(
    topology: Topology, network: Network, *kinds: Sequence[Sequence[int]]
) -> tuple[GroupOrbits, Ints]:
    """Return the orbits under a semiregular group as in `group_orbits`, and its elements.

    Only the identity fixes a node, so the trees of one root of each orbit give those of all roots.
    """
    images = semiregular_group(topology)
    owners, count = list[Ints](), 0
    for groups in kinds:
        owner = np.full(network.node_count, -1, np.int64)
        for number, members in enumerate(groups, count):
            owner[list(members)] = number
        count += len(groups)
        images = _that_keep(owner, images)
        owners.append(owner)
    arcs = arc_images(network, list(images))
    firsts = [[members[0] for members in groups] for groups in kinds]
    found = GroupOrbits(
        orbits(network.node_count, list(images)),
        orbits(len(network.tail), arcs),
        orbits(len(network.shared), [_limit_images(network, image) for image in arcs]),
        orbits(
            count,
            [
                np.concatenate(
                    [owner[image[first]] for owner, first in zip(owners, firsts, strict=True)]
                )
                for image in images
            ],
        ),
    )
    return found, images


def _that_keep(group: Ints, images: Ints) -> Ints:
    """Return the elements that map groups to groups, and other nodes to such nodes: a subgroup."""
    held = np.flatnonzero(group >= 0)
    held = held[np.argsort(group[held], kind="stable")]
    moved = group[images[:, held]]
    alike = (group[held][1:] == group[held][:-1]) == (moved[:, 1:] == moved[:, :-1])
    return images[alike.all(axis=1) & (moved >= 0).all(axis=1)]


def _limit_images(network: Network, arcs: Ints) -> Ints:
    """Return the image of every shared limit, from the images of the arcs."""
    number = {
        (frozenset(limit.arcs), limit.capacity): at for at, limit in enumerate(network.shared)
    }
    moved = [
        (frozenset(arcs[list(limit.arcs)].tolist()), limit.capacity) for limit in network.shared
    ]
    return np.array([number[limit] for limit in moved], np.int64)
