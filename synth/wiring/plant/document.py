"""plant/1: the plant as JSON values, read and written.

``docs/plant.md`` describes it member by member, with its JSON Schema.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from synth.errors import InvalidPlant
from synth.wiring.plant.check import check_panels
from synth.wiring.plant.model import Plant
from synth.wiring.plant.parts import Host, HostPort, Kind, Mode, Panel, State, Trunk
from synth.wiring.plant.ports import Pair, Port, Present, Side

__all__ = ["MOST_ROWS", "plant_digest", "plant_document", "read_plant"]

MOST_ROWS = 1 << 18
"""Most entries of one list of a document."""

_E = TypeVar("_E", bound=StrEnum)
_T = TypeVar("_T")

_PLANT = {"schema", "name", "link_budget_db", "panels", "hosts", "trunks", "port_states"}
_PLANT |= {"cross_connects"}
_PANEL = {"id", "kind", "mode", "a", "b", "ports", "first", "move_seconds", "at_once", "loss_db"}
_PANEL |= {"profile", "place"}
_HOST, _PORT = {"id", "ports", "state"}, {"id", "tx", "rx", "at", "duplex", "state"}
_TRUNK, _STATE = {"from", "to", "loss_db"}, {"port", "state"}
_PAIR = {"panel", "a", "b", "foreign"}


def read_plant(document: Any) -> Plant:
    """Return the plant of a plant/1 document.

    Raises
    ------
    InvalidPlant
        With a JSON pointer into ``document``; unknown members are refused too.

    Examples
    --------
    >>> plant = read_plant({
    ...     "schema": "plant/1",
    ...     "panels": [{"id": "ocs-1", "kind": "switch", "mode": "bidirectional", "ports": 4}],
    ...     "hosts": [{"id": "h0", "ports": [{"id": "p", "at": "ocs-1/0"}]},
    ...               {"id": "h1", "ports": [{"id": "p", "at": "ocs-1/3"}]}],
    ...     "cross_connects": [{"panel": "ocs-1", "a": "0", "b": "3"}],
    ... })
    >>> plant.present.pairs, plant.hosts_of(plant.present.pairs[0])
    ((Pair(panel=0, a=0, b=3),), (0, 1))
    >>> read_plant(plant_document(plant)) == plant
    True
    """
    row = _object(document, "", _PLANT)
    if row.get("schema") != "plant/1":
        raise InvalidPlant("/schema", 'must be "plant/1"')
    panels = tuple(_each(row, "panels", "", _panel))
    check_panels(panels)
    place = _Places(panels)
    hosts = tuple(_each(row, "hosts", "", lambda r, f: _host(r, f, place)))
    trunks = tuple(_each(row, "trunks", "", lambda r, f: _trunk(r, f, place)))
    states = dict(_each(row, "port_states", "", lambda r, f: _state(r, f, place)))
    pairs = list(_each(row, "cross_connects", "", lambda r, f: _pair(r, f, place)))
    _require_single(panels, [pair for pair, _ in pairs])
    budget = row.get("link_budget_db")
    return Plant(
        panels,
        hosts,
        trunks,
        states,
        Present.of((pair for pair, _ in pairs), (pair for pair, foreign in pairs if foreign)),
        None if budget is None else _number(row, "link_budget_db", ""),
        _text(row, "name", "", default=""),
    )


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


class _Places:
    """Finds ports by what documents call them: ``panel/port``."""

    def __init__(self, panels: Iterable[Panel]) -> None:
        self.panels = tuple(panels)
        self._number = {panel.id: number for number, panel in enumerate(self.panels)}
        self._ports = [
            {name: (side, index) for side, row in ((Side.A, panel.a), (Side.B, panel.b))
             for index, name in enumerate(row)}
            for panel in self.panels
        ]  # fmt: skip

    def panel(self, name: Any, field: str) -> int:
        if not isinstance(name, str) or name not in self._number:
            raise InvalidPlant(field, f"there is no panel {name!r}")
        return self._number[name]

    def port_on(self, panel: int, name: Any, field: str) -> Port:
        found = self._ports[panel].get(str(name) if isinstance(name, int) else name)
        if found is None:
            raise InvalidPlant(field, f"{self.panels[panel].id} has no port {name!r}")
        return Port(panel, *found)

    def port(self, text: Any, field: str) -> Port:
        """Return the port of ``panel/port``; either part may hold slashes itself."""
        if not isinstance(text, str) or "/" not in text:
            raise InvalidPlant(field, f'must be a port, written "panel/port"; not {text!r}')
        known = []
        for cut in (match.start() for match in re.finditer("/", text)):
            panel = self._number.get(text[:cut])
            if panel is not None:
                known.append(text[:cut])
                if text[cut + 1 :] in self._ports[panel]:
                    return Port(panel, *self._ports[panel][text[cut + 1 :]])
        if known:
            raise InvalidPlant(field, f"{known[-1]} has no port {text[len(known[-1]) + 1 :]!r}")
        raise InvalidPlant(field, f"there is no panel of the port {text!r}")


def _panel(row: Any, field: str) -> Panel:
    row = _object(row, field, _PANEL)
    first = row.get("first", 0)
    if isinstance(first, bool) or first not in (0, 1):
        raise InvalidPlant(f"{field}/first", "must be 0 or 1, the number of the first port")
    name = _text(row, "id", field)
    if "ports" in row:
        if "a" in row or "b" in row:
            raise InvalidPlant(f"{field}/ports", f"{name} has either ports, or sides a and b")
        a, b = _port_names(row, "ports", field, "", first), ()
        default = Mode.BIDIRECTIONAL
    else:
        a = _port_names(row, "a", field, "A", first)
        b = _port_names(row, "b", field, "B", first)
        default = Mode.DIRECTED
    at_once = row.get("at_once", 1)
    if isinstance(at_once, bool) or not isinstance(at_once, int):
        raise InvalidPlant(
            f"{field}/at_once", "must be an integer, how many moves are made at a time"
        )
    return Panel(
        name,
        a,
        b,
        _word(row, "kind", field, Kind, Kind.MANUAL),
        _word(row, "mode", field, Mode, default),
        _number(row, "move_seconds", field),
        at_once,
        _number(row, "loss_db", field),
        _text(row, "profile", field, default=""),
        _text(row, "place", field, default=""),
    )


def _port_names(
    row: dict[str, Any], member: str, field: str, side: str, first: int
) -> tuple[str, ...]:
    value = row.get(member)
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_ROWS:
        return tuple(f"{number}{side}" for number in range(first, first + value))
    if isinstance(value, list) and value and all(isinstance(v, str | int) for v in value):
        return tuple(map(str, value))
    raise InvalidPlant(f"{field}/{member}", "must be a number of ports, or a list of their names")


def _host(row: Any, field: str, place: _Places) -> Host:
    row = _object(row, field, _HOST)
    return Host(
        _text(row, "id", field),
        tuple(_each(row, "ports", field, lambda r, f: _host_port(r, f, place))),
        _word(row, "state", field, State, State.FREE),
    )


def _host_port(row: Any, field: str, place: _Places) -> HostPort:
    row = _object(row, field, _PORT)
    name = _text(row, "id", field)
    state = _word(row, "state", field, State, State.FREE)
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


def _ports(row: dict[str, Any], member: str, field: str, place: _Places) -> tuple[Port, ...]:
    value = row.get(member, [])
    listed = value if isinstance(value, list) else [value]
    return tuple(place.port(text, f"{field}/{member}/{i}") for i, text in enumerate(listed))


def _trunk(row: Any, field: str, place: _Places) -> Trunk:
    row = _object(row, field, _TRUNK)
    return Trunk(
        place.port(row.get("from"), f"{field}/from"),
        place.port(row.get("to"), f"{field}/to"),
        _number(row, "loss_db", field),
    )


def _state(row: Any, field: str, place: _Places) -> tuple[Port, State]:
    row = _object(row, field, _STATE)
    state = _word(row, "state", field, State, State.FREE)
    return place.port(row.get("port"), f"{field}/port"), state


def _pair(row: Any, field: str, place: _Places) -> tuple[Pair, bool]:
    row = _object(row, field, _PAIR)
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


def _object(value: Any, field: str, members: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidPlant(field, f"must be an object with {', '.join(sorted(members))}")
    for name in value:
        if name not in members:
            raise InvalidPlant(
                f"{field}/{name}", f"is unknown; there are {', '.join(sorted(members))}"
            )
    return value


def _each(
    row: dict[str, Any], member: str, field: str, read: Callable[[Any, str], _T]
) -> Iterable[_T]:
    value = row.get(member, [])
    if not isinstance(value, list) or len(value) > MOST_ROWS:
        raise InvalidPlant(f"{field}/{member}", f"must be a list of at most {MOST_ROWS}")
    return (read(entry, f"{field}/{member}/{number}") for number, entry in enumerate(value))


def _text(row: dict[str, Any], member: str, field: str, default: str | None = None) -> str:
    value = row.get(member, default)
    # YAML reads a bare 7 as a number; as a name it is meant as it is written.
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > 200:
        raise InvalidPlant(f"{field}/{member}", "must be a text of at most 200 characters")
    return value


def _word(row: dict[str, Any], member: str, field: str, words: type[_E], default: _E) -> _E:
    value = row.get(member, default.value)
    if value not in [word.value for word in words]:
        raise InvalidPlant(f"{field}/{member}", f"must be one of {', '.join(words)}")
    return words(value)


def _number(row: dict[str, Any], member: str, field: str) -> Fraction:
    value = row.get(member, 0)
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(
        r"[0-9]{1,9}(\.[0-9]{1,9})?(e-?[0-9]{1,2})?", text
    ):
        raise InvalidPlant(f"{field}/{member}", "must be a number, not negative")
    return Fraction(text)


def plant_document(plant: Plant) -> dict[str, Any]:
    """Return the plant/1 document (JSON types only); `read_plant` gives the plant back.

    What has its default is left out.
    """
    document: dict[str, Any] = {"schema": "plant/1", "name": plant.name}
    if plant.budget_db is not None:
        document["link_budget_db"] = _plain(plant.budget_db)
    document["panels"] = [_panel_row(panel) for panel in plant.panels]
    document["hosts"] = [
        _but_defaults(
            {
                "id": host.id,
                "state": host.state.value,
                "ports": [_port_row(plant, port) for port in host.ports],
            }
        )
        for host in plant.hosts
    ]
    document["trunks"] = [
        {
            "from": plant.full_name(trunk.source),
            "to": plant.full_name(trunk.target),
            "loss_db": _plain(trunk.loss_db),
        }
        for trunk in plant.trunks
    ]
    document["port_states"] = [
        {"port": plant.full_name(port), "state": state.value}
        for port, state in plant.states.items()
    ]
    document["cross_connects"] = [_pair_row(plant, pair) for pair in plant.present.pairs]
    return document


def plant_digest(plant: Plant) -> str:
    """Return the identity of a plant, what is plugged aside: ``sha256:`` of canonical JSON."""
    document = plant_document(plant)
    for member in ("name", "cross_connects"):
        del document[member]
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _panel_row(panel: Panel) -> dict[str, Any]:
    row: dict[str, Any] = {"id": panel.id, "kind": panel.kind.value, "mode": panel.mode.value}
    sides = (("ports", panel.a, ""),) if panel.one_sided else ()
    for member, names, side in sides or (("a", panel.a, "A"), ("b", panel.b, "B")):
        counted = tuple(f"{number}{side}" for number in range(len(names)))
        row[member] = len(names) if names == counted else list(names)
    row |= {"move_seconds": _plain(panel.move_seconds), "at_once": panel.at_once}
    row |= {"loss_db": _plain(panel.loss_db), "profile": panel.profile, "place": panel.place}
    return _but_defaults(row)


def _port_row(plant: Plant, port: HostPort) -> dict[str, Any]:
    def names(ends: tuple[Port, ...]) -> str | list[str]:
        found = [plant.full_name(end) for end in ends]
        return found[0] if len(found) == 1 else found

    row: dict[str, Any] = {"id": port.id, "state": port.state.value}
    if port.tx and port.tx == port.rx:
        row["at"] = names(port.tx)
    else:
        row |= {"tx": names(port.tx), "rx": names(port.rx)}
        row |= {"duplex": True} if port.duplex else {}
    return _but_defaults(row)


def _pair_row(plant: Plant, pair: Pair) -> dict[str, Any]:
    one, other = plant.ends(pair)
    row = {
        "panel": plant.panels[pair.panel].id,
        "a": plant.port_name(one),
        "b": plant.port_name(other),
    }
    return row | ({"foreign": True} if pair in plant.present.foreign else {})


_DEFAULTS = {"state": "free", "move_seconds": 0, "at_once": 1, "loss_db": 0, "profile": ""}
_DEFAULTS |= {"place": "", "tx": [], "rx": []}


def _but_defaults(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if _DEFAULTS.get(name, row) != value}


def _plain(number: Fraction) -> int | float:
    """Return a number as JSON has it; decimal texts of up to 9 places come back exactly."""
    return int(number) if number.denominator == 1 else float(number)
