"""Makes a packed forest shallower without touching the load of any arc.

Two trees of equal weight may *exchange* the arcs by which they enter a node y: each takes the
other's parent of y.  Every arc carries what it carried before.  A tree exchanges only where
that lifts y and leaves its partner lower than the tree is.

A tallest tree is *lifted* by an exchange at its first deepest node or above it; each such
exchange lowers the number of nodes at the greatest depth, or that depth itself.  Where no
equal partner helps, a heavier one is split in two.  Where none helps at all, the tree is
*loosened*, that is, any of its nodes are lifted, and tried again.  Splits and loosenings are
counted, so this ends: in a forest whose tallest tree is stuck.  There may be a shallower one,
but on tori every tree comes out as low as the distances allow.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from schedules.forestcoll.forest import NONE, Ints

__all__ = ["shorten"]

MORE_TREES = 4
"""A forest may grow by one tree in so many."""

PATIENCE = 1
"""A forest may be loosened as many times as it has trees."""


class _Rows(NamedTuple):
    """A row for every tree, with an entry for every node.

    ``parent`` is the arc by which the tree enters the node, ``depth`` that of the node and
    ``below`` the greatest at or below it, ``child`` a first child and ``sibling`` the next of its
    parent.  ``height`` is that of each tree, and ``above`` has a row for every node: its parent in
    each tree, -1 in those that it is the root of.
    """

    parent: Ints
    depth: NDArray[np.int32]
    below: NDArray[np.int32]
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    height: NDArray[np.int32]
    above: NDArray[np.int32]


def shorten(
    tail: Ints, head: Ints, roots: Ints, weights: Ints, arcs: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return trees that load every arc alike, after all exchanges that help.

    Parameters
    ----------
    tail, head : int64 arrays
        The network's arcs.
    roots, weights : int64 arrays, one entry per tree
    arcs : int64 array (trees, nodes - 1)
        The arcs of each tree.

    Returns
    -------
    roots, weights, arcs
        As given; arcs in breadth-first order.  There are at most a quarter more trees.

    Notes
    -----
    An exchange costs O(nodes * height) at most, and mostly no more than the two subtrees that
    it moves; finding it O(trees * height^2).

    Examples
    --------
    A path and a star enter node 2 alike and gain nothing:

    >>> tail, head = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> shorten(tail, head, np.zeros(2, int), np.ones(2, int), np.array([[0, 2], [0, 1]]))[2]
    array([[0, 2],
           [0, 1]])
    """
    trees, nodes = arcs.shape[0], arcs.shape[1] + 1
    most = trees + trees // MORE_TREES
    parent = np.full((most, nodes), -1, np.int64)
    rows = np.repeat(np.arange(trees), nodes - 1)
    parent[rows, head[arcs].ravel()] = arcs.ravel()
    depth, below, child, sibling = (np.full((most, nodes), -1, np.int32) for _ in range(4))
    above = np.full((nodes, most), -1, np.int32)
    above[head[arcs].ravel(), rows] = tail[arcs].ravel()
    height = np.zeros(most, np.int32)
    forest = _Rows(parent, depth, below, child, sibling, height, above)
    roots, weights = np.resize(roots, most), np.resize(weights, most)
    trees = _exchange_all(tail, forest, roots, weights, trees)
    result = np.empty((trees, nodes - 1), np.int64)
    for tree in range(trees):
        _breadth_first(tail, parent[tree], roots[tree], result[tree])
    return roots[:trees], weights[:trees], result


@njit(cache=True, nogil=True)
def _measure(tail, forest, tree, root):
    """Fill all that follows from the parents of a tree."""
    parent, depth, below = forest.parent[tree], forest.depth[tree], forest.below[tree]
    child, sibling = forest.child[tree], forest.sibling[tree]
    nodes = len(parent)
    depth[root] = 0
    for node in range(nodes):
        steps, at = 0, node
        while depth[at] < 0:
            at = tail[parent[at]]
            steps += 1
        level, at = depth[at] + steps, node
        while depth[at] < 0:
            depth[at] = level
            level -= 1
            at = tail[parent[at]]
    for node in range(nodes):
        below[node] = depth[node]
    for node in range(nodes):
        if node != root:
            above = tail[parent[node]]
            sibling[node] = child[above]
            child[above] = node
            _raise_below(tail, parent, below, root, above, depth[node])
    forest.height[tree] = below[root]


@njit(cache=True, nogil=True)
def _raise_below(tail, parent, below, root, at, reach):
    """Note that a node of depth ``reach`` lies below ``at``."""
    while below[at] < reach:
        below[at] = reach
        if at == root:
            break
        at = tail[parent[at]]


@njit(cache=True, nogil=True)
def _enter(tail, forest, tree, root, node, arc):
    """Let a tree enter ``node`` by another arc, from a node that is not below it."""
    parent, depth, below = forest.parent[tree], forest.depth[tree], forest.below[tree]
    child, sibling = forest.child[tree], forest.sibling[tree]
    left, above = tail[parent[node]], tail[arc]
    if child[left] == node:
        child[left] = sibling[node]
    else:
        at = child[left]
        while sibling[at] != node:
            at = sibling[at]
        sibling[at] = sibling[node]
    parent[node], sibling[node], child[above] = arc, child[above], node
    forest.above[node, tree] = above
    change, at = depth[above] + 1 - depth[node], node
    while True:
        depth[at] += change
        below[at] += change
        if child[at] >= 0:
            at = child[at]
            continue
        while at != node and sibling[at] < 0:
            at = tail[parent[at]]
        if at == node:
            break
        at = sibling[at]
    # What lay below the nodes left behind, where that was the deepest.
    at = left
    while True:
        reach, other = depth[at], child[at]
        while other >= 0:
            reach = max(reach, below[other])
            other = sibling[other]
        if reach == below[at]:
            break
        below[at] = reach
        if at == root:
            break
        at = tail[parent[at]]
    _raise_below(tail, parent, below, root, above, below[node])
    forest.height[tree] = below[root]


