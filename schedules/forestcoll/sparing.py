"""Roots whose trees need no test, since no cut can become too narrow while they are grown.

Say that every arc keeps a *floor*: its capacity less a reserve, or nothing.  If floors alone
satisfy the packing condition for every set of two nodes and more, with the demand of the root
at work still counted in full, then so do capacities as long as none falls below its floor.  And
sets of one node are never in the way: a set that matters for an arc (x, y) holds y and a node
that the tree has already (`tree_growing`).  So until some floor is near, each tree takes
whatever arcs it likes best, and the outcome is the same as if each had been tested.

**Which sets.**  A set X is fine if floors into X, and the demand of the nodes in X, add up to the
demand of all nodes.  It is if some part of it is that no floor joins to the rest.  Therefore all
are fine if those are that hold two nodes joined by a floor, and every two single nodes together.
Node after node is asked for: a greatest flow to it by floors, and what that lacks sent to each
neighbour, one at a time.  A node that has passed becomes an unlimited supply, as in
`flow.shortfall`; so almost all searches are short.

Most graphs that are alike everywhere are narrow at single nodes only: there all roots but the
last few are spared.  Where a larger set is tight, the first question is the last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedules.forestcoll.flow import UNLIMITED, Arcs, Scratch, scratch_for, send, uncounted
from schedules.forestcoll.forest import Ints
from synth.progress import tell

__all__ = ["Sparing"]

AT_ONCE = 1 << 20
"""Nodes times arcs that are asked for before the work can be stopped: some tenths of a second."""


class _Memory(NamedTuple):
    """The flow by floors and the supplies left, copies of both, and which node asked for each."""

    flow: Ints
    supply: Ints
    flow_copy: Ints
    supply_copy: Ints
    asked: Ints
    scratch: Scratch


class Sparing:
    """The floors of a network that trees are taken out of.

    Parameters
    ----------
    arcs : Arcs
    capacity : integer array
        What is left of each arc; read again at every question.
    most : int
        The most trees that any node is the root of.

    Examples
    --------
    Of a complete graph of five nodes, some roots are spared; where two arcs join two pairs of
    nodes either way, and both are needed, none is:

    >>> from schedules.forestcoll.flow import arcs_of
    >>> ends = [(i, j) for i in range(5) for j in range(5) if i != j]
    >>> complete = arcs_of(5, *np.array(ends).T)
    >>> Sparing(complete, np.full(20, 6), 1).spares(0, np.full(5, 1))
    True
    >>> ends = [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (1, 3), (2, 0), (3, 1)]
    >>> pairs = arcs_of(4, *np.array(ends).T)
    >>> Sparing(pairs, np.array([9, 9, 9, 9, 1, 1, 1, 1]), 1).spares(0, np.full(4, 1))
    False
    """

    def __init__(self, arcs: Arcs, capacity: NDArray[np.integer], most: int) -> None:
        self._arcs, self._capacity, self._most = arcs, capacity, most
        self._floor: Ints | None = None
        nodes, count = len(arcs.start) - 1, len(arcs.tail)
        self._reserve, self._ended = 0, nodes < 2
        self._memory = _Memory(
            flow=np.zeros(count, np.int64),
            supply=np.zeros(nodes, np.int64),
            flow_copy=np.zeros(count, np.int64),
            supply_copy=np.zeros(nodes, np.int64),
            asked=np.zeros(nodes, np.int64),
            scratch=scratch_for(nodes),
        )

    def spares(self, root: int, trees: Ints) -> bool:
        """Return whether all trees of ``root`` may be grown untested.

        ``trees`` are those of roots not yet finished, of this one too.  Once False, always False.
        """
        if self._ended:
            return False
        floor = self._floor
        if floor is not None:
            left = self._capacity - floor
            if not ((left < trees[root]) & (floor > 0)).any():
                return True
        self._ended = not self._renew(trees)
        return not self._ended

    def _renew(self, trees: Ints) -> bool:
        """Set floors anew; the reserve shrinks until they hold, at most to that of one root."""
        if self._floor is None:
            if not self._holds(self._most, trees):
                return False
            self._reserve = max(self._most, int(self._capacity.max()) // 2)
        while not self._holds(self._reserve, trees):
            if self._reserve == self._most:
                return False
            self._reserve = max(self._most, self._reserve * 3 // 4)
        return True

    def _holds(self, reserve: int, trees: Ints) -> bool:
        """Set the floors, and return whether they hold."""
        arcs, memory, total = self._arcs, self._memory, int(trees.sum())
        floor = np.maximum(self._capacity.astype(np.int64) - reserve, 0)
        self._floor = floor
        if self._into(self._capacity, trees).min() < total:
            return False
        if np.partition(self._into(floor, trees), 1)[:2].sum() < total:
            return False
        memory.flow[:], memory.supply[:], memory.asked[:] = 0, trees, -1
        nodes = len(trees)
        step = max(1, AT_ONCE // len(floor))
        for first in range(0, nodes, step):
            tell("looking for tight cuts", first, nodes)
            if not _all_pass(arcs, floor, total, first, min(first + step, nodes), memory):
                return False
        return True

    def _into(self, capacity: NDArray[np.integer], trees: Ints) -> Ints:
        """Return for each node how many units the arcs into it let in, and its own."""
        units = trees.astype(np.int64)
        np.add.at(units, self._arcs.head, capacity)
        return units


@uncounted
def _copy(source, target):
    for index in range(len(source)):
        target[index] = source[index]


@uncounted
def _all_pass(arcs, floor, total, first, end, memory):
    """Ask for the sets that hold nodes ``first`` .. ``end``, and none before."""
    flow, supply, flow_copy, supply_copy, asked, scratch = memory
    for node in range(first, end):
        lacking = total - send(arcs, floor, flow, supply, node, total, scratch)
        for place in range(arcs.start[node], arcs.start[node + 1]):
            arc = arcs.moves[place] >> 1
            other = arcs.head[arc] if arcs.moves[place] & 1 else arcs.tail[arc]
            if lacking == 0 or floor[arc] == 0 or supply[other] == UNLIMITED:
                continue
            if asked[other] == node:
                continue
            asked[other] = node
            _copy(flow, flow_copy)
            _copy(supply, supply_copy)
            if send(arcs, floor, flow_copy, supply_copy, other, lacking, scratch) < lacking:
                return False
        supply[node] = UNLIMITED
    return True
