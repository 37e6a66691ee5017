"""Reading of faults: dead parts by their names."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.operations.repair import Faults
from topoloom.synth.wiring.plant import Plant, Port, Side

FAULTS = ("hosts", "host_ports", "ports", "pairs")
"""The members of a list of faults: hosts, HOST/PORT, PANEL/PORT, and PANEL/A-B."""


T = TypeVar("T")


def read_faults(named: Mapping[str, Sequence[str]], plant: Plant) -> Faults:
    """Return the faults that are named on a plant; pairs are those that are plugged there.

    Args:
        named: Lists of names by the members of `FAULTS`, each of which may be left out.

    Raises:
        InvalidWiring: Nothing is named, or something that the plant does not have; with a JSON
            pointer.

    >>> from topoloom.synth.wiring.plant import Present, uniform
    >>> plant = uniform("single", 3, 1).with_present(Present.of([(0, 0, 1)]))
    >>> read_faults({"hosts": ["2"], "pairs": ["panel-0/0A-1B"]}, plant)
    Faults(ports=(), host_ports=(), pairs=(Pair(panel=0, a=0, b=1),), hosts=(2,))
    >>> read_faults({"host_ports": ["2/1"]}, plant)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidWiring: /host_ports/0: there is no port '2/1' of a host
    """
    if not any(named.get(member) for member in FAULTS):
        raise InvalidWiring("", f"must name something dead in one of {', '.join(FAULTS)}")
    ports = {plant.full_name(port): port for port in _ports(plant) if named.get("ports")}
    pairs = {
        f"{plant.panels[pair.panel].id}/{plant.pair_name(pair)}": pair
        for pair in plant.present.pairs
    }
    host_ports = {
        f"{host.id}/{port.id}": (number, place)
        for number, host in enumerate(plant.hosts)
        for place, port in enumerate(host.ports)
    }
    return Faults(
        _all(named, "ports", ports, "port {} of a panel"),
        _all(named, "host_ports", host_ports, "port {} of a host"),
        _all(named, "pairs", pairs, "plugged pair {}"),
        _all(named, "hosts", plant.host_index, "host {}"),
    )


def _ports(plant: Plant) -> list[Port]:
    return [
        Port(number, side, index)
        for number, panel in enumerate(plant.panels)
        for side in ((Side.A,) if panel.one_sided else (Side.A, Side.B))
        for index in range(len(panel.names(side)))
    ]


def _all(
    named: Mapping[str, Sequence[str]], member: str, known: Mapping[str, T], what: str
) -> tuple[T, ...]:
    found = []
    for index, name in enumerate(named.get(member, ())):
        if not isinstance(name, str) or name not in known:
            said = f"{str(name)[:80]!r}"
            raise InvalidWiring(f"/{member}/{index}", f"there is no {what.format(said)}")
        found.append(known[name])
    return tuple(dict.fromkeys(found))
