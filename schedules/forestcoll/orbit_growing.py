"""Trees that take arcs from orbits alike: the widest way on, edge by edge.

An edge leads from a rank to another, through nodes that only forward; of all ways from the tree
to ranks outside, that one is next whose tightest orbit keeps the largest part of its room.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from schedules.forestcoll.flow import Unsigned
from synth.whole import int64

__all__ = ["Arcs", "grown"]

_MOST_NODES_OF_AN_EDGE = 16


class Arcs(NamedTuple):
    """Arcs in this order: those out of ranks, of which there are ``from_ranks``, first.

    ``ranks`` are in the order in which they are taken where they are as good as each other.
    """

    ranks: NDArray[np.int64]
    tail: Unsigned
    head: Unsigned
    orbit: Unsigned
    from_ranks: int


@njit(cache=True, nogil=True)
def grown(arcs, is_rank, left, total, roots, toll):
    """Grow a tree of each of the roots in turn and take their arcs out of ``left``.

    Returns nodes, ends of edges and height of each.  The first that is not whole has height -1,
    and is the last.
    """
    found = []
    for root in roots:
        tree = _tree(arcs, is_rank, left, total, root, toll)
        found.append(tree)
        if tree[2] < 0:
            break
    return found


@njit(cache=True, nogil=True)
def _tree(arcs, is_rank, left, total, root, toll):
    """Grow a tree and take its arcs out of ``left``; say how high it is, -1 if it is not whole.

    The next edge is one whose tightest orbit keeps the largest part of its room, and among
    those one that begins near the root.
    """
    count, wanted = len(is_rank), len(arcs.ranks) - 1
    depth = np.full(count, -1, np.int64)
    depth[root] = 0
    worth, hops = np.empty(count, np.int64), np.empty(count, np.int64)
    size, via = np.empty(count, np.int64), np.empty(count, np.int64)
    keeps, path = np.empty(len(total), np.int64), np.empty(_MOST_NODES_OF_AN_EDGE, np.int64)
    nodes = np.empty(wanted * _MOST_NODES_OF_AN_EDGE, np.int64)
    ends, depths = np.zeros(wanted + 1, np.int64), np.empty(wanted, np.int64)
    for edge in range(wanted):
        for orbit in range(len(total)):
            keeps[orbit] = -1
            if left[orbit] > 0:
                keeps[orbit] = ((left[orbit] - 1) << 31) // total[orbit]
        goal = _widest(arcs, is_rank, depth, keeps, toll, worth, hops, size, via)
        if goal < 0:
            return nodes, ends, -1
        length, node = 1, goal
        path[0] = goal
        while depth[node] < 0:
            left[arcs.orbit[via[node]]] -= 1
            if left[arcs.orbit[via[node]]] < 0 or length == len(path):
                return nodes, ends, -1
            node = arcs.tail[via[node]]
            path[length] = node
            length += 1
        nodes[ends[edge] : ends[edge] + length] = path[:length][::-1]
        ends[edge + 1] = ends[edge] + length
        depth[goal] = depths[edge] = depth[node] + 1
    return _level_by_level(nodes, ends, depths)


@njit(cache=True, nogil=True)
def _level_by_level(nodes, ends, depths):
    """Return the edges of a whole tree in breadth-first order, and its height."""
    order = np.argsort(depths, kind="mergesort")
    placed, placed_ends = np.empty(ends[-1], np.int64), np.zeros_like(ends)
    for place in range(len(order)):
        low, high = ends[order[place]], ends[order[place] + 1]
        begin = placed_ends[place]
        placed[begin : begin + high - low] = nodes[low:high]
        placed_ends[place + 1] = begin + high - low
    return placed, placed_ends, depths[order[-1]]


@njit(cache=True, nogil=True)
def _widest(arcs, is_rank, depth, keeps, toll, worth, hops, size, via):
    """Find the best way on from the tree; return the rank it ends at, or -1.

    ``via[v]`` is the last arc of the best way to v, ``worth[v]`` what its orbits keep,
    ``hops[v]`` the depth at which it begins and ``size[v]`` the number of its arcs.  Of ways as
    good as each other the shortest is taken: one that climbs twice takes arcs for nothing.
    """
    worth[:] = -1
    hops[:] = 0
    tails, heads, orbits = arcs.tail, arcs.head, arcs.orbit
    from_ranks, every = np.uint64(arcs.from_ranks), np.uint64(len(tails))
    for arc in range(from_ranks):
        tail, head = tails[arc], heads[arc]
        if depth[tail] >= 0 and depth[head] < 0:
            wide = keeps[orbits[arc]]
            _offer(arc, head, wide, depth[tail], int64(1), toll, worth, hops, size, via)
    again = True
    while again:
        again = False
        for arc in range(from_ranks, every):
            tail, head = tails[arc], heads[arc]
            if worth[tail] >= 0 and depth[head] < 0:
                wide = min(worth[tail], keeps[orbits[arc]])
                better = _offer(
                    arc, head, wide, hops[tail], size[tail] + 1, toll, worth, hops, size, via
                )
                again = again or (better and not is_rank[head])
    goal = int64(-1)
    for node in arcs.ranks:
        if worth[node] >= 0:
            gain = 0 if goal < 0 else _gain(worth, hops, toll, node, goal)
            if goal < 0 or gain > 0 or (gain == 0 and hops[node] < hops[goal]):
                goal = node
    return goal


@njit(cache=True, nogil=True)
def _gain(worth, hops, toll, node, other):
    return worth[node] - worth[other] - toll * (hops[node] - hops[other])


@njit(cache=True, nogil=True)
def _offer(arc, head, wide, near, length, toll, worth, hops, size, via):
    """Note a way to ``head`` if it is better than the best so far; say whether it is."""
    if wide < 0:
        return False
    if worth[head] >= 0:
        gain = wide - worth[head] - toll * (near - hops[head])
        if gain < 0 or (gain == 0 and (near, length) >= (hops[head], size[head])):
            return False
    worth[head], hops[head], size[head], via[head] = wide, near, length, arc
    return True
