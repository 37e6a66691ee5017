"""Stage 2: remove the switches without losing a tree.

*Splitting off* (u, w), (w, t) by g replaces g units of both arcs by g units from u to t.  A
switch w that sends as much as it receives can be split off completely while every
compute node keeps receiving k units from each (ForestColl, section 5.4; Bang-Jensen, Frank
and Jackson).  Units from u back to u are dropped.

First all switches of a kind are split evenly at once, which is correct for the regular switches of
real fabrics and costs one check of the network.  Reverted splits are then tried pair by pair,
each as far as the cuts allow; this always completes a balanced switch.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.trees.switch_removal.even_splitting import even_shares
from topoloom.schedules.trees.switch_removal.optimistic_splitting import OptimisticSplits, Pair, Way
from topoloom.schedules.trees.switch_removal.path_bundles import Routes
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import NodeId


class Splitter:
    """The network during the removal of its switches.

    ``capacities`` maps (source, target) to trees; ``routes`` has the paths of these pairs.
    ``shares`` are the numbers of trees by root; ``names`` are the nodes' ids, for errors.
    """

    def __init__(
        self,
        capacities: dict[Pair, int],
        terminals: NDArray[np.int64],
        shares: NDArray[np.int64],
        trees_per_root: int,
        names: Sequence[NodeId],
    ) -> None:
        self.capacities = {pair: room for pair, room in capacities.items() if room}
        self.routes = Routes(self.capacities)
        self.terminals = terminals
        self.shares = shares
        # Trees of one root of many are grown as a group, which needs whole portions.  The trees of
        # the only root must differ: with whole portions every rank would have one arc, and trees
        # would be chains.
        roots = int(np.count_nonzero(shares))
        self._portion = max(1, trees_per_root // (len(terminals) // roots))
        self.names = names

    def remove_switches(self) -> None:
        """Split off every switch, those with the fewest neighbors first.

        Raises:
            NoSchedule: A switch sends more than it receives and needs all of it, so that it would
                have to copy data.
        """
        waiting = self._forwarding()
        copying = self.trim()
        if copying is not None:
            raise NoSchedule(
                "/links",
                f"node {self.names[copying]!r} only forwards: it must receive as much as it sends,"
                " because it copies nothing",
            )
        switches = len(waiting)
        while waiting:
            report_progress("removing switches", switches - len(waiting), switches)
            batch = self._next_batch(waiting)
            waiting = [switch for switch in waiting if switch not in batch]
            self._remove(batch)

    def _next_batch(self, waiting: list[int]) -> list[int]:
        """Return switches with the fewest neighbors, no two of them joined."""
        into, onward = self._ends(waiting)
        fewest = min(len(into[switch]) for switch in waiting)
        batch: list[int] = []
        for switch in waiting:
            near = into[switch].keys() | onward[switch].keys()
            if len(into[switch]) == fewest and near.isdisjoint(batch):
                batch.append(switch)
        return batch

    def _remove(self, batch: list[int]) -> None:
        # New arcs are worth most: boxes are joined before neighbors are.
        for only_new in (True, False):
            into, onward = self._ends(batch)
            shares = {
                (u, switch, t): amount
                for switch in batch
                for (u, t), amount in even_shares(
                    into[switch], onward[switch], self._portion, self.capacities, only_new
                ).items()
            }
            self._commit(self._optimistic(list(shares)).split(shares) if shares else {})
        self._remove_rest(batch)
        gone = set(batch)
        self.capacities = {
            pair: room for pair, room in self.capacities.items() if gone.isdisjoint(pair)
        }

    def _remove_rest(self, batch: list[int]) -> None:
        """Split off the rest pair by pair; pairs from a node to itself, which drop units, last."""
        into, onward = self._ends(batch)
        ways = [(u, switch, t) for switch in batch for u in into[switch] for t in onward[switch]]
        if not ways:
            return
        splits = self._optimistic(ways)
        ways.sort(key=lambda way: (way[0] == way[2], way[::2] in self.capacities))
        for done, way in enumerate(ways):
            report_progress("splitting off pairs", done, len(ways))
            self._commit(splits.split({way: splits.room(way)}))
        into, onward = self._ends(batch)
        for switch in batch:
            if into[switch] and onward[switch]:
                raise NoSchedule(
                    "/links",
                    f"node {self.names[switch]!r} only forwards: it must be able to forward all"
                    " that it receives without a copy",
                )

    def _ends(self, switches: Iterable[int]) -> tuple[dict[int, dict[int, int]], ...]:
        """Return, per switch, its inflow by source and its outflow by target."""
        into: dict[int, dict[int, int]] = {switch: {} for switch in switches}
        onward: dict[int, dict[int, int]] = {switch: {} for switch in into}
        for (source, target), room in self.capacities.items():
            if target in into:
                into[target][source] = room
            if source in onward:
                onward[source][target] = room
        return into, onward

    def _optimistic(self, ways: list[Way]) -> OptimisticSplits:
        return OptimisticSplits(len(self.names), self.terminals, self.shares, self.capacities, ways)

    def _commit(self, splits: dict[Way, int]) -> None:
        for (source, switch, target), amount in splits.items():
            self.routes.join(source, switch, target, amount)
            self._change((source, switch), -amount)
            self._change((switch, target), -amount)
            if source != target:
                self._change((source, target), amount)

    def _change(self, pair: Pair, amount: int) -> None:
        room = self.capacities.get(pair, 0) + amount
        if room:
            self.capacities[pair] = room
        else:
            del self.capacities[pair]

    def _forwarding(self) -> list[int]:
        return sorted(set(range(len(self.names))) - set(self.terminals.tolist()))

    def trim(self) -> int | None:
        """Remove unneeded capacity at switches whose in- and output differ.

        Returns a switch that sends more than it receives and needs all of it, if one is found: it
        would have to copy data.  Excess inflow is harmless where some cut needs it.
        """
        into, onward = self._ends(self._forwarding())
        surplus = {
            switch: sum(into[switch].values()) - sum(onward[switch].values()) for switch in into
        }
        splits, again, former = self._optimistic([]), True, dict[Pair, int]()
        while again:
            again = False
            for switch, excess in surplus.items():
                if not excess:
                    continue
                heavy = [(u, switch) for u in into[switch]]
                if excess < 0:
                    heavy = [(switch, t) for t in onward[switch]]
                lowered = self._trim(splits, heavy, abs(excess))
                given_up = sum(lowered.values())
                if given_up < -excess:
                    return switch
                if given_up:
                    for pair, amount in lowered.items():
                        for end, change in zip(pair, (amount, -amount), strict=True):
                            if end in surplus:
                                surplus[end] += change
                    self._repeat(splits, former, lowered)
                    former = lowered
                    again = True
                    break
        return None

    def _repeat(
        self, splits: OptimisticSplits, former: dict[Pair, int], lowered: dict[Pair, int]
    ) -> None:
        """Take the last two steps again, at once, if two switches return an excess to each other.

        One by one, the same steps would repeat until a cut needs one of these arcs: an arc that a
        cut needs once is needed for good.
        """
        (pair, amount), *others = lowered.items()
        both = pair, (pair[1], pair[0])
        if others or former != {both[1]: amount}:
            return
        times = splits.lower_both(both, amount)
        for arc in both if times else ():
            self._change(arc, -times * amount)

    def _trim(self, splits: OptimisticSplits, heavy: list[Pair], most: int) -> dict[Pair, int]:
        """Lower the capacity of some arcs by up to ``most`` in all; return the reductions."""
        lowered: dict[Pair, int] = {}
        for pair in heavy:
            amount = splits.lower(pair, min(self.capacities.get(pair, 0), most))
            if amount:
                most -= amount
                lowered[pair] = amount
                self._change(pair, -amount)
        return lowered
