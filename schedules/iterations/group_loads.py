"""Costs of collectives in all groups of a kind at once, from their loads on the links of a fabric.

Two algorithms serve allgathers, reduce-scatters and allreduces, and the faster one runs:

- ``trees``: every member broadcasts its shard along trees of shortest paths through any hosts; a
  reduce-scatter runs on the transpose, in reverse.  The time has the latencies of the deepest path,
  and for every step the largest load of a link.
- ``ring``: members in rank order, half of the data each way, consecutive members by shortest
  paths.  The time has the latency of size - 1 steps, and the largest load of a link.

All-to-alls and sends go along shortest paths, divided by capacity.  Members in the same host use
the network inside the host, beside the links between hosts.
"""

from collections import Counter
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.iterations.communications import Cost, Row, Traffic
from topoloom.schedules.iterations.fabric import Fabric, RankPlacement
from topoloom.schedules.iterations.path_loads import Loads, ShortestPaths

TREES, RING, PATHS = "trees", "ring", "paths"
MAX_TREE_HOPS = 128
"""Where hosts are farther apart, as on a ring of many hosts, only ``ring`` is tried."""

SHARES = 2**20
"""Parts of a link or of an accelerator's rate inside its host that shares count."""


class Pattern(NamedTuple):
    """An algorithm for all groups at once, by its loads.

    The loads follow one after another.  ``share`` is the part of the data that one message
    carries, ``inside`` the part that one accelerator exchanges within its host, ``delay`` the
    units of latency on the longest path.
    """

    algorithm: str
    loads: tuple[Loads, ...]
    share: Fraction
    inside: Fraction
    delay: int


class Rated(NamedTuple):
    """A pattern at given rates: its latency, seconds on the links per byte, shares of links."""

    algorithm: str
    latency: Fraction
    seconds_per_byte: Fraction
    row: Row


@dataclass(frozen=True, slots=True)
class _Groups:
    """All groups of a kind in a stage as hosts: equal rows once, each with its number.

    ``inside`` is the largest share of members of a group in one host, as a fraction.
    """

    rows: list[tuple[tuple[int, ...], int]]
    members: int
    inside: Fraction


