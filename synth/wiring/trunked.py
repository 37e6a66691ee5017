"""The wiring of a topology on a plant whose panels are joined by trunks.

Hosts may be spread over many small panels: links between hosts of two panels are led over trunks,
each of one lane.  Ports of several lanes, and duplex ports with a fibre for each way, are not.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from synth.errors import DoesNotFit
from synth.topology import Topology
from synth.wiring.detours import MOST_VARIABLES, Ends, Group, Kind, Lack, lacking, shared_out
from synth.wiring.light import Way, ways
from synth.wiring.plant import HostPort, Mode, Pair, Plant, Port, Trunk
from synth.wiring.plug import edges_of
from synth.wiring.usable import Usable, ours
from synth.wiring.wiring import Route, Wiring

__all__ = [
    "Trunked",
    "demanded",
    "fewest",
    "led_over_trunks",
    "reaches_trunk",
    "trunked",
    "undecided",
]

MOST_NAMED = 5
"""Places without room that one error names."""

Plugged = dict[tuple[int, int], dict[Kind, list[Way]]]


class Trunked(NamedTuple):
    """Ends of links on a plant with trunks, and the ways that are plugged between nodes."""

    ends: Ends
    today: Plugged


def trunked(plant: Plant, hosts: Sequence[int], spares: bool = False) -> Trunked | None:
    """Return what links can take over trunks; None where there are none that could be used."""
    usable = Usable(plant, spares)
    cables = _for_us(plant, hosts, usable.trunks())
    ports = [usable.ports(host) for host in hosts] if cables else []
    duplex = any(port.duplex for row in ports for port in row)
    if not cables or not all(_single(port, duplex) for row in ports for port in row):
        return None
    senders: dict[tuple[int, Group], list[Port]] = defaultdict(list)
    receivers = senders if duplex else defaultdict(list)
    for node, row in enumerate(ports):
        for port in row:
            for place, fibres in ((senders, port.tx), (receivers, () if duplex else port.rx)):
                for end in fibres:
                    place[node, Group(end.panel, end.side)].append(end)
    ends = Ends(plant, duplex, senders, receivers, _bundles(plant, cables, duplex))
    return Trunked(ends, _plugged(plant, ends))


def _for_us(plant: Plant, hosts: Sequence[int], cables: list[Trunk]) -> list[Trunk]:
    """Return those that hold no pair which stays, such as one of a host that is not asked about."""
    going = frozenset(ours(plant, hosts))
    stays = {port for pair in plant.present.pairs if pair not in going for port in plant.ends(pair)}
    return [trunk for trunk in cables if stays.isdisjoint((trunk.source, trunk.target))]


def _single(port: HostPort, duplex: bool) -> bool:
    one_fibre = port.tx == port.rx if duplex else True
    return port.duplex == duplex and one_fibre and len(port.tx) <= 1 and len(port.rx) <= 1


def _bundles(
    plant: Plant, cables: list[Trunk], duplex: bool
) -> dict[tuple[Group, Group], list[Trunk]]:
    """Return the trunks by the groups of ports that can be joined to their two ends."""
    found: dict[tuple[Group, Group], list[Trunk]] = defaultdict(list)
    for trunk in cables:
        modes = {plant.panels[end.panel].mode for end in (trunk.source, trunk.target)}
        if modes != {Mode.BIDIRECTIONAL if duplex else Mode.DIRECTED}:
            continue
        one, other = (
            Group(end.panel, plant.panels[end.panel].opposite(end.side))
            for end in (trunk.source, trunk.target)
        )
        if duplex and other < one:
            one, other = other, one
        found[one, other].append(trunk)
    return dict(found)


def _plugged(plant: Plant, ends: Ends) -> Plugged:
    """Return the ways of today between usable ports, by their nodes, the smaller one first."""
    node_at = {port: node for (node, _), row in ends.senders.items() for port in row}
    hears = {port: node for (node, _), row in ends.receivers.items() for port in row}
    cables = {port for row in ends.trunks.values() for t in row for port in (t.source, t.target)}
    found: Plugged = defaultdict(lambda: defaultdict(list))
    for way in ways(plant, plant.present.pairs):
        u, v = node_at.get(way.start), hears.get(way.end)
        if u is None or v is None or u == v:
            continue
        passed = {port for pair in way.pairs for port in plant.ends(pair)}
        if not passed - {way.start, way.end} <= cables:
            continue
        if ends.duplex and v < u:
            u, v, way = v, u, Way(way.end, way.start, way.pairs[::-1])
        kind = ends.kind_of(way)
        if kind is not None:
            found[u, v][kind].append(way)
    return found


def fewest(
    found: Trunked, links: Counter[tuple[int, int]], mine: Sequence[Pair]
) -> tuple[int, int]:
    """Return removes and adds that no wiring of the links on these hosts can undercut.

    ``mine`` are the pairs that may be taken away.  Of ways that join the ends of links as many are
    kept as can be, the longest first: a kept way saves its removes and the one pair that a new
    link takes at least.  A new link may yet use one pair from a host to a trunk that is there,
    beside one that is new.
    """
    removes, new = len(mine), links.total()
    for pair, count in links.items():
        there = sorted(
            (kind.pairs for kind, row in found.today.get(pair, {}).items() for _ in row),
            reverse=True,
        )
        removes -= sum(there[:count])
        new -= min(count, len(there))
    halves = sum(reaches_trunk(found.ends.plant, pair) for pair in mine)
    return max(removes - min(halves, new), 0), new


def reaches_trunk(plant: Plant, pair: Pair) -> bool:
    """Whether a pair joins something to a trunk."""
    return not plant.trunk_ends.keys().isdisjoint(plant.ends(pair))


def demanded(topology: Topology, duplex: bool) -> tuple[Counter[tuple[int, int]], list[tuple]]:
    """Return how many links there are between nodes, and each link's nodes with its indices."""
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    if duplex:
        rows = [((*sorted(ends[there]),), (there, back)) for there, back in edges_of(topology)]
    else:
        rows = [(pair, (index,)) for index, pair in enumerate(ends)]
    return Counter(pair for pair, _ in rows), rows


