"""The widest path out of a tree to a further rank, kept from edge to edge.

A path leads from a rank of the tree, through forwarding nodes, to a rank outside.  Of all paths the
best is the one whose tightest orbit of arcs keeps the largest share of its capacity, less a toll
for the depth at which it starts.  Few paths change from one edge to the next: those over the orbits
that the edge uses, and those that start at its end.  So each forwarding node keeps the best arc
into it and the best arc out of it to a rank.  Visits of all arcs for every edge took most of the
time of a forest for 1,024 GPUs.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.max_flow import Unsigned
from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.kernels.scalars import int64


class Arcs(NamedTuple):
    """Arcs in a fixed order: the ``from_ranks`` arcs out of ranks first.

    ``ranks`` is the order in which ties between ranks are broken, ``place`` the position in it.
    Arcs of one ``kind`` start at ranks of one orbit and lead to one node, the ``goal`` of the kind.
    ``inner`` are the arcs between ``forwarding`` nodes, ``joined`` are their ends.  ``direct``
    is whether arcs join ranks.

    The other lists are grouped: the arcs out of rank v are ``leaving[start[v]:start[v + 1]]``, the
    kinds of orbit o ``of_orbit[o]`` to ``of_orbit[o + 1]``, those that lead to node v
    ``into[first[v]:first[v + 1]]``, the arcs from forwarding node v to ranks
    ``down[below[v]:below[v + 1]]`` in the order of the ranks, and the nodes from which arcs of
    orbit o do so ``above[drain[o]:drain[o + 1]]``.
    """

    ranks: NDArray[np.int64]
    tail: Unsigned
    head: Unsigned
    orbit: Unsigned
    from_ranks: int
    direct: bool
    place: Unsigned
    kind: Unsigned
    goal: Unsigned
    of_orbit: Unsigned
    leaving: Unsigned
    start: Unsigned
    into: Unsigned
    first: Unsigned
    forwarding: Unsigned
    inner: Unsigned
    joined: Unsigned
    down: Unsigned
    below: Unsigned
    above: Unsigned
    drain: Unsigned


class Ways(NamedTuple):
    """The best path to each node v: ``via[v]`` is its last arc, ``worth[v]`` the least kept share.

    ``hops[v]`` is the depth at which the path starts, and ``size[v]`` its number of arcs.
    """

    worth: NDArray[np.int64]
    hops: NDArray[np.int64]
    size: NDArray[np.int64]
    via: NDArray[np.int64]


class Open(NamedTuple):
    """Candidates for the next edge.

    For every kind ``best`` is the arc that leaves the tree, -1 if there is none.  ``near`` are the
    paths of one arc, and ``far`` the best paths over any number of ``inner`` arcs.  ``pick`` has
    the best arc from a forwarding node to a rank behind either path, unless the node is ``stale``.
    ``ranks`` are the ranks outside the tree in order, ``outside`` has their number.
    """

    best: NDArray[np.int64]
    near: Ways
    far: Ways
    pick: NDArray[np.int64]
    stale: NDArray[np.bool_]
    ranks: NDArray[np.int64]
    outside: NDArray[np.int64]


def sorted_arcs(
    network: Network, ranks: NDArray[np.int64], orbits: NDArray[np.int64], seed: int
) -> Arcs:
    """Return arcs, and the ranks to be reached, in listed order, or shuffled for a nonzero seed."""
    ranks, arcs = np.sort(ranks), np.arange(len(network.tail))
    if seed:
        rng = np.random.default_rng(seed)
        ranks, arcs = rng.permutation(ranks), rng.permutation(arcs)
    nodes, is_rank = network.node_count, network.is_rank
    order = arcs[np.argsort(~is_rank[network.tail][arcs], kind="stable")]
    tail, head, orbit = network.tail[order], network.head[order], orbits[order]
    from_ranks = int(is_rank[tail].sum())
    kinds, kind = np.unique(orbit[:from_ranks] * nodes + head[:from_ranks], return_inverse=True)
    place = np.full(nodes, len(ranks))
    place[ranks] = np.arange(len(ranks))
    onward = np.arange(from_ranks, len(tail))
    down = onward[place[head[onward]] < len(ranks)]
    down = down[np.argsort(place[head[down]], kind="stable")]
    inner = onward[~is_rank[head[onward]]]
    joined = np.unique(np.concatenate([tail[inner], head[inner]]))
    drains = np.unique(orbit[down] * nodes + tail[down])
    every = np.arange(int(orbits.max()) + 2)
    leaving, into, out = (
        _grouped(ends, nodes) for ends in (tail[:from_ranks], kinds % nodes, tail[down])
    )
    lists = (
        place, kind, kinds % nodes, np.searchsorted(kinds // nodes, every), *leaving, *into,
        np.unique(tail[onward]), inner, joined, down[out[0]], out[1],
        drains % nodes, np.searchsorted(drains // nodes, every),
    )  # fmt: skip
    narrow = (part.astype(np.uint32) for part in (tail, head, orbit, *lists))
    direct = bool((place[head[:from_ranks]] < len(ranks)).any())
    return Arcs(ranks, next(narrow), next(narrow), next(narrow), from_ranks, direct, *narrow)


def _grouped(ends: NDArray[Any], nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places in ``ends`` node by node, and where those of each node start."""
    order = np.argsort(ends, kind="stable")
    return order, np.searchsorted(ends[order], np.arange(nodes + 1))


