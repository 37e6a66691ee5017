"""plant/1: the plant as JSON values, read.

``docs/reference/plant.md`` describes it member by member, with its JSON Schema.
"""

from typing import Any

from topoloom.synth.errors import InvalidPlant, InvalidTopology
from topoloom.synth.topology.assumptions import Assumption, assumptions_from_document
from topoloom.synth.wiring.plant.json_fields import (
    MOST_ROWS,
    read_each,
    read_number,
    read_object,
    read_text,
    read_word,
)
from topoloom.synth.wiring.plant.model import Plant
from topoloom.synth.wiring.plant.parts import Host, HostPort, Kind, Mode, Panel, State, Trunk
from topoloom.synth.wiring.plant.port_lookup import Places
from topoloom.synth.wiring.plant.ports import Pair, Port, Present, Side
from topoloom.synth.wiring.plant.validation import check_panels

_PLANT = {"schema", "name", "link_budget_db", "panels", "hosts", "trunks", "port_states"}
_PLANT |= {"cross_connects", "assumed"}
_PANEL = {"id", "kind", "mode", "a", "b", "ports", "first", "move_seconds", "at_once", "loss_db"}
_PANEL |= {"profile", "place", "bundles"}
_HOST, _PORT = {"id", "ports", "state"}, {"id", "tx", "rx", "at", "duplex", "state"}
_TRUNK, _STATE = {"from", "to", "loss_db"}, {"port", "state"}
_PAIR = {"panel", "a", "b", "foreign"}


def read_plant(document: Any) -> Plant:
    """Return the plant of a plant/1 document.

    Raises:
        InvalidPlant: With a JSON pointer into ``document``; unknown members are refused too.

    >>> plant = read_plant({
    ...     "schema": "plant/1",
    ...     "panels": [{"id": "ocs-1", "kind": "switch", "mode": "bidirectional", "ports": 4}],
    ...     "hosts": [{"id": "h0", "ports": [{"id": "p", "at": "ocs-1/0"}]},
    ...               {"id": "h1", "ports": [{"id": "p", "at": "ocs-1/3"}]}],
    ...     "cross_connects": [{"panel": "ocs-1", "a": "0", "b": "3"}],
    ... })
    >>> plant.present.pairs, plant.hosts_of(plant.present.pairs[0])
    ((Pair(panel=0, a=0, b=3),), (0, 1))
    """
    if isinstance(document, dict) and document.get("schema") != "plant/1":
        raise InvalidPlant("/schema", 'must be "plant/1"')
    row = read_object(document, "", _PLANT)
    panels = tuple(read_each(row, "panels", "", _panel))
    check_panels(panels)
    place = Places(panels)
    hosts = tuple(read_each(row, "hosts", "", lambda r, f: _host(r, f, place)))
    trunks = tuple(read_each(row, "trunks", "", lambda r, f: _trunk(r, f, place)))
    states = dict(read_each(row, "port_states", "", lambda r, f: _state(r, f, place)))
    pairs = list(read_each(row, "cross_connects", "", lambda r, f: _pair(r, f, place)))
    _require_single(panels, [pair for pair, _ in pairs])
    budget = row.get("link_budget_db")
    return Plant(
        panels,
        hosts,
        trunks,
        states,
        Present.of((pair for pair, _ in pairs), (pair for pair, foreign in pairs if foreign)),
        None if budget is None else read_number(row, "link_budget_db", ""),
        read_text(row, "name", "", default=""),
        assumed=_assumed(row.get("assumed", [])),
    )


def _assumed(value: Any) -> tuple[Assumption, ...]:
    try:
        return assumptions_from_document(value)
    except InvalidTopology as error:
        raise InvalidPlant(error.field, error.rule) from None


def _require_single(panels: tuple[Panel, ...], pairs: list[Pair]) -> None:
    """Find two rows that join the same port before they are sorted, for the pointer's sake."""
    seen: dict[Port, int] = {}
    for number, pair in enumerate(pairs):
        panel = panels[pair.panel]
        for member, port in zip("ab", panel.ends(pair), strict=True):
            before = seen.setdefault(port, number)
            if before != number:
                raise InvalidPlant(
                    f"/cross_connects/{number}/{member}",
                    f"port {panel.names(port.side)[port.index]} of {panel.id} must be in one "
                    f"pair only; /cross_connects/{before} has it",
                )


