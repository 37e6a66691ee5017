"""The trees of a forest, by row: parents, depths, and updates by an exchange."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.trees.packing.kernel_state import Ints
from topoloom.synth.kernels.uncounted import uncounted


class Rows(NamedTuple):
    """A row for every tree, with an entry for every node.

    ``parent`` is the arc by which the tree enters the node, ``depth`` the depth of the node and
    ``below`` the greatest depth in its subtree, ``child`` a first child and ``sibling`` the next
    child of its parent.  ``height`` is that of each tree.  ``above`` has a row for every node: its
    parent in each tree, -1 where the node is the root.  ``before[start[y]:start[y + 1]]`` are the
    predecessors of y in the network.
    """

    parent: Ints
    depth: NDArray[np.int32]
    below: NDArray[np.int32]
    child: NDArray[np.int32]
    sibling: NDArray[np.int32]
    height: NDArray[np.int32]
    above: NDArray[np.int32]
    start: NDArray[np.int32]
    before: NDArray[np.int32]


@uncounted
def measure(tail, forest, tree, root):
    """Fill all arrays that follow from the parents of a tree."""
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


@uncounted
def _raise_below(tail, parent, below, root, at, reach):
    """Record that a node of depth ``reach`` lies below ``at``."""
    while below[at] < reach:
        below[at] = reach
        if at == root:
            break
        at = tail[parent[at]]


@uncounted
def enter(tail, forest, tree, root, node, arc):
    """Let a tree enter ``node`` by another arc, from a node outside its subtree."""
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
    # Recompute former ancestors whose deepest descendant was in the moved subtree.
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


@uncounted
def descends(tail, parent, root, node, ancestor):
    """Return whether the path from ``node`` to the root contains ``ancestor``."""
    while node != root:
        if node == ancestor:
            return True
        node = tail[parent[node]]
    return ancestor == root


@njit(cache=True, nogil=True)
def list_arcs(tail, parents, roots, rows):
    """List the arcs of each tree, one row per tree, in breadth-first order."""
    nodes = parents.shape[1]
    child, sibling = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    order = np.empty(nodes, np.int64)
    for tree in range(len(rows)):
        parent, arcs = parents[tree], rows[tree]
        child[:] = -1
        for node in range(nodes - 1, -1, -1):
            if node != roots[tree]:
                above = tail[parent[node]]
                sibling[node] = child[above]
                child[above] = node
        order[0] = roots[tree]
        filled = 1
        for place in range(nodes):
            node = child[order[place]]
            while node >= 0:
                order[filled] = node
                arcs[filled - 1] = parent[node]
                filled += 1
                node = sibling[node]
