"""Roots whose trees are grown ahead, untested, and kept if the rest can still be packed.

Tests of arcs (`tree_growing`) are exact: an arc passes for as many copies as leave the rest
packable.  So where trees of a few roots were grown as if every test had passed, and the roots after
them can still be packed, every test would have passed: before each arc, the arcs that were taken
after it and a packing of the rest are a way to go on.  Hence the forest is the same, tree by tree,
as if all had been tested; and one flow check of the network stands for thousands of tests.

Where the rest cannot be packed, the trees are forgotten and fewer roots are tried; where a few are
too many already, some are tested first, the more of them the more often that happens in turn.

Measured (seconds of the processor, packing alone): of GeneralizedKautz(4, 1280) 102 of 1,280 roots
are tested so, in 11 s; 223, in 20 s, were where only roots were spared that cannot fail whatever
the arcs.  An 8x8 torus takes 5 ms instead of 24.
"""

from typing import NamedTuple

import numpy as np

from topoloom.schedules.trees.flow.max_flow import Arcs, scratch_for, shortfall
from topoloom.schedules.trees.flow.optimality import nearby_order
from topoloom.schedules.trees.packing.kernel_state import Forest, Ints, Stack
from topoloom.schedules.trees.packing.tree_growing import grow

AT_ONCE = 1 << 17
"""Nodes that trees are grown over before the work can be stopped: a few hundredths of a second."""

_FEWEST = 4
"""Roots that are grown together at least: two or three are tested as fast."""

_PATIENCE = 64
"""Roots that are tested at most before some are grown ahead again."""


class Grown(NamedTuple):
    """Trees: their roots, how many are equal, and their arcs, a row each.

    ``next_root`` is the index of the first whose trees are not all there.
    """

    roots: Ints
    multiplicities: Ints
    rows: Ints
    next_root: int


class Growing(NamedTuple):
    """The network that is left, the groups at work, and how many trees each root is to have."""

    arcs: Arcs
    forest: Forest
    stack: Stack
    roots: Ints
    trees: Ints

    def left(self, index: int) -> Ints:
        """Return how many trees each node is the root of, those before ``index`` left out."""
        left = np.zeros_like(self.trees)
        left[self.roots[index:]] = self.trees[self.roots[index:]]
        return left

    def grown(self, index: int, end: int, tested: bool, most: int) -> Grown | None:
        """Return trees of roots from ``index`` to before ``end``, at most so many.

        None if a tree is stuck.
        """
        rows = np.empty((most, len(self.trees) - 1), np.int64)
        times, whose = np.empty(most, np.int64), np.empty(most, np.int64)
        _, forest, stack, roots, trees = self
        done = grow(forest, stack, roots, index, end, trees, not tested, rows, times, whose)
        if done < 0:
            return None
        index = int(whose[done - 1]) + (not stack.depth[0])
        return Grown(roots[whose[:done]], times[:done], rows[:done].copy(), index)


class Ahead:
    """Grows roots ahead.

    ``tested`` roots are to be tested now; 0 if some are to be grown ahead.
    """

    def __init__(self, growing: Growing) -> None:
        self.tested = 0
        self._growing = growing
        self._together, self._tested_next, self._most = _FEWEST, 1, len(growing.roots)
        arcs, nodes = growing.arcs, len(growing.trees)
        self._terminals = nearby_order(arcs, np.arange(nodes))
        self._flow, self._supply = np.zeros(len(arcs.tail), np.int64), np.zeros(nodes, np.int64)
        self._scratch = scratch_for(nodes)

    def grown(self, index: int) -> Grown | None:
        """Return all trees of some roots from ``index`` on.

        None if there are no such trees for as few as four roots: then ``tested`` are to be tested.
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
            self._together = max(_FEWEST, count // 4)
            if count < 4 * _FEWEST:
                break
        self.tested, self._tested_next = self._tested_next, min(8 * self._tested_next, _PATIENCE)
        return None

    def _is_packable(self, index: int) -> bool:
        """Return whether what is left holds the trees of the roots from ``index`` on."""
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
            # Who failed last is likely to fail first next time.
            self._terminals[: first + 1] = np.roll(self._terminals[: first + 1], 1)
        return not missing
