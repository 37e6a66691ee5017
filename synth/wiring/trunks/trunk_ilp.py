"""Integer program for the number of links of two hosts that take each kind of path.

The sites of a class at each host and the trunks of each bundle are limited.  Moves are counted
exactly: a plugged path that is used again saves its removes and its adds.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective_rows import Keep, Stakes, Use, few_moves, least
from topoloom.synth.wiring.ilp.program import Program
from topoloom.synth.wiring.trunks.trunk_paths import Ends, Group, Kind, SiteClass

Shares = dict[tuple[int, int], Counter[Kind]]
"""Number of links of each linked pair of nodes that take each kind of path."""


class Shared(NamedTuple):
    """Shares, None if infeasible; whether that is proven; and a bound of the objective."""

    shares: Shares | None
    proven: bool
    bound: Fraction = Fraction(0)


class Lack(NamedTuple):
    """Sites of a node in a class, or trunks of a bundle, that are missing."""

    node: int | None
    where: tuple[Group, ...]
    receives: bool
    more: int


@dataclass
class _Columns:
    """Columns are kinds of ways of linked pairs of nodes; rows are links, sites and trunks."""

    ends: Ends
    links: Counter[tuple[int, int]]
    today: Shares = field(default_factory=dict)
    everywhere: bool = False
    program: Program = field(default_factory=Program)
    columns: list[tuple[tuple[int, int], Kind]] = field(default_factory=list)
    limits: dict[tuple, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for ends, count in sorted(self.links.items()):
            total = self.program.row(count, count)
            kinds = self.ends.kinds(*ends, everywhere=self.everywhere)
            # A plugged path may stay whatever its kind.
            for kind in dict.fromkeys([*kinds, *sorted(self.today.get(ends, ()))]):
                column = self.program.column(float(count))
                self.columns.append((ends, kind))
                self.program.put(total, column)
                for row, number in self._limits(ends, kind):
                    self.program.put(row, column, float(number))

    def _limits(self, ends: tuple[int, int], kind: Kind) -> Iterator[tuple[int, int]]:
        found = self.ends
        for node, group, receives in ((ends[0], kind.first, False), (ends[1], kind.second, True)):
            receives = receives and not found.duplex
            sites = found.receivers if receives else found.senders
            yield self._limit((node, group, receives), len(sites.get((node, group), ()))), 1
        for key, number in trunks_of(found, kind).items():
            yield self._limit(key, len(found.trunks.get(key, ()))), number

    def _limit(self, key: tuple, most: int) -> int:
        if key not in self.limits:
            self.limits[key] = self.program.row(0, most)
        return self.limits[key]


def trunks_of(ends: Ends, kind: Kind) -> Counter[tuple[Group, Group]]:
    """Return how many trunks of which bundle a kind of way takes."""
    return Counter(ends.key(bundle) for path in kind.paths for bundle in path)


def shared_out(
    ends: Ends, links: Counter[tuple[int, int]], today: Shares, stakes: Stakes | None = None
) -> Shared:
    """Return the number of links of each kind of path, for fewest moves.

    Parameters
    ----------
    ends : Ends
    links : Counter
        Number of links from node to node.  A duplex link goes both ways and is counted once, with
        the smaller node first.
    today : Shares
        The plugged paths that may be kept.
    stakes : Stakes, optional
        Objective to minimize instead of moves.
    """
    if not links:
        return Shared({}, True)
    found = _Columns(ends, links, today)
    if {pair for pair, _ in found.columns} != links.keys():
        return Shared(None, True)
    if len(found.columns) > limits.MAX_TRUNK_VARIABLES:
        return Shared(None, False)
    uses = [Use(column, kind.on) for column, (_, kind) in enumerate(found.columns)]
    keeps = []
    for column, (pair, kind) in enumerate(found.columns):
        there = today.get(pair, Counter())[kind]
        if there:
            kept = found.program.column(float(there))
            found.program.row(0, np.inf, {column: 1.0, kept: -1.0})
            keeps.append(Keep(kept, kind.on, there, frozenset(ends.hosts[n] for n in pair)))
    bound = Fraction(0)
    if stakes is None:
        few_moves(found.program, uses, keeps)
        values, proven, *_ = found.program.solve(nodes=limits.MAX_TRUNK_NODES)
    else:
        values, bound = least(found.program, stakes, uses, keeps, integral=True)
        proven = False
    if values is None:
        return Shared(None, proven, bound)
    shares: Shares = defaultdict(Counter)
    for (pair, kind), amount in zip(found.columns, values, strict=False):
        if amount:
            shares[pair][kind] = amount
    # The solver computes in floating point: take nothing from it unchecked.
    return Shared(shares, proven, bound) if _fits(ends, links, shares) else Shared(None, False)


def _fits(ends: Ends, links: Counter[tuple[int, int]], found: Shares) -> bool:
    trunks: Counter[tuple[Group, Group]] = Counter()
    sites: Counter[tuple[int, SiteClass, bool]] = Counter()
    for (u, v), kinds in found.items():
        for kind, count in kinds.items():
            sites[u, kind.first, False] += count
            sites[v, kind.second, not ends.duplex] += count
            for key, number in trunks_of(ends, kind).items():
                trunks[key] += number * count
    room = all(
        count <= len((ends.receivers if receives else ends.senders).get((node, kind), ()))
        for (node, kind, receives), count in sites.items()
    )
    cables = all(count <= len(ends.trunks.get(key, ())) for key, count in trunks.items())
    return room and cables and all(found[pair].total() == n for pair, n in links.items())


def lacking(ends: Ends, links: Counter[tuple[int, int]], integral: bool) -> list[Lack]:
    """Return fewest sites and trunks that would have to be added for all links to fit.

    Empty if none are needed, or with ``integral`` false if that is not seen so.
    """
    found = _Columns(ends, links, everywhere=True)
    if not found.columns or len(found.columns) > limits.MAX_TRUNK_VARIABLES * (
        1 if integral else 4
    ):
        return []
    program, slack = found.program, {}
    for key, row in found.limits.items():
        slack[key] = program.column(np.inf, 1.0)
        program.put(row, slack[key], -1.0)
    solved = program.solve(integral, limits.MAX_TRUNK_NODES)
    lacks = []
    for key, column in slack.items() if solved.exact else ():
        missing = int(np.ceil(solved.exact[column] - 1e-6))
        if missing > 0 and len(key) == 3:
            node, kind, receives = key
            places = kind.rx if receives or not kind.tx else kind.tx
            lacks.append(Lack(node, places, receives, missing))
        elif missing > 0:
            lacks.append(Lack(None, key, False, missing))
    return lacks
