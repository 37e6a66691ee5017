"""Stage 3: pack spanning trees in a network without switches, as many as the cuts allow."""

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import arcs_of
from topoloom.schedules.trees.packing.height_reduction import reduce_height
from topoloom.schedules.trees.packing.kernel_state import forest_for, stack_for, warm_up
from topoloom.schedules.trees.packing.speculative_roots import (
    GrownForest,
    PackingState,
    SpeculativeGrowth,
)
from topoloom.synth.progress import report_progress

AT_ONCE = 4096
"""Nodes of trees grown between checks for cancellation: a few hundredths of a second."""


class TreeGroup(NamedTuple):
    """``multiplicity`` equal trees of a height in hops; arcs of the network, breadth first."""

    root: int
    multiplicity: int
    arcs: NDArray[np.int64]
    height: int


def pack(
    node_count: int,
    tail: NDArray[np.int64],
    head: NDArray[np.int64],
    capacity: NDArray[np.int64],
    trees: NDArray[np.int64],
) -> list[TreeGroup]:
    """Return out-trees, ``trees[v]`` of each node v, within the capacity of every arc.

    Args:
        node_count: Nodes 0..node_count-1.
        tail, head, capacity: Arcs; each is in at most ``capacity`` trees.
        trees: Number of trees with each node as root, from 0.  Every node must receive ``trees[v]``
            units of flow from each node v at once: the necessary and sufficient condition for such
            trees (Edmonds; Frank).

    Raises:
        TooLarge: node_count * len(tail) exceeds `limits.MAX_FLOW_ENTRIES`.

    Roots are completed one after another, level by level (`tree_growing`), several without tests
    where the others remain packable (`speculative_roots`).  Trees then exchange parents for lower
    height (`height_reduction`), without a proof of minimality.  Memory: nodes * arcs.

    >>> one_way = np.arange(3)
    >>> ring = pack(3, one_way, (one_way + 1) % 3, np.array([2, 2, 2]), np.ones(3, int))
    >>> [(group.root, group.multiplicity, group.arcs.tolist()) for group in ring]
    [(0, 1, [0, 1]), (1, 1, [1, 2]), (2, 1, [2, 0])]
    """
    if node_count * len(tail) > limits.MAX_FLOW_ENTRIES:
        raise TooLarge(
            "/links",
            f"packing {node_count} nodes joined by {len(tail)} arcs needs a flow of each arc to"
            f" each node; at most {limits.MAX_FLOW_ENTRIES} are kept",
        )
    arcs = arcs_of(node_count, tail, head)
    roots = golden_order(node_count)
    roots = roots[trees[roots] > 0]
    trees = trees.astype(np.int64)
    growing = PackingState(arcs, forest_for(arcs, capacity), stack_for(arcs), roots, trees)
    grown = [found[:3] for found in _grown(growing)]
    columns = [np.concatenate(column) for column in zip(*grown, strict=True)]
    found = reduce_height(arcs.tail, arcs.head, *columns)
    order = np.argsort(found.roots, kind="stable")
    numbers = (found.roots[order].tolist(), found.weights[order].tolist())
    return list(map(TreeGroup, *numbers, found.arcs[order], found.heights[order].tolist()))


def _grown(growing: PackingState) -> Iterator[GrownForest]:
    """Yield the trees of all roots: grown speculatively where this succeeds, else tested."""
    _, forest, stack, roots, trees = growing
    ahead, most = SpeculativeGrowth(growing), max(1, AT_ONCE // len(trees))
    index, warm = 0, False
    while index < len(roots):
        report_progress("packing trees", index, len(roots))
        found = None if stack.depth[0] or ahead.tested else ahead.grown(index)
        if found is None:
            if not warm and not warm_up(forest, growing.left(index), index):
                raise RuntimeError("the network does not satisfy the packing condition")
            warm = True
            end = min(index + ahead.tested, len(roots))
            found = growing.grown(index, end, True, most)
            if found is None:
                raise RuntimeError("packing is stuck although the packing condition holds")
            ahead.tested -= found.next_root - index
        index = found.next_root
        yield found


def golden_order(count: int) -> NDArray[np.int64]:
    """Return 0..count-1 in strides of a golden section.

    Adjacent roots in sequence would exhaust one region of the network.  Distant roots leave more
    capacity for shallow trees (measured on tori: 40% fewer trees, and faster).

    >>> golden_order(8).tolist()
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    stride = count * 618 // 1000 + 1
    while gcd(stride, count) > 1:
        stride += 1
    return np.arange(count, dtype=np.int64) * stride % count
