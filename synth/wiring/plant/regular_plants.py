"""Builders of regular plants: one panel for each port of the hosts, or one for all."""

from functools import lru_cache

from topoloom.synth.errors import OutOfDomain
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plant.model import Plant
from topoloom.synth.wiring.plant.parts import Host, HostPort, Kind, Layout, Mode, Panel, Uniform
from topoloom.synth.wiring.plant.ports import Port, Side

MOST = 1 << 17
"""Most ports of hosts that a builder makes."""


def uniform(layout: Layout | str, hosts: int, lanes: int) -> Plant:
    """Return hosts of ``lanes`` ports each, on directed panels in a regular layout.

    Args:
        layout: ``per-port``: one panel per lane, with one port per host and side; lane p of host i
            is port i of panel p.  ``single``: one panel; lane p of host i is port ``i * lanes +
            p``.
        hosts, lanes: Both positive, ``hosts * lanes`` at most 131072.

    Raises:
        OutOfDomain: A number is not positive or the panels are too large.

    >>> plant = uniform("single", hosts=4, lanes=2)
    >>> plant.hosts[3].ports[1].tx, [panel.id for panel in plant.panels]
    ((Port(panel=0, side=<Side.A: 'A'>, index=7),), ['panel-0'])
    >>> plant.full_name(plant.hosts[3].ports[1].rx[0])
    'panel-0/7B'
    """
    if layout not in tuple(Layout):
        raise OutOfDomain("layout", f"must be one of {', '.join(Layout)}")
    _require_sizes(hosts, lanes)
    return _uniform(Layout(layout), hosts, lanes)


def smallest_plant(topology: Topology, layout: Layout | str = Layout.PER_PORT) -> Plant:
    """Return the smallest uniform plant of that layout that holds the topology."""
    return uniform(layout, topology.node_count, max(1, topology.degree))


def duplex(hosts: int, lanes: int) -> Plant:
    """Return hosts of duplex ports, each lane on a bidirectional panel of its own.

    Any two ports of a panel can be joined.  Not every topology fits: it must have an edge
    coloring with ``lanes`` colors.

    >>> plant = duplex(3, 2)
    >>> plant.full_name(plant.hosts[2].ports[1].tx[0])
    'panel-1/2'
    """
    _require_sizes(hosts, lanes)
    names = tuple(map(str, range(hosts)))
    panels = tuple(
        Panel(f"panel-{lane}", names, kind=Kind.SWITCH, mode=Mode.BIDIRECTIONAL)
        for lane in range(lanes)
    )
    return Plant(
        panels,
        tuple(
            Host(str(host), tuple(_both(lane, Port(lane, Side.A, host)) for lane in range(lanes)))
            for host in range(hosts)
        ),
        name=f"duplex {hosts}x{lanes}",
    )


def cross_wired(hosts: int, lanes: int) -> Plant:
    """Return the same hosts, cross-wired: even lanes on A sides, odd lanes on B sides.

    Lanes 2p and 2p + 1 of every host are on panel p, which joins A to B.  Every
    bidirectional topology of degree at most ``lanes`` fits (``lanes`` even): see
    `synth.wiring.assignment.orientation`.

    >>> plant = cross_wired(3, 2)
    >>> [plant.full_name(port.tx[0]) for port in plant.hosts[2].ports]
    ['panel-0/2A', 'panel-0/2B']
    """
    _require_sizes(hosts, lanes)
    if lanes % 2:
        raise OutOfDomain("lanes", "must be even")
    a, b = _names(hosts)
    panels = tuple(
        Panel(f"panel-{number}", a, b, Kind.SWITCH, Mode.BIDIRECTIONAL)
        for number in range(lanes // 2)
    )
    sides = (Side.A, Side.B)
    return Plant(
        panels,
        tuple(
            Host(
                str(host),
                tuple(_both(k, Port(k // 2, sides[k % 2], host)) for k in range(lanes)),
            )
            for host in range(hosts)
        ),
        name=f"cross-wired {hosts}x{lanes}",
    )


def _both(lane: int, end: Port) -> HostPort:
    return HostPort(str(lane), (end,), (end,), duplex=True)


def _require_sizes(hosts: int, lanes: int) -> None:
    for name, value in (("hosts", hosts), ("lanes", lanes)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise OutOfDomain(name, "must be a positive integer")
    if hosts * lanes > MOST:
        raise OutOfDomain("hosts", f"hosts * lanes must be at most {MOST}")


@lru_cache(maxsize=8)
def _names(count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(f"{i}A" for i in range(count)), tuple(f"{i}B" for i in range(count))


@lru_cache(maxsize=8)
def _uniform(layout: Layout, hosts: int, lanes: int) -> Plant:
    single = layout is Layout.SINGLE
    a, b = _names(hosts * lanes if single else hosts)
    panels = tuple(Panel(f"panel-{number}", a, b) for number in range(1 if single else lanes))

    def port(host: int, lane: int) -> HostPort:
        panel, index = (0, host * lanes + lane) if single else (lane, host)
        return HostPort(str(lane), (Port(panel, Side.A, index),), (Port(panel, Side.B, index),))

    rows = (
        Host(str(host), tuple(port(host, lane) for lane in range(lanes))) for host in range(hosts)
    )
    return Plant(panels, tuple(rows), uniform=Uniform(layout, hosts, lanes))
