"""Trees of one root per orbit, mapped to all other roots by a group of automorphisms.

If the trees of the first roots use an orbit of arcs at most up to its total capacity, their images
under the group fit: each arc of an orbit has the same load.  One tree may represent a thousand.

Beside a fault, the group moves most ranks, and fixes or merely permutes a few others.  The trees of
the first roots then span the moved ranks, and `forests.completed_forest` adds the others.

The trees are grown greedily, and may not exist or not be found; the caller then packs trees,
which always succeeds.  Arcs are chosen by the remaining capacity of their orbit: on boxes joined by
a slower network, a tree enters every box once and spreads within it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.flow.rank_distances import farthest
from topoloom.schedules.trees.symmetry.orbit_tree_growing import TOLLS, grow_orbit_trees
from topoloom.schedules.trees.symmetry.path_trees import PathTree
from topoloom.schedules.trees.symmetry.rotations import Action
from topoloom.schedules.trees.symmetry.widest_paths import Arcs, sorted_arcs
from topoloom.synth.progress import report_progress

_MOST_ROOM = 1 << 31
"""Capacities are compared as 31-bit fractions."""

_AMPLE_SHARE = 12
"""Ample arcs keep more than this fraction of their capacity."""

_AT_ONCE = 1 << 24
"""Arc visits between checks for cancellation: some hundredths of a second."""


def symmetric_trees(
    network: Network, room: NDArray[np.int64], trees_per_root: int, action: Action
) -> Iterator[PathTree] | None:
    """Return ``trees_per_root`` trees of every compute node, or None if none are found.

    Args:
        room: Number of trees that each arc can carry, equal within an orbit.
        action: Automorphisms of the network, none of which fixes a rank.

    Returns:
        None also beyond `limits.MAX_SYMMETRIC_VISITS` arc visits.

    O(arcs) for each edge of the trees of one root per orbit; then the size of the result.

    >>> from topoloom.synth.fabrics import fabric
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.schedules.trees.symmetry.rotations import rotations
    >>> network = network_of(fabric("dgx-a100-1"))
    >>> trees = symmetric_trees(network, network.capacity * 7, 1, rotations(network))
    >>> [(tree.root, tree.nodes[:3].tolist()) for tree in trees][:2]
    [(0, [0, 8, 1]), (1, [1, 8, 2])]
    """
    edges = trees_per_root * len(action.roots) * len(network.terminals)
    total = _orbit_totals(network, room, action, edges)
    if total is None:
        return None
    lowest = _lowest(network, action, total, trees_per_root)
    return None if lowest is None else _images(action, _merged(lowest))


def first_trees(
    network: Network, room: NDArray[np.int64], trees_per_root: int, action: Action
) -> Iterator[list[PathTree]]:
    """Yield trees of each first root that span the ranks which the group moves.

    Parameters, and limits, as for `symmetric_trees`, but elements may fix other ranks.  The trees
    of a root are equal where the capacities allow.  Low trees come first, and last those that use
    scarce arcs least.  All trees use ample arcs before others, and so enter each box once.
    """
    others = action.others(network.terminals)
    roots = action.roots.tolist()
    edges = (len(roots) + len(others)) * len(network.terminals)
    total = _orbit_totals(network, room, action, edges)
    if total is None:
        return
    moved = np.setdiff1d(network.terminals, others)
    visits = len(roots) * len(moved) * len(network.tail)
    orders = 1 + min(limits.MAX_ARC_ORDERS, limits.MAX_LOWER_VISITS // visits)
    arcs = [sorted_arcs(network, moved, action.orbit, seed) for seed in range(orders)]
    ample = _ample(network, arcs[0], total, roots, trees_per_root)
    for toll in TOLLS:
        made = (
            _of_first_roots(network, one, total, ample, roots, trees_per_root, toll) for one in arcs
        )
        found = [one for one in made if one is not None]
        if found:
            yield min(found, key=lambda one: one[0])[1]


def _ample(
    network: Network, arcs: Arcs, total: NDArray[np.int64], roots: list[int], copies: int
) -> NDArray[np.bool_]:
    """Return the orbits that keep a share of their capacity if trees use scarce arcs least."""
    none = np.zeros(len(total), np.bool_)
    made = _of_first_roots(network, arcs, total, none, roots, copies, TOLLS[-1])
    return none if made is None else is_ample(total, made[2])


def is_ample(total: NDArray[np.int64], left: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return for each capacity whether it is used, and much is left."""
    return (left < total) & (left > total // _AMPLE_SHARE)


def _orbit_totals(
    network: Network, room: NDArray[np.int64], action: Action, edges: int
) -> NDArray[np.int64] | None:
    """Return how often trees of first roots may use each orbit; None where ``edges`` take long."""
    if edges * len(network.tail) > limits.MAX_SYMMETRIC_VISITS:
        return None
    # The images of each tree use an arc s times for each arc of its orbit, if s elements fix it.
    total = np.zeros(int(action.orbit.max()) + 1, np.int64)
    total[action.orbit] = room // action.turns
    return None if int(room.max()) >= _MOST_ROOM else total


def _lowest(
    network: Network, action: Action, total: NDArray[np.int64], trees_per_root: int
) -> list[PathTree] | None:
    """Return the lowest trees found of the first roots, or None if there are none.

    Ties between arcs go to listed order.  If that yields no trees of the minimum height, other
    orders are tried, which do not depend on the order of the nodes.
    """
    roots = action.roots.tolist()
    least = max(farthest(network, root) for root in roots)
    if least == 1 and not star_fits(network, action, total, trees_per_root):
        least = 2
    edges = trees_per_root * len(roots) * len(network.terminals)
    more = min(limits.MAX_ARC_ORDERS, limits.MAX_LOWER_VISITS // (edges * len(network.tail)))
    found: list[tuple[int, list[PathTree]]] = []
    ample = np.zeros(len(total), np.bool_)
    for seed in range(1 + more):
        arcs = sorted_arcs(network, network.terminals, action.orbit, seed)
        for toll in TOLLS:
            made = _of_first_roots(network, arcs, total, ample, trees_per_root * roots, 1, toll)
            if made is not None:
                found.append(made[:2])
                break
        if not found or found[-1][0] <= least:
            break
    return min(found, key=lambda one: one[0])[1] if found else None


def star_fits(
    network: Network, action: Action, total: NDArray[np.int64], trees_per_root: int
) -> bool:
    """Return False if arcs between ranks and switches have too little capacity for height 1.

    A tree of height 1 reaches each rank by the arc from its root or through switches.  ``total`` is
    the capacity of each orbit for the trees of all first roots together.  O(arcs).
    """
    from_root = np.isin(network.tail, action.roots)
    to_rank = network.is_rank[network.head]
    direct = np.bincount(action.orbit[from_root & to_rank], minlength=len(total))
    edges = trees_per_root * len(action.roots) * (len(network.terminals) - 1)
    through = edges - int(np.minimum(direct * trees_per_root, total).sum())
    ways = (network.is_rank[network.tail] & ~to_rank, ~network.is_rank[network.tail] & to_rank)
    return all(through <= int(total[np.unique(action.orbit[way])].sum()) for way in ways)


def _of_first_roots(
    network: Network,
    arcs: Arcs,
    total: NDArray[np.int64],
    ample: NDArray[np.bool_],
    roots: list[int],
    copies: int,
    toll: int,
) -> tuple[int, list[PathTree], NDArray[np.int64]] | None:
    """Return the maximum height, ``copies`` trees of each root, and what is left, or None."""
    left, trees, height = total.copy(), list[PathTree](), 0
    each = len(network.terminals) * len(network.tail)
    at_once = max(1, _AT_ONCE // each)
    for first in range(0, len(roots), at_once):
        report_progress("growing trees alike", first, len(roots))
        some = np.array(roots[first : first + at_once], np.int64)
        begun = np.full((len(some), network.node_count), -1)
        begun[np.arange(len(some)), some] = 0
        weights = np.full(len(some), copies)
        for tree in grow_orbit_trees(arcs, left, total, ample, begun, weights, toll):
            nodes, ends, depths, weight, row = tree
            if not weight:
                return None
            trees.append(PathTree(int(some[row]), weight, nodes, ends))
            height = max(height, depths[-1])
    return height, trees, left


def _merged(trees: list[PathTree]) -> dict[int, list[PathTree]]:
    """Return the trees by root, with equal trees merged."""
    counted: dict[tuple[int, bytes, bytes], PathTree] = {}
    for tree in trees:
        key = tree.root, tree.nodes.tobytes(), tree.ends.tobytes()
        known = counted.get(key)
        copies = tree.multiplicity + (known.multiplicity if known else 0)
        counted[key] = tree._replace(multiplicity=copies)
    merged: dict[int, list[PathTree]] = {}
    for tree in counted.values():
        merged.setdefault(tree.root, []).append(tree)
    return merged


def _images(action: Action, first: dict[int, list[PathTree]]) -> Iterator[PathTree]:
    """Yield the trees' images under every element, in the order of their roots."""
    origin = {
        image: (root, element)
        for root in first
        for element, image in enumerate(action.images[:, root].tolist())
    }
    for image in sorted(origin):
        root, element = origin[image]
        for tree in first[root]:
            yield PathTree(image, tree.multiplicity, action.images[element][tree.nodes], tree.ends)
