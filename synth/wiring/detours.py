"""Links led over trunks: which ports, and which trunk, serve each link where panels are many.

Ports on one panel are joined by one pair, ports on two by a pair on each and a trunk between.  How
many links of two hosts take which kind of way is an integer program: every host has so many ports
on a side of a panel, every bundle of trunks so many cables.  It counts moves exactly: a way that
is there today and is used again saves its removes and its adds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from synth.wiring.light import Way
from synth.wiring.plant import Plant, Port, Side, Trunk

__all__ = ["MOST_VARIABLES", "Ends", "Group", "Kind", "Lack", "Shares", "lacking", "shared_out"]

MOST_VARIABLES = 20_000
"""Largest integer program: kinds of ways of all linked pairs of hosts together."""

NODES = 200
"""Branch-and-bound nodes after which the best that was found is taken."""


class Group(NamedTuple):
    """Ports of one side of a panel: what can be joined to one of them can be to any."""

    panel: int
    side: Side


class Kind(NamedTuple):
    """A kind of way: from a port of one group to one of another, over a trunk or not."""

    first: Group
    second: Group
    trunk: bool

    @property
    def pairs(self) -> int:
        """How many pairs such a way takes."""
        return 2 if self.trunk else 1


@dataclass(frozen=True)
class Ends:
    """What links can take: ports by node and group, trunks by what they lead from and to.

    With ``duplex`` links go both ways, and ``receivers`` is ``senders``.
    """

    plant: Plant
    duplex: bool
    senders: dict[tuple[int, Group], list[Port]]
    receivers: dict[tuple[int, Group], list[Port]]
    trunks: dict[tuple[Group, Group], list[Trunk]]

    def key(self, kind: Kind) -> tuple[Group, Group]:
        """Return the bundle of trunks that a kind of way takes one of."""
        if self.duplex and kind.second < kind.first:
            return kind.second, kind.first
        return kind.first, kind.second

    def kinds(self, u: int, v: int, everywhere: bool = False) -> list[Kind]:
        """Return the kinds of ways from one node to another, direct ones first.

        ``everywhere`` adds those over trunks that are not there.
        """
        found = []
        for first in self._groups[0].get(u, ()):
            for second in self._groups[1].get(v, ()):
                facing = Group(first.panel, self.plant.panels[first.panel].opposite(first.side))
                if facing == second:
                    found.append(Kind(first, second, False))
                elif everywhere or self.key(Kind(first, second, True)) in self.trunks:
                    found.append(Kind(first, second, True))
        return sorted(found, key=lambda kind: (kind.trunk, kind))

    @cached_property
    def _groups(self) -> tuple[dict[int, list[Group]], dict[int, list[Group]]]:
        return _listed(self.senders), _listed(self.receivers)

    def kind_of(self, way: Way) -> Kind | None:
        """Return what kind of way a plugged one is; None if links are not led so."""
        start, end = (Group(port.panel, port.side) for port in (way.start, way.end))
        if len(way.pairs) > 2:
            return None
        kind = Kind(start, end, len(way.pairs) == 2)
        return kind if not kind.trunk or self.key(kind) in self.trunks else None


def _listed(ports: dict[tuple[int, Group], list[Port]]) -> dict[int, list[Group]]:
    found: dict[int, list[Group]] = defaultdict(list)
    for node, group in sorted(ports):
        found[node].append(group)
    return found


Shares = dict[tuple[int, int], Counter[Kind]]
"""How many links of each linked pair of nodes take each kind of way."""


class Lack(NamedTuple):
    """Ports of a node in a group, or trunks of a bundle, that are missing."""

    node: int | None
    where: tuple[Group, ...]
    receives: bool
    more: int


@dataclass
class _Program:
    """Columns are kinds of ways of linked pairs of nodes; rows are links, ports and trunks."""

    ends: Ends
    links: Counter[tuple[int, int]]
    everywhere: bool = False
    columns: list[tuple[tuple[int, int], Kind]] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    limits: dict[tuple, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for ends, count in sorted(self.links.items()):
            total = self.row(count, count)
            for kind in self.ends.kinds(*ends, everywhere=self.everywhere):
                column = len(self.columns)
                self.columns.append((ends, kind))
                rows = (total, *self._limits(ends, kind))
                self.entries += [(row, column, 1.0) for row in rows]

    def _limits(self, ends: tuple[int, int], kind: Kind) -> Iterator[int]:
        found = self.ends
        for node, group, receives in ((ends[0], kind.first, False), (ends[1], kind.second, True)):
            receives = receives and not found.duplex
            ports = found.receivers if receives else found.senders
            yield self._limit((node, group, receives), len(ports.get((node, group), ())))
        if kind.trunk:
            key = found.key(kind)
            yield self._limit(key, len(found.trunks.get(key, ())))

    def _limit(self, key: tuple, most: int) -> int:
        if key not in self.limits:
            self.limits[key] = self.row(0, most)
        return self.limits[key]

    def row(self, low: float, high: float) -> int:
        self.low.append(low)
        self.high.append(high)
        return len(self.low) - 1

    def solve(self, cost: list[float], upper: list[float], integral: bool) -> Any:
        rows, columns, values = (np.array(part) for part in zip(*self.entries, strict=True))
        matrix = coo_array((values, (rows, columns)), shape=(len(self.low), len(cost)))
        most: Any = np.array(upper)
        low: Any = np.array(self.low)
        high: Any = np.array(self.high)
        return milp(
            np.array(cost),
            integrality=np.full(len(cost), int(integral)),
            bounds=Bounds(0, most),
            constraints=LinearConstraint(matrix.tocsr(), low, high),
            # No time limit: the answer must not depend on the machine.
            options={"node_limit": NODES, "mip_rel_gap": 0} if integral else {},
        )


def shared_out(
    ends: Ends, links: Counter[tuple[int, int]], today: Shares
) -> tuple[Shares | None, bool]:
    """Return how many links take which kind of way, for fewest moves, and whether that is proven.

    Parameters
    ----------
    ends : Ends
    links : Counter
        How many links there are from node to node; of duplex ends each is both ways, and counted
        once with the smaller node first.
    today : Shares
        The ways that are plugged and may be kept.

    Returns
    -------
    Shares or None
        None if there is no way (proven), or none was found.
    """
    program = _Program(ends, links)
    if not links:
        return {}, True
    if any(not ends.kinds(*pair) for pair in links):
        return None, True
    if len(program.columns) > MOST_VARIABLES:
        return None, False
    cost = [float(kind.pairs) for _, kind in program.columns]
    upper = [float(links[pair]) for pair, _ in program.columns]
    for column, (pair, kind) in enumerate(program.columns):
        there = today.get(pair, Counter())[kind]
        if there:
            row = program.row(0, np.inf)
            program.entries += [(row, column, 1.0), (row, len(cost), -1.0)]
            cost.append(-2.0 * kind.pairs)
            upper.append(float(there))
    result = program.solve(cost, upper, integral=True)
    if result.x is None:
        return None, result.status == 2
    amounts = np.round(result.x[: len(program.columns)]).astype(np.int64).tolist()
    found: Shares = defaultdict(Counter)
    for (pair, kind), amount in zip(program.columns, amounts, strict=True):
        if amount:
            found[pair][kind] = amount
    # The solver computes in floating point: take nothing from it unchecked.
    return (found, result.status == 0) if _fits(ends, links, found) else (None, False)


def _fits(ends: Ends, links: Counter[tuple[int, int]], found: Shares) -> bool:
    used: Counter[tuple] = Counter()
    for (u, v), kinds in found.items():
        for kind, count in kinds.items():
            used[u, kind.first, False] += count
            used[v, kind.second, not ends.duplex] += count
            if kind.trunk:
                used[ends.key(kind)] += count
    for key, count in used.items():
        if len(key) == 2:
            room = len(ends.trunks.get(key, ()))
        else:
            node, group, receives = key
            room = len((ends.receivers if receives else ends.senders).get((node, group), ()))
        if count > room:
            return False
    return all(found[pair].total() == count for pair, count in links.items())


def lacking(ends: Ends, links: Counter[tuple[int, int]], integral: bool) -> list[Lack]:
    """Return fewest ports and trunks that would have to be added for all links to fit.

    Empty if none are needed, or with ``integral`` false if that is not seen so.
    """
    program = _Program(ends, links, everywhere=True)
    if not program.columns or len(program.columns) > MOST_VARIABLES * (1 if integral else 4):
        return []
    count = len(program.columns)
    rows = list(program.limits.items())
    program.entries += [(row, count + number, -1.0) for number, (_, row) in enumerate(rows)]
    cost = [0.0] * count + [1.0] * len(rows)
    upper = [float(links[pair]) for pair, _ in program.columns]
    result = program.solve(cost, upper + [float(links.total())] * len(rows), integral)
    if result.x is None:
        return []
    found = []
    for (key, _), slack in zip(rows, result.x[count:].tolist(), strict=True):
        missing = int(np.ceil(slack - 1e-6))
        if missing > 0:
            place = (key[1],) if len(key) == 3 else key
            node, receives = (key[0], key[2]) if len(key) == 3 else (None, False)
            found.append(Lack(node, place, receives, missing))
    return found
