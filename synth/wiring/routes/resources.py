"""Usable sites of hosts, usable trunks between panels, and the pairs of today that may stay.

A link joins two *sites*, ports of hosts as they can be plugged.  Sites whose ports lie on the same
sides of the same panels are of one *class*, trunks between the same sides of panels are one
*bundle*.  Sites of a class are interchangeable, and so are trunks of a bundle, except that pairs of
today are plugged at some of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring.plant import HostPort, Mode, Pair, Plant, Port, Side, Trunk
from topoloom.synth.wiring.plant.free_ports import Usable, ours


class Site(NamedTuple):
    """A port of a host: the panel ports that it sends into and receives from, by lane.

    ``host`` is the position of the node on the host.
    """

    host: int
    tx: tuple[Port, ...]
    rx: tuple[Port, ...]


class Group(NamedTuple):
    """Ports of one side of a panel; all can be joined to the same ports."""

    panel: int
    side: Side


Bundle = tuple[Group, Group]
"""Trunks, by the ports that can be joined to their near ends and to their far ends."""


class SiteClass(NamedTuple):
    """A class of sites: the groups of the ports they send into and receive from, by lane."""

    tx: tuple[Group, ...]
    rx: tuple[Group, ...]
    one_fibre: bool


def class_of(site: Site) -> SiteClass:
    """Return the class of a site."""
    tx, rx = (tuple(Group(end.panel, end.side) for end in side) for side in (site.tx, site.rx))
    return SiteClass(tx, rx, site.tx == site.rx)


class Tip(NamedTuple):
    """Where a strand starts or ends: a group, and the port if it is certain."""

    group: Group
    port: Port | None


class End(NamedTuple):
    """An end of a link: any site of a class, or a certain site of the class."""

    kind: SiteClass
    site: Site | None = None

    @property
    def senders(self) -> list[Tip]:
        """Where the strands from this end start."""
        return _tips(self.kind.tx, self.site and self.site.tx)

    @property
    def receivers(self) -> list[Tip]:
        """Where the strands to this end arrive."""
        return _tips(self.kind.rx, self.site and self.site.rx)


def _tips(groups: tuple[Group, ...], ports: tuple[Port, ...] | None) -> list[Tip]:
    return [Tip(*tip) for tip in zip(groups, ports or [None] * len(groups), strict=True)]


def strands(first: End, second: End) -> list[tuple[Tip, Tip]]:
    """Return where the strands of a link start and end; none if the ends do not match.

    Each lane is a strand.  Where the two directions of a link have fibers of their own, each
    direction has its strands, those from the first end first.
    """
    one, other = first.kind, second.kind
    if one.one_fibre != other.one_fibre or len(one.tx) != len(other.rx):
        return []
    ahead = list(zip(first.senders, second.receivers, strict=True))
    if one.one_fibre or not one.rx:
        return ahead
    if len(other.tx) != len(one.rx):
        return []
    return ahead + list(zip(second.senders, first.receivers, strict=True))


class Passage(NamedTuple):
    """The way through a trunk from one of its ports: its bundle, and the port at the far end."""

    bundle: Bundle
    far: Port


@dataclass(frozen=True, eq=False)
class Resources:
    """The resources of links: sites by node and class, trunks by bundle, and today's pairs.

    With ``duplex`` links go both ways, and ``receivers`` is ``senders``.  ``mine`` are the
    removable pairs.  ``way_in`` is the loss of light between hosts and a panel.
    """

    plant: Plant
    duplex: bool
    hosts: tuple[int, ...]
    senders: Mapping[tuple[int, SiteClass], list[Site]]
    receivers: Mapping[tuple[int, SiteClass], list[Site]]
    trunks: Mapping[Bundle, list[Trunk]]
    mine: tuple[Pair, ...]
    way_in: Callable[[int], Fraction]

    def with_all_classes(self) -> "Resources":
        """Return resources in which every node has each class of sites, maybe without sites."""
        nodes = range(len(self.hosts))
        senders, receivers = (
            {(node, kind): [] for node in nodes for _, kind in sites} | dict(sites)
            for sites in (self.senders, self.receivers)
        )
        return replace(self, senders=senders, receivers=senders if self.duplex else receivers)

    @cached_property
    def partner(self) -> dict[Port, Port]:
        """The port that each port is joined to today, for pairs that may go."""
        found: dict[Port, Port] = {}
        for pair in self.mine:
            one, other = self.plant.ends(pair)
            found[one], found[other] = other, one
        return found

    @cached_property
    def passages(self) -> dict[Port, Passage]:
        """The way that light takes from a port through its trunk."""
        found: dict[Port, Passage] = {}
        for (near, far), row in self.trunks.items():
            for trunk in row:
                ends = trunk.source, trunk.target
                one, other = ends if self.facing(ends[0]) == near else ends[::-1]
                found[one] = Passage((near, far), other)
                if self.both_ways(near.panel):
                    found[other] = Passage((far, near), one)
        return found

    @property
    def strand_counts(self) -> set[int]:
        """The numbers of strands that links can have."""
        kinds = {kind for _, kind in self.senders}
        return {len(kind.tx) if kind.one_fibre else len(kind.tx + kind.rx) for kind in kinds}

    @cached_property
    def joins(self) -> frozenset[Pair]:
        """The pairs of today between two sites: those that could stay."""
        rows = (*self.senders.values(), *self.receivers.values())
        ends = {port for row in rows for site in row for port in (*site.tx, *site.rx)}
        return frozenset(
            pair for pair in self.plant.present.pairs if ends.issuperset(self.plant.ends(pair))
        )

    def both_ways(self, panel: int) -> bool:
        """Whether light goes both ways through the pairs of a panel."""
        return self.plant.panels[panel].mode is Mode.BIDIRECTIONAL

    def key(self, bundle: Bundle) -> Bundle:
        """Return how a bundle is named, in whichever direction it is passed."""
        near, far = bundle
        return (far, near) if self.both_ways(near.panel) and far < near else bundle

    def facing(self, port: Port | Group) -> Group:
        """Return the group that a port or a group can be joined to."""
        return Group(port.panel, self.plant.panels[port.panel].opposite(port.side))

    def mate(self, kind: SiteClass) -> SiteClass:
        """Return the class of the sites that sites of a class can be joined to."""
        tx, rx = (tuple(map(self.facing, side)) for side in (kind.rx, kind.tx))
        return SiteClass(tx, rx, kind.one_fibre)


def resources_of(plant: Plant, hosts: Sequence[int], spares: bool = False) -> Resources:
    """Return the resources of links between hosts.

    Args:
        hosts: The host that each node sits on.
        spares: Whether spare ports may be used.

    Raises:
        DoesNotFit: Some of the hosts' ports are duplex and some are not, or their numbers of lanes
            differ.
    """
    usable, mine = Usable(plant, spares), ours(plant, hosts)
    ports = [usable.ports(host) for host in hosts]
    kinds = {port.duplex for row in ports for port in row}
    lanes = {len(side) for row in ports for port in row for side in (port.tx, port.rx) if side}
    if len(kinds) > 1:
        raise DoesNotFit("/hosts", "the hosts' ports must all be duplex, or none")
    if len(lanes) > 1:
        raise DoesNotFit(
            "/hosts", f"ports of {min(lanes)} and of {max(lanes)} lanes cannot be mixed"
        )
    duplex = kinds == {True}
    senders: dict[tuple[int, SiteClass], list[Site]] = defaultdict(list)
    receivers = senders if duplex else defaultdict(list)
    for node, row in enumerate(ports):
        for port in row:
            for site, receives in _sites(node, port):
                (receivers if receives else senders)[node, class_of(site)].append(site)
    bundles = _bundles(plant, _free(plant, mine, usable.trunks()))
    return Resources(
        plant, duplex, tuple(hosts), dict(senders), senders if duplex else dict(receivers),
        bundles, mine, usable.way_in,
    )  # fmt: skip


def _sites(node: int, port: HostPort) -> list[tuple[Site, bool]]:
    """Return the sites of a port, and whether each only receives."""
    if port.duplex:
        return [(Site(node, port.tx, port.rx), False)]
    found = [(Site(node, port.tx, ()), False)] if port.tx else []
    return found + ([(Site(node, (), port.rx), True)] if port.rx else [])


def _free(plant: Plant, mine: tuple[Pair, ...], cables: Iterable[Trunk]) -> list[Trunk]:
    """Return the trunks that hold no pair which stays, such as a pair of another host."""
    going = frozenset(mine)
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
        if modes[0] is Mode.BIDIRECTIONAL and other < one:
            one, other = other, one
        found[one, other].append(trunk)
    return dict(found)
