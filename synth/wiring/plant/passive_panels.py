"""Elimination of passive panels: cabling through shuffle panels, as direct cables and trunks.

Inside a shuffle panel of R bundles on side A and C on side B, fiber c of bundle r is joined to
fiber r of bundle c: a fixed full bipartite graph of bundles.  A host fiber or a trunk that ends
at a shuffle panel continues through the panel to a panel with cross-connects.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from topoloom.synth.wiring.plant.data import PlantData
from topoloom.synth.wiring.plant.parts import Host, HostPort, Kind, Panel, State, Trunk
from topoloom.synth.wiring.plant.ports import Port, Side


@dataclass(frozen=True, slots=True)
class Folded:
    """Hosts with fibers to panels with cross-connects, trunks between such panels, and losses.

    ``lost_db`` is the loss in passive panels and trunks before light reaches a host's port of a
    panel.  Fibers that end nowhere are omitted.
    """

    hosts: tuple[Host, ...]
    trunks: tuple[Trunk, ...]
    lost_db: Mapping[Port, Fraction]


def through(panel: Panel, port: Port) -> Port:
    """Return where light comes out of a shuffle panel.

    >>> panel = Panel("s", ("0A", "1A", "2A", "3A", "4A", "5A"), tuple("abcdef"), bundles=2)
    >>> [through(panel, Port(0, Side.A, i)).index for i in range(6)]
    [0, 2, 4, 1, 3, 5]
    """
    count = panel.bundles if port.side is Side.A else len(panel.a) // panel.bundles
    width = len(panel.a) // count
    bundle, fibre = divmod(port.index, width)
    other = Side.B if port.side is Side.A else Side.A
    return Port(port.panel, other, fibre * count + bundle)


def folded(plant: PlantData) -> Folded:
    """Return the plant's fixed cables as light sees them, O(cables).

    Dead ports and ports of unplugged ends of passive panels stop it.
    """
    if all(panel.kind is not Kind.SHUFFLE for panel in plant.panels):
        return Folded(plant.hosts, plant.trunks, {})
    walk = _Walk(plant)
    lost: dict[Port, Fraction] = {}

    def seen(ends: tuple[Port, ...]) -> tuple[Port, ...]:
        found = [walk.end(port) for port in ends]
        if any(one is None for one in found):
            return ()
        reached = [one for one in found if one is not None]
        lost.update((port, loss) for port, loss in reached if loss)
        return tuple(port for port, _ in reached)

    def lit(port: HostPort) -> HostPort:
        tx = seen(port.tx)
        rx = tx if port.tx == port.rx else seen(port.rx)
        whole = bool(tx and rx) or not port.duplex
        return replace(port, tx=tx, rx=rx) if whole else replace(port, tx=(), rx=())

    hosts = tuple(replace(host, ports=tuple(map(lit, host.ports))) for host in plant.hosts)
    return Folded(hosts, tuple(walk.trunks()), lost)


class _Walk:
    """Follows fixed cables from port to port."""

    def __init__(self, plant: PlantData) -> None:
        self.plant = plant
        self.cable: dict[Port, tuple[Port, Fraction]] = {}
        for trunk in plant.trunks:
            self.cable[trunk.source] = trunk.target, trunk.loss_db
            self.cable[trunk.target] = trunk.source, trunk.loss_db

    def end(self, port: Port) -> tuple[Port, Fraction] | None:
        """Return the end of light that arrives at a port, and its loss; None if it ends nowhere."""
        loss = Fraction(0)
        seen: set[Port] = set()
        while self.plant.panels[port.panel].kind is Kind.SHUFFLE:
            panel = self.plant.panels[port.panel]
            out = through(panel, port)
            dead = State.DEAD in (self.plant.state(port), self.plant.state(out))
            if dead or port in seen or out not in self.cable:
                return None
            seen.add(port)
            port, more = self.cable[out]
            loss += panel.loss_db + more
        return port, loss

    def trunks(self) -> list[Trunk]:
        """Return the trunks between panels that can be plugged, those through passive ones too."""
        panels, found = self.plant.panels, []
        done: set[Port] = set()
        for trunk in self.plant.trunks:
            for start, next_ in ((trunk.source, trunk.target), (trunk.target, trunk.source)):
                if panels[start.panel].kind is Kind.SHUFFLE or start in done:
                    continue
                reached = self.end(next_)
                if reached is None:
                    continue
                last, loss = reached
                done.update((start, last))
                forward = start == trunk.source or last.side is Side.A
                ends = (start, last) if forward else (last, start)
                found.append(Trunk(*ends, trunk.loss_db + loss))
        return found
