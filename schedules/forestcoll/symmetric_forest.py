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

from schedules.forestcoll.hops import farthest
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

_FEW_STEPS = 1 << 23
"""Limit on arcs looked at for lower trees."""

_MOST_TRIED = 8
"""Orders of the arcs in which lower trees are sought."""

_ALIKE = 3
"""So many orders in a row with trees of the same height are the last."""


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
    lowest = _lowest(network, action, total, trees_per_root)
    return None if lowest is None else _images(action, _merged(lowest))


def _lowest(
    network: Network, action: Action, total: NDArray[np.int64], trees_per_root: int
) -> list[Drawn] | None:
    """Return the lowest trees found of the first roots, or None if there are none.

    Arcs that are as good as each other are taken as they are listed and, where that gave no
    trees as low as the farthest rank is away, in other orders, which the order of the nodes
    has no part in.
    """
    roots = action.roots.tolist()
    least = max(farthest(network, root) for root in roots)
    edges = trees_per_root * len(roots) * len(network.terminals)
    more = min(_MOST_TRIED, _FEW_STEPS // (edges * len(network.tail)))
    found: list[tuple[int, list[Drawn]]] = []
    for seed in range(1 + more):
        arcs = _sorted(network, action, seed)
        for toll in _TOLLS:
            made = _of_first_roots(network, arcs, total, trees_per_root * roots, toll)
            if made is not None:
                found.append(made)
                break
        heights = {height for height, _ in found[-_ALIKE:]}
        if not found or found[-1][0] <= least or (len(found) >= _ALIKE and len(heights) == 1):
            break
    return min(found, key=lambda one: one[0])[1] if found else None


def _of_first_roots(
    network: Network, arcs: "_Arcs", total: NDArray[np.int64], roots: list[int], toll: int
) -> tuple[int, list[Drawn]] | None:
    """Return one tree for each entry of ``roots`` and the height of the highest, or None."""
    left, trees, height = total.copy(), list[Drawn](), 0
    is_rank = network.is_rank
    for root in roots:
        nodes, ends, deepest = _grown(arcs, is_rank, left, total, root, toll)
        if deepest < 0:
            return None
        trees.append(Drawn(root, 1, nodes, ends))
        height = max(height, deepest)
    return height, trees


def pays(network: Network, roots: int) -> bool:
    """Return whether trees of so many roots are worth seeking, which packing may do better."""
    ranks = len(network.terminals)
    return roots == 1 or _FEW < ranks < network.node_count


class _Arcs(NamedTuple):
    """Arcs in this order: those out of ranks, of which there are ``from_ranks``, first.

    ``ranks`` are in the order in which they are taken where they are as good as each other.
    """

    ranks: NDArray[np.int64]
    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    orbit: NDArray[np.int64]
    from_ranks: int


def _sorted(network: Network, action: Action, seed: int) -> _Arcs:
    """Return arcs and ranks as they are listed, or for a seed that is not 0 in some other order."""
    ranks, arcs = np.sort(network.terminals), np.arange(len(network.tail))
    if seed:
        rng = np.random.default_rng(seed)
        ranks, arcs = rng.permutation(ranks), rng.permutation(arcs)
    out_of_ranks = network.is_rank[network.tail]
    order = arcs[np.argsort(~out_of_ranks[arcs], kind="stable")]
    ends = network.tail[order], network.head[order]
    return _Arcs(ranks, *ends, action.orbit[order], int(out_of_ranks.sum()))


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
    for arc in range(arcs.from_ranks):
        tail, head = arcs.tail[arc], arcs.head[arc]
        if depth[tail] >= 0 and depth[head] < 0:
            wide = keeps[arcs.orbit[arc]]
            _offer(arc, head, wide, depth[tail], 1, toll, worth, hops, size, via)
    again = True
    while again:
        again = False
        for arc in range(arcs.from_ranks, len(arcs.tail)):
            tail, head = arcs.tail[arc], arcs.head[arc]
            if worth[tail] >= 0 and depth[head] < 0:
                wide = min(worth[tail], keeps[arcs.orbit[arc]])
                better = _offer(
                    arc, head, wide, hops[tail], size[tail] + 1, toll, worth, hops, size, via
                )
                again = again or (better and not is_rank[head])
    goal = -1
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
