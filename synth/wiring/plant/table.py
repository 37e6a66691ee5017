"""A plant as CSV: one row for every panel, cable, trunk, state and cross-connect."""

import csv
import io
from typing import Any

from synth.errors import InvalidPlant
from synth.wiring.plant.document import read_plant
from synth.wiring.plant.model import Plant
from synth.wiring.plant.writing import plant_document

__all__ = ["COLUMNS", "plant_csv", "read_plant_csv"]

COLUMNS = ("item", "panel", "port", "host", "host_port", "fibre", "to_panel", "to_port", "state")
COLUMNS += ("kind", "mode", "a", "b", "ports", "move_seconds", "at_once", "loss_db", "profile")
COLUMNS += ("place", "bundles")

_ITEMS = ("panel", "host", "cable", "trunk", "port", "pair")
_FIBRES = ("tx", "rx", "at")
Row = dict[str, Any]


def read_plant_csv(text: str) -> Plant:
    r"""Return the plant of a CSV table.

    ``item`` says what a row is.  *panel*: ``panel`` is its id, and ``a`` and ``b`` or
    ``ports`` are numbers of ports or their names with blanks between; a panel without such a
    row is manual and has the ports that cables and pairs name.  *cable*: fibre ``tx``,
    ``rx`` or ``at`` of ``host`` and ``host_port`` leads to ``panel`` and ``port``; several
    rows of one fibre are its lanes, in order; a state ``duplex`` makes tx and rx lead to one
    port.  *trunk* and *pair*: from ``port`` of ``panel`` to ``to_port`` (of ``to_panel``);
    state ``foreign`` for pairs of others.  *host* and *port*: their ``state``.

    Raises
    ------
    InvalidPlant
        Its field is ``/rows/N`` with N from 0 below the header, or a pointer into the
        plant/1 document that the table says.

    Examples
    --------
    >>> plant = read_plant_csv('''item,panel,port,host,host_port,fibre,to_port
    ... cable,p1,F1,h0,eth0,at,
    ... cable,p1,F2,h1,eth0,at,
    ... pair,p1,F1,,,,F2
    ... ''')
    >>> plant.panels[0].a, plant.present.pairs
    (('F1', 'F2'), (Pair(panel=0, a=0, b=1),))
    """
    rows = _rows(text)
    document: Row = {"schema": "plant/1", "trunks": [], "port_states": [], "cross_connects": []}
    panels: dict[str, Row] = {}
    hosts: dict[str, Row] = {}
    for number, row in enumerate(rows):
        field = f"/rows/{number}"
        item = row.get("item")
        if item not in _ITEMS:
            raise InvalidPlant(f"{field}/item", f"must be one of {', '.join(_ITEMS)}; not {item!r}")
        if item == "panel":
            name = _needed(row, "panel", field)
            if name in panels:
                raise InvalidPlant(f"{field}/panel", f"{name} has a row already")
            panels[name] = _panel(row, field)
        elif item == "host":
            _host(hosts, row, field)["state"] = _needed(row, "state", field)
        elif item == "cable":
            _cable(hosts, row, field)
        else:
            _between(document, row, field, item)
    _implied(panels, rows)
    document["panels"] = list(panels.values())
    document["hosts"] = [host | {"ports": list(host["ports"].values())} for host in hosts.values()]
    return read_plant(document)