@njit(cache=True, nogil=True)
def candidates(arcs, count):
    """Return the candidates before there is a tree of ``count`` nodes."""
    near, far = _no_ways(count), _no_ways(count)
    best, pick = np.full(len(arcs.goal), -1), np.full((2, count), -1)
    stale, left = np.ones((2, count), np.bool_), np.array([len(arcs.ranks)])
    return Open(best, near, far, pick, stale, arcs.ranks.copy(), left)


@njit(cache=True, nogil=True)
def _no_ways(count):
    zeros = np.zeros(count, np.int64)
    return Ways(np.full(count, -1), zeros, np.ones(count, np.int64), zeros.copy())


@njit(cache=True, nogil=True)
def join(arcs, around, depth, keeps, toll, node, deep):
    """Add a node to the tree at depth ``deep``, and offer the arcs that leave it.

    Arcs of one kind keep equal shares and have the same end: the first that starts closest to the
    root remains the best.  Of a hundred thousand arcs into switches, hundreds remain candidates.
    """
    depth[node] = deep
    for place in range(np.uint64(arcs.start[node]), np.uint64(arcs.start[node + 1])):
        arc = arcs.leaving[place]
        kind = arcs.kind[arc]
        known = around.best[kind]
        if known < 0 or (deep, arc) < (depth[arcs.tail[known]], known):
            around.best[kind] = arc
            _offer(arcs, around, depth, keeps, toll, arc)


@njit(cache=True, nogil=True)
def _offer(arcs, around, depth, keeps, toll, arc):
    """Take an arc out of the tree as the best path to its end: ties go to the arc listed first."""
    head, near, wide = arcs.head[arc], depth[arcs.tail[arc]], keeps[arcs.orbit[arc]]
    ways = around.near
    if wide < 0:
        return
    if ways.worth[head] >= 0:
        gain = wide - ways.worth[head] - toll * (near - ways.hops[head])
        if gain < 0 or (gain == 0 and (near, arc) > (ways.hops[head], ways.via[head])):
            return
    ways.worth[head], ways.hops[head], ways.via[head] = wide, near, arc
    around.stale[0, head] = around.stale[1, head] = True


@njit(cache=True, nogil=True)
def renew(arcs, around, depth, keeps, toll, orbit):
    """Find the best arcs again into and out of all nodes that arcs of an orbit join to ranks."""
    for number in range(np.uint64(arcs.of_orbit[orbit]), np.uint64(arcs.of_orbit[orbit + 1])):
        node = arcs.goal[number]
        around.near.worth[node] = -1
        around.stale[0, node] = around.stale[1, node] = True
        for place in range(np.uint64(arcs.first[node]), np.uint64(arcs.first[node + 1])):
            arc = around.best[arcs.into[place]]
            if arc >= 0:
                _offer(arcs, around, depth, keeps, toll, arc)
    for place in range(np.uint64(arcs.drain[orbit]), np.uint64(arcs.drain[orbit + 1])):
        node = arcs.above[place]
        around.stale[0, node] = around.stale[1, node] = True


