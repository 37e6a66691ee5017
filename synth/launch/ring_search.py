"""Search for an order of hosts in which a ring follows the cables.

Three orders compete with the order of the topology: the nearest host next; a path that grows by
rotations (Posa, "Hamiltonian circuits in random graphs", 1976), for cables in both directions; and
a cover by cycles that are joined two by two (Karp, "A patching algorithm for the nonsymmetric
traveling-salesman problem", 1979), for links in one direction.  Whether a ring over cables exists
is NP-complete, so a result without one proves nothing; the load of every order is measured.
"""

import random
from collections.abc import Iterator

import numpy as np

from topoloom.synth.launch.host_graph import HostGraph
from topoloom.synth.launch.ring_load import RingLoad, ring_load

ROTATIONS_PER_HOST = 100
COVERS = 20

Order = tuple[int, ...]


def ring_order(graph: HostGraph) -> Order:
    """Return the order of hosts with the largest bottleneck, then the fewest links crossed.

    Of equal orders the order of the topology comes first.  The result begins with host 0.

    >>> from topoloom.synth.launch.host_graph import host_graph
    >>> from topoloom.synth.topology.topology import Topology
    >>> cables = [(0, 2), (2, 1), (1, 3), (3, 0)]
    >>> both = [*cables, *((b, a) for a, b in cables)]
    >>> ring_order(host_graph(Topology(range(4), both)))
    (0, 2, 1, 3)
    """
    natural = tuple(range(len(graph.hosts)))
    best, least = natural, ring_load(graph, natural)
    for order in _candidates(graph):
        if least.links == len(natural):
            break
        load = ring_load(graph, order)
        if _value(load) > _value(least):
            best, least = order, load
    return best


def _value(load: RingLoad) -> tuple[object, int]:
    return load.bottleneck or 0, -load.links


def _candidates(graph: HostGraph) -> Iterator[Order]:
    if len(graph.hosts) < 3:
        return
    direct = [
        tuple(other for other in graph.successors[host] if other < len(graph.hosts))
        for host in range(len(graph.hosts))
    ]
    yield _nearest_next(graph)
    if not all(direct):
        return
    both_ways = all(host in direct[other] for host in range(len(direct)) for other in direct[host])
    yield _rotated(graph, direct) if both_ways else _joined_cycles(graph, direct)


def _from_zero(order: list[int]) -> Order:
    start = order.index(0)
    return (*order[start:], *order[:start])


def _nearest_next(graph: HostGraph) -> Order:
    """Return the order that always goes to the nearest host that is left, the lowest of these."""
    order, left = [0], np.ones(len(graph.hosts), bool)
    left[0] = False
    for _ in range(1, len(graph.hosts)):
        hops = np.where(left, graph.hops[:, order[-1]], np.inf)
        order.append(int(hops.argmin()))
        left[order[-1]] = False
    return tuple(order)


def _rotated(graph: HostGraph, direct: list[tuple[int, ...]]) -> Order:
    """Return a ring over cables if rotations find one; hosts that are left go where they fit."""
    draw = random.Random(0)
    path, on_path = [0], {0}
    for _ in range(ROTATIONS_PER_HOST * len(direct)):
        end = path[-1]
        fresh = [host for host in direct[end] if host not in on_path]
        if fresh:
            # The neighbor with the fewest ways on: later it could not be reached.
            path.append(min(fresh, key=lambda host: sum(o not in on_path for o in direct[host])))
            on_path.add(path[-1])
            continue
        if len(path) == len(direct) and path[0] in direct[end]:
            break
        pivot = path.index(draw.choice(direct[end]))
        path[pivot + 1 :] = path[:pivot:-1]
        # Rotations of one end alone do not reach every path.
        if draw.random() < 0.5:
            path.reverse()
    for host in range(len(direct)):
        if host not in on_path:
            _insert(graph, path, host)
    return _from_zero(path)


def _insert(graph: HostGraph, path: list[int], host: int) -> None:
    """Insert a host where the ring gets the fewest links longer."""
    before, after = np.array(path), np.array([*path[1:], path[0]])
    hops = graph.hops
    longer = hops[host, before] + hops[after, host] - hops[after, before]
    path.insert(int(longer.argmin()) + 1, host)


def _joined_cycles(graph: HostGraph, direct: list[tuple[int, ...]]) -> Order:
    """Return the ring from the cover of fewest cycles, joined where joining costs least."""
    draw = random.Random(0)
    best: list[int] | None = None
    for _ in range(COVERS):
        after = _cover(direct, draw)
        if after is None:
            break
        _join_over_links(after, direct)
        if best is None or len(_cycles(after)) < len(_cycles(best)):
            best = after
        if len(_cycles(best)) == 1:
            break
    if best is None:
        return tuple(range(len(direct)))
    while len(cycles := _cycles(best)) > 1:
        _join_nearest(graph, best, cycles)
    return _from_zero(_cycles(best)[0])


def _cover(direct: list[tuple[int, ...]], draw: random.Random) -> list[int] | None:
    """Return the next host of each host, a random cover by cycles; None if there is no cover."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    size = len(direct)
    rows, columns = draw.sample(range(size), size), draw.sample(range(size), size)
    place = {host: at for at, host in enumerate(columns)}
    ends = [(at, place[other]) for at, host in enumerate(rows) for other in direct[host]]
    matrix = csr_array((np.ones(len(ends)), np.array(ends).T), (size, size))
    matched = maximum_bipartite_matching(matrix, perm_type="column")
    if (matched < 0).any():
        return None
    after = [0] * size
    for at, host in enumerate(rows):
        after[host] = columns[matched[at]]
    return after


def _cycles(after: list[int]) -> list[list[int]]:
    found: list[list[int]] = []
    seen: set[int] = set()
    for start in range(len(after)):
        cycle: list[int] = []
        host = start
        while host not in seen:
            seen.add(host)
            cycle.append(host)
            host = after[host]
        if cycle:
            found.append(cycle)
    return found


def _join_over_links(after: list[int], direct: list[tuple[int, ...]]) -> None:
    """Join cycles while two hosts of different cycles can exchange their next hosts."""
    joined = True
    while joined:
        joined = False
        cycle_of = {host: at for at, cycle in enumerate(_cycles(after)) for host in cycle}
        before = {other: host for host, other in enumerate(after)}
        for host in range(len(after)):
            for other in direct[host]:
                partner = before[other]
                if cycle_of[partner] != cycle_of[host] and after[host] in direct[partner]:
                    after[host], after[partner] = other, after[host]
                    joined = True
                    break
            if joined:
                break


def _join_nearest(graph: HostGraph, after: list[int], cycles: list[list[int]]) -> None:
    """Join the first cycle with another by the exchange that adds the fewest links."""
    inside = np.array(cycles[0])
    outside = np.array([host for cycle in cycles[1:] for host in cycle])
    follow = np.array(after)
    hops = graph.hops
    longer = (
        hops[np.ix_(follow[outside], inside)]
        + hops[np.ix_(follow[inside], outside)].T
        - hops[follow[inside], inside][None, :]
        - hops[follow[outside], outside][:, None]
    )
    row, column = np.unravel_index(int(longer.argmin()), longer.shape)
    host, other = int(inside[column]), int(outside[row])
    after[host], after[other] = after[other], after[host]
