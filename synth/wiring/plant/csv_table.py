"""A plant as CSV: one row for every panel, cable, trunk, state and cross-connect."""

from collections.abc import Mapping
from typing import Any

from topoloom.synth.errors import InvalidPlant, quoted
from topoloom.synth.wiring.plant.csv_rows import Origin, named_origin, read_header, read_rows
from topoloom.synth.wiring.plant.csv_rows import Row as CsvRow
from topoloom.synth.wiring.plant.document_reader import read_plant
from topoloom.synth.wiring.plant.model import Plant

COLUMNS = ("item", "panel", "port", "host", "host_port", "fibre", "to_panel", "to_port", "state")
COLUMNS += ("kind", "mode", "a", "b", "ports", "move_seconds", "at_once", "loss_db", "profile")
COLUMNS += ("place", "bundles")

_ITEMS = ("panel", "host", "cable", "trunk", "port", "pair")
_FIBRES = ("tx", "rx", "at")
Row = dict[str, Any]
Cells = Mapping[str, str]


def read_plant_csv(text: str) -> Plant:
    r"""Return the plant of a CSV table.

    ``item`` is the kind of a row.  *panel*: ``panel`` is its id, and ``a`` and ``b`` or
    ``ports`` are numbers of ports or their names with blanks between; a panel without such a
    row is manual and has the ports that cables and pairs name.  *cable*: fibre ``tx``,
    ``rx`` or ``at`` of ``host`` and ``host_port`` leads to ``panel`` and ``port``; several
    rows of one fibre are its lanes, in order; a state ``duplex`` makes tx and rx lead to one
    port.  *trunk* and *pair*: from ``port`` of ``panel`` to ``to_port`` (of ``to_panel``);
    state ``foreign`` for pairs of others.  *host* and *port*: their ``state``.

    Raises:
        InvalidPlant: Its field is ``/rows/N`` with N from 0 below the header, and its rule ends
            with the line; or its field is a pointer into the plant/1 document of the table.

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
    origins: dict[str, Origin] = {}
    for number, (line, row) in enumerate(rows):
        origins[f"/rows/{number}"] = origin = Origin(f"/rows/{number}", line)
        with named_origin(origins):
            parts = _add(document, panels, hosts, row, origin.place)
        for part in parts:
            origins.setdefault(part, origin)
    _implied(panels, [row.cells for row in rows])
    document["panels"] = list(panels.values())
    document["hosts"] = [
        {name: host[name] for name in ("id", "state") if name in host}
        | {"ports": list(host["ports"].values())}
        for host in hosts.values()
    ]
    with named_origin(origins):
        return read_plant(document)


def _add(
    document: Row, panels: dict[str, Row], hosts: dict[str, Row], row: Cells, field: str
) -> tuple[str, ...]:
    """Add the parts of a row; return their JSON pointers."""
    item = row["item"]
    if item not in _ITEMS:
        raise InvalidPlant(
            f"{field}/item", f"must be one of {', '.join(_ITEMS)}; not {quoted(item)}"
        )
    if item == "panel":
        name = _needed(row, "panel", field)
        if name in panels:
            raise InvalidPlant(f"{field}/panel", f"{name} has a row already")
        panels[name] = _panel(row, field)
        return (f"/panels/{len(panels) - 1}",)
    if item == "host":
        host = _host(hosts, row, field)
        host["state"] = _needed(row, "state", field)
        return f"/hosts/{host['number']}/state", f"/hosts/{host['number']}"
    if item == "cable":
        return _cable(hosts, row, field)
    return (_between(document, row, field, item),)


def _rows(text: str) -> list[CsvRow]:
    columns = read_header(text)
    unknown = sorted(set(columns) - set(COLUMNS))
    if unknown or "item" not in columns:
        what = f"has no column {unknown[0][:50]!r}" if unknown else "must have a column 'item'"
        raise InvalidPlant("", f"{what}; there are {', '.join(COLUMNS)}")
    return read_rows(text)


def _needed(row: Cells, column: str, field: str) -> str:
    if not row.get(column):
        raise InvalidPlant(f"{field}/{column}", f"must be given in a row of item {row['item']}")
    return row[column]


def _panel(row: Cells, field: str) -> Row:
    found: Row = {"id": row["panel"]}
    for member in ("kind", "mode", "profile", "place", "move_seconds", "loss_db"):
        if row.get(member):
            found[member] = row[member]
    if row.get("at_once"):
        found["at_once"] = _whole(row["at_once"], f"{field}/at_once")
    if row.get("bundles"):
        found["bundles"] = [_whole(one, f"{field}/bundles") for one in row["bundles"].split()]
    for member in ("a", "b", "ports"):
        value = row.get(member, "")
        if value.isascii() and value.isdigit():
            found[member] = _whole(value, f"{field}/{member}")
        elif value:
            found[member] = value.split()
    return found


def _whole(text: str, field: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InvalidPlant(field, "must be an integer of at most 9 digits")
    return int(text)


def _host(hosts: dict[str, Row], row: Cells, field: str) -> Row:
    name = _needed(row, "host", field)
    return hosts.setdefault(name, {"id": name, "ports": {}, "number": len(hosts)})


def _cable(hosts: dict[str, Row], row: Cells, field: str) -> tuple[str, ...]:
    host = _host(hosts, row, field)
    name, fibre = _needed(row, "host_port", field), row.get("fibre")
    if fibre not in _FIBRES:
        raise InvalidPlant(
            f"{field}/fibre", f"must be one of {', '.join(_FIBRES)}; not {quoted(fibre)}"
        )
    port = host["ports"].setdefault(name, {"id": name})
    lanes = port.setdefault(fibre, [])
    lanes.append(f"{_needed(row, 'panel', field)}/{_needed(row, 'port', field)}")
    if row.get("state") == "duplex":
        port["duplex"] = True
    elif row.get("state"):
        port["state"] = row["state"]
    there = f"/hosts/{host['number']}"
    inside = f"{there}/ports/{list(host['ports']).index(name)}"
    return f"{inside}/{fibre}/{len(lanes) - 1}", inside, there


def _between(document: Row, row: Cells, field: str, item: str) -> str:
    panel, port = _needed(row, "panel", field), _needed(row, "port", field)
    part: Row
    if item == "port":
        member = "port_states"
        part = {"port": f"{panel}/{port}", "state": _needed(row, "state", field)}
    elif item == "trunk":
        member = "trunks"
        to = f"{_needed(row, 'to_panel', field)}/{_needed(row, 'to_port', field)}"
        loss = {"loss_db": row["loss_db"]} if row.get("loss_db") else {}
        part = {"from": f"{panel}/{port}", "to": to} | loss
    else:
        member = "cross_connects"
        if row.get("to_panel") not in (None, "", panel):
            raise InvalidPlant(f"{field}/to_panel", f"a pair stays within its panel, {panel}")
        if row.get("state") not in (None, "", "foreign"):
            raise InvalidPlant(f"{field}/state", "of a pair must be foreign, or empty")
        part = {"panel": panel, "a": port, "b": _needed(row, "to_port", field)}
        part |= {"foreign": True} if row.get("state") == "foreign" else {}
    document[member].append(part)
    return f"/{member}/{len(document[member]) - 1}"


def _implied(panels: dict[str, Row], rows: list[Cells]) -> None:
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
