"""Integer program for the paths of the links of every two nodes.

A column is a path of a strand.  Sites of each class at each node, trunks of each bundle, and
certain sites and trunks are limited.  Moves are counted exactly: a pair that stays saves its
removal and its addition.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective_rows import Keep
from topoloom.synth.wiring.ilp.program import Program
from topoloom.synth.wiring.plant import Pair
from topoloom.synth.wiring.routes.paths import Hop, Led, Path, PathFinder
from topoloom.synth.wiring.routes.resources import (
    End,
    Group,
    Resources,
    Site,
    SiteClass,
    Tip,
    strands,
)

Links = Counter[tuple[int, int]]
"""Number of links from node to node.  A duplex link goes both ways and is counted once, with the
smaller node first."""


class Column(NamedTuple):
    """A path of strand number ``strand`` of links between two ends."""

    nodes: tuple[int, int]
    first: End
    second: End
    strand: int
    start: Group
    path: Path

    @property
    def panels(self) -> Counter[int]:
        """Number of pairs on each panel."""
        return Counter([self.start.panel, *(hop.bundle[1].panel for hop in self.path.hops)])


class Lack(NamedTuple):
    """Sites of a node in a class, or trunks of a bundle, that are missing."""

    node: int | None
    where: tuple[Group, ...]
    receives: bool
    more: int


class TooLarge(Exception):
    """There are more columns than are solved."""


Ways = Callable[[Tip, Tip], list[Path]]


def columns_of(
    finder: PathFinder, links: Links, most: int, more: Ways = lambda *_: []
) -> list[Column]:
    """Return the columns of all links.

    Args:
        most: Limit of the number of columns.
        more: Returns further paths of a strand.

    Raises:
        TooLarge
    """
    ends = _Ends(finder)
    found: list[Column] = []
    for nodes in sorted(links):
        for first, second in ends.couples(nodes):
            rows = [
                list(dict.fromkeys([*finder.paths(*tips), *more(*tips)]))
                for tips in strands(first, second)
            ]
            found += _columns(finder, nodes, first, second, rows)
            if len(found) > most:
                raise TooLarge
        if not finder.keeping:
            found += [column for link in finder.plugged.get(nodes, ()) for column in _whole(link)]
    return found


def _columns(
    finder: PathFinder, nodes: tuple[int, int], first: End, second: End, rows: list[list[Path]]
) -> Iterator[Column]:
    """Yield the columns of two ends; none where no pair stays at a certain site of them."""
    if not rows or not all(rows):
        return
    certain = [{*end.site.tx, *end.site.rx} for end in (first, second) if end.site is not None]
    ports = [[finder.kept_ports(path) for path in row] for row in rows]
    if not all(any(own & kept for row in ports for kept in row) for own in certain):
        return
    for number, ((start, _), row) in enumerate(zip(strands(first, second), rows, strict=True)):
        for path, kept in zip(row, ports[number], strict=True):
            if len(rows) > 1 or all(own & kept for own in certain):
                yield Column(nodes, first, second, number, start.group, path)


def _whole(link: Led) -> Iterator[Column]:
    """Yield the columns of a link that stays as a whole."""
    for number, ((start, _), path) in enumerate(
        zip(strands(link.first, link.second), link.paths, strict=True)
    ):
        yield Column(link.nodes, link.first, link.second, number, start.group, path)


class _Ends:
    """The ends of links: the classes of the sites of each node, and its certain sites."""

    def __init__(self, finder: PathFinder) -> None:
        self.finder = finder
        found = finder.resources
        self.senders, self.receivers = (
            self._listed(sites) for sites in (found.senders, found.receivers)
        )

    def _listed(self, sites: Mapping[tuple[int, SiteClass], list[Site]]) -> dict[int, list[End]]:
        found: dict[int, list[End]] = defaultdict(list)
        for node, kind in sorted(sites):
            certain = sites[node, kind] if self.finder.keeping else ()
            found[node] += [End(kind), *(End(kind, site) for site in certain)]
        return found

    def couples(self, nodes: tuple[int, int]) -> Iterator[tuple[End, End]]:
        for first in self.senders.get(nodes[0], ()):
            for second in self.receivers.get(nodes[1], ()):
                if self.finder.may_keep(first, second):
                    yield first, second


@dataclass
class RouteProgram:
    """The rows of a program whose columns are paths."""

    resources: Resources
    links: Links
    columns: list[Column]
    program: Program = field(default_factory=Program)
    room: dict[tuple, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        counts = {nodes: self.program.row(n, n) for nodes, n in sorted(self.links.items())}
        even: dict[tuple[object, ...], int] = {}
        for column in self.columns:
            certain = column.first.site is not None or column.second.site is not None
            most = 1 if certain else self.links[column.nodes]
            number = self.program.column(float(most))
            link = column.nodes, column.first, column.second
            if column.strand == 0:
                self.program.put(counts[column.nodes], number)
                for row in self._sites(column):
                    self.program.put(row, number)
            for row, count in Counter(self._trunks(column)).items():
                self.program.put(row, number, float(count))
            # All strands of links between two ends have as many paths as the first strand.
            for strand in (
                range(1, len(strands(*link[1:]))) if column.strand == 0 else (column.strand,)
            ):
                if (*link, strand) not in even:
                    even[*link, strand] = self.program.row(0, 0)
                self.program.put(even[*link, strand], number, -1.0 if column.strand else 1.0)
        self.rows = len(self.program.low)

    def _sites(self, column: Column) -> Iterator[int]:
        found = self.resources
        sides = (column.first, found.senders, False), (column.second, found.receivers, True)
        for node, (end, sites, receives) in zip(column.nodes, sides, strict=True):
            key = node, end.kind, receives and not found.duplex
            yield self._limit(key, len(sites[node, end.kind]))
            if end.site is not None:
                yield self._limit((end.site,), 1)

    def _trunks(self, column: Column) -> Iterator[int]:
        found = self.resources
        for hop in column.path.hops:
            key = found.key(hop.bundle)
            yield self._limit(key, len(found.trunks.get(key, ())))
            if hop.near is not None:
                far = found.passages[hop.near].far
                yield self._limit((min(hop.near, far),), 1)

    def _limit(self, key: tuple, most: int) -> int:
        if key not in self.room:
            self.room[key] = self.program.row(0, most)
        return self.room[key]

    def few_moves(self) -> None:
        """Have the program look for the fewest moves."""
        for number, column in enumerate(self.columns):
            self.program.cost[number] = column.path.pairs - 2.0 * len(column.path.kept)

    def keeps(self, drained: Mapping[Pair, frozenset[int]]) -> list[Keep]:
        """Add a column for each pair that may stay; ``drained`` are the hosts that it serves."""
        keepers: dict[Pair, dict[int, float]] = defaultdict(dict)
        for number, column in enumerate(self.columns):
            for pair in column.path.kept:
                keepers[pair][number] = 1.0
        found = []
        for pair, columns in sorted(keepers.items()):
            kept = self.program.column(1.0)
            self.program.row(0, np.inf, {**columns, kept: -1.0})
            found.append(Keep(kept, Counter([pair.panel]), 1, drained[pair]))
        return found

    def led(self, values: list[int]) -> list[Led] | None:
        """Return the links of a solution; None if the solver's rounded values break a row."""
        if not self.program.holds(values, self.rows):
            return None
        paths: dict[tuple[tuple[int, int], End, End], list[list[Path]]] = {}
        for column, amount in zip(self.columns, values, strict=False):
            link = column.nodes, column.first, column.second
            if link not in paths:
                paths[link] = [[] for _ in strands(column.first, column.second)]
            paths[link][column.strand] += [column.path] * amount
        return [
            Led(nodes, first, second, tuple(row))
            for (nodes, first, second), rows in paths.items()
            for row in zip(*rows, strict=True)
        ]


