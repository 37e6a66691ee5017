"""Speculative growth: roots grown without tests, and kept if the rest remains packable.

Tests of arcs (`tree_growing`) are exact: an arc passes for as many copies as leave the rest
packable.  Let the trees of a few roots be grown as if every test had passed, and let the later
roots remain packable.  Then every test would have passed: the arcs taken after each arc, together
with a packing of the rest, are a valid continuation.  The forest is therefore identical, tree by
tree, to the tested one; and one flow check of the network replaces thousands of tests.

Where the rest is not packable, the trees are discarded and fewer roots are tried.  If even a few
are too many, some roots are tested first, and more of them with every repeated failure.

Measured (CPU seconds, packing alone): for GeneralizedKautz(4, 1280), 102 of 1,280 roots are tested,
in 11 s.  If only roots that cannot fail for any arcs skip tests, 223 are tested, in 20 s.  An 8x8
torus takes 5 ms instead of 24.
"""

from typing import NamedTuple

import numpy as np

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.max_flow import Arcs, scratch_for, shortfall
from topoloom.schedules.trees.flow.optimality import nearby_order
from topoloom.schedules.trees.packing.kernel_state import Forest, Ints, Stack
from topoloom.schedules.trees.packing.tree_growing import grow_groups

AT_ONCE = 1 << 17
"""Nodes of trees grown between checks for cancellation: a few hundredths of a second."""


class GrownForest(NamedTuple):
    """Trees: their roots, multiplicities, and arcs, one row each.

    ``next_root`` is the index of the first root whose trees are not complete.
    """

    roots: Ints
    multiplicities: Ints
    rows: Ints
    next_root: int


class PackingState(NamedTuple):
    """The residual network, the active groups, and the number of trees of each root."""

    arcs: Arcs
    forest: Forest
    stack: Stack
    roots: Ints
    trees: Ints

    def left(self, index: int) -> Ints:
        """Return the number of trees of each node, without the roots before ``index``."""
        left = np.zeros_like(self.trees)
        left[self.roots[index:]] = self.trees[self.roots[index:]]
        return left

    def grown(self, index: int, end: int, tested: bool, most: int) -> GrownForest | None:
        """Return trees of the roots from ``index`` to before ``end``, at most ``most`` trees.

        None if a tree is stuck.
        """
        rows = np.empty((most, len(self.trees) - 1), np.int64)
        times, whose = np.empty(most, np.int64), np.empty(most, np.int64)
        _, forest, stack, roots, trees = self
        done = grow_groups(forest, stack, roots, index, end, trees, not tested, rows, times, whose)
        if done < 0:
            return None
        index = int(whose[done - 1]) + (not stack.depth[0])
        return GrownForest(roots[whose[:done]], times[:done], rows[:done].copy(), index)


class SpeculativeGrowth:
    """Grows roots speculatively.

    ``tested`` is the number of roots to test now; 0 if speculation is next.
    """

    def __init__(self, growing: PackingState) -> None:
        self.tested = 0
        self._growing = growing
        self._together, self._tested_next, self._most = (
            limits.MIN_ROOTS_AT_ONCE,
            1,
            len(growing.roots),
        )
        arcs, nodes = growing.arcs, len(growing.trees)
        self._terminals = nearby_order(arcs, np.arange(nodes))
        self._flow, self._supply = np.zeros(len(arcs.tail), np.int64), np.zeros(nodes, np.int64)
        self._scratch = scratch_for(nodes)

    def grown(self, index: int) -> GrownForest | None:
        """Return all trees of some roots from ``index`` on.

        None if even four roots fail: ``tested`` roots must then be tested.
        """
        _, forest, stack, roots, trees = self._growing
        room, most = forest.capacity.copy(), max(1, AT_ONCE // len(trees))
        while True:
            count = min(self._together, self._most, len(roots) - index)
            found = self._growing.grown(index, index + count, False, most)
            if found is not None and found.next_root < index + count:
                self._most = max(1, found.next_root - index)
            elif found is not None and self._is_packable(index + count):
                self._together, self._tested_next = 2 * count, 1
                return found
            forest.capacity[:] = room
            stack.depth[0] = 0
            self._together = max(limits.MIN_ROOTS_AT_ONCE, count // 4)
            if count < 4 * limits.MIN_ROOTS_AT_ONCE:
                break
        self.tested, self._tested_next = (
            self._tested_next,
            min(8 * self._tested_next, limits.MAX_TESTED_ROOTS),
        )
        return None

    def _is_packable(self, index: int) -> bool:
        """Return whether the residual network holds the trees of the roots from ``index`` on."""
        first, missing = shortfall(
            self._growing.arcs,
            self._growing.forest.capacity.astype(np.int64),
            self._terminals,
            0,
            self._growing.left(index),
            self._flow,
            self._supply,
            self._scratch,
        )
        if missing:
            # The terminal that failed last is likely to fail first next time.
            self._terminals[: first + 1] = np.roll(self._terminals[: first + 1], 1)
        return not missing
