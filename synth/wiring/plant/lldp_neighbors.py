"""Neighbors of host ports (as reported by LLDP), as pairs of panels."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.plant import HostPort, Pair, Plant, Port
from topoloom.synth.wiring.plant.light_paths import ways


class Neighbour(NamedTuple):
    """A port of a host and the port that it hears, each as (host, port); None hears nothing."""

    port: tuple[str, str]
    heard: tuple[str, str] | None


def pairs_of_neighbours(
    plant: Plant, known: Mapping[int, Set[Pair]], told: Iterable[Neighbour]
) -> dict[int, frozenset[Pair]]:
    """Return the pairs on the reported panels; unreported ports keep their known pairs.

    Args:
        known: The pairs known before.

    Raises:
        InvalidWiring: With a pointer to the neighbor: the port does not exist, it cannot receive or
            send, or no cross-connect can join the two ports.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("single", 3, 1)
    >>> told = [Neighbour(("1", "0"), ("2", "0")), Neighbour(("0", "0"), None)]
    >>> pairs_of_neighbours(plant, {0: {Pair(0, 1, 0), Pair(0, 0, 2)}}, told)
    {0: frozenset({Pair(panel=0, a=2, b=1), Pair(panel=0, a=0, b=2)})}
    """
    ports = {(host.id, port.id): port for host in plant.folded.hosts for port in host.ports}
    plugged = [pair for pairs in known.values() for pair in pairs]
    led = {(way.start, way.end): way.pairs for way in ways(plant, plugged)}
    joined: dict[int, set[Pair]] = defaultdict(set)
    touched = set()
    for number, row in enumerate(told):
        where = f"/neighbours/{number}"
        into = _port(ports, row.port, where)
        touched.update(into.rx)
        for end in into.rx:
            joined[end.panel].update(())
        if row.heard is None:
            continue
        sender = _port(ports, row.heard, where)
        touched.update(sender.tx)
        for pair in _between(plant, led, sender, into, where):
            joined[pair.panel].add(pair)
    return {
        panel: frozenset(
            pairs | {pair for pair in known.get(panel, ()) if touched.isdisjoint(plant.ends(pair))}
        )
        for panel, pairs in joined.items()
    }


def _port(ports: Mapping[tuple[str, str], HostPort], name: tuple[str, str], where: str) -> HostPort:
    if name not in ports:
        raise InvalidWiring(where, f"there is no port {name[1][:40]!r} of a host {name[0][:40]!r}")
    return ports[name]


def _between(
    plant: Plant,
    led: Mapping[tuple[Port, Port], tuple[Pair, ...]],
    sender: HostPort,
    into: HostPort,
    where: str,
) -> list[Pair]:
    """Return the pairs from one port to another; over a trunk those known to lead there."""
    lanes = list(zip(sender.tx, into.rx, strict=False))
    if not lanes or len(sender.tx) != len(into.rx):
        raise InvalidWiring(where, "the one port cannot send to the other")
    found = []
    for tx, rx in lanes:
        known = led.get((tx, rx)) or led.get((rx, tx))
        if known:
            found += known
            continue
        panel = plant.panels[tx.panel]
        if tx.panel != rx.panel or tx == rx or panel.opposite(tx.side) != rx.side:
            raise InvalidWiring(where, "no cross-connect leads from the one to the other")
        found.append(panel.join(tx, rx))
    return found
