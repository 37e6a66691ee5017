"""The wiring of a topology on a plant whose panels are joined by trunks.

Hosts may be spread over many small panels: links between hosts of two panels are led over trunks,
each lane and each direction by itself.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.assignment.channels import Site
from topoloom.synth.wiring.assignment.link_wiring import Route, Wiring
from topoloom.synth.wiring.assignment.realize import edges_of
from topoloom.synth.wiring.ilp.objective_rows import Stakes
from topoloom.synth.wiring.plant import HostPort, Pair, Plant, Port, Trunk
from topoloom.synth.wiring.plant.free_ports import Usable, ours
from topoloom.synth.wiring.plant.light_paths import ways
from topoloom.synth.wiring.trunks.routing import Plugged, Today, lanes_of, routed
from topoloom.synth.wiring.trunks.trunk_ilp import (
    Lack,
    Shared,
    Shares,
    lacking,
    shared_out,
)
from topoloom.synth.wiring.trunks.trunk_paths import (
    Bundle,
    Ends,
    Group,
    Kind,
    Path,
    class_of,
)

MOST_NAMED = 5
"""Places without room that one error names."""


@dataclass(frozen=True, slots=True)
class Trunked:
    """Ends of links on a plant with trunks, and the ways that are plugged between nodes."""

    ends: Ends
    today: Today

    @property
    def counts(self) -> Shares:
        """Number of plugged paths of each kind between nodes."""
        return {
            pair: Counter({kind: len(rows) for kind, rows in kinds.items()})
            for pair, kinds in self.today.items()
        }


def trunked(plant: Plant, hosts: Sequence[int], spares: bool = False) -> Trunked | None:
    """Return the resources of links over trunks; None if no trunk is usable.

    None also if host ports are of different kinds, which `synth.wiring.assignment.channels`
    refuses.
    """
    usable = Usable(plant, spares)
    cables = _for_us(plant, hosts, usable.trunks())
    ports = [usable.ports(host) for host in hosts] if cables else []
    kinds = {port.duplex for row in ports for port in row}
    lanes = {len(side) for row in ports for port in row for side in (port.tx, port.rx) if side}
    if not cables or len(kinds) > 1 or len(lanes) > 1:
        return None
    duplex = kinds == {True}
    senders: dict = defaultdict(list)
    receivers = senders if duplex else defaultdict(list)
    for node, row in enumerate(ports):
        for port in row:
            for site, receives in _sites(node, port):
                (receivers if receives else senders)[node, class_of(site)].append(site)
    bundles = _bundles(plant, cables)
    ends = Ends(plant, duplex, tuple(hosts), dict(senders), dict(receivers), bundles, usable.way_in)
    return Trunked(ends, _plugged(plant, ends))


def _sites(node: int, port: HostPort) -> list[tuple[Site, bool]]:
    """Return the sites of a port, and whether each only receives."""
    if port.duplex:
        return [(Site(node, port.tx, port.rx), False)]
    found = [(Site(node, port.tx, ()), False)] if port.tx else []
    return found + ([(Site(node, (), port.rx), True)] if port.rx else [])


def _for_us(plant: Plant, hosts: Sequence[int], cables: list[Trunk]) -> list[Trunk]:
    """Return those that hold no pair which stays, such as a pair of a host outside the topology."""
    going = frozenset(ours(plant, hosts))
    stays = {port for pair in plant.present.pairs if pair not in going for port in plant.ends(pair)}
    return [trunk for trunk in cables if stays.isdisjoint((trunk.source, trunk.target))]


def _bundles(plant: Plant, cables: list[Trunk]) -> dict[Bundle, list[Trunk]]:
    """Return the trunks by the groups of ports that can be joined to their two ends."""
    found: dict[Bundle, list[Trunk]] = defaultdict(list)
    for trunk in cables:
        modes = [plant.panels[end.panel].mode for end in (trunk.source, trunk.target)]
        if modes[0] != modes[1]:
            continue
        one, other = (
            Group(end.panel, plant.panels[end.panel].opposite(end.side))
            for end in (trunk.source, trunk.target)
        )
        if modes[0] == "bidirectional" and other < one:
            one, other = other, one
        found[one, other].append(trunk)
    return dict(found)


def _plugged(plant: Plant, ends: Ends) -> Today:
    """Return the ways of today between usable sites, by their nodes, the smaller one first."""
    cables = {
        port: (key, trunk)
        for key, row in ends.trunks.items()
        for trunk in row
        for port in (trunk.source, trunk.target)
    }
    led: dict[tuple[Port, Port], tuple[Pair, ...]] = {}
    reached: dict[Port, Port] = {}
    for way in ways(plant, plant.present.pairs):
        inner = {port for pair in way.pairs for port in plant.ends(pair)} - {way.start, way.end}
        if not inner <= cables.keys():
            continue
        led[way.start, way.end], reached[way.start] = way.pairs, way.end
        if ends.both_ways(way.start.panel):
            led[way.end, way.start], reached[way.end] = way.pairs[::-1], way.start
    hears = {site.rx: site for row in ends.receivers.values() for site in row if site.rx}
    found: Today = defaultdict(lambda: defaultdict(list))
    for row in ends.senders.values():
        for site in row:
            far = hears.get(tuple(reached[tx] for tx in site.tx if tx in reached))
            if far is None or far.host == site.host or (ends.duplex and far.host < site.host):
                continue
            lanes = lanes_of(site, far)
            if not lanes or any(lane not in led for lane in lanes):
                continue
            strand_pairs = tuple(led[lane] for lane in lanes)
            paths = tuple(_path(plant, ends, lane[0], led[lane]) for lane in lanes)
            if not all(map(ends.bright, (Group(*lane[0][:2]) for lane in lanes), paths)):
                continue
            kind = Kind(class_of(site), class_of(far), paths)
            found[site.host, far.host][kind].append(Plugged(site, far, strand_pairs))
    return found


def _path(plant: Plant, ends: Ends, start: Port, pairs: Sequence[Pair]) -> Path:
    """Return the bundles that light passes on its way through some pairs."""
    found = []
    port = start
    for pair in pairs[:-1]:
        one, other = plant.ends(pair)
        leaves = other if port == one else one
        port = plant.trunk_ends[leaves]
        found.append((ends.facing(leaves), ends.facing(port)))
    return tuple(found)


def fewest(
    found: Trunked, links: Counter[tuple[int, int]], mine: Sequence[Pair], loose: int
) -> tuple[int, int]:
    """Return lower bounds of removes and adds for all wirings of the links on these hosts.

    ``mine`` are the removable pairs; ``loose`` is the number of them that may serve new links.
    The bound keeps as many plugged paths between the ends of links as possible, the longest
    first: a kept path saves its removes and at least one pair that a new link adds.
    """
    removes, new, strands = len(mine), links.total(), 0
    for pair, count in links.items():
        there = sorted(
            (kind.pairs for kind, row in found.today.get(pair, {}).items() for _ in row),
            reverse=True,
        )
        removes -= sum(there[:count])
        new -= min(count, len(there))
        first = next(iter(found.ends.kinds(*pair)), None)
        strands = max(strands, len(first.paths) if first else 0)
    return max(removes - min(loose, new * (strands * (limits.MAX_TRUNKS + 1) - 1)), 0), new


def reaches_trunk(plant: Plant, pair: Pair) -> bool:
    """Whether a pair joins something to a trunk."""
    return not plant.trunk_ends.keys().isdisjoint(plant.ends(pair))


def demanded(topology: Topology, duplex: bool) -> tuple[Counter[tuple[int, int]], list[tuple]]:
    """Return how many links there are between nodes, and each link's nodes with its indices."""
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    if duplex:
        rows = [(ends[there], (there, back)) for there, back in edges_of(topology)]
    else:
        rows = [(pair, (index,)) for index, pair in enumerate(ends)]
    return Counter(pair for pair, _ in rows), rows


