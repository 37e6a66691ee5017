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

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class GroupOrbits:
    """Orbit numbers of nodes, arcs, shared limits and groups of a network."""

    nodes: Ints
    arcs: Ints
    limits: Ints
    groups: Ints


def group_orbits(network: Network, groups: Sequence[Sequence[int]]) -> GroupOrbits:
    """Return the orbits under all automorphisms that map groups to groups.

    Parameters
    ----------
    network : Network
    groups : sequence of groups
        Disjoint groups of node positions.

    Notes
    -----
    Every group becomes a vertex joined to its members; bliss computes the automorphisms
    (`schedules.trees.symmetry.automorphisms`).

    Examples
    --------
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = Topology(range(6), [(i, (i + s) % 6) for i in range(6) for s in (1, 5)])
    >>> found = group_orbits(network_of(ring), [(0, 1, 2), (3, 4, 5)])
    >>> found.nodes.tolist(), found.groups.tolist()
    ([0, 1, 0, 0, 1, 0], [0, 0])
    """
    held = {node for members in groups for node in members}
    ranks = network.is_rank.tolist()
    edges, painted = colored_graph(
        network, [(rank, node in held) for node, rank in enumerate(ranks)]
    )
    first, color = len(painted), max(painted) + 1
    for number, members in enumerate(groups):
        edges += [(first + number, node) for node in members]
    painted += [color] * len(groups)
    found = graph_class()(len(painted), edges).automorphism_group(color=painted)
    every = [np.array(image, np.int64) for image in found]
    images = [image[: network.node_count] for image in every]
    arcs = arc_images(network, images)
    return GroupOrbits(
        orbits(network.node_count, images),
        orbits(len(network.tail), arcs),
        orbits(len(network.shared), [_limit_images(network, image) for image in arcs]),
        orbits(len(groups), [image[first:] - first for image in every]),
    )


def _limit_images(network: Network, arcs: Ints) -> Ints:
    """Return the image of every shared limit, from the images of the arcs."""
    number = {
        (frozenset(limit.arcs), limit.capacity): at for at, limit in enumerate(network.shared)
    }
    moved = [
        (frozenset(arcs[list(limit.arcs)].tolist()), limit.capacity) for limit in network.shared
    ]
    return np.array([number[limit] for limit in moved], np.int64)