def _rows(text: str) -> list[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        unknown = set(reader.fieldnames or ()) - set(COLUMNS)
        if unknown or "item" not in (reader.fieldnames or ()):
            what = f"has no column {min(unknown)!r}" if unknown else "must have a column 'item'"
            raise InvalidPlant("", f"{what}; there are {', '.join(COLUMNS)}")
        rows = list(reader)
    except csv.Error as error:
        raise InvalidPlant("", f"must be CSV: {error}") from None
    for number, row in enumerate(rows):
        if None in row:
            raise InvalidPlant(f"/rows/{number}", "has more cells than the header")
    return [{k: (v or "").strip() for k, v in row.items()} for row in rows]


def _needed(row: dict[str, str], column: str, field: str) -> str:
    if not row.get(column):
        raise InvalidPlant(f"{field}/{column}", f"must be given in a row of item {row['item']}")
    return row[column]


def _panel(row: dict[str, str], field: str) -> Row:
    found: Row = {"id": row["panel"]}
    for member in ("kind", "mode", "profile", "place"):
        if row.get(member):
            found[member] = row[member]
    for member in ("move_seconds", "loss_db"):
        if row.get(member):
            found[member] = row[member]
    if row.get("at_once"):
        if not row["at_once"].isascii() or not row["at_once"].isdigit():
            raise InvalidPlant(f"{field}/at_once", "must be an integer")
        found["at_once"] = int(row["at_once"][:9])
    if row.get("bundles"):
        counts = row["bundles"].split()
        if not all(count.isascii() and count.isdigit() for count in counts):
            raise InvalidPlant(f"{field}/bundles", "must be two integers with a blank between")
        found["bundles"] = [int(count[:9]) for count in counts]
    for member in ("a", "b", "ports"):
        value = row.get(member, "")
        if value.isascii() and value.isdigit():
            found[member] = int(value[:9])
        elif value:
            found[member] = value.split()
    return found


def _host(hosts: dict[str, Row], row: dict[str, str], field: str) -> Row:
    return hosts.setdefault(_needed(row, "host", field), {"id": row["host"], "ports": {}})


def _cable(hosts: dict[str, Row], row: dict[str, str], field: str) -> None:
    host = _host(hosts, row, field)
    name, fibre = _needed(row, "host_port", field), row.get("fibre")
    if fibre not in _FIBRES:
        raise InvalidPlant(f"{field}/fibre", f"must be one of {', '.join(_FIBRES)}; not {fibre!r}")
    port = host["ports"].setdefault(name, {"id": name})
    end = f"{_needed(row, 'panel', field)}/{_needed(row, 'port', field)}"
    port.setdefault(fibre, []).append(end)
    if row.get("state") == "duplex":
        port["duplex"] = True
    elif row.get("state"):
        port["state"] = row["state"]


def _between(document: Row, row: dict[str, str], field: str, item: str) -> None:
    panel, port = _needed(row, "panel", field), _needed(row, "port", field)
    if item == "port":
        document["port_states"].append(
            {"port": f"{panel}/{port}", "state": _needed(row, "state", field)}
        )
    elif item == "trunk":
        to = f"{_needed(row, 'to_panel', field)}/{_needed(row, 'to_port', field)}"
        loss = {"loss_db": row["loss_db"]} if row.get("loss_db") else {}
        document["trunks"].append({"from": f"{panel}/{port}", "to": to} | loss)
    else:
        if row.get("to_panel") not in (None, "", panel):
            raise InvalidPlant(f"{field}/to_panel", f"a pair stays within its panel, {panel}")
        if row.get("state") not in (None, "", "foreign"):
            raise InvalidPlant(f"{field}/state", "of a pair must be foreign, or empty")
        pair: Row = {"panel": panel, "a": port, "b": _needed(row, "to_port", field)}
        document["cross_connects"].append(
            pair | ({"foreign": True} if row.get("state") == "foreign" else {})
        )


def _implied(panels: dict[str, Row], rows: list[dict[str, str]]) -> None:
    """Add the panels that have no row, with the ports that the table names."""
    named: dict[str, dict[str, dict[str, None]]] = {}

    def note(panel: str, side: str, port: str) -> None:
        if panel and port and panel not in stated:
            named.setdefault(panel, {"A": {}, "B": {}, "": {}})[side][port] = None

    stated = set(panels)
    one_way = {row["panel"] for row in rows if row.get("fibre") in ("tx", "rx")}
    for row in rows:
        panel, item = row.get("panel", ""), row["item"]
        sided = panel in one_way
        if item == "cable":
            note(panel, {"tx": "A", "rx": "B"}.get(row["fibre"], ""), row["port"])
        elif item == "pair":
            note(panel, "A" if sided else "", row["port"])
            note(panel, "B" if sided else "", row.get("to_port", ""))
        elif item == "trunk":
            note(panel, "B" if sided else "", row["port"])
            there = row.get("to_panel", "")
            note(there, "A" if there in one_way else "", row.get("to_port", ""))
    for panel, sides in named.items():
        if panel in one_way:
            panels[panel] = {"id": panel, "a": list(sides["A"]), "b": list(sides["B"])}
        else:
            panels[panel] = {"id": panel, "ports": list(sides[""])}


def plant_csv(plant: Plant) -> str:
    """Return a plant as such a table; `read_plant_csv` gives it back, name and budget aside."""
    document = plant_document(plant)
    out = io.StringIO(newline="")
    writer: csv.DictWriter[str] = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for panel in document["panels"]:
        row = {name: value for name, value in panel.items() if name != "id"}
        for side in ("a", "b", "ports"):
            if isinstance(row.get(side), list):
                row[side] = " ".join(row[side])
        if "bundles" in row:
            row["bundles"] = " ".join(map(str, row["bundles"]))
        writer.writerow({"item": "panel", "panel": panel["id"], **row})
    for host in plant.hosts:
        if host.state.value != "free" or not any(port.fibres for port in host.ports):
            writer.writerow({"item": "host", "host": host.id, "state": host.state.value})
        for port in host.ports:
            both = bool(port.tx) and port.tx == port.rx
            sides = [("at", port.tx)] if both else [("tx", port.tx), ("rx", port.rx)]
            state = "duplex" if port.duplex and not both else port.state.value
            for fibre, ends in sides:
                for end in ends:
                    writer.writerow(
                        {
                            "item": "cable",
                            "panel": plant.panels[end.panel].id,
                            "port": plant.port_name(end),
                            "host": host.id,
                            "host_port": port.id,
                            "fibre": fibre,
                            "state": "" if state == "free" else state,
                        }
                    )
    for trunk in plant.trunks:
        ends = {"panel": plant.panels[trunk.source.panel].id, "port": plant.port_name(trunk.source)}
        ends |= {"to_panel": plant.panels[trunk.target.panel].id}
        ends |= {"to_port": plant.port_name(trunk.target)}
        writer.writerow({"item": "trunk", **ends, "loss_db": float(trunk.loss_db)})
    for port, state in plant.states.items():
        here = {"panel": plant.panels[port.panel].id, "port": plant.port_name(port)}
        writer.writerow({"item": "port", **here, "state": state.value})
    for pair in document["cross_connects"]:
        state = "foreign" if pair.get("foreign") else ""
        row = {"panel": pair["panel"], "port": pair["a"], "to_port": pair["b"], "state": state}
        writer.writerow({"item": "pair", **row})
    return out.getvalue()