def undecided(found: Trunked, links: Counter[tuple[int, int]]) -> bool:
    """Whether it is too large to be decided exactly whether links fit."""
    return sum(len(found.ends.kinds(*pair)) for pair in links) > limits.MAX_TRUNK_VARIABLES


def led_over_trunks(
    topology: Topology, found: Trunked, stakes: Stakes | None = None
) -> tuple[Wiring, bool, Fraction]:
    """Return a wiring of few moves, whether it is optimal, and a bound of the objective.

    Raises
    ------
    DoesNotFit
        There is none; the error names ports and trunks that are missing if that is proven.
    """
    ends = found.ends
    links, rows = demanded(topology, ends.duplex)
    shared = _shared(found, links, stakes)
    if shared.shares is None:
        lacks = lacking(ends, links, integral=False)
        if not lacks and shared.proven:
            lacks = lacking(ends, links, integral=True)
        raise DoesNotFit("/links", _said(lacks, ends))
    kinds = {pair: list(shared.shares[pair].elements()) for pair in links}
    chosen = [(pair, kinds[pair].pop(0)) for pair, _ in rows]
    routes: list[Route] = [()] * topology.link_count
    led = routed(ends, found.today, chosen)
    for (_, indices), (_, kind), way in zip(rows, chosen, led, strict=True):
        lanes = len(kind.first.tx)
        # One fiber carries both ways; else the strands back follow those ahead.
        back = way[lanes:] or way
        for index, part in zip(indices, (way[:lanes], back), strict=False):
            routes[index] = tuple(pair for strand in part for pair in strand)
    return Wiring(ends.plant, ends.hosts, tuple(routes)), shared.proven, shared.bound