@njit(cache=True, nogil=True)
def _descends(tail, parent, root, node, ancestor):
    """Return whether the way from ``node`` to the root leads over ``ancestor``."""
    while node != root:
        if node == ancestor:
            return True
        node = tail[parent[node]]
    return ancestor == root


@njit(cache=True, nogil=True)
def _partner(tail, forest, roots, weights, tree, node, trees, heavier):
    """Return the tree that best exchanges parents of ``node`` with ``tree``, or -1."""
    parent, depth, below = forest.parent, forest.depth, forest.below
    # Side by side in memory: of most trees no more than these is looked at.
    above, levels = forest.above[node], depth[tree]
    height, weight, mine = forest.height[tree], weights[tree], above[tree]
    best, lowest = NONE - 1, levels[node]
    for other in range(trees):
        theirs = above[other]
        if theirs < 0 or levels[theirs] + 1 >= lowest:
            continue
        if not (weights[other] > weight if heavier else weights[other] == weight):
            continue
        level = levels[theirs] + 1
        deeper = depth[other, mine] + 1 - depth[other, node]
        if below[other, node] + deeper >= height:
            continue
        if _descends(tail, parent[tree], roots[tree], theirs, node):
            continue
        if _descends(tail, parent[other], roots[other], mine, node):
            continue
        best, lowest = other, level
    return best


@njit(cache=True, nogil=True)
def _split(forest, roots, weights, tree, weight, trees):
    """Leave ``weight`` to a tree and give the rest to a copy, number ``trees``."""
    roots[trees] = roots[tree]
    weights[trees] = weights[tree] - weight
    weights[tree] = weight
    forest.height[trees] = forest.height[tree]
    for node in range(forest.parent.shape[1]):
        forest.above[node, trees] = forest.above[node, tree]
        forest.parent[trees, node] = forest.parent[tree, node]
        forest.depth[trees, node] = forest.depth[tree, node]
        forest.below[trees, node] = forest.below[tree, node]
        forest.child[trees, node] = forest.child[tree, node]
        forest.sibling[trees, node] = forest.sibling[tree, node]


@njit(cache=True, nogil=True)
def _exchange(tail, forest, roots, weights, tree, node, trees, heavier):
    """Exchange parents of ``node`` with the best partner; return whether there was one."""
    other = _partner(tail, forest, roots, weights, tree, node, trees, heavier)
    if other < 0:
        return False
    if heavier:
        _split(forest, roots, weights, other, weights[tree], trees)
    mine, theirs = forest.parent[tree, node], forest.parent[other, node]
    _enter(tail, forest, tree, roots[tree], node, theirs)
    _enter(tail, forest, other, roots[other], node, mine)
    return True


@njit(cache=True, nogil=True)
def _lift(tail, forest, roots, weights, tree, trees, heavier):
    """Lift the first deepest node of ``tree`` by one exchange; return whether it could."""
    parent, root, node = forest.parent, roots[tree], NONE
    while forest.depth[tree, node] < forest.height[tree]:
        node += 1
    while node != root:
        if _exchange(tail, forest, roots, weights, tree, node, trees, heavier):
            return True
        node = tail[parent[tree, node]]
    return False


@njit(cache=True, nogil=True)
def _loosen(tail, forest, roots, weights, tree, trees):
    """Lift any nodes of ``tree`` where that is possible; return whether it was for some."""
    changed = False
    for node in range(forest.parent.shape[1]):
        if node != roots[tree]:
            changed |= _exchange(tail, forest, roots, weights, tree, node, trees, NONE)
    return changed


@njit(cache=True, nogil=True)
def _exchange_all(tail, forest, roots, weights, trees):
    """Lift a tallest tree until it cannot be lifted; return the number of trees."""
    for tree in range(trees):
        _measure(tail, forest, tree, roots[tree])
    patience, lifted, height = trees * PATIENCE, True, forest.height
    while lifted:
        tallest = NONE
        for tree in range(trees):
            if height[tree] > height[tallest]:
                tallest = tree
        lifted = False
        for heavier in range(2 if trees < len(roots) else 1):
            lifted = _lift(tail, forest, roots, weights, tallest, trees, heavier)
            if lifted:
                trees += heavier
                break
        if not lifted and patience > 0:
            patience -= 1
            lifted = _loosen(tail, forest, roots, weights, tallest, trees)
    return trees


@njit(cache=True, nogil=True)
def _breadth_first(tail, parent, root, arcs):
    """List a tree's arcs in breadth-first order."""
    nodes = len(parent)
    child, sibling = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
    for node in range(nodes - 1, -1, -1):
        if node != root:
            above = tail[parent[node]]
            sibling[node] = child[above]
            child[above] = node
    order = np.empty(nodes, np.int64)
    order[0] = root
    filled = 1
    for place in range(nodes):
        node = child[order[place]]
        while node >= 0:
            order[filled] = node
            arcs[filled - 1] = parent[node]
            filled += 1
            node = sibling[node]