def _panel(row: Any, field: str) -> Panel:
    row = read_object(row, field, _PANEL)
    first = row.get("first", 0)
    if isinstance(first, bool) or first not in (0, 1):
        raise InvalidPlant(f"{field}/first", "must be 0 or 1, the number of the first port")
    name = read_text(row, "id", field)
    kind = read_word(row, "kind", field, Kind, Kind.MANUAL)
    bundles, fibres = _bundles(row, field) if "bundles" in row else (0, 0)
    if bundles and "ports" not in row:
        row = {"a": bundles * fibres, "b": bundles * fibres} | row
    if "ports" in row:
        if "a" in row or "b" in row:
            raise InvalidPlant(f"{field}/ports", f"{name} has either ports, or sides a and b")
        a, b = _port_names(row, "ports", field, "", first), ()
        default = Mode.BIDIRECTIONAL
    else:
        a = _port_names(row, "a", field, "A", first)
        b = _port_names(row, "b", field, "B", first)
        default = Mode.BIDIRECTIONAL if kind is Kind.SHUFFLE else Mode.DIRECTED
    if bundles and not len(a) == len(b) == bundles * fibres:
        raise InvalidPlant(
            f"{field}/bundles", f"must be of as many fibres as {name} has ports on each side"
        )
    at_once = row.get("at_once", 1)
    if isinstance(at_once, bool) or not isinstance(at_once, int):
        raise InvalidPlant(
            f"{field}/at_once", "must be an integer, how many moves are made at a time"
        )
    return Panel(
        name,
        a,
        b,
        kind,
        read_word(row, "mode", field, Mode, default),
        read_number(row, "move_seconds", field),
        at_once,
        read_number(row, "loss_db", field),
        read_text(row, "profile", field, default=""),
        read_text(row, "place", field, default=""),
        bundles,
    )


def _bundles(row: dict[str, Any], field: str) -> tuple[int, int]:
    """Return how many bundles a shuffle panel has on its sides."""
    value = row["bundles"]
    whole = isinstance(value, list) and len(value) == 2
    if not whole or not all(type(count) is int and 1 <= count <= MOST_ROWS for count in value):
        raise InvalidPlant(f"{field}/bundles", "must be two integers: bundles on side A, on side B")
    return value[0], value[1]


def _port_names(
    row: dict[str, Any], member: str, field: str, side: str, first: int
) -> tuple[str, ...]:
    value = row.get(member)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_ROWS:
        return tuple(f"{number}{side}" for number in range(first, first + value))
    if isinstance(value, list) and value and all(isinstance(v, str | int) for v in value):
        return tuple(map(str, value))
    raise InvalidPlant(f"{field}/{member}", "must be a number of ports, or a list of their names")


def _host(row: Any, field: str, place: Places) -> Host:
    row = read_object(row, field, _HOST)
    return Host(
        read_text(row, "id", field),
        tuple(read_each(row, "ports", field, lambda r, f: _host_port(r, f, place))),
        read_word(row, "state", field, State, State.FREE),
    )


def _host_port(row: Any, field: str, place: Places) -> HostPort:
    row = read_object(row, field, _PORT)
    name = read_text(row, "id", field)
    state = read_word(row, "state", field, State, State.FREE)
    duplex = row.get("duplex", "at" in row)
    if not isinstance(duplex, bool):
        raise InvalidPlant(f"{field}/duplex", "must be true or false")
    if "at" in row:
        if "tx" in row or "rx" in row:
            raise InvalidPlant(f"{field}/at", f"{name} has either at, or tx and rx")
        at = _ports(row, "at", field, place)
        return HostPort(name, at, at, duplex, state)
    return HostPort(
        name, _ports(row, "tx", field, place), _ports(row, "rx", field, place), duplex, state
    )


def _ports(row: dict[str, Any], member: str, field: str, place: Places) -> tuple[Port, ...]:
    value = row.get(member, [])
    listed = value if isinstance(value, list) else [value]
    return tuple(place.port(text, f"{field}/{member}/{i}") for i, text in enumerate(listed))


def _trunk(row: Any, field: str, place: Places) -> Trunk:
    row = read_object(row, field, _TRUNK)
    return Trunk(
        place.port(row.get("from"), f"{field}/from"),
        place.port(row.get("to"), f"{field}/to"),
        read_number(row, "loss_db", field),
    )


def _state(row: Any, field: str, place: Places) -> tuple[Port, State]:
    row = read_object(row, field, _STATE)
    state = read_word(row, "state", field, State, State.FREE)
    return place.port(row.get("port"), f"{field}/port"), state


def _pair(row: Any, field: str, place: Places) -> tuple[Pair, bool]:
    row = read_object(row, field, _PAIR)
    number = place.panel(row.get("panel"), f"{field}/panel")
    panel = place.panels[number]
    a = place.port_on(number, row.get("a"), f"{field}/a")
    b = place.port_on(number, row.get("b"), f"{field}/b")
    if a == b:
        raise InvalidPlant(f"{field}/b", f"must be another port of {panel.id} than a")
    if not panel.one_sided and a.side is b.side:
        raise InvalidPlant(f"{field}/b", f"must be on the other side of {panel.id} than a")
    if a.side is Side.B and panel.mode is Mode.DIRECTED:
        raise InvalidPlant(f"{field}/a", f"must be on side A of {panel.id}")
    foreign = row.get("foreign", False)
    if not isinstance(foreign, bool):
        raise InvalidPlant(f"{field}/foreign", "must be true or false")
    return panel.join(a, b), foreign
