"""Cross wiring: receive fibers exchanged once, so that every two-way topology fits afterwards.

Statement.  Duplex ports whose two fibers lie on one panel of directed pairs need an edge
coloring of the topology.  If every host exchanges the receive fibers of a port on panel p and
one on panel q, its first port sends into p and receives from q, its second the other way: links
go from first ports to second ports, light ahead through p and back through q.  Of K ports, K
even, half are then senders, and every two-way topology of degree at most K fits
(`synth.wiring.assignment.orientation`).  A host with an even number of ports on every panel needs
no change.

References:
    .. [1] "Cross Wiring", arXiv:2411.01503.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from topoloom.synth.wiring.plant import HostPort, Plant, Port, State
from topoloom.synth.wiring.plant.parts import Mode

Panels = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two ports of a host, by number, whose receive fibers change places."""

    host: int
    port: int
    other: int


class Fibre(NamedTuple):
    """A receive fiber of a host's port, by numbers: where it is cabled to, and where it goes."""

    host: int
    port: int
    before: Port
    after: Port


@dataclass(frozen=True, slots=True)
class CrossWiring:
    """The plant after all exchanges; its plugged pairs stay."""

    plant: Plant
    exchanges: tuple[Exchange, ...]

    def fibres(self, today: Plant) -> tuple[Fibre, ...]:
        """Return the moved fibers between today's plant and this one, each once."""
        return tuple(
            Fibre(host, number, *ends)
            for host, (old, new) in enumerate(zip(today.hosts, self.plant.hosts, strict=True))
            for number, two in enumerate(zip(old.ports, new.ports, strict=True))
            for ends in zip(two[0].rx, two[1].rx, strict=True)
            if ends[0] != ends[1]
        )


def cross_wiring(plant: Plant, hosts: Iterable[int] | None = None) -> CrossWiring | None:
    """Return the cross wiring of a plant; None where no exchange helps.

    Args:
        hosts: Hosts whose fibers may be exchanged; by default all.  Dead and reserved ports stay
            unchanged.

    Panels are matched two by two, those first on which most hosts have an odd number of ports
    both, until no host has two such panels left: O(hosts * panels**2) each time.

    >>> from topoloom.synth.wiring.plant import read_plant
    >>> port = lambda h, p: {"id": f"p{p}", "tx": f"o{p}/{h}A", "rx": f"o{p}/{h}B", "duplex": True}
    >>> hosts = [{"id": f"h{h}", "ports": [port(h, 0), port(h, 1)]} for h in range(3)]
    >>> panels = [{"id": f"o{p}", "kind": "switch", "a": 3, "b": 3} for p in (0, 1)]
    >>> found = cross_wiring(read_plant({"schema": "plant/1", "panels": panels, "hosts": hosts}))
    >>> found.exchanges[0], found.plant.full_name(found.plant.hosts[0].ports[0].rx[0])
    (Exchange(host=0, port=0, other=1), 'o1/0B')
    """
    chosen = range(len(plant.hosts)) if hosts is None else sorted(set(hosts))
    exchanges: list[Exchange] = []
    while True:
        odd = {host: _odd(plant, host) for host in chosen}
        mates = _matched(odd.values())
        found = [
            Exchange(host, ports[one], ports[other])
            for host, ports in odd.items()
            for one, other in mates
            if one in ports and other in ports
        ]
        if not found:
            return CrossWiring(plant, tuple(exchanges)) if exchanges else None
        plant = _exchanged(plant, found)
        exchanges += found


def _odd(plant: Plant, host: int) -> dict[Panels, int]:
    """Return a port of a host on each panel (by lanes) on which it has an odd number of them."""
    there: dict[Panels, list[int]] = defaultdict(list)
    for number, port in enumerate(plant.hosts[host].ports):
        if _straight(plant, port):
            there[_panels(port)].append(number)
    return {panels: ports[-1] for panels, ports in there.items() if len(ports) % 2}


def _straight(plant: Plant, port: HostPort) -> bool:
    """Whether both fibers of a duplex port lie on one panel that joins A to B one way."""
    return (
        port.duplex
        and port.state not in (State.DEAD, State.RESERVED)
        and bool(port.tx)
        and _panels(port) == tuple(end.panel for end in port.rx)
        and all(plant.panels[panel].mode is Mode.DIRECTED for panel in _panels(port))
    )


def _panels(port: HostPort) -> Panels:
    return tuple(end.panel for end in port.tx)


def _matched(rows: Iterable[dict[Panels, int]]) -> list[tuple[Panels, Panels]]:
    """Return panels two by two, each once, those of most hosts first."""
    counts: dict[tuple[Panels, Panels], int] = defaultdict(int)
    for row in rows:
        for pair in combinations(sorted(row), 2):
            if len(pair[0]) == len(pair[1]):
                counts[pair] += 1
    used: set[Panels] = set()
    found = []
    for pair in sorted(counts, key=lambda pair: (-counts[pair], pair)):
        if used.isdisjoint(pair):
            used.update(pair)
            found.append(pair)
    return found


def _exchanged(plant: Plant, exchanges: Iterable[Exchange]) -> Plant:
    exchanges = tuple(exchanges)
    rows = {host: list(plant.hosts[host].ports) for host in {one.host for one in exchanges}}
    for one in exchanges:
        ports = rows[one.host]
        first, second = ports[one.port], ports[one.other]
        ports[one.port] = replace(first, rx=second.rx)
        ports[one.other] = replace(second, rx=first.rx)
    hosts = tuple(
        replace(host, ports=tuple(rows[number])) if number in rows else host
        for number, host in enumerate(plant.hosts)
    )
    return replace(plant, hosts=hosts, uniform=None)
