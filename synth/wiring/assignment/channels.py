"""Sites and channels: the usable host ports, grouped by the ports that they can be joined to.

A *site* is a host port as it can be plugged.  A *channel* is a set of sites that send and a set
of sites that receive, any of the first joinable to any of the second; links of one channel
never stand in the way of links of another.  On directed panels with transmit and receive
fibres patched apart there is a channel for every (sequence of) panels.  Duplex ports, which
lead both ways to one other port, have *mates*: light that one sends must come out where the
other receives.  Sites that are their own mates make a *shared* channel, in which every site
may be at either end.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.wiring.plant import HostPort, Pair, Plant, Port
from topoloom.synth.wiring.plant.free_ports import Usable


class Site(NamedTuple):
    """A port of a host: the panel ports that it sends into and receives from, by lane."""

    host: int
    tx: tuple[Port, ...]
    rx: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Channel:
    """Sites by node position; in a shared channel both lists are the same."""

    name: str
    senders: tuple[tuple[Site, ...], ...]
    receivers: tuple[tuple[Site, ...], ...]

    @property
    def shared(self) -> bool:
        """Whether every site may be at either end."""
        return self.senders is self.receivers


@dataclass(frozen=True, slots=True)
class Supply:
    """All channels of the hosts that nodes sit on."""

    plant: Plant
    hosts: tuple[int, ...]
    duplex: bool
    channels: tuple[Channel, ...]

    @property
    def sending(self) -> NDArray[np.int64]:
        """Number of sites that can send, by channel (row) and node (column)."""
        return _counts([channel.senders for channel in self.channels], len(self.hosts))

    @property
    def receiving(self) -> NDArray[np.int64]:
        """The same of sites that can receive."""
        return _counts([channel.receivers for channel in self.channels], len(self.hosts))

    def joined(self, one: Site, other: Site) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
        """Return the pairs that carry light from one site to the other, and those back."""
        panels = self.plant.panels
        ahead = tuple(
            panels[tx.panel].join(tx, rx) for tx, rx in zip(one.tx, other.rx, strict=True)
        )
        if not self.duplex:
            return ahead, ()
        return ahead, tuple(
            panels[tx.panel].join(tx, rx) for tx, rx in zip(other.tx, one.rx, strict=True)
        )


def _counts(rows: Sequence[tuple[tuple[Site, ...], ...]], size: int) -> NDArray[np.int64]:
    return np.array([[len(sites) for sites in row] for row in rows], np.int64).reshape(-1, size)


def supply(plant: Plant, hosts: Sequence[int], spares: bool = False) -> Supply:
    """Return the channels of the given hosts, by node position.

    Parameters
    ----------
    plant : Plant
    hosts : sequence of int
        The host that each node sits on.
    spares : bool
        Whether spare ports may be used.

    Raises
    ------
    DoesNotFit
        Some of the hosts' ports are duplex and some are not, or their numbers of lanes differ.

    Examples
    --------
    >>> from topoloom.synth.wiring.plant import cross_wired, duplex
    >>> [(c.name, c.shared) for c in supply(duplex(3, 2), range(3)).channels]
    [('panel-0', True), ('panel-1', True)]
    >>> found = supply(cross_wired(3, 4), range(3))
    >>> found.sending.tolist(), found.channels[0].shared
    ([[1, 1, 1], [1, 1, 1]], False)
    """
    usable = Usable(plant, spares)
    ports = [usable.ports(host) for host in hosts]
    kinds = {port.duplex for row in ports for port in row}
    lanes = {
        len(fibres) for row in ports for port in row for fibres in (port.tx, port.rx) if fibres
    }
    if len(kinds) > 1:
        raise DoesNotFit("/hosts", "the hosts' ports must all be duplex, or none")
    if len(lanes) > 1:
        raise DoesNotFit(
            "/hosts", f"ports of {min(lanes)} and of {max(lanes)} lanes cannot be mixed"
        )
    both = kinds == {True}
    channels = _duplex(plant, ports) if both else _one_way(plant, ports)
    return Supply(plant, tuple(hosts), both, channels)


def _one_way(plant: Plant, ports: list[list[HostPort]]) -> tuple[Channel, ...]:
    sending: dict[tuple[int, ...], list[list[Site]]] = defaultdict(lambda: [[] for _ in ports])
    receiving: dict[tuple[int, ...], list[list[Site]]] = defaultdict(lambda: [[] for _ in ports])
    for node, row in enumerate(ports):
        for port in row:
            if port.tx:
                key = tuple(end.panel for end in port.tx)
                sending[key][node].append(Site(node, port.tx, ()))
            if port.rx:
                key = tuple(end.panel for end in port.rx)
                receiving[key][node].append(Site(node, (), port.rx))
    keys = sorted(sending.keys() | receiving.keys())
    return tuple(
        Channel(_name(plant, key), _frozen(sending[key]), _frozen(receiving[key])) for key in keys
    )


def _duplex(plant: Plant, ports: list[list[HostPort]]) -> tuple[Channel, ...]:
    found: dict[tuple, list[list[Site]]] = defaultdict(lambda: [[] for _ in ports])
    for node, row in enumerate(ports):
        for port in row:
            key = (tuple(_where(p) for p in port.tx), tuple(_where(p) for p in port.rx))
            found[key][node].append(Site(node, port.tx, port.rx))
    channels = []
    for key in sorted(found):
        mate = tuple(
            tuple((panel, plant.panels[panel].opposite(side)) for panel, side in fibres)
            for fibres in (key[1], key[0])
        )
        name = _name(plant, dict.fromkeys(panel for panel, _ in key[0] + key[1]))
        if key == mate:
            sites = _frozen(found[key])
            channels.append(Channel(name, sites, sites))
        elif key < mate or mate not in found:
            there = found[mate] if mate in found else [[] for _ in ports]
            channels.append(Channel(name, _frozen(found[key]), _frozen(there)))
    return tuple(channels)


def _where(port: Port) -> tuple[int, str]:
    return port.panel, port.side


def _frozen(rows: list[list[Site]]) -> tuple[tuple[Site, ...], ...]:
    return tuple(map(tuple, rows))


def _name(plant: Plant, panels: Iterable[int]) -> str:
    return "+".join(plant.panels[panel].id for panel in dict.fromkeys(panels))
