"""SONiC-OCS: command lines, patches of CONFIG_DB (RFC 6902), and its fragment afterwards.

Ports are ``1A`` ... and ``1B`` ..., by their places from 1; a cross-connect is ``3A-12B``.
"""

import json
import re
from typing import Any

from synth.errors import InvalidWiring
from synth.wiring.devices.numbers import panel_blocks, sided
from synth.wiring.devices.script import Move, Script
from synth.wiring.plant import Kind, Pair, Plant, Present

__all__ = ["read_config", "read_lines", "read_patches", "write_config", "write_lines"]
__all__ += ["write_patches"]

TABLE = "OCS_CROSS_CONNECT"
_LINE = re.compile(r"config ocs cross-connect (add|delete) ([0-9A-Z-]+)( update)?")
_KEY = re.compile(r"([1-9][0-9]{0,6})A-([1-9][0-9]{0,6})B")


def _key(pair: Pair) -> str:
    return f"{pair.a + 1}A-{pair.b + 1}B"


def _pair(plant: Plant, panel: int, key: str, where: str) -> Pair:
    match = _KEY.fullmatch(key)
    row = plant.panels[panel]
    if match is None:
        raise InvalidWiring(where, f"must be a cross-connect such as 3A-12B, not {key[:40]!r}")
    pair = Pair(panel, int(match[1]) - 1, int(match[2]) - 1)
    if row.one_sided or pair.a >= len(row.a) or pair.b >= len(row.b):
        raise InvalidWiring(where, f"{row.id} has no pair {key}")
    return pair


def write_lines(script: Script) -> str:
    """Return the commands of every panel and stage: deletes, adds, then one that saves."""
    sided(script, "SONiC-OCS")
    lines: list[str] = []
    for panel in script.panels:
        for number, step in script.of_panel(panel):
            lines.append(f"# panel {script.plant.panels[panel].id}, stage {number}")
            lines += [f"config ocs cross-connect delete {_key(pair)}" for pair in step.removes]
            lines += [f"config ocs cross-connect add {_key(pair)} update" for pair in step.adds]
            lines.append("config save -y")
    return "\n".join(lines) + "\n" if lines else ""


def read_lines(text: str, plant: Plant) -> tuple[Move, ...]:
    """Return the moves that such commands make."""
    moves = []
    for panel, stage, line, where in panel_blocks(text, plant):
        if line == "config save -y":
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise InvalidWiring(where, f"is no command of cross-connects: {line[:60]!r}")
        moves.append(Move(stage, match[1] == "add", _pair(plant, panel, match[2], where)))
    return tuple(moves)


def write_patches(script: Script) -> str:
    """Return JSON Patches by panel and stage, which a changed device refuses.

    Each tests what it removes, removes before it adds, and makes or removes the whole table
    where it was or will be empty.
    """
    sided(script, "SONiC-OCS")
    rows: list[dict[str, Any]] = []
    plugged = set(script.base.pairs)
    for number, step in enumerate(script.steps, start=1):
        for panel in script.panels:
            here = {pair for pair in plugged if pair.panel == panel}
            removes = [pair for pair in step.removes if pair.panel == panel]
            adds = [pair for pair in step.adds if pair.panel == panel]
            if removes or adds:
                patch = _patch(here, removes, adds)
                device = script.plant.panels[panel].id
                rows.append({"device": device, "stage": number, "patch": patch})
        plugged = plugged - set(step.removes) | set(step.adds)
    return json.dumps(rows, indent=1)


def _patch(here: set[Pair], removes: list[Pair], adds: list[Pair]) -> list[dict[str, Any]]:
    patch: list[dict[str, Any]] = []
    for pair in removes:
        place = f"/{TABLE}/{_key(pair)}"
        patch.append({"op": "test", "path": f"{place}/b_side", "value": f"{pair.b + 1}B"})
    if not here:
        patch.append({"op": "add", "path": f"/{TABLE}", "value": {}})
    patch += [{"op": "remove", "path": f"/{TABLE}/{_key(pair)}"} for pair in removes]
    for pair in adds:
        value = {"a_side": f"{pair.a + 1}A", "b_side": f"{pair.b + 1}B"}
        patch.append({"op": "add", "path": f"/{TABLE}/{_key(pair)}", "value": value})
    if not adds and here == set(removes):
        patch.append({"op": "remove", "path": f"/{TABLE}"})
    return patch


def read_patches(text: str, plant: Plant) -> tuple[Move, ...]:
    """Return the moves that such patches make, in their order."""
    moves = []
    for index, row in enumerate(_json(text, list)):
        where = f"/{index}"
        try:
            panel = plant.panel_index[row["device"]]
            for op in row["patch"]:
                key = op["path"].removeprefix(f"/{TABLE}/")
                if op["op"] in ("remove", "add") and key != f"/{TABLE}":
                    pair = _pair(plant, panel, key, where)
                    moves.append(Move(row["stage"], op["op"] == "add", pair))
        except (KeyError, TypeError, AttributeError):
            raise InvalidWiring(where, "must have device, stage and patch") from None
    return tuple(moves)


def write_config(script: Script) -> str:
    """Return the CONFIG_DB fragment of every panel after the plan, by panel."""
    sided(script, "SONiC-OCS")
    fragments: dict[str, dict[str, Any]] = {
        panel.id: {TABLE: {}}
        for panel in script.plant.panels
        if not panel.one_sided and panel.kind is not Kind.SHUFFLE
    }
    for pair in script.final.pairs:
        panel = script.plant.panels[pair.panel]
        if not panel.one_sided:
            fragments[panel.id][TABLE][_key(pair)] = {
                "a_side": f"{pair.a + 1}A",
                "b_side": f"{pair.b + 1}B",
            }
    return json.dumps(fragments, indent=1)


def read_config(text: str, plant: Plant) -> Present:
    """Return the pairs of CONFIG_DB fragments by panel."""
    pairs = []
    for device, tables in _json(text, dict).items():
        where = "/" + device.replace("~", "~0").replace("/", "~1")
        if device not in plant.panel_index or not isinstance(tables, dict):
            raise InvalidWiring(where, "must be a panel with its tables")
        rows = tables.get(TABLE, {})
        if not isinstance(rows, dict):
            raise InvalidWiring(f"{where}/{TABLE}", "must be a table")
        panel = plant.panel_index[device]
        pairs += [_pair(plant, panel, key, f"{where}/{TABLE}/{key}") for key in rows]
    return Present.of(pairs)


def _json(text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidWiring("", f"must be JSON: {error}") from None
    if not isinstance(value, kind):
        raise InvalidWiring("", f"must be a JSON {'array' if kind is list else 'object'}")
    return value