def _shared(found: Trunked, links: Counter[tuple[int, int]], stakes: Stakes | None) -> Shared:
    """Share the links out; where that is large, first without long paths."""
    ends, today = found.ends, found.counts
    if sum(len(ends.kinds(*pair)) for pair in links) > limits.MAX_ALL_LENGTHS_VARIABLES:
        for most in range(1, limits.MAX_TRUNKS):
            shared = shared_out(ends.limited(most), links, today, stakes)
            if shared.shares is not None:
                return shared._replace(proven=False, bound=Fraction(0))
    shared = shared_out(ends, links, today, stakes)
    if ends.whole:
        return shared
    return shared._replace(proven=False, bound=Fraction(0))


def _said(lacks: list[Lack], ends: Ends) -> str:
    """Say which ports and trunks are missing."""
    plant = ends.plant
    said = []
    for lack in lacks[:MOST_NAMED]:
        names = [plant.panels[group.panel].id for group in dict.fromkeys(lack.where)]
        if lack.node is None:
            names = [plant.panels[group.panel].id for group in lack.where]
            there = len(ends.trunks.get((lack.where[0], lack.where[1]), ()))
            said.append(
                f"of trunks from {names[0]} to {names[1]} {lack.more + there} are needed and "
                f"{there} there"
            )
        else:
            does = "can be joined" if ends.duplex else "receive" if lack.receives else "send"
            name = plant.hosts[ends.hosts[lack.node]].id
            said.append(
                f"{'+'.join(names)} lacks {lack.more} port{'s' * (lack.more > 1)} of {name} "
                f"that {does}"
            )
    if len(lacks) > MOST_NAMED:
        said.append(f"and {len(lacks) - MOST_NAMED} more places lack some")
    return "; ".join(said) or (
        f"no way over panels and at most {limits.MAX_TRUNKS} trunks was found, and none was proven "
        f"impossible (programs of up to {limits.MAX_TRUNK_VARIABLES} variables are solved)"
    )
