"""A guess at the order of the ranks from what is next to them: box by box, plane by plane.

GPUs of a box share a switch of few ranks and high bandwidth, or links to each other; those of a
plane or rail one of many ranks.  Listed by the first and then by the second, boxes are
alike place by place, which `symmetry.rotations` can check in a tenth of the time that
finding all automorphisms takes (`ordering`).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from schedules.forestcoll.automorphisms import Ints
from schedules.forestcoll.canonical import canonical_order
from schedules.forestcoll.network import Network
from synth.splitmix import seeded, shuffled

__all__ = ["by_neighbours", "canonical_orders", "renumbered"]


def by_neighbours(network: Network) -> Network:
    """Return the network with its ranks listed by what joins them, the closest first.

    Ranks that links to each other join to one part come first, then those at the same switches:
    of switches those that join the fewest ranks, of these those with the widest links.  What they
    are numbered does not matter.  O((arcs + ranks) log).

    Examples
    --------
    >>> from schedules.forestcoll.network import network_of
    >>> from synth.topology import Topology
    >>> box = {"a": "v", "b": "w", "c": "v", "d": "w"}
    >>> links = [link for g, w in box.items() for link in ((g, w), (w, g))]
    >>> two = Topology([*"abcdvw"], [*links, ("v", "w"), ("w", "v")], switches="vw")
    >>> by_neighbours(network_of(two)).terminals.tolist()
    [0, 2, 1, 3]
    """
    ranks = network.terminals
    part = _parts(network)
    joined: dict[int, set[int]] = {}
    widest: dict[int, int] = {}
    near: dict[int, set[int]] = {rank: set() for rank in ranks.tolist()}
    columns = (network.tail, network.head, network.capacity)
    for tail, head, room in zip(*(column.tolist() for column in columns), strict=True):
        for rank, switch in ((tail, head), (head, tail)):
            if rank in near and switch not in near:
                joined.setdefault(switch, set()).add(rank)
                widest[switch] = max(widest.get(switch, 0), room)
                near[rank].add(switch)
    place = {switch: (len(joined[switch]), -widest[switch], switch) for switch in joined}
    keys = {
        rank: (part[rank], sorted(place[switch] for switch in switches), rank)
        for rank, switches in near.items()
    }
    return replace(network, terminals=np.array(sorted(near, key=keys.__getitem__), np.int64))


def canonical_orders(network: Network) -> Iterator[Ints]:
    """Yield orders of all nodes without end that the numbers of nodes have no part in.

    The first is `canonical.canonical_order`, the others are that one shuffled.
    """
    first = canonical_order(network, network.kinds)
    yield first
    for seed in count(1):
        yield first[shuffled(seeded(seed), len(first))]


def renumbered(network: Network, order: Ints) -> Network:
    """Return the same network, with the same best rate, with node ``order[i]`` as its node i.

    Arcs are in order of their ends: packing follows them.
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
    """Return the number of the part of every node that arcs between ranks join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    is_rank = network.is_rank
    kept = np.flatnonzero(is_rank[network.tail] & is_rank[network.head])
    ends = (network.tail[kept], network.head[kept])
    count = network.node_count
    links = coo_array((np.ones(len(kept), np.int8), ends), shape=(count, count))
    found: list[int] = connected_components(links, directed=False)[1].tolist()
    # Where nothing joins them, ranks are parts of no meaning.
    return found if len(kept) else [0] * count
