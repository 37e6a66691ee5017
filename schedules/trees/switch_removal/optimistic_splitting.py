"""Optimistic splits of switches: made all at once, then reverted where they violate a cut.

A unit split off at a switch w, from u to t, takes one unit from every cut with u and t on one side
and w on the other, and none from any other.  A cut that misses d units is therefore restored by
reverting d of those splits, and a reversal never harms.  Each round of reversals costs one flow
check, from the failed terminal on.
"""

from collections import defaultdict
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.max_flow import arcs_of, scratch_for, shortfall
from topoloom.schedules.trees.flow.optimality import nearby_order
from topoloom.synth.progress import report_progress

Pair: TypeAlias = tuple[int, int]
Way: TypeAlias = tuple[int, int, int]


class OptimisticSplits:
    """A copy of the network in which paths can be split off without losing a tree.

    A path (u, w, t) leads from u over the switch w to t.  Every terminal receives
    ``shares[t]`` units from every terminal t before and after each call.

    Args:
        capacities: (source, target) to units; not changed.
        ways: The paths that may be split off.
    """

    def __init__(
        self,
        node_count: int,
        terminals: NDArray[np.int64],
        shares: NDArray[np.int64],
        capacities: dict[Pair, int],
        ways: list[Way],
    ) -> None:
        self.nodes, self.shares = node_count, shares
        units = dict(capacities)
        for u, _, t in ways:
            if u != t:
                units.setdefault((u, t), 0)
        self.arc = {pair: index for index, pair in enumerate(units)}
        ends = np.array(list(units), dtype=np.int64).reshape(-1, 2)
        self.arcs = arcs_of(node_count, ends[:, 0], ends[:, 1])
        self.capacity = np.array(list(units.values()), dtype=np.int64)
        self.flow, self.supply = np.zeros_like(self.capacity), np.zeros(node_count, np.int64)
        self.scratch = scratch_for(node_count)
        self.terminals = nearby_order(self.arcs, terminals)

    def hold(self) -> bool:
        """Return whether every terminal receives its units."""
        return not self._check(0)[1]

    def room(self, way: Way) -> int:
        """Return the remaining capacity to split off for a path."""
        u, w, t = way
        return int(min(self.capacity[self.arc[u, w]], self.capacity[self.arc[w, t]]))

    def split(self, wanted: dict[Way, int]) -> dict[Way, int]:
        """Split off as many units of ``wanted`` as the cuts allow, and return these units."""
        kept = {way: amount for way, amount in wanted.items() if amount}
        for way, amount in kept.items():
            self._move(way, amount)
        first = failed = 0
        while kept:
            first, missing = self._check(first)
            if not missing:
                break
            failed = first
            inside = (self.scratch.level[: self.nodes] < 0).tolist()
            broken = {
                way: amount
                for way, amount in kept.items()
                if inside[way[0]] == inside[way[2]] != inside[way[1]]
            }
            for way, amount in spread(broken, missing).items():
                self._move(way, -amount)
                kept[way] -= amount
                if not kept[way]:
                    del kept[way]
        # The terminal that failed last is likely to fail first next time.
        self.terminals[: failed + 1] = np.roll(self.terminals[: failed + 1], 1)
        return kept

    def lower(self, pair: Pair, amount: int) -> int:
        """Lower an arc by as much of ``amount`` as no cut needs, and return the reduction."""
        self.capacity[self.arc[pair]] -= amount
        first = 0
        while amount:
            first, missing = self._check(first)
            if not missing:
                break
            self.capacity[self.arc[pair]] += missing
            amount -= missing
        return amount

    def lower_both(self, pairs: tuple[Pair, Pair], amount: int) -> int:
        """Lower two arcs by as many times ``amount`` as no cut needs; return that number."""
        arcs = [self.arc[pair] for pair in pairs]
        whole = self.capacity[arcs]
        least, most = 0, int(whole.min()) // amount
        while least < most:
            times = (least + most + 1) // 2
            self.capacity[arcs] = whole - times * amount
            least, most = (times, most) if self.hold() else (least, times - 1)
        self.capacity[arcs] = whole - least * amount
        return least

    def _move(self, way: Way, amount: int) -> None:
        u, w, t = way
        self.capacity[self.arc[u, w]] -= amount
        self.capacity[self.arc[w, t]] -= amount
        if u != t:
            self.capacity[self.arc[u, t]] += amount

    def _check(self, first: int) -> tuple[int, int]:
        """Return the first terminal from index ``first`` that misses units, and their number."""
        report_progress("checking cuts", first, len(self.terminals))
        index, missing = shortfall(
            self.arcs,
            self.capacity,
            self.terminals,
            first,
            self.shares,
            self.flow,
            self.supply,
            self.scratch,
        )
        return index, int(missing)


def spread(amounts: dict[Way, int], total: int) -> dict[Way, int]:
    """Return parts of the amounts with sum ``total``, from the largest amounts first.

    >>> spread({(0, 9, 1): 5, (1, 9, 2): 2}, 4)
    {(0, 9, 1): 4}
    """
    parts: dict[Way, int] = defaultdict(int)
    left = dict(amounts)
    while total:
        most = max(left.values())
        widest = [pair for pair, amount in left.items() if amount == most]
        rest = max((amount for amount in left.values() if amount < most), default=0)
        share = max(1, min(most - rest, total // len(widest)))
        for pair in widest[:total]:
            parts[pair] += share
            left[pair] -= share
            total -= share
    return dict(parts)
