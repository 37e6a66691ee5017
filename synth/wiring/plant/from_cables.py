"""The plant that a list of cables makes.

A cable from an interface of a device to a front or rear port of another is fixed cabling; one
between two front ports of one device is a jumper, hence a cross-connect; one between ports of
two panels is a trunk.  A panel's port is called as its front port, where jumpers are plugged.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.wiring.plant.csv_rows import Origin, named_origin
from topoloom.synth.wiring.plant.document_reader import read_plant
from topoloom.synth.wiring.plant.model import Plant
from topoloom.synth.wiring.plant.rest_responses import FrontPorts

FRONT, REAR, INTERFACE = "dcim.frontport", "dcim.rearport", "dcim.interface"
PORTS = (FRONT, REAR)
PLANNED = "planned"


class End(NamedTuple):
    """One end of a cable; ``type`` is the type in NetBox, ``id`` is None where unknown."""

    device: str
    type: str
    name: str
    id: Any = None


class Cable(NamedTuple):
    """A cable, with the row that it comes from."""

    origin: Origin
    a: tuple[End, ...]
    b: tuple[End, ...]
    status: str


class _Fibre(NamedTuple):
    """One port of a panel, and the interface or the port of a panel that a cable joins to it."""

    cable: Cable
    port: End
    other: End

    @property
    def inside(self) -> bool:
        return self.other.type in PORTS and self.port.device == self.other.device


def read_cabling(
    cables: Iterable[Cable],
    fronts: FrontPorts | None = None,
    assumed: Iterable[Assumption] = (),
) -> Plant:
    """Return the plant of cables.

    Args:
        fronts: The front ports of all panels.  Without, a front port and a rear port of one name
            are one port, and panels have the ports that cables name.
        assumed: Assumptions of the reader of the cables.

    Raises:
        InvalidPlant: No cable leads to a panel, a cable joins unequal numbers of ports, a rule of
            plant/1 is broken; or jumpers are on ports to which no cable leads, so names of front
            ports are not those of rear ports.
    """
    builder = _Builder(fronts)
    fibres = [fibre for cable in cables for fibre in builder.fibres(cable)]
    if not builder.panels:
        origin = builder.aside[0].origin if builder.aside else Origin("")
        raise origin.error("leads past every panel, as all cables of the list do")
    if fronts is None:
        _require_seen(fibres)
    # A jumper between two panels is known from ports that have a cable on their other face.
    for fibre in sorted(fibres, key=lambda one: (one.other.type in PORTS, _faces(one))):
        builder.add(fibre)
    notes = [*assumed, *_notes(builder, fibres)]
    document = builder.document() | {"assumed": [note.to_document() for note in notes]}
    with named_origin(builder.origins):
        return read_plant(document)


def _faces(fibre: _Fibre) -> int:
    return (fibre.port.type, fibre.other.type).count(FRONT)


class _Builder:
    """Builds the plant/1 document, and notes which cable each part of it comes from."""

    def __init__(self, fronts: FrontPorts | None) -> None:
        self.fronts = fronts
        self.panels: dict[str, dict[str, None]] = {}
        self.hosts: dict[str, dict[str, list[_Fibre]]] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {"trunks": [], "cross_connects": []}
        self.reserved: dict[str, None] = {}
        self.aside: list[Cable] = []
        self.origins: dict[str, Origin] = {}
        self._cabled: set[str] = set()

    def fibres(self, cable: Cable) -> Iterator[_Fibre]:
        """Yield the pairs of ends that a cable joins; ports that lead elsewhere are reserved."""
        a, b = (tuple(port for end in side for port in self._ports(end, cable.origin))
                for side in (cable.a, cable.b))  # fmt: skip
        ports = [end for end in (*a, *b) if end.type in PORTS]
        if not ports:
            self.aside.append(cable)
            return
        if not (a and b and all(end.type in (*PORTS, INTERFACE) for end in (*a, *b))):
            self.reserved |= {_name(end): None for end in ports}
            return
        if any(end.type == INTERFACE for end in a):
            a, b = b, a
        lanes = len(a) // len(b)
        if lanes * len(b) != len(a) or (lanes > 1 and b[0].type != INTERFACE):
            raise cable.origin.error(f"joins {len(a)} ports to {len(b)}; must be as many")
        yield from (_Fibre(cable, port, b[n // lanes]) for n, port in enumerate(a))

    def _ports(self, end: End, origin: Origin) -> Iterator[End]:
        """Yield an end; of a rear port the front ports that it leads to."""
        if end.type not in PORTS:
            yield end
            return
        if self.fronts is None:
            self.panels.setdefault(end.device, {})[end.name] = None
            yield end
            return
        if end.device not in self.fronts.of_device:
            raise origin.error(f"leads to {end.device}, of which front_ports has no port")
        if end.device not in self.panels:
            self.panels[end.device] = dict.fromkeys(self.fronts.of_device[end.device])
        names = (end.name,) if end.type == FRONT else self.fronts.behind.get(end.id, ())
        yield from (End(end.device, end.type, name) for name in names)

    def add(self, fibre: _Fibre) -> None:
        """Add one pair of ends: cabling of a host, a trunk, or a plugged pair."""
        here, there = _name(fibre.port), _name(fibre.other)
        if fibre.other.type == INTERFACE:
            ports = self.hosts.setdefault(fibre.other.device, {})
            ports.setdefault(fibre.other.name, []).append(fibre)
            self._cabled.add(here)
        elif not fibre.inside:
            if {here, there} & self._cabled:
                self.reserved |= {here: None, there: None}
                return
            self._cabled |= {here, there}
            self._add_row("trunks", {"from": here, "to": there}, fibre)
        elif fibre.cable.status != PLANNED:
            row = {"panel": fibre.port.device, "a": fibre.port.name, "b": fibre.other.name}
            self._add_row("cross_connects", row, fibre)

    def _add_row(self, member: str, row: Mapping[str, Any], fibre: _Fibre) -> None:
        self.origins[f"/{member}/{len(self.rows[member])}"] = fibre.cable.origin
        self.rows[member].append(dict(row))

    def document(self) -> dict[str, Any]:
        """Return the plant/1 document."""
        hosts = []
        for h, (host, ports) in enumerate(self.hosts.items()):
            rows = [
                {"id": name, "at": [_name(fibre.port) for fibre in lanes]}
                for name, lanes in ports.items()
            ]
            hosts.append({"id": host, "ports": rows})
            self.origins |= {
                f"/hosts/{h}/ports/{p}/at/{lane}": fibre.cable.origin
                for p, lanes in enumerate(ports.values())
                for lane, fibre in enumerate(lanes)
            }
        return {
            "schema": "plant/1",
            "panels": [{"id": name, "ports": list(ports)} for name, ports in self.panels.items()],
            "hosts": hosts,
            "port_states": [{"port": name, "state": "reserved"} for name in self.reserved],
            **self.rows,
        }


def _name(end: End) -> str:
    return f"{end.device}/{end.name}"


def _require_seen(fibres: Sequence[_Fibre]) -> None:
    """Refuse jumpers of a panel none of which is on a port that a cable leads to."""
    jumpers: dict[str, dict[str, Cable]] = {}
    fixed: dict[str, set[str]] = {}
    for fibre in fibres:
        for end in (fibre.port, fibre.other):
            if fibre.inside:
                jumpers.setdefault(end.device, {}).setdefault(end.name, fibre.cable)
            elif end.type in PORTS:
                fixed.setdefault(end.device, set()).add(end.name)
    for device, names in jumpers.items():
        if fixed.get(device) and not names.keys() & fixed[device]:
            name, cable = next(iter(names.items()))
            raise cable.origin.error(
                f"jumpers of {device} are on ports such as {name!r}, but cables lead to ports "
                f"such as {min(fixed[device])!r}: front and rear ports have different names. "
                'Give {"cables": ..., "front_ports": ...} with the answers of GET '
                "/api/dcim/cables/?limit=0 and GET /api/dcim/front-ports/?limit=0"
            )


def _notes(builder: _Builder, fibres: Sequence[_Fibre]) -> Iterator[Assumption]:
    """Yield the assumptions about cables, as sentences."""
    if builder.aside:
        kinds = Counter(
            " to ".join(sorted(_kind(side) for side in (cable.a, cable.b)))
            for cable in builder.aside
        )
        said = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        yield Assumption(f"Cables that lead to no panel are left out: {said}.")
    if builder.reserved:
        yield Assumption(
            "Ports with a cable that leads neither to an interface nor to a port of the same "
            f"panel are reserved: {first_names(list(builder.reserved))}."
        )
    types = {end.type for fibre in fibres for end in (fibre.port, fibre.other)}
    if builder.fronts is None and types >= set(PORTS):
        yield Assumption(
            "A front port and a rear port of one name are read as one port; give front_ports "
            "beside cables to state which belong together."
        )


def _kind(ends: tuple[End, ...]) -> str:
    return (ends[0].type.rpartition(".")[2] if ends else "nothing") or "port of unknown type"


def first_names(names: Sequence[str]) -> str:
    """Return the first few names for a sentence."""
    text = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:1000]
