"""Links of two channels change places, component by component, as long as that is better.

Links of two channels form components; in each of them the two channels may change places where
every node has the ports for it, and no other link is in the way.  A single link may also go to
a channel in which both its ends have ports left.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.demand import Choice, Demand, Ends
from topoloom.synth.wiring.ilp.objective import Objective, panel_seconds
from topoloom.synth.wiring.ilp.objective_rows import Stakes

Rank = tuple
"""Sort key: value of the objective, then distance to a better choice, then moves."""


def improve_by_exchanges(
    demand: Demand,
    choice: Choice,
    stakes: Stakes,
    pairs: Sequence[Counter[int]],
    hosts: Sequence[int],
) -> Choice:
    """Return a choice from which no exchange gains; never worse than the first.

    Args:
        choice: One that fits.
        pairs: The pairs that a link takes in every channel, by panel.
        hosts: The host of every node.
    """
    search = _Search(demand, choice, stakes, pairs, hosts)
    alike = [
        two
        for two in combinations(range(demand.channels), 2)
        if demand.shared[two[0]] == demand.shared[two[1]]
    ]
    for _ in range(limits.MAX_SWAP_ROUNDS):
        gains = []
        for number, two in enumerate(alike):
            report_progress("exchanging links", number, len(alike))
            gains.append(search.improve(*two))
        if not any(gains) or search.tried > limits.MAX_SWAPS:
            break
    return Choice(np.array(search.channel, np.int64), choice.turned)


class _Search:
    """A choice, the sites it uses, the links it keeps, and its costs."""

    def __init__(
        self,
        demand: Demand,
        choice: Choice,
        stakes: Stakes,
        pairs: Sequence[Counter[int]],
        hosts: Sequence[int],
    ) -> None:
        self.demand, self.stakes, self.pairs, self.hosts = demand, stakes, pairs, hosts
        self.channel: list[int] = choice.channel.tolist()
        turned = choice.turned.tolist()
        self.ends = [
            (v, u) if t else (u, v) for (u, v), t in zip(demand.links, turned, strict=True)
        ]
        self.used: list[Counter[Ends]] = [Counter() for _ in range(demand.channels)]
        self.out: list[Counter[int]] = [Counter() for _ in range(demand.channels)]
        self.into: list[Counter[int]] = [Counter() for _ in range(demand.channels)]
        self.kept: Counter[int] = Counter()
        self.new: Counter[int] = Counter()
        self.lost: Counter[int] = Counter()
        self.tried = 0
        for joined in demand.joined:
            for ends, count in joined.items():
                self._lose(ends, count)
        for edge, channel in enumerate(self.channel):
            self._put(edge, channel, 1)

    def _lose(self, ends: Ends, count: int) -> None:
        for node in set(ends):
            self.lost[self.hosts[node]] += count

    def _key(self, edge: int, channel: int) -> Ends:
        u, v = self.ends[edge]
        return (min(u, v), max(u, v)) if self.demand.shared[channel] else (u, v)

    def _put(self, edge: int, channel: int, count: int) -> None:
        """Put a link on a channel, or with -1 take it away."""
        u, v = self.ends[edge]
        self.out[channel][u] += count
        (self.out if self.demand.shared[channel] else self.into)[channel][v] += count
        key = self._key(edge, channel)
        used, there = self.used[channel], self.demand.joined[channel][key]
        before = min(used[key], there)
        used[key] += count
        stays = min(used[key], there) - before
        for panel, each in self.pairs[channel].items():
            self.new[panel] += each * count
            self.kept[panel] += each * stays
        if stays:
            self._lose(key, -stays)

    def rank(self) -> Rank:
        moves = self.new.total() - 2 * self.kept.total()
        stakes = self.stakes
        if stakes.objective is Objective.DRAINED:
            lost = sum(n > 0 for host, n in self.lost.items() if host not in stakes.doomed)
            return len(stakes.doomed) + lost, moves
        plant = stakes.plant
        gone = [panel_seconds(plant, p, n - self.kept[p]) for p, n in stakes.mine.items()]
        come = [panel_seconds(plant, p, n - self.kept[p]) for p, n in self.new.items()]
        slowest = tuple(tuple(sorted(times, reverse=True)) for times in (gone, come))
        return stakes.time(self.kept, self.new), slowest, moves

    def improve(self, one: int, other: int) -> bool:
        """Exchange links of two channels where that is better; tell whether it was."""
        edges = [edge for edge, channel in enumerate(self.channel) if channel in (one, other)]
        gained = False
        for component in self._components(edges, self.demand.shared[one]):
            gained |= self._attempt(component, one, other)
        for edge in edges:
            gained |= self._attempt([edge], one, other)
        return gained

    def _components(self, edges: Iterable[int], shared: bool) -> list[list[int]]:
        size = self.demand.size
        root: dict[int, int] = {}

        def find(node: int) -> int:
            while root.setdefault(node, node) != node:
                root[node] = root[root[node]]
                node = root[node]
            return node

        edges = list(edges)
        first = {}
        for edge in edges:
            u, v = self.ends[edge]
            first[edge] = u
            root[find(u)] = find(v if shared else v + size)
        found: dict[int, list[int]] = defaultdict(list)
        for edge in edges:
            found[find(first[edge])].append(edge)
        return list(found.values())

    def _attempt(self, edges: list[int], one: int, other: int) -> bool:
        """Let links change between two channels; undo it unless that is better."""
        if self.tried > limits.MAX_SWAPS:
            return False
        self.tried += 1
        if not self._fit(edges, one, other):
            return False
        before = self.rank()
        self._change(edges, one, other)
        if self.rank() < before:
            return True
        self._change(edges, one, other)
        return False

    def _change(self, edges: list[int], one: int, other: int) -> None:
        for edge in edges:
            old = self.channel[edge]
            self.channel[edge] = other if old == one else one
            self._put(edge, old, -1)
            self._put(edge, self.channel[edge], 1)

    def _fit(self, edges: list[int], one: int, other: int) -> bool:
        change: Counter[tuple[bool, int]] = Counter()
        shared = self.demand.shared[one]
        for edge in edges:
            u, v = self.ends[edge]
            more = 1 if self.channel[edge] == one else -1
            change[False, u] += more
            change[not shared, v] += more
        for (receives, node), count in change.items():
            if count:
                to, number = (other, count) if count > 0 else (one, -count)
                there = (self.into if receives else self.out)[to][node]
                room = self.demand.receiving if receives else self.demand.sending
                if there + number > room[to, node]:
                    return False
        return True
