"""Racks as single ranks: hosts below one leaf switch, merged for packing and expanded afterwards.

A *rack* is a set H of n ranks that are joined to one switch, the leaf, and to no other node, each
with equal capacity out and in.  Capacities count trees: every rank is the root of k trees, kN in
all, and an arc of capacity c may be in c trees.  `contract_racks` replaces H by one rank of size n,
joined to the leaf in both directions by

    L = sum of the hosts' capacities a_h - kN (n - 1).

The module `expansion` reverses this for a forest.  L is the capacity of the hosts for edges out of
the rack after each tree has spanned the rank set H.

**Trees of the contracted network exist** if those of the network exist and L >= k max(n, N - n).
Let S be a set of nodes that misses a rank, x the new rank.  With x and the leaf both in S or both
outside, S corresponds to a set of the old network, with H for x.  With only the leaf inside,
capacity L >= k (N - n) leaves S, and no more trees start in S.  With only x inside, L leaves S in
addition to the capacity out of S - x, a set of the old network without H: at least kn + k w(S - x).
L beyond the capacity of the other arcs of the leaf is useless, and may be cut to it: this capacity
is at least kn out and k (N - n) in, by the cuts of H with the leaf, and of its complement.

**They expand to trees of the old network** if a_h >= k (N - 1), as capacities in are anyway.  Every
tree enters the rack once and leaves it by d arcs.  It needs n - 1 + d edges that start at hosts.
Any numbers of edges per host with that sum, nonzero for the host where the tree enters, are
those of a tree.  A tree of a host starts there with all its n - 1 + d <= N - 1 edges: k such
trees fit a_h.  Other trees may enter at any host and may be divided between hosts, and their edges
fit: kN (n - 1) + L is at most the sum of all a_h.  Capacity in suffices, since each tree of another
host enters a host once.

Racks are contracted one after another, so the proof applies to each in turn.  A leaf with
more than half of all ranks has at least two racks.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import Ints


class Rack(NamedTuple):
    """Nodes by number; ``room`` is the number of tree edges that may start at each host.

    The first host represents the rack.
    """

    leaf: int
    hosts: tuple[int, ...]
    room: tuple[int, ...]


class Contracted(NamedTuple):
    """A network with a rank for each rack, whose capacities count trees.

    Its node i is node ``nodes[i]`` of the old network, which also numbers the nodes of racks.
    """

    network: Network
    nodes: Ints
    racks: tuple[Rack, ...]


def contract_racks(network: Network, room: Ints, trees_per_root: int) -> Contracted | None:
    """Return the network with its racks as single ranks, or None without racks.

    Args:
        network: Result None if its ranks have unequal shards, or links share limits.
        room: Number of trees that each arc can carry.
        trees_per_root: A feasible number by all cuts.

    O(arcs + nodes log nodes).

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> hosts = {"a": "v", "b": "v", "c": "w", "d": "w"}
    >>> cables = [(host, leaf, 3) for host, leaf in hosts.items()] + [("v", "w", 2)]
    >>> two = Topology([*"abcdvw"], cables + [(t, s, c) for s, t, c in cables], switches="vw")
    >>> network = network_of(two)
    >>> found = contract_racks(network, network.capacity, 1)
    >>> found.racks[0], found.nodes.tolist(), found.network.sizes.tolist()
    (Rack(leaf=4, hosts=(0, 1), room=(3, 3)), [0, 2, 4, 5], [2, 2, 0, 0])
    """
    if network.shared or not (network.sizes[network.terminals] == 1).all():
        return None
    hosts = _hosts(network, room, trees_per_root)
    capacity, sizes = room.copy(), network.sizes.copy()
    ends = zip(network.tail.tolist(), network.head.tolist(), strict=True)
    arc = {pair: at for at, pair in enumerate(ends)}
    out, into = _sums(network, capacity)
    racks = []
    for leaf in sorted(hosts):
        for rack in _racks(leaf, hosts[leaf], network.data, trees_per_root):
            inside = sum(rack.room)
            left = inside - trees_per_root * network.data * (len(rack.hosts) - 1)
            most = max(out[leaf], into[leaf]) - inside
            left = min(left, most)
            for host in rack.hosts:
                now = left if host == rack.hosts[0] else 0
                capacity[[arc[host, leaf], arc[leaf, host]]] = now
                sizes[host] = 0
            sizes[rack.hosts[0]] = len(rack.hosts)
            out[leaf] += left - inside
            into[leaf] += left - inside
            racks.append(rack)
    if not racks:
        return None
    gone = np.zeros(network.node_count, np.bool_)
    for rack in racks:
        gone[list(rack.hosts[1:])] = True
    left, nodes = _without(replace(network, sizes=sizes, capacity=capacity), gone)
    return Contracted(left, nodes, tuple(racks))


def _hosts(network: Network, room: Ints, trees_per_root: int) -> dict[int, list[tuple[int, int]]]:
    """Return, by leaf, the hosts that may be in a rack, each with its capacity."""
    ways_in = np.bincount(network.head, minlength=network.node_count)
    ways_out = np.bincount(network.tail, minlength=network.node_count)
    is_rank = network.is_rank
    single = is_rank & (ways_in == 1) & (ways_out == 1)
    enter: dict[int, tuple[int, int]] = {}
    for at in np.flatnonzero(single[network.head]).tolist():
        enter[int(network.head[at])] = int(network.tail[at]), int(room[at])
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for at in np.flatnonzero(single[network.tail]).tolist():
        host, leaf, most = int(network.tail[at]), int(network.head[at]), int(room[at])
        enough = most >= trees_per_root * (network.data - 1)
        if enough and not is_rank[leaf] and enter[host] == (leaf, most):
            found[leaf].append((most, host))
    return found


def _racks(
    leaf: int, hosts: list[tuple[int, int]], data: int, trees_per_root: int
) -> Iterator[Rack]:
    """Divide the hosts of a leaf evenly into the fewest racks that the condition on L allows."""
    hosts = sorted(hosts)
    for parts in range(1, len(hosts) // 2 + 1):
        racks = [Rack(leaf, *_columns(hosts[first::parts])) for first in range(parts)]
        left = [_left(rack, data, trees_per_root) for rack in racks]
        if all(
            most >= trees_per_root * max(len(rack.hosts), data - len(rack.hosts))
            and len(rack.hosts) < data
            for rack, most in zip(racks, left, strict=True)
        ):
            yield from racks
            return


def _left(rack: Rack, data: int, trees_per_root: int) -> int:
    return sum(rack.room) - trees_per_root * data * (len(rack.hosts) - 1)


def _columns(hosts: list[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(host for _, host in hosts), tuple(room for room, _ in hosts)


def _sums(network: Network, capacity: Ints) -> tuple[list[int], list[int]]:
    """Return the total capacity out of and into every node."""
    out, into = np.zeros(network.node_count, np.int64), np.zeros(network.node_count, np.int64)
    np.add.at(out, network.tail, capacity)
    np.add.at(into, network.head, capacity)
    return out.tolist(), into.tolist()


def _without(network: Network, gone: NDArray[np.bool_]) -> tuple[Network, Ints]:
    """Return the network without some nodes and without empty arcs, and the remaining nodes."""
    nodes = np.flatnonzero(~gone)
    place = np.full(network.node_count, -1)
    place[nodes] = np.arange(len(nodes))
    kept = (network.capacity > 0) & ~gone[network.tail] & ~gone[network.head]
    left = replace(
        network,
        node_count=len(nodes),
        terminals=place[network.terminals[~gone[network.terminals]]],
        sizes=network.sizes[nodes],
        tail=place[network.tail[kept]],
        head=place[network.head[kept]],
        capacity=network.capacity[kept],
    )
    return left, nodes
