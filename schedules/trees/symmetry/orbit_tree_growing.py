"""Trees that use the orbits of arcs evenly: grown by the widest path, edge by edge.

An edge leads from one rank to another, through forwarding nodes.  Of all paths from the tree to
ranks outside, the next edge is the one whose tightest orbit keeps the largest share of its
capacity.  Only arcs that leave the tree are visited: visits of all arcs for every edge took half of
the time for 4,096 GPUs.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.max_flow import Unsigned
from topoloom.schedules.trees.flow.network import Network
from topoloom.synth.kernels.scalars import int64

_MOST_NODES_OF_AN_EDGE = 16

_AMPLE = 1 << 46
"""Bonus of a path of ample arcs: more than all other terms of its worth, at any depth."""

TOLLS = (1 << 31, 1 << 29, 1 << 27, 1 << 25, 1 << 23, 1 << 20, 0)
"""Weight of a hop of depth against shares of capacity, which are 31-bit fractions: initially, all
edges start near the root."""


class Arcs(NamedTuple):
    """Arcs in a fixed order: the ``from_ranks`` arcs out of ranks first.

    ``ranks`` is the order in which ties between ranks are broken.  The arcs that leave rank v are
    ``leaving[start[v]:start[v + 1]]``; arcs of one ``kind`` start at ranks of one orbit and lead to
    one node.
    """

    ranks: NDArray[np.int64]
    tail: Unsigned
    head: Unsigned
    orbit: Unsigned
    from_ranks: int
    kind: Unsigned
    leaving: Unsigned
    start: Unsigned


class _Open(NamedTuple):
    """Candidates for the next edge.

    For every kind ``best`` is the arc that leaves the tree, -1 if there is none, and ``kinds``
    lists the kinds that have one.  ``onward`` are arcs out of forwarding nodes, and ``ranks`` those
    outside the tree, in order.  ``counts`` has the numbers of kinds, arcs and ranks.
    """

    best: NDArray[np.int64]
    kinds: Unsigned
    onward: Unsigned
    ranks: NDArray[np.int64]
    counts: NDArray[np.int64]


class _Ways(NamedTuple):
    """The best path to each node v: ``via[v]`` is its last arc, ``worth[v]`` the least kept share.

    ``hops[v]`` is the depth at which the path starts, and ``size[v]`` its number of arcs.
    """

    worth: NDArray[np.int64]
    hops: NDArray[np.int64]
    size: NDArray[np.int64]
    via: NDArray[np.int64]


def sorted_arcs(
    network: Network, ranks: NDArray[np.int64], orbits: NDArray[np.int64], seed: int
) -> Arcs:
    """Return arcs, and the ranks to be reached, in listed order, or shuffled for a nonzero seed."""
    ranks, arcs = np.sort(ranks), np.arange(len(network.tail))
    if seed:
        rng = np.random.default_rng(seed)
        ranks, arcs = rng.permutation(ranks), rng.permutation(arcs)
    out_of_ranks = network.is_rank[network.tail]
    order = arcs[np.argsort(~out_of_ranks[arcs], kind="stable")]
    ends = network.tail[order], network.head[order]
    tail, head, orbit = (part.astype(np.uint32) for part in (*ends, orbits[order]))
    from_ranks = int(out_of_ranks.sum())
    alike = orbits[order] * network.node_count + network.head[order]
    kind = np.unique(alike[:from_ranks], return_inverse=True)[1].astype(np.uint32)
    leaving = np.argsort(tail[:from_ranks], kind="stable").astype(np.uint32)
    places = np.arange(network.node_count + 1)
    start = np.searchsorted(tail[:from_ranks][leaving], places).astype(np.uint32)
    return Arcs(ranks, tail, head, orbit, from_ranks, kind, leaving, start)


@njit(cache=True, nogil=True)
def grow_orbit_trees(arcs, is_rank, left, total, ample, begun, weights, toll):
    """Complete trees in turn, and subtract the weight of each from ``left`` for each of its arcs.

    Row i of ``begun`` has the depths of the nodes of tree i, -1 outside: 0 at the root of a tree
    without edges.  Paths of ``ample`` orbits come before all others: a tree fills a box before it
    uses another cable.  ``weights[i]`` equal trees are completed alike; where capacity is short,
    half of them.  Returns added nodes, ends of added edges, their depths, weight and row of each
    tree.  An incomplete tree has weight 0 and is the last.
    """
    found = []
    for row in range(len(weights)):
        rest = share = weights[row]
        while rest > 0:
            before = left.copy()
            nodes, ends, depths = _tree(arcs, is_rank, left, total, ample, begun[row], share, toll)
            if len(ends) > len(depths) + 1:
                if share == 1:
                    found.append((nodes, ends, depths, int64(0), row))
                    return found
                left[:] = before
                share = (share + 1) // 2
                continue
            found.append((nodes, ends, depths, share, row))
            rest -= share
            share = min(share, rest)
    return found


@njit(cache=True, nogil=True)
def _tree(arcs, is_rank, left, total, ample, begun, weight, toll):
    """Complete a tree and subtract its added arcs from ``left``.

    Returns nodes, ends and depths of the added edges; fewer depths if the tree is incomplete.

    The next edge is the one whose tightest orbit keeps the largest share of its capacity; ties go
    to edges that start close to the root.
    """
    count, depth = len(is_rank), begun.copy()
    wanted = 0
    for rank in arcs.ranks:
        wanted += depth[rank] < 0
    ways = _Ways(
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )
    keeps, path = np.empty(len(total), np.int64), np.empty(_MOST_NODES_OF_AN_EDGE, np.int64)
    nodes = np.empty(wanted * _MOST_NODES_OF_AN_EDGE, np.int64)
    ends, depths = np.zeros(wanted + 1, np.int64), np.empty(wanted, np.int64)
    for orbit in range(len(total)):
        keeps[orbit] = _kept(left, total, ample, orbit, weight)
    around = _around(arcs)
    for node in range(count):
        if depth[node] >= 0:
            _join(arcs, around, depth, node, depth[node])
    for edge in range(wanted):
        goal = _widest(arcs, around, is_rank, depth, keeps, toll, ways)
        if goal < 0:
            return nodes, ends, depths[:edge]
        length, node = 1, goal
        path[0] = goal
        while depth[node] < 0:
            orbit = arcs.orbit[ways.via[node]]
            left[orbit] -= weight
            if left[orbit] < 0 or length == len(path):
                return nodes, ends, depths[:edge]
            keeps[orbit] = _kept(left, total, ample, orbit, weight)
            node = arcs.tail[ways.via[node]]
            path[length] = node
            length += 1
        nodes[ends[edge] : ends[edge] + length] = path[:length][::-1]
        ends[edge + 1] = ends[edge] + length
        depths[edge] = depth[node] + 1
        _join(arcs, around, depth, goal, depths[edge])
    return level_by_level(nodes, ends, depths)


@njit(cache=True, nogil=True)
def _kept(left, total, ample, orbit, weight):
    if left[orbit] < weight:
        return int64(-1)
    return (((left[orbit] - weight) << 31) // total[orbit]) + _AMPLE * ample[orbit]


@njit(cache=True, nogil=True)
def _around(arcs):
    """Return the candidates before there is a tree."""
    kinds, from_ranks = int64(0), np.uint64(arcs.from_ranks)
    for arc in range(from_ranks):
        kinds = max(kinds, int64(arcs.kind[arc]) + 1)
    onward = np.arange(arcs.from_ranks, len(arcs.tail)).astype(np.uint32)
    counts = np.array([0, len(onward), len(arcs.ranks)])
    best = np.full(kinds, -1, np.int64)
    return _Open(best, np.empty(kinds, np.uint32), onward, arcs.ranks.copy(), counts)


@njit(cache=True, nogil=True)
def _join(arcs, around, depth, node, deep):
    """Add a node to the tree at depth ``deep``, and record the arcs that leave it.

    Arcs of one kind keep equal shares and have the same end: the first that starts closest to the
    root remains the best.  Of a hundred thousand arcs into switches, hundreds remain candidates.
    """
    depth[node] = deep
    for place in range(np.uint64(arcs.start[node]), np.uint64(arcs.start[node + 1])):
        arc = arcs.leaving[place]
        if depth[arcs.head[arc]] >= 0:
            continue
        kind = arcs.kind[arc]
        known = around.best[kind]
        if known < 0:
            around.kinds[around.counts[0]] = kind
            around.counts[0] += 1
        if known < 0 or (deep, arc) < (depth[arcs.tail[known]], known):
            around.best[kind] = arc


@njit(cache=True, nogil=True)
def _widest(arcs, around, is_rank, depth, keeps, toll, ways):
    """Find the best path out of the tree; return the rank at its end, or -1.

    Ties go to the shortest path: a path that climbs twice wastes arcs.
    """
    ways.worth[:] = -1
    ways.hops[:] = 0
    _leave(arcs, around, depth, keeps, toll, ways)
    again = True
    while again:
        again = _go_on(arcs, around, is_rank, depth, keeps, toll, ways)
    worth, hops = ways.worth, ways.hops
    goal, stay = int64(-1), np.uint64(0)
    for place in range(np.uint64(around.counts[2])):
        node = around.ranks[place]
        if depth[node] >= 0:
            continue
        around.ranks[stay] = node
        stay += np.uint64(1)
        if worth[node] >= 0:
            gain = 0 if goal < 0 else _gain(worth, hops, toll, node, goal)
            if goal < 0 or gain > 0 or (gain == 0 and hops[node] < hops[goal]):
                goal = node
    around.counts[2] = stay
    return goal


@njit(cache=True, nogil=True)
def _leave(arcs, around, depth, keeps, toll, ways):
    """Record the paths of one arc: ties at a node go to the arc listed first."""
    stay = np.uint64(0)
    for place in range(np.uint64(around.counts[0])):
        kind = around.kinds[place]
        arc = around.best[kind]
        head, near = arcs.head[arc], depth[arcs.tail[arc]]
        if depth[head] >= 0:
            continue
        around.kinds[stay] = kind
        stay += np.uint64(1)
        wide = keeps[arcs.orbit[arc]]
        if wide < 0:
            continue
        if ways.worth[head] >= 0:
            gain = wide - ways.worth[head] - toll * (near - ways.hops[head])
            if gain < 0 or (gain == 0 and (near, arc) > (ways.hops[head], ways.via[head])):
                continue
        ways.worth[head], ways.hops[head] = wide, near
        ways.size[head], ways.via[head] = 1, arc
    around.counts[0] = stay


@njit(cache=True, nogil=True)
def _go_on(arcs, around, is_rank, depth, keeps, toll, ways):
    """Extend paths by one arc; return whether some end at forwarding nodes.

    Arcs are processed in their order, on which the paths depend.
    """
    again, stay = False, np.uint64(0)
    worth, hops, size = ways.worth, ways.hops, ways.size
    for place in range(np.uint64(around.counts[1])):
        arc = around.onward[place]
        tail, head = arcs.tail[arc], arcs.head[arc]
        if depth[head] >= 0:
            continue
        around.onward[stay] = arc
        stay += np.uint64(1)
        wide, near, length = min(worth[tail], keeps[arcs.orbit[arc]]), hops[tail], size[tail] + 1
        if wide < 0:
            continue
        if worth[head] >= 0:
            gain = wide - worth[head] - toll * (near - hops[head])
            if gain < 0 or (gain == 0 and (near, length) >= (hops[head], size[head])):
                continue
        worth[head], hops[head], size[head], ways.via[head] = wide, near, length, arc
        again = again or not is_rank[head]
    around.counts[1] = stay
    return again


@njit(cache=True, nogil=True)
def _gain(worth, hops, toll, node, other):
    return worth[node] - worth[other] - toll * (hops[node] - hops[other])


@njit(cache=True, nogil=True)
def level_by_level(nodes, ends, depths):
    """Return the edges, and their depths, in breadth-first order."""
    order = np.argsort(depths, kind="mergesort")
    placed, placed_ends = np.empty(ends[-1], np.int64), np.zeros_like(ends)
    for place in range(len(order)):
        low, high = ends[order[place]], ends[order[place] + 1]
        begin = placed_ends[place]
        placed[begin : begin + high - low] = nodes[low:high]
        placed_ends[place + 1] = begin + high - low
    return placed, placed_ends, depths[order]
