"""Plants from cable lists of NetBox and Nautobot.

A cable from an interface of a device to a front or rear port of another is fixed cabling; one
between two front ports of one device is a jumper, hence a cross-connect; one between ports of
two panels is a trunk.  The front port and the rear port of one name are taken for one port.
"""

import csv
import io
from collections.abc import Iterable
from typing import Any, NamedTuple

from synth.errors import InvalidPlant
from synth.wiring.plant.document import read_plant
from synth.wiring.plant.model import Plant

__all__ = ["is_cable_list", "read_cables", "read_cables_csv"]

_PORTS = ("dcim.frontport", "dcim.rearport")
_INTERFACE = "dcim.interface"
_NOT_PLUGGED = ("planned", "decommissioning")
_CSV = (
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
)


class _End(NamedTuple):
    device: str
    type: str
    name: str


def is_cable_list(document: Any) -> bool:
    """Whether JSON values look like a list of cables, or a page of one."""
    rows = document.get("results") if isinstance(document, dict) else document
    first = rows[0] if isinstance(rows, list) and rows else None
    return isinstance(first, dict) and bool({"a_terminations", "termination_a"} & first.keys())


def read_cables_csv(text: str) -> Plant:
    r"""Return the plant of a CSV list of cables in the columns that NetBox imports.

    >>> plant = read_cables_csv(
    ...     "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status\n"
    ...     "h0,dcim.interface,eth0,p1,dcim.rearport,1,connected\n"
    ...     "h1,dcim.interface,eth0,p1,dcim.rearport,2,connected\n"
    ...     "p1,dcim.frontport,1,p1,dcim.frontport,2,connected\n")
    >>> [host.id for host in plant.hosts], plant.present.pairs
    (['h0', 'h1'], (Pair(panel=0, a=0, b=1),))
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        missing = set(_CSV) - set(reader.fieldnames or ())
        if missing:
            raise InvalidPlant("", f"must have a column {min(missing)!r}")
        rows = list(reader)
    except csv.Error as error:
        raise InvalidPlant("", f"must be CSV: {error}") from None
    ends = []
    for row in rows:
        a, b = (
            _End(*((row[name] or "").strip() for name in part)) for part in (_CSV[:3], _CSV[3:])
        )
        ends.append((a, b, (row.get("status") or "").strip()))
    return _plant(ends, "/rows")


def read_cables(document: Any) -> Plant:
    """Return the plant of cables as the REST interfaces of NetBox and Nautobot list them.

    Parameters
    ----------
    document : list or dict
        The cables, or an answer with ``results``.  Of NetBox ``a_terminations`` and
        ``b_terminations``, each with ``object_type`` and ``object``; of Nautobot
        ``termination_a_type`` and ``termination_a`` with depth 1, the same for b.
    """
    rows = document.get("results") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise InvalidPlant("", "must be a list of cables")
    ends = []
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InvalidPlant(f"/{number}", "must be a cable")
        for a, b in zip(_ends(row, "a", number), _ends(row, "b", number), strict=False):
            ends.append((a, b, _status(row.get("status"))))
    return _plant(ends, "")


def _status(value: Any) -> str:
    """Return the status: a text, or an object with value (NetBox) or name (Nautobot)."""
    if isinstance(value, dict):
        value = value.get("value") or value.get("name")
    return str(value or "").lower()


def _ends(row: dict[str, Any], side: str, number: int) -> list[_End]:
    listed = row.get(f"{side}_terminations")
    if listed is None:
        kind, what = row.get(f"termination_{side}_type"), row.get(f"termination_{side}")
        listed = [{"object_type": kind, "object": what}]
    found = []
    for entry in listed if isinstance(listed, list) else [None]:
        what = entry.get("object") if isinstance(entry, dict) else None
        device = what.get("device") if isinstance(what, dict) else None
        name = what.get("name") if isinstance(what, dict) else None
        owner = (device.get("name") or device.get("display")) if isinstance(device, dict) else None
        if not isinstance(name, str) or not isinstance(owner, str):
            raise InvalidPlant(
                f"/{number}", f"side {side} must name a port and its device (ask with depth 1)"
            )
        found.append(_End(owner, str((entry or {}).get("object_type")), name))
    return found


def _plant(cables: Iterable[tuple[_End, _End, str]], pointer: str) -> Plant:
    panels: dict[str, dict[str, None]] = {}
    hosts: dict[str, dict[str, dict[str, Any]]] = {}
    rows: dict[str, list[dict[str, Any]]] = {"trunks": [], "cross_connects": []}
    for number, (a, b, status) in enumerate(cables):
        if a.type == b.type == _INTERFACE:
            raise InvalidPlant(
                f"{pointer}/{number}", f"joins {a.device} {a.name} to a host, past every panel"
            )
        for end in (a, b):
            if end.type not in (*_PORTS, _INTERFACE):
                raise InvalidPlant(
                    f"{pointer}/{number}",
                    f"{end.device} {end.name} must be an interface, a front port or a rear port",
                )
            if end.type in _PORTS:
                panels.setdefault(end.device, {})[end.name] = None
        if _INTERFACE in (a.type, b.type):
            host, port = (a, b) if a.type == _INTERFACE else (b, a)
            lanes = hosts.setdefault(host.device, {}).setdefault(host.name, {"id": host.name})
            lanes.setdefault("at", []).append(f"{port.device}/{port.name}")
        elif a.device != b.device:
            rows["trunks"].append({"from": f"{a.device}/{a.name}", "to": f"{b.device}/{b.name}"})
        elif status not in _NOT_PLUGGED:
            rows["cross_connects"].append({"panel": a.device, "a": a.name, "b": b.name})
    return read_plant(
        {
            "schema": "plant/1",
            "panels": [{"id": name, "ports": list(ports)} for name, ports in panels.items()],
            "hosts": [{"id": name, "ports": list(ports.values())} for name, ports in hosts.items()],
            **rows,
        }
    )
