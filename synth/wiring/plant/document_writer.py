"""plant/1: the plant as JSON values, written; and its identity."""

import hashlib
import json
from fractions import Fraction
from typing import Any

from topoloom.synth.wiring.plant.model import Plant
from topoloom.synth.wiring.plant.parts import HostPort, Panel
from topoloom.synth.wiring.plant.ports import Pair, Port


def plant_document(plant: Plant) -> dict[str, Any]:
    """Return the plant/1 document (JSON types only); `read_plant` gives the plant back.

    Members with default values are omitted.

    >>> from topoloom.synth.wiring.plant import read_plant, uniform
    >>> read_plant(plant_document(uniform("single", 2, 1))).panels[0].a
    ('0A', '1A')
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
    if plant.assumed:
        document["assumed"] = [one.to_document() for one in plant.assumed]
    return document


def plant_digest(plant: Plant) -> str:
    """Return the identity of a plant without its plugged pairs: ``sha256:`` of canonical JSON."""
    document = plant_document(plant)
    for member in ("name", "cross_connects", "assumed"):
        document.pop(member, None)
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
    if panel.bundles:
        row["bundles"] = [panel.bundles, len(panel.a) // panel.bundles]
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
