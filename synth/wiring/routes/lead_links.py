"""The wiring of a topology whose links are led over panels and trunks, pair by pair."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, isfinite
from typing import NamedTuple

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.ilp.objective import Objective, worth
from topoloom.synth.wiring.ilp.objective_rows import PRECISION, Stakes, Use, least
from topoloom.synth.wiring.plant import Pair
from topoloom.synth.wiring.plant.light_paths import ways
from topoloom.synth.wiring.routes.link_wiring import Route, Wiring
from topoloom.synth.wiring.routes.paths import Led, PathFinder
from topoloom.synth.wiring.routes.resources import Resources
from topoloom.synth.wiring.routes.route_program import (
    Column,
    Lack,
    Links,
    RouteProgram,
    TooLarge,
    columns_of,
    lacking,
)
from topoloom.synth.wiring.routes.routing import pairs_by_strand

MOST_NAMED = 5
"""Places without room that one error names."""


SCOPES = tuple((n, True) for n in range(limits.MAX_TRUNKS, 0, -1)) + tuple(
    (n, False) for n in range(1, limits.MAX_TRUNKS + 1)
)
"""Most trunks of a path, and whether single pairs may stay: the widest scope first."""


class LedWiring(NamedTuple):
    """A wiring, and a lower bound of its objective; 0 if none is proven."""

    wiring: Wiring
    bound: Fraction = Fraction(0)


class _Solved(NamedTuple):
    """The links, None if none were found; whether that is proven; and a bound of the objective."""

    links: list[Led] | None
    proven: bool
    bound: Fraction = Fraction(0)


def edges_of(topology: Topology) -> list[tuple[int, int]]:
    """Return the links of a bidirectional topology two by two: one there, one back.

    Of parallel links the first there belongs to the first back, and so on.

    >>> edges_of(Topology(range(2), [(0, 1), (1, 0)]))
    [(0, 1)]
    """
    back: dict[tuple[int, int], list[int]] = defaultdict(list)
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    for index in reversed(range(len(ends))):
        back[ends[index]].append(index)
    return [(index, back[v, u].pop()) for index, (u, v) in enumerate(ends) if u < v]


@dataclass(frozen=True)
class LinkLeader:
    """Leads the links of a topology over the panels and trunks between its hosts."""

    topology: Topology
    resources: Resources

    @cached_property
    def demanded(self) -> list[tuple[tuple[int, int], tuple[int, ...]]]:
        """The nodes of each link, and its indices in the topology: two if it is duplex."""
        topology = self.topology
        ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
        if self.resources.duplex:
            return [(ends[there], (there, back)) for there, back in edges_of(topology)]
        return [(pair, (index,)) for index, pair in enumerate(ends)]

    @cached_property
    def links(self) -> Links:
        """Number of links between nodes."""
        return Counter(nodes for nodes, _ in self.demanded)

    def fewest(self) -> tuple[int, int]:
        """Return lower bounds of removes and adds, by counting.

        A link keeps pairs between two of its nodes' ports, and pairs that lead to trunks.  A link
        that is not plugged as a whole adds a pair.
        """
        plant, mine = self.resources.plant, self.resources.mine
        node_of = {host: node for node, host in enumerate(self.resources.hosts)}
        joined: dict[tuple[int, ...], Counter[frozenset[tuple[int, int]]]] = defaultdict(Counter)
        kept = 0
        for pair in mine:
            ports = [plant.at[port] for port in plant.ends(pair) if port in plant.at]
            if len(ports) == 2:
                nodes = [node_of.get(host, -1) for host, _ in ports]
                ends = tuple(sorted(nodes) if self.resources.duplex else nodes)
                joined[ends][frozenset(ports)] += 1
            kept += not plant.trunk_ends.keys().isdisjoint(plant.ends(pair))
        plugged = PathFinder(self.resources).plugged
        new = 0
        for nodes, count in self.links.items():
            kept += sum(pairs for _, pairs in joined[nodes].most_common(count))
            new += max(0, count - len(plugged.get(nodes, ())))
        return max(len(mine) - kept, 0), new

    def led(self, most: int, objective: Objective = Objective.MOVES) -> LedWiring:
        """Return a wiring of the least value of an objective.

        The first scope with at most ``most`` columns in which the links fit is searched.

        Raises:
            DoesNotFit: The links do not fit, or no wiring was found.
            TooLarge: Every scope has more columns.
        """
        proven: bool | None = None
        for scope in SCOPES if self.resources.trunks else SCOPES[:1]:
            finder = PathFinder(self.resources, *scope)
            try:
                found = self._solved(columns_of(finder, self.links, most), objective)
            except TooLarge:
                continue
            if found.links is not None:
                exact = finder.complete and scope == SCOPES[0]
                return LedWiring(self.wiring(found.links), found.bound * exact)
            if finder.most_trunks == limits.MAX_TRUNKS:
                raise self.refused(found.proven and finder.complete)
            proven = False
        if proven is None:
            raise TooLarge
        raise self.refused(proven)

    def relaxed(self, most: int, objective: Objective) -> Fraction:
        """Return a lower bound of an objective by the relaxation of the program.

        0 if the program has more than ``most`` columns.
        """
        finder = PathFinder(self.resources)
        try:
            columns = columns_of(finder, self.links, most)
        except TooLarge:
            return Fraction(0)
        return self._solved(columns, objective, integral=False).bound * finder.complete

    def _solved(
        self, columns: list[Column], objective: Objective, integral: bool = True
    ) -> _Solved:
        mine, plant = self.resources.mine, self.resources.plant
        if {column.nodes for column in columns} != self.links.keys():
            return _Solved(None, True)
        if not columns:
            return _Solved([], True, worth(objective, plant, mine, ()))
        found = RouteProgram(self.resources, self.links, columns)
        if objective is Objective.MOVES:
            found.few_moves()
            values, proven, cost, _ = found.program.solve(nodes=limits.MAX_PATH_NODES)
            bound = Fraction(len(mine) + ceil(cost - PRECISION)) if isfinite(cost) else Fraction(0)
        else:
            stay = {pair for column in columns for pair in column.path.kept}
            gone = (self._served[pair] for pair in mine if pair not in stay)
            stakes = Stakes(
                objective, plant, Counter(pair.panel for pair in mine), frozenset().union(*gone)
            )
            uses = [Use(number, column.panels) for number, column in enumerate(columns)]
            keeps = found.keeps(self._served)
            values, bound = least(found.program, stakes, uses, keeps, integral)
            proven = False
        return _Solved(None if values is None else found.led(values), proven, bound)

    @cached_property
    def _served(self) -> Mapping[Pair, frozenset[int]]:
        """The hosts that lose light with each removable pair."""
        plant = self.resources.plant
        found = {pair: set(plant.hosts_of(pair)) for pair in self.resources.mine}
        for way in ways(plant, plant.present.pairs) if plant.trunk_ends else ():
            for pair in found.keys() & set(way.pairs):
                found[pair] |= {plant.at[way.start][0], plant.at[way.end][0]}
        return {pair: frozenset(hosts - {-1}) for pair, hosts in found.items()}

    def wiring(self, links: list[Led]) -> Wiring:
        """Return the wiring of links whose ends and paths are known."""
        of_nodes: dict[tuple[int, int], list[Led]] = defaultdict(list)
        for link in links:
            of_nodes[link.nodes].append(link)
        chosen = [of_nodes[nodes].pop(0) for nodes, _ in self.demanded]
        routes: list[Route] = [()] * self.topology.link_count
        rows = pairs_by_strand(self.resources, chosen)
        for (_, indices), link, row in zip(self.demanded, chosen, rows, strict=True):
            lanes = len(link.first.kind.tx)
            # One fiber carries both ways; else the strands back follow those ahead.
            for index, part in zip(indices, (row[:lanes], row[lanes:] or row), strict=False):
                routes[index] = tuple(pair for strand in part for pair in strand)
        return Wiring(self.resources.plant, self.resources.hosts, tuple(routes))

    def refused(self, proven: bool = False) -> DoesNotFit:
        """Return the error that names what is missing, as far as that is proven.

        ``proven``: an integer program has no solution.
        """
        finder = PathFinder(self.resources, keeping=False)
        lacks = lacking(finder, self.links, integral=False)
        if not lacks and proven:
            lacks = lacking(finder, self.links, integral=True)
        return DoesNotFit("/links", _said(lacks, self.resources))


def _said(lacks: list[Lack], resources: Resources) -> str:
    """Say which ports and trunks are missing."""
    plant = resources.plant
    said = []
    for lack in lacks[:MOST_NAMED]:
        names = [plant.panels[group.panel].id for group in dict.fromkeys(lack.where)]
        if lack.node is None:
            names = [plant.panels[group.panel].id for group in lack.where]
            there = len(resources.trunks.get((lack.where[0], lack.where[1]), ()))
            said.append(
                f"of trunks from {names[0]} to {names[1]} {lack.more + there} are needed and "
                f"{there} there"
            )
        else:
            does = "can be joined" if resources.duplex else "receive" if lack.receives else "send"
            name = plant.hosts[resources.hosts[lack.node]].id
            said.append(
                f"{'+'.join(names)} lacks {lack.more} port{'s' * (lack.more > 1)} of {name} "
                f"that {does}"
            )
    if len(lacks) > MOST_NAMED:
        said.append(f"and {len(lacks) - MOST_NAMED} more places lack some")
    return "; ".join(said) or (
        f"no way over panels and at most {limits.MAX_TRUNKS} trunks was found, and none was proven "
        f"impossible (programs of up to {limits.MAX_PATH_VARIABLES} variables are solved)"
    )
