"""Trees of one root per orbit, moved to all other roots by a group of automorphisms.

If the trees of the first roots use an orbit of arcs no more often in all than the arcs of
that orbit have room together, their images under the group fit: each arc of an orbit is
used alike.  So one tree may stand for a thousand.

The trees are grown greedily, and need not exist or be found; whoever asks goes on to
packing then, which always succeeds.  Arcs are chosen by how much room their orbit keeps: on
boxes joined by a slower network, a tree enters every box once and spreads within it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from schedules.forestcoll.network import Network
from schedules.forestcoll.symmetry import Action

__all__ = ["MOST_STEPS", "Drawn", "pays", "translated_trees"]

_MOST_ROOM = 1 << 31
"""Rooms are compared as fractions of 31 bits."""

_TOLLS = (1 << 31, 1 << 29, 1 << 27, 1 << 25, 1 << 23, 1 << 20, 0)
"""What a hop of depth counts beside those fractions: at first, all edges begin near the root."""

_FEW = 128
"""Packing so many ranks takes seconds, and makes lower trees where ranks differ."""

_MOST_NODES_OF_AN_EDGE = 16

MOST_STEPS = 1 << 30
"""Limit on arcs looked at: some seconds, which packing may need less of."""


class Drawn(NamedTuple):
    """``multiplicity`` equal trees; edge i is the path ``nodes[ends[i]:ends[i + 1]]``.

    Edges are in breadth-first order.
    """

    root: int
    multiplicity: int
    nodes: NDArray[np.int64]
    ends: NDArray[np.int64]


def translated_trees(
    network: Network, room: NDArray[np.int64], trees_per_root: int, action: Action
) -> Iterator[Drawn] | None:
    """Return ``trees_per_root`` trees of every compute node, or None if none are found.

    Parameters
    ----------
    network : Network
    room : int64 array
        How many trees each arc can carry, alike within an orbit.
    action : Action
        Automorphisms of the network.

    Returns
    -------
    iterator of Drawn, or None
        None also where packing does better: where ranks are of several kinds, and few or
        joined without switches.  And if more than `MOST_STEPS` arcs would be looked at.

    Notes
    -----
    O(arcs) for each edge of the trees of one root per orbit; then the size of the result.

    Examples
    --------
    >>> from synth.fabrics import fabric
    >>> from schedules.forestcoll.network import network_of
    >>> from schedules.forestcoll.symmetry import rotations
    >>> network = network_of(fabric("dgx-a100-1"))
    >>> trees = translated_trees(network, network.capacity * 7, 1, rotations(network))
    >>> [(tree.root, tree.nodes[:3].tolist()) for tree in trees][:2]
    [(0, [0, 8, 1]), (1, [1, 8, 2])]
    """
    roots = len(action.roots)
    if not pays(network, roots):
        return None
    edges = trees_per_root * roots * len(network.terminals)
    if edges * len(network.tail) > MOST_STEPS:
        return None
    total = np.zeros(int(action.orbit.max()) + 1, np.int64)
    # An arc that s elements keep is used s times by the images of each tree on its orbit.
    total[action.orbit] = room // action.turns
    if int(total.max()) >= _MOST_ROOM:
        return None
    is_rank = network.is_rank
    arcs = _sorted(network, action, is_rank)
    for toll in _TOLLS:
        left, first = total.copy(), []
        for root in trees_per_root * action.roots.tolist():
            nodes, ends, whole = _grown(arcs, is_rank, left, total, root, toll)
            if not whole:
                break
            first.append(Drawn(root, 1, nodes, ends))
        else:
            return _images(action, _merged(first))
    return None


def pays(network: Network, roots: int) -> bool:
    """Return whether trees of so many roots are worth seeking, which packing may do better."""
    ranks = len(network.terminals)
    return roots == 1 or _FEW < ranks < network.node_count


class _Arcs(NamedTuple):
    """Arcs in this order: those out of ranks, of which there are ``from_ranks``, first."""

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    orbit: NDArray[np.int64]
    from_ranks: int


def _sorted(network: Network, action: Action, is_rank: NDArray[np.bool_]) -> _Arcs:
    out_of_ranks = is_rank[network.tail]
    order = np.argsort(~out_of_ranks, kind="stable")
    return _Arcs(
        network.tail[order], network.head[order], action.orbit[order], int(out_of_ranks.sum())
    )


def _merged(trees: list[Drawn]) -> dict[int, list[Drawn]]:
    """Return the trees by root, equal ones as one."""
    counted: dict[tuple[int, bytes, bytes], Drawn] = {}
    for tree in trees:
        key = tree.root, tree.nodes.tobytes(), tree.ends.tobytes()
        known = counted.get(key)
        counted[key] = (
            tree if known is None else known._replace(multiplicity=known.multiplicity + 1)
        )
    merged: dict[int, list[Drawn]] = {}
    for tree in counted.values():
        merged.setdefault(tree.root, []).append(tree)
    return merged


def _images(action: Action, first: dict[int, list[Drawn]]) -> Iterator[Drawn]:
    """Yield the trees' images under every element, in the order of their roots."""
    origin = {
        image: (root, element)
        for root in first
        for element, image in enumerate(action.images[:, root].tolist())
    }
    for image in sorted(origin):
        root, element = origin[image]
        for tree in first[root]:
            yield Drawn(image, tree.multiplicity, action.images[element][tree.nodes], tree.ends)