def undecided(found: Trunked, links: Counter[tuple[int, int]]) -> bool:
    """Whether it is too large to be decided exactly whether links fit."""
    return sum(len(found.ends.kinds(*pair)) for pair in links) > MOST_VARIABLES


def led_over_trunks(
    topology: Topology, hosts: Sequence[int], found: Trunked
) -> tuple[Wiring, bool]:
    """Return a wiring of few moves, and whether none of fewer is known to exist.

    Raises
    ------
    DoesNotFit
        There is none; the error names ports and trunks that are missing if that is proven.
    """
    ends, today = found
    links, rows = demanded(topology, ends.duplex)
    there = {pair: Counter({k: len(v) for k, v in kinds.items()}) for pair, kinds in today.items()}
    shares, proven = shared_out(ends, links, there)
    if shares is None:
        lacks = lacking(ends, links, integral=False)
        if not lacks and proven:
            lacks = lacking(ends, links, integral=True)
        raise DoesNotFit("/links", _said(lacks, ends, hosts))
    kinds = {pair: list(shares[pair].elements()) for pair in links}
    chosen = [(pair, kinds[pair].pop(0)) for pair, _ in rows]
    routes: list[Route] = [()] * topology.link_count
    for (_, indices), route in zip(rows, _routed(found, chosen), strict=True):
        for index in indices:
            routes[index] = route
    return Wiring(ends.plant, tuple(hosts), tuple(routes)), proven


def _routed(found: Trunked, chosen: list[tuple[tuple[int, int], Kind]]) -> list[Route]:
    """Return the pairs of every link: what is plugged first, then free ports and trunks."""
    ends, today = found
    left = {pair: {k: list(v) for k, v in kinds.items()} for pair, kinds in today.items()}
    kept = [row.pop(0) if (row := left.get(pair, {}).get(kind)) else None for pair, kind in chosen]
    panels = ends.plant.panels
    busy = {port for pair in ends.plant.present.pairs for port in ends.plant.ends(pair)}
    used = {port for way in kept if way for pair in way.pairs for port in ends.plant.ends(pair)}

    def free(ports: list[Port]) -> list[Port]:
        # Those where nothing is plugged are taken first: they wait for nothing.
        return sorted((p for p in reversed(ports) if p not in used), key=lambda p: p not in busy)

    senders = {key: free(row) for key, row in ends.senders.items()}
    receivers = senders if ends.duplex else {k: free(row) for k, row in ends.receivers.items()}
    trunks = {
        key: sorted(
            (t for t in reversed(row) if used.isdisjoint((t.source, t.target))),
            key=lambda t: busy.isdisjoint((t.source, t.target)),
        )
        for key, row in ends.trunks.items()
    }
    routes: list[Route] = []
    for ((u, v), kind), way in zip(chosen, kept, strict=True):
        if way is not None:
            routes.append(way.pairs)
            continue
        start, end = senders[u, kind.first].pop(), receivers[v, kind.second].pop()
        if not kind.trunk:
            routes.append((_join(panels, start, end),))
            continue
        trunk = trunks[ends.key(kind)].pop()
        ports = [trunk.source, trunk.target]
        near, far = ports if _faces(ends, kind.first, trunk.source) else ports[::-1]
        routes.append((_join(panels, start, near), _join(panels, far, end)))
    return routes


def _join(panels: Sequence, one: Port, other: Port) -> Pair:
    return panels[one.panel].join(one, other)


def _faces(ends: Ends, group: Group, port: Port) -> bool:
    panel = ends.plant.panels[port.panel]
    return group == Group(port.panel, panel.opposite(port.side))


def _said(lacks: list[Lack], ends: Ends, hosts: Sequence[int]) -> str:
    """Say which ports and trunks are missing."""
    plant = ends.plant
    said = []
    for lack in lacks[:MOST_NAMED]:
        names = [plant.panels[group.panel].id for group in lack.where]
        if lack.node is None:
            there = len(ends.trunks.get((lack.where[0], lack.where[1]), ()))
            said.append(
                f"of trunks from {names[0]} to {names[1]} {lack.more + there} are needed and "
                f"{there} there"
            )
        else:
            does = "can be joined" if ends.duplex else "receive" if lack.receives else "send"
            name = plant.hosts[hosts[lack.node]].id
            said.append(
                f"{names[0]} lacks {lack.more} port{'s' * (lack.more > 1)} of {name} that {does}"
            )
    if len(lacks) > MOST_NAMED:
        said.append(f"and {len(lacks) - MOST_NAMED} more places lack some")
    return "; ".join(said) or (
        "no way over panels and trunks was found, and none was proven impossible (programs of up "
        f"to {MOST_VARIABLES} variables are solved)"
    )