@njit(cache=True, nogil=True)
def widest(arcs, around, depth, keeps, toll):
    """Return the last arc of the best path out of the tree to a wanted rank, or -1; and its ways.

    The path over a node is the one of a single arc or the best of several: which is better depends
    on the last arc, as a wide path may start deep.

    Ties go to the path that starts closest to the root, the rank listed first, the shortest path
    (one that climbs twice wastes arcs), and the arc listed first.
    """
    none = int64(0)
    found, via, first = int64(-1), around.near.via, (none, none, none, none, none)
    for far in range(1 + _extend(arcs, around, keeps, toll)):
        ways, some = (around.far, arcs.joined) if far else (around.near, arcs.forwarding)
        for node in some:
            wide = ways.worth[node]
            if wide < 0 or (far and ways.size[node] == 1):
                continue
            arc = around.pick[far, node]
            if around.stale[far, node] or (arc >= 0 and depth[arcs.head[arc]] >= 0):
                arc = around.pick[far, node] = _best_below(arcs, depth, keeps, wide, node)
                around.stale[far, node] = False
            if arc >= 0:
                wide = min(wide, keeps[arcs.orbit[arc]])
                key = _key(arcs, ways, wide, toll, node, arc, 1)
                if found < 0 or key < first:
                    found, via, first = arc, ways.via, key
    if not arcs.direct:
        return found, via
    stay = np.uint64(0)
    for place in range(np.uint64(around.outside[0])):
        node = around.ranks[place]
        if depth[node] >= 0:
            continue
        around.ranks[stay] = node
        stay += np.uint64(1)
        wide = around.near.worth[node]
        if wide >= 0:
            arc = around.near.via[node]
            key = _key(arcs, around.near, wide, toll, node, arc, 0)
            if found < 0 or key < first:
                found, via, first = arc, around.near.via, key
    around.outside[0] = stay
    return found, via


@njit(cache=True, nogil=True)
def _key(arcs, ways, wide, toll, node, arc, more):
    """Return numbers by which paths are compared, of the path over a node that ends with an arc."""
    near = ways.hops[node]
    return toll * near - wide, near, int64(arcs.place[arcs.head[arc]]), ways.size[node] + more, arc


@njit(cache=True, nogil=True)
def _best_below(arcs, depth, keeps, wide, node):
    """Return the arc from a node to a rank outside that keeps most of a path this ``wide``."""
    found, most = int64(-1), int64(-1)
    for place in range(np.uint64(arcs.below[node]), np.uint64(arcs.below[node + 1])):
        arc = arcs.down[place]
        kept = min(wide, keeps[arcs.orbit[arc]])
        if kept > most and depth[arcs.head[arc]] < 0:
            found, most = int64(arc), kept
            if kept == wide:
                break
    return found


@njit(cache=True, nogil=True)
def _extend(arcs, around, keeps, toll):
    """Extend the paths of one arc over inner arcs, in their order; return whether there are any."""
    if not len(arcs.inner):
        return False
    worth, hops, size, via = around.far
    before, again = np.empty(len(arcs.joined), np.int64), True
    for place in range(len(arcs.joined)):
        node = arcs.joined[place]
        before[place] = worth[node]
        worth[node], hops[node] = around.near.worth[node], around.near.hops[node]
        size[node], via[node] = 1, around.near.via[node]
    while again:
        again = False
        for number in range(len(arcs.inner)):
            arc = arcs.inner[number]
            tail, head = arcs.tail[arc], arcs.head[arc]
            wide, near, length = (
                min(worth[tail], keeps[arcs.orbit[arc]]),
                hops[tail],
                size[tail] + 1,
            )
            if wide < 0:
                continue
            if worth[head] >= 0:
                gain = wide - worth[head] - toll * (near - hops[head])
                if gain < 0 or (gain == 0 and (near, length) >= (hops[head], size[head])):
                    continue
            worth[head], hops[head], size[head], via[head] = wide, near, length, arc
            again = True
    for place in range(len(arcs.joined)):
        node = arcs.joined[place]
        if worth[node] != before[place]:
            around.stale[1, node] = True
    return True
