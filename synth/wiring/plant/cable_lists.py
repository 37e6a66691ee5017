"""Cable lists of NetBox and Nautobot, read in each form in which people have them.

Rows become `Cable` values; `synth.wiring.plant.from_cables` makes a plant of these.
"""

import re
from typing import Any

from topoloom.synth.errors import InvalidPlant
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.wiring.plant.csv_rows import Origin, Row, read_header, read_rows
from topoloom.synth.wiring.plant.from_cables import (
    FRONT,
    INTERFACE,
    PORTS,
    REAR,
    Cable,
    End,
    first_names,
    read_cabling,
)
from topoloom.synth.wiring.plant.model import Plant
from topoloom.synth.wiring.plant.rest_responses import (
    FrontPorts,
    has_rows_with,
    read_answer,
    read_front_ports,
)

_IMPORT = tuple(f"side_{side}_{part}" for side in "ab" for part in ("device", "type", "name"))
_TYPES = {name.partition(".")[2]: name for name in (*PORTS, INTERFACE)}
_DEVICE = ("device_{}", "side_{}", "side_{}_device")
"""Columns of NetBox's own table that name the device: from 3.3 on, and before."""


def is_cable_list(document: Any) -> bool:
    """Whether JSON values look like NetBox's or Nautobot's answers about cables."""
    if isinstance(document, dict) and {"cables", "front_ports"} & document.keys():
        return True
    return has_rows_with(document, {"a_terminations", "termination_a", "rear_port", "rear_ports"})


def is_cable_header(columns: tuple[str, ...]) -> bool:
    """Whether the columns of a CSV text are those of a list of cables."""
    return any(name.startswith(("side_a_", "termination_a")) for name in columns)


def read_cables(document: Any) -> Plant:
    """Return the plant of cables as the REST interfaces of NetBox and Nautobot list them.

    Args:
        document: The cables, or an answer with ``results``; or an object with ``cables`` and
            ``front_ports``, each such an answer.  Of NetBox ``a_terminations`` and
            ``b_terminations``, each with ``object_type`` and ``object``; of Nautobot
            ``termination_a_type`` and ``termination_a`` with depth 1, the same for b.

    Raises:
        InvalidPlant: Its field is a JSON pointer into ``document``.
    """
    return read_cabling(*listed_cables(document))


def listed_cables(document: Any) -> tuple[list[Cable], FrontPorts | None]:
    """Return the cables of REST answers, and the front ports if given; see `read_cables`."""
    fronts: FrontPorts | None = None
    field = ""
    if isinstance(document, dict) and "results" not in document:
        unknown = document.keys() - {"cables", "front_ports"}
        if unknown or "cables" not in document:
            raise InvalidPlant("", "must be an object with cables and front_ports")
        if "front_ports" in document:
            fronts = read_front_ports(document["front_ports"], "/front_ports")
        document, field = document["cables"], "/cables"
    rows = read_answer(document, field)
    if any({"rear_port", "rear_ports"} & row.keys() for _, row in rows):
        raise InvalidPlant(
            field, 'holds front ports; give {"cables": ..., "front_ports": ...} with both answers'
        )
    owners: dict[str, Any] = {}
    return [_cable(row, place, owners) for place, row in rows], fronts


def _cable(row: dict[str, Any], place: str, owners: dict[str, Any]) -> Cable:
    sides = [_terminations(row, side) for side in "ab"]
    types = {kind for side in sides for kind, _ in side}
    if not types & set(PORTS):
        # A cable without a panel port needs no names.
        ends = [tuple(End("", kind, "") for kind, _ in side) for side in sides]
    else:
        ends = [
            tuple(_end(kind, what, place, letter, owners) for kind, what in side)
            for letter, side in zip("ab", sides, strict=True)
        ]
    return Cable(Origin(place), ends[0], ends[1], _status(row.get("status")))


def _terminations(row: dict[str, Any], side: str) -> list[tuple[str, Any]]:
    """Return the type and the object at one end of a cable."""
    listed = row.get(f"{side}_terminations")
    if listed is None:
        kind, what = row.get(f"termination_{side}_type"), row.get(f"termination_{side}")
        listed = [] if kind is None else [{"object_type": kind, "object": what}]
    entries = [entry if isinstance(entry, dict) else {} for entry in _list(listed)]
    return [(str(entry.get("object_type")), entry.get("object")) for entry in entries]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _end(kind: str, what: Any, place: str, side: str, owners: dict[str, Any]) -> End:
    if kind not in (*PORTS, INTERFACE):
        return End("", kind, "")
    device = what.get("device") if isinstance(what, dict) else None
    name = what.get("name") if isinstance(what, dict) else None
    owner = (device.get("name") or device.get("display")) if isinstance(device, dict) else None
    if not isinstance(name, str) or not isinstance(owner, str) or not isinstance(device, dict):
        raise InvalidPlant(
            place, f"side {side} must name a port and its device (ask Nautobot with depth=1)"
        )
    if owners.setdefault(owner, device.get("id")) != device.get("id"):
        raise InvalidPlant(place, f"two devices are called {owner!r}; ask for cables of one site")
    return End(owner, kind, name, what.get("id"))


