"""Trees that use the orbits of arcs evenly: grown by the widest path, edge by edge.

An edge leads from one rank to another, through forwarding nodes.  Of all paths from the tree to
ranks outside, the next edge is the one whose tightest orbit keeps the largest share of its
capacity (`widest_paths`).
"""

import numpy as np
from numba import njit

from topoloom.schedules.trees.symmetry.widest_paths import candidates, join, renew, widest
from topoloom.synth.kernels.scalars import int64

_MOST_NODES_OF_AN_EDGE = 16

_AMPLE = 1 << 46
"""Bonus of a path of ample arcs: more than all other terms of its worth, at any depth."""

TOLLS = (1 << 31, 1 << 29, 1 << 27, 1 << 25, 1 << 23, 1 << 20, 0)
"""Weight of a hop of depth against shares of capacity, which are 31-bit fractions: initially, all
edges start near the root."""


@njit(cache=True, nogil=True)
def grow_orbit_trees(arcs, left, total, ample, begun, weights, toll):
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
            nodes, ends, depths = _tree(arcs, left, total, ample, begun[row], share, toll)
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
def _tree(arcs, left, total, ample, begun, weight, toll):
    """Complete a tree and subtract its added arcs from ``left``.

    Returns nodes, ends and depths of the added edges; fewer depths if the tree is incomplete.

    The next edge is the one whose tightest orbit keeps the largest share of its capacity; ties go
    to edges that start close to the root.
    """
    count, depth = len(begun), begun.copy()
    wanted = 0
    for rank in arcs.ranks:
        wanted += depth[rank] < 0
    keeps, path = np.empty(len(total), np.int64), np.empty(_MOST_NODES_OF_AN_EDGE, np.int64)
    nodes = np.empty(wanted * _MOST_NODES_OF_AN_EDGE, np.int64)
    ends, depths = np.zeros(wanted + 1, np.int64), np.empty(wanted, np.int64)
    for orbit in range(len(total)):
        keeps[orbit] = _kept(left, total, ample, orbit, weight)
    around = candidates(arcs, count)
    for node in range(count):
        if depth[node] >= 0:
            join(arcs, around, depth, keeps, toll, node, depth[node])
    for edge in range(wanted):
        arc, via = widest(arcs, around, depth, keeps, toll)
        length = 0
        if arc < 0:
            return nodes, ends, depths[:edge]
        node = int64(arcs.head[arc])
        while depth[node] < 0:
            path[length] = arc
            left[arcs.orbit[arc]] -= weight
            length += 1
            if left[arcs.orbit[arc]] < 0 or length == len(path):
                return nodes, ends, depths[:edge]
            node = int64(arcs.tail[arc])
            arc = via[node]
        goal, end = int64(arcs.head[path[0]]), ends[edge] + length + 1
        nodes[ends[edge]], ends[edge + 1] = node, end
        for place in range(length):
            orbit = arcs.orbit[path[place]]
            nodes[end - 1 - place] = arcs.head[path[place]]
            keeps[orbit] = _kept(left, total, ample, orbit, weight)
        for place in range(length):
            renew(arcs, around, depth, keeps, toll, arcs.orbit[path[place]])
        depths[edge] = depth[node] + 1
        join(arcs, around, depth, keeps, toll, goal, depths[edge])
    return level_by_level(nodes, ends, depths)


@njit(cache=True, nogil=True)
def _kept(left, total, ample, orbit, weight):
    if left[orbit] < weight:
        return int64(-1)
    return (((left[orbit] - weight) << 31) // total[orbit]) + _AMPLE * ample[orbit]


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
