"""Blocks of hosts: the parts between which the least capacity runs.

Where hosts reach some switches faster than others, such as the NVSwitches of a rack before its
network, or share leaf switches, the blocks are the hosts that the fastest of these switches join.
Elsewhere the hosts are cut into about sqrt(N) blocks of even sizes.  Least balanced cuts are
NP-hard: the best of three starts is improved by exchanges of two hosts (Kernighan and Lin, "An
efficient heuristic procedure for partitioning graphs", 1970) until no exchange helps.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.launch.host_graph import HostGraph
from topoloom.synth.launch.ring_search import ring_order
from topoloom.synth.topology.topology import Capacity

Blocks = tuple[tuple[int, ...], ...]
Integers = NDArray[np.int64]


def blocks(graph: HostGraph) -> Blocks:
    """Return the blocks of hosts, each in ascending order, sorted by their first host.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> [len(block) for block in blocks(host_graph(fabric("gb200-nvl72-2")))]
    [18, 18]
    >>> blocks(host_graph(fabric("mac-studio-ring-6")))
    ((0, 1), (2, 3), (4, 5))
    """
    size = len(graph.hosts)
    count = max(1, size // max(2, isqrt(size)))
    return _joined_by_fast_switches(graph) or even_blocks(graph, count)


def even_blocks(graph: HostGraph, count: int) -> Blocks:
    """Return ``count`` blocks of even sizes, with the most capacity found inside.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> even_blocks(host_graph(fabric("mac-studio-ring-6")), 2)
    ((0, 1, 2), (3, 4, 5))
    """
    size = len(graph.hosts)
    weights = _weights(graph)
    starts = [range(size), ring_order(graph), _grown(weights)]
    found = [_exchanged(_even(start, count), weights) for start in starts]
    best = max(found, key=lambda place: _inside(place, weights))
    return tuple(sorted(tuple(np.flatnonzero(best == part).tolist()) for part in range(count)))


def capacity_between(graph: HostGraph, parts: Blocks) -> Capacity:
    """Return the capacity of the links that leave the blocks, in total.

    A switch is in a block if all its hosts are.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> ring = host_graph(fabric("mac-studio-ring-6"))
    >>> capacity_between(ring, blocks(ring))
    60
    """
    block = {host: index for index, part in enumerate(parts) for host in part}
    for switch in range(len(graph.hosts), graph.vertices):
        owners = {block.get(other, -1) for other in graph.successors[switch]}
        if len(owners) == 1 and -1 not in owners:
            block[switch] = owners.pop()
    leaving = sum(
        (
            Fraction(capacity)
            for (source, target), capacity in graph.capacities.items()
            if source in block and block[source] != block.get(target)
        ),
        Fraction(),
    )
    return int(leaving) if leaving.denominator == 1 else leaving


def _joined_by_fast_switches(graph: HostGraph) -> Blocks | None:
    """Return the hosts that the fastest switches join; None if these join all hosts or none."""
    import igraph

    size = len(graph.hosts)
    speeds = {
        arc: capacity for arc, capacity in graph.capacities.items() if arc[0] < size <= arc[1]
    }
    for least in sorted(set(speeds.values()), reverse=True):
        ends = [arc for arc, capacity in speeds.items() if capacity >= least]
        pieces = igraph.Graph(graph.vertices, ends).connected_components()
        parts = [tuple(v for v in piece if v < size) for piece in pieces]
        parts = sorted(part for part in parts if part)
        if 1 < len(parts) < size:
            return tuple(parts)
    return None


def _weights(graph: HostGraph) -> Integers:
    """Return the capacity between every two hosts, over cables or one switch, as integers.

    The largest is 2**20: the weights steer the search, and `capacity_between` is exact.
    """
    size = len(graph.hosts)
    weights = np.zeros((size, size))
    for (source, target), capacity in graph.capacities.items():
        if max(source, target) < size:
            weights[source, target] += float(capacity)
    for switch in range(size, graph.vertices):
        below = [host for host in graph.successors[switch] if host < size]
        shares = np.array([float(graph.capacities[switch, host]) for host in below])
        weights[np.ix_(below, below)] += np.outer(shares, shares) / max(shares.sum(), 1)
    np.fill_diagonal(weights, 0)
    weights += weights.T
    return np.rint(weights * (2**20 / max(weights.max(), 1e-30))).astype(np.int64)


def _grown(weights: Integers) -> Integers:
    """Return the hosts in the order in which a part grows by its strongest neighbor."""
    pull, order = np.zeros(len(weights), np.int64), np.zeros(len(weights), np.int64)
    for index in range(len(order)):
        order[index] = host = int(pull.argmax())
        pull += weights[host]
        pull[order[: index + 1]] = -1
    return order


def _even(order: Iterable[int], count: int) -> Integers:
    """Return the part of each host, if parts of even sizes follow each other in an order."""
    hosts = np.fromiter(order, np.int64)
    place = np.empty_like(hosts)
    place[hosts] = np.arange(len(hosts)) * count // len(hosts)
    return place


def _inside(place: Integers, weights: Integers) -> int:
    return int(weights[place[:, None] == place].sum())


def _exchanged(place: Integers, weights: Integers) -> Integers:
    """Exchange two hosts of different parts while the weight inside parts rises."""
    hosts = np.arange(len(place))
    pull = weights @ (place[:, None] == np.arange(place.max() + 1)).astype(np.int64)
    improved = True
    while improved:
        improved = False
        for host in hosts:
            home = place[host]
            gain = pull[host, place] - pull[host, home] + pull[:, home] - pull[hosts, place]
            gain -= 2 * weights[host]
            gain[place == home] = 0
            other = int(gain.argmax())
            if gain[other] > 0:
                away = place[other]
                change = weights[other] - weights[host]
                pull[:, home] += change
                pull[:, away] -= change
                place[host], place[other] = away, home
                improved = True
    return place