def _status(value: Any) -> str:
    """Return the status: a text, or an object with value (NetBox) or name (Nautobot)."""
    if isinstance(value, dict):
        value = value.get("value") or value.get("name")
    return str(value or "").lower()


def read_cables_csv(text: str) -> Plant:
    r"""Return the plant of a CSV list of cables: NetBox's import columns, or its exported table.

    The exported table states no types of ports: a device with a cable between two ports of its
    own is read as a panel, all others as hosts, and the plant's ``assumed`` says so.

    Raises:
        InvalidPlant: Columns are missing, or hold ids only; or a row breaks a rule, ``/rows/N``
            from 0.

    >>> plant = read_cables_csv(
    ...     "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status\n"
    ...     "h0,dcim.interface,eth0,p1,dcim.rearport,1,connected\n"
    ...     "h1,dcim.interface,eth0,p1,dcim.rearport,2,connected\n"
    ...     "p1,dcim.frontport,1,p1,dcim.frontport,2,connected\n")
    >>> [host.id for host in plant.hosts], plant.present.pairs
    (['h0', 'h1'], (Pair(panel=0, a=0, b=1),))
    """
    cables, assumed = tabled_cables(text)
    return read_cabling(cables, assumed=assumed)


def tabled_cables(text: str) -> tuple[list[Cable], tuple[Assumption, ...]]:
    """Return the cables of a CSV list, and what the list does not state; see `read_cables_csv`."""
    columns = read_header(text)
    missing = [name for name in _IMPORT if name not in columns]
    if not missing:
        return [_imported(n, row) for n, row in enumerate(read_rows(text))], ()
    if "termination_a" in columns:
        return _exported(text, columns)
    if "termination_a_id" in columns:
        raise InvalidPlant(
            "",
            "holds ids only: export by REST or with import columns. Give the answer of GET "
            f"/api/dcim/cables/?limit=0, or a CSV file with the columns {', '.join(_IMPORT)}",
        )
    raise InvalidPlant("", f"must have a column {missing[0]!r}, as NetBox imports cables")


def _imported(number: int, row: Row) -> Cable:
    a, b = (
        End(
            row.cells[f"side_{side}_device"],
            _type(row.cells[f"side_{side}_type"]),
            row.cells[f"side_{side}_name"],
        )
        for side in "ab"
    )
    return Cable(_origin(number, row), (a,), (b,), row.cells.get("status", "").lower())


def _type(text: str) -> str:
    """Return NetBox's name of a type that people write as it shows types, or as it once did.

    >>> _type("interface"), _type("dcim|rearport"), _type("DCIM > front port")
    ('dcim.interface', 'dcim.rearport', 'dcim.frontport')
    """
    words = "".join(sign for sign in text.lower() if sign not in " -_")
    return _TYPES.get(re.split(r"[.|>]", words)[-1], text)


def _origin(number: int, row: Row) -> Origin:
    return Origin(f"/rows/{number}", row.line)


def _exported(text: str, columns: tuple[str, ...]) -> tuple[list[Cable], tuple[Assumption, ...]]:
    """Return the cables of NetBox's own table of cables, exported."""
    named = [
        next((c for c in (name.format(side) for name in _DEVICE) if c in columns), "")
        for side in "ab"
    ]
    if not all(named) or "termination_b" not in columns:
        raise InvalidPlant(
            "",
            "must have the columns Termination A, Termination B, Device A and Device B: export "
            "with All data (CSV), or add the columns to the table",
        )
    rows = read_rows(text)
    panels = {row.cells[named[0]] for row in rows if row.cells[named[0]] == row.cells[named[1]]}
    panels.discard("")
    if not panels:
        raise InvalidPlant(
            "",
            "states no types of ports, and no device has a cable between two ports of its own, "
            "so panels cannot be told from hosts: export by REST or with import columns",
        )
    cables = []
    for number, row in enumerate(rows):
        devices = [row.cells[column] for column in named]
        names = [row.cells[f"termination_{side}"] for side in "ab"]
        origin = _origin(number, row)
        if panels & set(devices) and "," in "".join(names):
            raise origin.error("has several ports in one cell, in no order: export by REST")
        a, b = map(End, devices, _types(devices, panels), names)
        cables.append(Cable(origin, (a,), (b,), row.cells.get("status", "").lower()))
    return cables, (
        Assumption(
            "The export states no types of ports: devices with a cable between two ports of "
            f"their own are read as panels ({first_names(sorted(panels))}), all others as hosts."
        ),
    )


def _types(devices: list[str], panels: set[str]) -> list[str]:
    """Return the types of the ports of a cable: empty where neither device is a panel."""
    if not panels & set(devices) or not all(devices):
        return ["", ""]
    at_panel = FRONT if devices[0] == devices[1] else REAR
    return [at_panel if device in panels else INTERFACE for device in devices]