@njit(cache=True, nogil=True)
def _grown(arcs, is_rank, left, total, root, toll):
    """Grow a tree and take its arcs out of ``left``; say whether it has become whole.

    The next edge is one whose tightest orbit keeps the largest part of its room, and among
    those one that begins near the root.
    """
    count, wanted = len(is_rank), is_rank.sum() - 1
    depth = np.full(count, -1, np.int64)
    depth[root] = 0
    worth, hops, via = (
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int64),
    )
    keeps, path = np.empty(len(total), np.int64), np.empty(_MOST_NODES_OF_AN_EDGE, np.int64)
    nodes = np.empty(wanted * _MOST_NODES_OF_AN_EDGE, np.int64)
    ends, depths = np.zeros(wanted + 1, np.int64), np.empty(wanted, np.int64)
    for edge in range(wanted):
        for orbit in range(len(total)):
            keeps[orbit] = -1
            if left[orbit] > 0:
                keeps[orbit] = ((left[orbit] - 1) << 31) // total[orbit]
        goal = _widest(arcs, is_rank, depth, keeps, toll, worth, hops, via)
        if goal < 0:
            return nodes, ends, False
        size, node = 1, goal
        path[0] = goal
        while depth[node] < 0:
            left[arcs.orbit[via[node]]] -= 1
            if left[arcs.orbit[via[node]]] < 0 or size == len(path):
                return nodes, ends, False
            node = arcs.tail[via[node]]
            path[size] = node
            size += 1
        nodes[ends[edge] : ends[edge] + size] = path[:size][::-1]
        ends[edge + 1] = ends[edge] + size
        depth[goal] = depths[edge] = depth[node] + 1
    return _level_by_level(nodes, ends, depths)


@njit(cache=True, nogil=True)
def _level_by_level(nodes, ends, depths):
    """Return the edges of a whole tree in breadth-first order."""
    order = np.argsort(depths, kind="mergesort")
    placed, placed_ends = np.empty(ends[-1], np.int64), np.zeros_like(ends)
    for place in range(len(order)):
        low, high = ends[order[place]], ends[order[place] + 1]
        begin = placed_ends[place]
        placed[begin : begin + high - low] = nodes[low:high]
        placed_ends[place + 1] = begin + high - low
    return placed, placed_ends, True


@njit(cache=True, nogil=True)
def _widest(arcs, is_rank, depth, keeps, toll, worth, hops, via):
    """Find the best way on from the tree; return the rank it ends at, or -1.

    ``via[v]`` is the last arc of the best way to v, ``worth[v]`` what its orbits keep, and
    ``hops[v]`` the depth at which it begins.
    """
    worth[:] = -1
    hops[:] = 0
    for arc in range(arcs.from_ranks):
        tail, head = arcs.tail[arc], arcs.head[arc]
        if depth[tail] >= 0 and depth[head] < 0:
            _offer(arc, head, keeps[arcs.orbit[arc]], depth[tail], toll, worth, hops, via)
    again = True
    while again:
        again = False
        for arc in range(arcs.from_ranks, len(arcs.tail)):
            tail, head = arcs.tail[arc], arcs.head[arc]
            if worth[tail] >= 0 and depth[head] < 0:
                wide = min(worth[tail], keeps[arcs.orbit[arc]])
                better = _offer(arc, head, wide, hops[tail], toll, worth, hops, via)
                again = again or (better and not is_rank[head])
    goal = -1
    for node in range(len(is_rank)):
        if is_rank[node] and worth[node] >= 0:
            gain = 0 if goal < 0 else _gain(worth, hops, toll, node, goal)
            if goal < 0 or gain > 0 or (gain == 0 and hops[node] < hops[goal]):
                goal = node
    return goal


@njit(cache=True, nogil=True)
def _gain(worth, hops, toll, node, other):
    return worth[node] - worth[other] - toll * (hops[node] - hops[other])


@njit(cache=True, nogil=True)
def _offer(arc, head, wide, near, toll, worth, hops, via):
    """Note a way to ``head`` if it is better than the best so far; say whether it is."""
    if wide < 0:
        return False
    if worth[head] >= 0:
        gain = wide - worth[head] - toll * (near - hops[head])
        if gain < 0 or (gain == 0 and near >= hops[head]):
            return False
    worth[head], hops[head], via[head] = wide, near, arc
    return True