class RoutedGroups:
    """A fabric with ranks placed on its hosts, as a network of `communications`.

    Costs are cached by kind, stage and traffic.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.synth.topology.topology import Topology
    >>> ring = Topology(range(4), [(i, (i + s) % 4) for i in range(4) for s in (1, 3)])
    >>> fabric = Fabric(ring, Fraction(1), Fraction(0))
    >>> placed = RankPlacement(ProcessGroups.parse("data=4"), ring.compute_nodes)
    >>> network = RoutedGroups(fabric, placed, ShortestPaths(ring))
    >>> network.cost("data", Traffic.ALLREDUCE, 0, Fraction(8)).transfer
    Fraction(6, 1)
    """

    def __init__(self, fabric: Fabric, placement: RankPlacement, paths: ShortestPaths) -> None:
        self.placement, self.paths = placement, paths
        position = fabric.topology.position
        self._host = np.array([position[host] for host in placement.hosts])
        self._known_groups: dict[tuple[str, int], _Groups] = {}
        self._patterns: dict[tuple[str, Traffic, int], tuple[Pattern, ...]] = {}
        self._rate(fabric)

    def at_rates(self, fabric: Fabric) -> "RoutedGroups":
        """Return the same groups and loads at the rates and capacities of another fabric.

        The topology of ``fabric`` differs in its capacities alone.
        """
        found = copy(self)
        found._rate(fabric)
        return found

    def _rate(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._delay_seconds = fabric.delays[1]
        capacities = [Fraction(one) for one in fabric.topology.capacities]
        common = lcm(*(one.numerator for one in capacities)) if capacities else 1
        # Seconds per byte of arc e: weights[e] * unit.
        self._weights = np.array([int(common / one) for one in capacities], np.int64)
        self._unit = 1 / (common * fabric.unit_bytes_per_second)
        self._rated: dict[tuple[str, Traffic, int], tuple[Rated, ...]] = {}

    def cost(self, kind: str, traffic: Traffic, stage: int, size_bytes: Fraction) -> Cost:
        """Return the cost of the fastest algorithm for a size."""
        key = kind, traffic, stage
        found = self._rated.get(key)
        if found is None:
            if key not in self._patterns:
                self._patterns[key] = tuple(self._made(kind, traffic, stage))
            found = tuple(self._at_rate(one, stage) for one in self._patterns[key])
            self._rated[key] = found
        costs = [
            Cost(one.algorithm, one.latency, size_bytes * one.seconds_per_byte, one.row)
            for one in found
        ]
        return min(costs, key=lambda cost: cost.seconds)

    def _made(self, kind: str, traffic: Traffic, stage: int) -> Iterable[Pattern]:
        stages = dict(self.placement.processes.sizes).get("pipeline", 1)
        if (other := traffic.target(stage, stages)) is not None:
            yield self._sends(stage, other)
            return
        groups = self._groups(kind, stage)
        if traffic is Traffic.ALL_TO_ALL:
            yield self._all_to_all(groups)
            return
        gather, scatter = traffic is not Traffic.REDUCE_SCATTER, traffic is not Traffic.ALLGATHER
        wide = any(len(set(hosts)) > 1 for hosts, _ in groups.rows)
        if not wide or self.paths.diameter <= MAX_TREE_HOPS:
            yield self._trees(groups, gather, scatter)
        if wide:
            yield self._ring(groups, gather + scatter)

    def _groups(self, kind: str, stage: int) -> _Groups:
        if (known := self._known_groups.get((kind, stage))) is not None:
            return known
        ranks = self.placement.groups(kind, stage)
        hosts = self._host[ranks // self.placement.accelerators]
        rows, counts = np.unique(hosts, axis=0, return_counts=True)
        most = max(max(Counter(row).values()) for row in rows.tolist())
        members = ranks.shape[1]
        found = _Groups(
            [(tuple(row), int(count)) for row, count in zip(rows.tolist(), counts, strict=True)],
            members,
            Fraction(most - 1, members),
        )
        self._known_groups[kind, stage] = found
        return found

    def _trees(self, groups: _Groups, gather: bool, scatter: bool) -> Pattern:
        entries: Counter[tuple[int, frozenset[int]]] = Counter()
        for hosts, count in groups.rows:
            whole = frozenset(hosts)
            if len(whole) > 1:
                for host in hosts:
                    entries[host, whole] += count
        goals = np.zeros((len(entries), self.fabric.topology.node_count), np.bool_)
        for place, (source, whole) in enumerate(entries):
            goals[place, list(whole - {source})] = True
        sources = np.array([source for source, _ in entries], np.int64)
        weights = np.array(list(entries.values()), np.int64)
        steps: list[Loads] = []
        if gather and entries:
            steps.append(self.paths.broadcasts(sources, weights, goals))
        if scatter and entries:
            turned, place = self.paths.reversed
            loads = turned.broadcasts(sources, weights, goals)
            here = np.zeros_like(loads.steps)
            here[:, place] = loads.steps
            steps.append(Loads(here, loads.unit, loads.delay))
        passes = gather + scatter
        inside = passes * Fraction(groups.members - 1, groups.members) if groups.inside else 0
        share, delay = Fraction(1, groups.members), sum(part.delay for part in steps)
        return Pattern(TREES, tuple(steps), share, Fraction(inside), delay)

    def _ring(self, groups: _Groups, passes: int) -> Pattern:
        nodes = self.fabric.topology.node_count
        demand = np.zeros((nodes, nodes), np.int64)
        for hosts, count in groups.rows:
            ends = np.array(hosts)
            np.add.at(demand, (ends, np.roll(ends, -1)), count)
            np.add.at(demand, (np.roll(ends, -1), ends), count)
        np.fill_diagonal(demand, 0)
        loads = self.paths.unicasts(demand)
        size = groups.members
        share = passes * Fraction(size - 1, size)
        inside = share if groups.inside else Fraction(0)
        return Pattern(RING, (loads,), share / 2, inside, passes * (size - 1) * loads.delay)

    def _all_to_all(self, groups: _Groups) -> Pattern:
        nodes = self.fabric.topology.node_count
        demand = np.zeros((nodes, nodes), np.int64)
        for hosts, count in groups.rows:
            places, number = np.unique(hosts, return_counts=True)
            demand[np.ix_(places, places)] += count * np.outer(number, number)
        np.fill_diagonal(demand, 0)
        loads = self.paths.unicasts(demand)
        return Pattern(PATHS, (loads,), Fraction(1, groups.members), groups.inside, loads.delay)

    def _sends(self, stage: int, other: int) -> Pattern:
        nodes = self.fabric.topology.node_count
        hosts = self._host[self.placement.peers(stage, other) // self.placement.accelerators]
        demand = np.zeros((nodes, nodes), np.int64)
        np.add.at(demand, (hosts[:, 0], hosts[:, 1]), 1)
        inside = Fraction(int(demand.diagonal().any()))
        np.fill_diagonal(demand, 0)
        loads = self.paths.unicasts(demand)
        return Pattern(PATHS, (loads,), Fraction(1), inside, loads.delay)

    def _at_rate(self, pattern: Pattern, stage: int) -> Rated:
        """Return the pattern at the rates of the fabric."""
        unit = lcm(*(part.unit for part in pattern.loads)) if pattern.loads else 1
        total, peak = np.zeros(len(self._weights), np.int64), 0
        for part in pattern.loads:
            scaled = part.steps * self._weights * (unit // part.unit)
            total += scaled.sum(axis=0)
            peak += int(scaled.max(axis=1).sum())
        between = peak * pattern.share * self._unit / unit
        rate = self.fabric.inside_bytes_per_second
        within = pattern.inside / rate if rate else Fraction(0)
        return Rated(
            pattern.algorithm,
            pattern.delay * self._delay_seconds,
            max(between, within),
            _row(total, peak, between, within, stage),
        )


def _row(
    total: NDArray[np.int64], peak: int, between: Fraction, within: Fraction, stage: int
) -> Row:
    """Return shares of links by arc, then of the accelerators inside hosts by stage.

    The lesser of both shares rounds up to a multiple of 2**-20, so that the loads fit 64 bits.
    """
    longest = max(between, within)
    if not longest:
        return Row(np.zeros(0, np.int64), 1)
    outer, inner = (ceil(one / longest * SHARES) for one in (between, within))
    base = max(peak, 1)
    loads = np.concatenate([total * outer, np.zeros(stage + 1, np.int64)])
    loads[-1] = inner * base
    divisor = gcd(base * SHARES, int(np.gcd.reduce(loads)))
    return Row(loads // divisor, base * SHARES // divisor)