def lacking(finder: PathFinder, links: Links, integral: bool) -> list[Lack]:
    """Return fewest sites and trunks that would have to be added for all links to fit.

    Empty if none are needed, or with ``integral`` false if that is not seen so.
    """
    if not finder.resources.trunks:
        finder = replace(finder, resources=finder.resources.with_all_classes())
    resources = finder.resources

    def straight(start: Tip, end: Tip) -> list[Path]:
        """Return the path over one trunk of a bundle that is not there, on a plant of trunks."""
        if not resources.trunks:
            return []
        bundle = start.group, end.group
        known = (
            resources.facing(start.group) == end.group or resources.key(bundle) in resources.trunks
        )
        same = resources.both_ways(start.group.panel) == resources.both_ways(end.group.panel)
        return [] if known or not same else [Path((Hop(bundle),))]

    try:
        columns = columns_of(
            finder, links, limits.MAX_PATH_VARIABLES * (1 if integral else 4), straight
        )
    except TooLarge:
        return []
    if {column.nodes for column in columns} != links.keys():
        return []
    found = RouteProgram(resources, links, columns)
    program, slack = found.program, {}
    for key, row in found.room.items():
        slack[key] = program.column(np.inf, 1.0)
        program.put(row, slack[key], -1.0)
    result = program.solve(integral, limits.MAX_PATH_NODES)
    lacks = []
    for key, column in slack.items() if result.exact else ():
        missing = int(np.ceil(result.exact[column] - 1e-6))
        if missing > 0 and len(key) == 3:
            node, kind, receives = key
            places = kind.rx if receives or not kind.tx else kind.tx
            lacks.append(Lack(node, places, receives, missing))
        elif missing > 0:
            lacks.append(Lack(None, key, False, missing))
    return lacks
