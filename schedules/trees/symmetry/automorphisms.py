"""Automorphisms of a network, computed from its structure alone.

The network becomes a colored undirected graph.  An arc is one or two vertices, colored by its
capacity; links of the most common capacity are edges.  The automorphisms of that graph are those of
the network; igraph's bliss computes generators of the group.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.kernels.lru_cache import LruCache, digest_of
from topoloom.synth.symmetry.canonical_forms import graph_class

Ints = NDArray[np.int64]

_recent: LruCache[list[Ints]] = LruCache(most=1 << 23)
"""Generators of recent networks, by images of nodes: one allreduce asks for each several times."""


def generators(network: Network, colors: Sequence[Hashable]) -> list[Ints]:
    """Return permutations of the nodes that generate all automorphisms of a network.

    Args:
        network: Automorphisms map arcs to arcs of equal capacity.
        colors: One per node; automorphisms map nodes to nodes of the same color.

    Returns:
        ``image[v]`` is the image of node v; empty if only the identity is an automorphism.

    Two arcs of equal capacity in both directions are one vertex between their ends, or with the
    most common such capacity an edge.  Any other arc is two vertices, in its direction.  With
    shared limits every arc is two vertices, and limits are vertices joined to their arcs.  Bliss
    is fast on the networks of clusters (0.1 s for 1,024 GPUs), and exponential on some
    adversarial graphs.

    References:
        .. [1] Junttila and Kaski, "Engineering an efficient canonical labeling tool for large
           and sparse graphs", ALENEX 2007.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(4), [(i, (i + 1) % 4) for i in range(4)]))
    >>> sorted(image.tolist() for image in generators(ring, "aaaa"))[0]
    [1, 2, 3, 0]
    >>> generators(ring, "abbb")
    []
    """
    arrays = (network.tail, network.head, network.capacity)
    key = digest_of(arrays, network.node_count, network.shared, colors)
    known = _recent.get(key)
    if known is None:
        edges, painted = colored_graph(network, colors)
        group = graph_class()(len(painted), edges).automorphism_group(color=painted)
        found = [np.array(image[: network.node_count], np.int64) for image in group]
        known = _recent.keep(key, found, 1 + len(found) * network.node_count)
    return known


def colored_graph(
    network: Network, colors: Sequence[Hashable]
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the colored graph of a network: edges, and the colors of vertices, nodes first."""
    painted: list[tuple[str, Any]] = [("node", color) for color in colors]
    arcs = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    capacities = dict(zip(arcs, network.capacity.tolist(), strict=True))
    equal = Counter(
        room for (tail, head), room in capacities.items() if capacities.get((head, tail)) == room
    )
    commonest = max(equal, key=lambda room: (equal[room], room), default=None)
    edges: list[tuple[int, int]] = []
    places: list[int] = []
    for (tail, head), capacity in capacities.items():
        place = len(painted)
        places.append(place)
        if capacities.get((head, tail)) == capacity and not network.shared:
            if tail < head and capacity == commonest:
                edges.append((tail, head))
            elif tail < head:
                painted.append(("both", capacity))
                edges += [(tail, place), (place, head)]
            continue
        painted += [("leaving", capacity), ("entering", capacity)]
        edges += [(tail, place), (place, place + 1), (place + 1, head)]
    for limit in network.shared:
        edges += [(len(painted), places[arc]) for arc in limit.arcs]
        painted.append(("shared", limit.capacity))
    # By value, not by first occurrence, which would depend on the node numbers.
    number = {color: index for index, color in enumerate(sorted(set(painted), key=_ranked))}
    return edges, [number[color] for color in painted]


def _ranked(color: tuple[str, Any]) -> tuple[str, Any]:
    kind, value = color
    return (kind, repr(value)) if kind == "node" else (kind, value)


def arc_images(network: Network, images: Sequence[Ints]) -> list[Ints]:
    """Return the arc permutations of node automorphisms.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = network_of(Topology(range(3), [(0, 1), (1, 2), (2, 0)]))
    >>> arc_images(ring, [np.array([1, 2, 0])])
    [array([1, 2, 0])]
    """
    nodes = network.node_count
    codes = network.tail * nodes + network.head
    order = np.argsort(codes)
    ordered, every = codes[order], np.arange(len(codes))
    found = []
    for image in images:
        # Most generators move only a few nodes.
        still = image == np.arange(nodes)
        moved = np.flatnonzero(~(still[network.tail] & still[network.head]))
        goal = image[network.tail[moved]] * nodes + image[network.head[moved]]
        arcs = every.copy()
        arcs[moved] = order[np.searchsorted(ordered, goal)]
        found.append(arcs)
    return found


def orbits(count: int, images: Sequence[Ints]) -> Ints:
    """Return the orbit number of each of ``count`` elements, in order of first occurrence.

    >>> orbits(4, [np.array([0, 2, 1, 3])]).tolist()
    [0, 1, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not images:
        return np.arange(count)
    moved = [np.flatnonzero(image != np.arange(count)) for image in images]
    goals = [image[places] for image, places in zip(images, moved, strict=True)]
    ends = (np.concatenate(moved), np.concatenate(goals))
    joined = coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(count, count))
    _, labels = connected_components(joined, directed=False)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)
