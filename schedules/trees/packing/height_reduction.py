"""Reduce the height of a packed forest without changing the load of any arc.

Two trees of equal weight may *exchange* the arcs by which they enter a node y: each takes the
other's parent of y.  Loads of arcs are unchanged.  A tree exchanges only where that reduces the
depth of y and leaves its partner lower than the tree is.

A tallest tree is *lifted* by an exchange at its first deepest node or above it.  Each such exchange
reduces the number of nodes at the greatest depth, or that depth itself.  Where no partner of equal
weight helps, a heavier tree is split in two.  Where no partner helps at all, the tree is
*loosened*: any of its nodes are lifted, and the tree is tried again.  The numbers of splits and
loosenings are limited, so the algorithm terminates, in a forest whose tallest tree is stuck.  A
lower forest may exist, but on tori every tree is as low as the distances allow.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.packing.kernel_state import NONE, Ints
from topoloom.schedules.trees.packing.tree_arrays import Rows, descends, enter, list_arcs, measure
from topoloom.synth.kernels.uncounted import uncounted


class ReducedForest(NamedTuple):
    """Trees, one entry or row each; arcs in breadth-first order."""

    roots: Ints
    weights: Ints
    arcs: Ints
    heights: NDArray[np.int32]


def reduce_height(tail: Ints, head: Ints, roots: Ints, weights: Ints, arcs: Ints) -> ReducedForest:
    """Return trees with the same arc loads, after all exchanges that help.

    Args:
        tail, head: The network's arcs.
        roots, weights: Int64 arrays, one entry per tree.
        arcs (int64 array (trees, nodes - 1)): The arcs of each tree.

    Returns:
        At most a quarter more trees.

    An exchange costs at most O(nodes * height), and mostly no more than the two subtrees that
    it moves; the search for it costs O(trees * height^2).

    A path and a star enter node 2 by the same arc and gain nothing:

    >>> tail, head = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> trees = np.array([[0, 2], [0, 1]])
    >>> reduce_height(tail, head, np.zeros(2, int), np.ones(2, int), trees).arcs
    array([[0, 2],
           [0, 1]])
    """
    trees, nodes = arcs.shape[0], arcs.shape[1] + 1
    most = trees + trees // limits.TREES_PER_NEW_TREE
    parent = np.full((most, nodes), -1, np.int64)
    rows = np.repeat(np.arange(trees), nodes - 1)
    parent[rows, head[arcs].ravel()] = arcs.ravel()
    depth, below, child, sibling = (np.full((most, nodes), -1, np.int32) for _ in range(4))
    above = np.full((nodes, most), -1, np.int32)
    above[head[arcs].ravel(), rows] = tail[arcs].ravel()
    height = np.zeros(most, np.int32)
    start = np.searchsorted(np.sort(head), np.arange(nodes + 1)).astype(np.int32)
    before = tail[np.argsort(head, kind="stable")].astype(np.int32)
    forest = Rows(parent, depth, below, child, sibling, height, above, start, before)
    roots, weights = np.resize(roots, most), np.resize(weights, most)
    trees = _exchange_all(tail, forest, roots, weights, trees)
    result = np.empty((trees, nodes - 1), np.int64)
    list_arcs(tail, parent, roots, result)
    return ReducedForest(roots[:trees], weights[:trees], result, height[:trees])


@uncounted
def _partner(tail, forest, roots, weights, tree, node, trees, heavier):
    """Return the best partner of ``tree`` to exchange parents of ``node``, or -1."""
    parent, depth, below = forest.parent, forest.depth, forest.below
    # Contiguous in memory: for most trees only these are read.
    above, levels = forest.above[node], depth[tree]
    height, weight, mine = forest.height[tree], weights[tree], above[tree]
    best, lowest = NONE - 1, levels[node]
    # No tree can place the node higher than just below its highest predecessor.
    highest = lowest
    for place in range(forest.start[node], forest.start[node + 1]):
        highest = min(highest, levels[forest.before[place]] + 1)
    for other in range(trees):
        if highest == lowest:
            break
        theirs = above[other]
        if theirs < 0 or levels[theirs] + 1 >= lowest:
            continue
        if not (weights[other] > weight if heavier else weights[other] == weight):
            continue
        level = levels[theirs] + 1
        deeper = depth[other, mine] + 1 - depth[other, node]
        if below[other, node] + deeper >= height:
            continue
        if descends(tail, parent[tree], roots[tree], theirs, node):
            continue
        if descends(tail, parent[other], roots[other], mine, node):
            continue
        best, lowest = other, level
    return best


@uncounted
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


@uncounted
def _exchange(tail, forest, roots, weights, tree, node, trees, heavier):
    """Exchange parents of ``node`` with the best partner; return whether one exists."""
    other = _partner(tail, forest, roots, weights, tree, node, trees, heavier)
    if other < 0:
        return False
    if heavier:
        _split(forest, roots, weights, other, weights[tree], trees)
    mine, theirs = forest.parent[tree, node], forest.parent[other, node]
    enter(tail, forest, tree, roots[tree], node, theirs)
    enter(tail, forest, other, roots[other], node, mine)
    return True


@uncounted
def _lift(tail, forest, roots, weights, tree, deepest, trees, heavier):
    """Lift the first deepest node of ``tree`` by one exchange; return whether it succeeds."""
    parent, root, node = forest.parent, roots[tree], deepest
    while node != root:
        if _exchange(tail, forest, roots, weights, tree, node, trees, heavier):
            return True
        node = tail[parent[tree, node]]
    return False


@uncounted
def _loosen(tail, forest, roots, weights, tree, trees):
    """Lift any nodes of ``tree`` where possible; return whether some node is lifted."""
    changed = False
    for node in range(forest.parent.shape[1]):
        if node != roots[tree]:
            changed |= _exchange(tail, forest, roots, weights, tree, node, trees, NONE)
    return changed


@uncounted
def _tallest(height, trees):
    tall = height[0]
    for tree in range(trees):
        tall = max(tall, height[tree])
    return tall


@uncounted
def _exchange_all(tail, forest, roots, weights, trees):
    """Lift a tallest tree until it cannot be lifted; return the number of trees."""
    for tree in range(trees):
        measure(tail, forest, tree, roots[tree])
    patience, lifted, height = trees * limits.LOOSENINGS_PER_TREE, True, forest.height
    # No tree grows, and no node of a tallest tree sinks.  Earlier trees need no second check while
    # some trees are as tall, nor do earlier nodes of the same tree.
    tallest, tall, deepest = NONE, _tallest(height, trees), NONE
    while lifted:
        if height[tallest] < tall:
            deepest = NONE
            while tallest < trees and height[tallest] < tall:
                tallest += 1
            if tallest == trees:
                tallest, tall = NONE, _tallest(height, trees)
                continue
        while forest.depth[tallest, deepest] < tall:
            deepest += 1
        lifted = False
        for heavier in range(2 if trees < len(roots) else 1):
            lifted = _lift(tail, forest, roots, weights, tallest, deepest, trees, heavier)
            if lifted:
                trees += heavier
                break
        if not lifted and patience > 0:
            patience -= 1
            lifted = _loosen(tail, forest, roots, weights, tallest, trees)
    return trees
