"""Patch panels and switches, which host sits on which port, and wirings of them.

Every host has ``lanes`` ports; a port is a transmit fibre (egress) on the A side of
a panel and a receive fibre (ingress) on the B side.  A *pair* joins one A port to one
B port of the same panel and so carries light from one host to another.  Node number
i of a topology (its position) is host i.  Ports, lanes and panels count from 0.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synth.errors import DoesNotFit, OutOfDomain
from synth.topology import Topology

__all__ = ["MAX_PORTS", "Layout", "Pair", "Panels", "Wiring"]

MAX_PORTS = 1 << 20
"""Most ports per side, all panels together."""


class Layout(StrEnum):
    """How the hosts' ports are spread over panels."""

    PER_PORT = "per-port"
    SINGLE = "single"


class Pair(NamedTuple):
    """Port ``a`` on the A side of ``panel`` joined to port ``b`` on its B side."""

    panel: int
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Panels:
    """The panels that ``hosts`` hosts of ``lanes`` ports each are cabled to.

    Parameters
    ----------
    layout : Layout
        ``per-port``: one panel per lane, with one port per host and side; lane p of
        host i is port i of panel p.  ``single``: one panel; lane p of host i is
        port ``i * lanes + p``.
    hosts, lanes : int
        Both positive, ``hosts * lanes`` at most ``MAX_PORTS``.

    Raises
    ------
    OutOfDomain
        A number is not positive or the panels are too large.

    Examples
    --------
    >>> panels = Panels(Layout.SINGLE, hosts=4, lanes=2)
    >>> panels.port(3, 1), panels.host(Pair(0, 7, 2)), panels.ports_per_side
    (Pair(panel=0, a=7, b=7), (3, 1), 8)
    """

    layout: Layout
    hosts: int
    lanes: int

    def __post_init__(self) -> None:
        if self.layout not in tuple(Layout):
            raise OutOfDomain("layout", f"must be one of {', '.join(Layout)}")
        object.__setattr__(self, "layout", Layout(self.layout))
        for name in ("hosts", "lanes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise OutOfDomain(name, "must be a positive integer")
        if self.hosts * self.lanes > MAX_PORTS:
            raise OutOfDomain("hosts", f"hosts * lanes must be at most {MAX_PORTS}")

    @classmethod
    def of(cls, topology: Topology, layout: Layout = Layout.PER_PORT) -> "Panels":
        """Return the smallest panels of that layout that hold the topology."""
        return cls(layout, topology.node_count, max(1, topology.degree))

    @property
    def count(self) -> int:
        """Number of panels."""
        return self.lanes if self.layout is Layout.PER_PORT else 1

    @property
    def ports_per_side(self) -> int:
        """Number of ports on each side of each panel."""
        return self.hosts if self.layout is Layout.PER_PORT else self.hosts * self.lanes

    @property
    def ids(self) -> tuple[str, ...]:
        """Names of the panels in documents: ``panel-0``, ``panel-1``, ..."""
        return tuple(self.id(panel) for panel in range(self.count))

    @staticmethod
    def id(panel: int) -> str:
        """Return the name of one panel in documents."""
        return f"panel-{panel}"

    def port(self, host: int, lane: int) -> Pair:
        """Return the panel and the A and B port of one lane of a host."""
        if self.layout is Layout.PER_PORT:
            return Pair(lane, host, host)
        return Pair(0, host * self.lanes + lane, host * self.lanes + lane)

    def host(self, pair: Pair) -> tuple[int, int]:
        """Return the hosts (source, target) that a pair joins."""
        stride = 1 if self.layout is Layout.PER_PORT else self.lanes
        return pair.a // stride, pair.b // stride

    def lane(self, pair: Pair) -> tuple[int, int]:
        """Return the lanes (egress, ingress) of the hosts that a pair joins."""
        if self.layout is Layout.PER_PORT:
            return pair.panel, pair.panel
        return pair.a % self.lanes, pair.b % self.lanes

    def require_room(self, topology: Topology) -> None:
        """Raise unless the topology has no switches and every node finds its ports.

        This is enough: a topology of degree at most ``lanes`` always fits, on one
        panel trivially and on one panel per lane by König's theorem.

        Raises
        ------
        DoesNotFit
            With the field ``/nodes`` or ``/links`` of the topology that is too much.
        """
        if topology.switches:
            name = min(map(str, topology.switches))
            raise DoesNotFit("/nodes", f"only hosts can be wired to panels; {name!r} is a switch")
        if topology.node_count > self.hosts:
            raise DoesNotFit(
                "/nodes", f"{topology.node_count} nodes need as many hosts; there are {self.hosts}"
            )
        if topology.degree > self.lanes:
            raise DoesNotFit(
                "/links", f"degree {topology.degree} needs as many lanes; hosts have {self.lanes}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Wiring:
    """Which pair carries each link: three int arrays parallel to ``topology.links``."""

    panels: Panels
    panel: NDArray[np.int64]
    a: NDArray[np.int64]
    b: NDArray[np.int64]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pair of every link, in the order of the links."""
        columns = (self.panel.tolist(), self.a.tolist(), self.b.tolist())
        return tuple(map(Pair, *columns))

    @property
    def classes(self) -> tuple[tuple[int, ...], ...]:
        """The links on each panel, by index: the certificate of the assignment.

        On one panel per lane these are the colour classes of a proper edge
        colouring: no two links of a class leave, or enter, the same node.
        """
        return tuple(
            tuple(np.flatnonzero(self.panel == panel).tolist())
            for panel in range(self.panels.count)
        )
