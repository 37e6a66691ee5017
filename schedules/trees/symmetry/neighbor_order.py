"""A heuristic order of the ranks by their neighborhoods: box by box, plane by plane.

GPUs of a box share a switch of few ranks and high bandwidth, or links to each other; those of a
plane or rail share a switch of many ranks.  Ordered by box and then by plane, equivalent boxes
correspond position by position.  `rotations` verifies this in a tenth of the time of computing all
automorphisms (`rank_order`).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, pairwise

import numpy as np

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import Ints
from topoloom.schedules.trees.symmetry.canonical_order import canonical_order
from topoloom.synth.kernels.splitmix import seeded, shuffled


def neighbor_order(network: Network) -> Ints:
    """Return the nodes in an order by their connections: the ranks first, then the switches.

    Ranks joined by links to each other are adjacent, then those at the same switches: first the
    switches with the fewest nodes below them, then those with the widest links, then those below
    the same switches, as the leaves of a pod are.  Switches follow the same order, so that
    corresponding switches have corresponding positions.  Node numbers only break remaining ties.
    O((arcs + nodes) log).

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> box = {"a": "v", "b": "w", "c": "v", "d": "w"}
    >>> links = [link for g, w in box.items() for link in ((g, w), (w, g))]
    >>> two = Topology([*"abcdvw"], [*links, ("v", "w"), ("w", "v")], switches="vw")
    >>> neighbor_order(network_of(two)).tolist()
    [0, 2, 1, 3, 4, 5]
    """
    ranks = network.terminals.tolist()
    part = _parts(network)
    near = _both_ways(network)
    levels = _levels(network, near)
    place = _places(near, levels)
    keys = {
        rank: (part[rank], sorted(place[node] for node in near[rank] if node in place), rank)
        for rank in ranks
    }
    switches = [node for level in levels[1:] for node in sorted(level, key=place.__getitem__)]
    far = set(range(network.node_count)).difference(ranks, switches)
    return np.array([*sorted(ranks, key=keys.__getitem__), *switches, *sorted(far)], np.int64)


def _both_ways(network: Network) -> list[dict[int, int]]:
    """Return, per node, its neighbors and the widest arc between them in either direction."""
    near: list[dict[int, int]] = [{} for _ in range(network.node_count)]
    columns = (network.tail, network.head, network.capacity)
    for tail, head, room in zip(*(column.tolist() for column in columns), strict=True):
        if near[tail].get(head, 0) < room:
            near[tail][head] = near[head][tail] = room
    return near


def _levels(network: Network, near: list[dict[int, int]]) -> list[list[int]]:
    """Return the ranks, the switches adjacent to ranks, those adjacent to these only, and so on."""
    levels = [network.terminals.tolist()]
    seen = set(levels[0])
    while levels[-1]:
        levels.append(sorted({other for node in levels[-1] for other in near[node]} - seen))
        seen.update(levels[-1])
    return levels[:-1]


def _places(near: list[dict[int, int]], levels: list[list[int]]) -> dict[int, int]:
    """Return the position of every switch in its level, the highest level first."""
    place: dict[int, int] = {}
    for below, level in reversed(list(pairwise(levels))):
        lower = set(below)
        keys = {}
        for node in level:
            rooms = [room for other, room in near[node].items() if other in lower]
            above = sorted(place[other] for other in near[node] if other in place)
            keys[node] = (len(rooms), -max(rooms), above, node)
        # A level gets its positions at once, so that none of its switches is above another.
        listed = sorted(level, key=keys.__getitem__)
        place.update({node: number for number, node in enumerate(listed)})
    return place


def canonical_orders(network: Network) -> Iterator[Ints]:
    """Yield an infinite sequence of node orders that do not depend on the node numbers.

    The first is `canonical_order`; the others are random shuffles of it.
    """
    first = canonical_order(network, network.kinds)
    yield first
    for seed in count(1):
        yield first[shuffled(seeded(seed), len(first))]


def renumbered(network: Network, order: Ints) -> Network:
    """Return the network with node ``order[i]`` as node i; its best rate is unchanged.

    Arcs are sorted by their ends: packing depends on their order.
    """
    place = np.argsort(order)
    tail, head = place[network.tail], place[network.head]
    sequence = np.lexsort((head, tail))
    now = np.argsort(sequence)
    return replace(
        network,
        terminals=np.sort(place[network.terminals]),
        sizes=network.sizes[order],
        tail=tail[sequence],
        head=head[sequence],
        capacity=network.capacity[sequence],
        shared=tuple(
            one._replace(arcs=tuple(now[list(one.arcs)].tolist())) for one in network.shared
        ),
    )


def _parts(network: Network) -> list[int]:
    """Return the part of every node, as joined by arcs between ranks."""
    is_rank = network.is_rank
    count = network.node_count
    kept = np.flatnonzero(is_rank[network.tail] & is_rank[network.head])
    if not len(kept):
        # Without such arcs, parts of ranks are meaningless.
        return [0] * count
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = (network.tail[kept], network.head[kept])
    links = coo_array((np.ones(len(kept), np.int8), ends), shape=(count, count))
    found: list[int] = connected_components(links, directed=False)[1].tolist()
    return found
