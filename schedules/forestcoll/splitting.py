"""Stage 2: take the switches away without losing a tree.

*Splitting off* (u, w), (w, t) by g replaces g units of both arcs by g units from u to t.  A
switch w that lets out as much as it takes in can be split off completely while every
compute node keeps receiving k units from each (ForestColl, section 5.4; Bang-Jensen, Frank
and Jackson).  Units from u back to u are given up.

Splits are made in hope and mended by what they broke.  A unit split off takes one unit from
every cut that has u and t on one side and w on the other, and none from any other.  So a
cut that now misses d units is mended by taking back d of those splits, and taking back never
hurts.  Each round of mending costs one flow check from the node that failed.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedules.errors import NoSchedule
from schedules.forestcoll.flow import arcs_of, scratch_for, shortfall
from schedules.forestcoll.optimality import nearby_order
from schedules.forestcoll.routes import Routes
from schedules.forestcoll.shares import even_shares
from synth.topology import NodeId

__all__ = ["Splitter"]

Pair: TypeAlias = tuple[int, int]


class Splitter:
    """The network while its switches go one by one.

    ``capacities`` maps (source, target) to trees; ``routes`` says what the pairs stand
    for.  ``names`` are the nodes' ids, for errors.
    """

    def __init__(
        self,
        capacities: dict[Pair, int],
        terminals: NDArray[np.int64],
        trees_per_root: int,
        names: Sequence[NodeId],
    ) -> None:
        self.capacities = {pair: room for pair, room in capacities.items() if room}
        self.routes = Routes(self.capacities)
        self.terminals = terminals
        self.trees_per_root = trees_per_root
        self.names = names

    def remove_switches(self) -> None:
        """Split off every switch, those with the fewest neighbours first.

        Raises
        ------
        NoSchedule
            A switch lets out more than it takes in and needs all of it, so that it would
            have to copy data.
        """
        waiting = sorted(set(range(len(self.names))) - set(self.terminals.tolist()))
        self._balance(waiting)
        while waiting:
            switch = min(waiting, key=lambda node: (len(self._into(node)), node))
            waiting.remove(switch)
            self._remove(switch)

    def _into(self, node: int) -> dict[int, int]:
        return {s: room for (s, t), room in sorted(self.capacities.items()) if t == node}

    def _out_of(self, node: int) -> dict[int, int]:
        return {t: room for (s, t), room in sorted(self.capacities.items()) if s == node}

    def _remove(self, switch: int) -> None:
        into, onward = self._into(switch), self._out_of(switch)
        pairs = [(u, t) for u in into for t in onward]
        trial = _Trial(self, switch, pairs)
        # Ways that do not exist yet are worth most: boxes are joined before neighbours are.
        for only_new in (True, False):
            into, onward = trial.left()
            trial.split(even_shares(into, onward, self.trees_per_root, self.capacities, only_new))
        for pair in sorted(pairs, key=lambda pair: (pair[0] == pair[1], pair in self.capacities)):
            trial.split({pair: trial.room(pair)})
        into, onward = trial.left()
        if into and onward:
            raise NoSchedule(
                "/links",
                f"switch {self.names[switch]!r} must be able to pass on what it takes in"
                " without copying it",
            )
        self._commit(switch, trial.splits)

    def _commit(self, switch: int, splits: dict[Pair, int]) -> None:
        for (source, target), amount in splits.items():
            if not amount:
                continue
            self.routes.join(source, switch, target, amount)
            if source != target:
                room = self.capacities.get((source, target), 0)
                self.capacities[source, target] = room + amount
        self.capacities = {
            pair: room for pair, room in self.capacities.items() if switch not in pair
        }

    def _balance(self, switches: list[int]) -> None:
        """Give up capacity that no cut needs at switches whose in- and output differ.

        What a switch takes in beyond what it lets out is harmless where some cut needs it;
        the other way round it would have to copy data.
        """
        again = True
        while again:
            again = False
            for switch in switches:
                into, onward = self._into(switch), self._out_of(switch)
                surplus = sum(into.values()) - sum(onward.values())
                heavy = {(u, switch): room for u, room in into.items()}
                if surplus < 0:
                    heavy = {(switch, t): room for t, room in onward.items()}
                given_up = self._trim(heavy, abs(surplus))
                again |= bool(given_up)
                if given_up < abs(surplus) and surplus < 0:
                    raise NoSchedule(
                        "/links",
                        f"switch {self.names[switch]!r} must take in as much as it lets out,"
                        " because switches do not copy data",
                    )

    def _trim(self, heavy: dict[Pair, int], surplus: int) -> int:
        """Lower the capacity of some arcs by up to ``surplus``; return by how much."""
        given_up = 0
        for pair, room in heavy.items():
            amount = min(room, surplus - given_up)
            if not amount:
                continue
            trial = _Trial(self, pair[1], [])
            kept = trial.lower(pair, amount)
            given_up += kept
            self.capacities[pair] -= kept
            if not self.capacities[pair]:
                del self.capacities[pair]
        return given_up


class _Trial:
    """Splits at one switch, made in hope: ``splits`` maps (u, t) to units so far."""

    def __init__(self, splitter: Splitter, switch: int, pairs: list[Pair]) -> None:
        self.switch = switch
        self.splits: dict[Pair, int] = dict.fromkeys(pairs, 0)
        self.trees_per_root = splitter.trees_per_root
        capacities = dict(splitter.capacities)
        for u, t in pairs:
            if u != t:
                capacities.setdefault((u, t), 0)
        self.arc = {pair: index for index, pair in enumerate(capacities)}
        ends = np.array(list(capacities), dtype=np.int64).reshape(-1, 2)
        self.nodes = len(splitter.names)
        self.arcs = arcs_of(self.nodes, ends[:, 0], ends[:, 1])
        self.capacity = np.array(list(capacities.values()), dtype=np.int64)
        self.flow, self.supply = np.zeros_like(self.capacity), np.zeros(self.nodes, np.int64)
        self.scratch = scratch_for(self.nodes)
        self.terminals = nearby_order(self.arcs, splitter.terminals)

    def left(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return what is not split off yet, into and out of the switch."""
        into = {u: int(self.capacity[self.arc[u, self.switch]]) for u, _ in self.splits}
        onward = {t: int(self.capacity[self.arc[self.switch, t]]) for _, t in self.splits}
        return (
            {u: room for u, room in into.items() if room},
            {t: room for t, room in onward.items() if room},
        )

    def room(self, pair: Pair) -> int:
        """Return the most that is left to split off for a pair."""
        before, behind = self.arc[pair[0], self.switch], self.arc[self.switch, pair[1]]
        return min(int(self.capacity[before]), int(self.capacity[behind]))

    def split(self, wanted: dict[Pair, int]) -> None:
        """Split off as much of ``wanted`` as mending leaves."""
        kept = {pair: amount for pair, amount in wanted.items() if amount}
        for pair, amount in kept.items():
            self._move(pair, amount)
        first = failed = 0
        while kept:
            first, missing = self._check(first)
            if not missing:
                break
            failed = first
            inside = self.scratch.level[: self.nodes] < 0
            w = inside[self.switch]
            broken = {p: a for p, a in kept.items() if inside[p[0]] == inside[p[1]] != w}
            for pair, amount in spread(broken, missing).items():
                self._move(pair, -amount)
                kept[pair] -= amount
                if not kept[pair]:
                    del kept[pair]
        for pair, amount in kept.items():
            self.splits[pair] += amount
        # Who failed last is likely to fail first next time.
        self.terminals[: failed + 1] = np.roll(self.terminals[: failed + 1], 1)

    def lower(self, pair: Pair, amount: int) -> int:
        """Lower an arc's capacity by as much of ``amount`` as nobody needs."""
        self.capacity[self.arc[pair]] -= amount
        first = 0
        while amount:
            first, missing = self._check(first)
            if not missing:
                break
            self.capacity[self.arc[pair]] += missing
            amount -= missing
        return amount

    def _move(self, pair: Pair, amount: int) -> None:
        u, t = pair
        self.capacity[self.arc[u, self.switch]] -= amount
        self.capacity[self.arc[self.switch, t]] -= amount
        if u != t:
            self.capacity[self.arc[u, t]] += amount

    def _check(self, first: int) -> tuple[int, int]:
        """Find the first terminal from index ``first`` that misses units, and how many."""
        index, missing = shortfall(
            self.arcs,
            self.capacity,
            self.terminals,
            first,
            self.trees_per_root,
            self.flow,
            self.supply,
            self.scratch,
        )
        return index, int(missing)


def spread(amounts: dict[Pair, int], total: int) -> dict[Pair, int]:
    """Return parts of the amounts that add up to ``total``, none left much larger.

    >>> spread({(0, 1): 5, (1, 2): 2}, 4)
    {(0, 1): 4}
    """
    parts: dict[Pair, int] = defaultdict(int)
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
