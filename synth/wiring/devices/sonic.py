"""SONiC-OCS: command lines, patches of CONFIG_DB (RFC 6902), and its fragment afterwards.

Ports are ``1A`` ... and ``1B`` ..., by their places from 1; a cross-connect is ``3A-12B``, with
``a_side`` and ``b_side`` (sonic-net/sonic-mgmt, ``docs/testbed/README.testbed.NUT.L1.md``).

The patches rely on three facts: `config apply-patch` simulates a patch on the whole CONFIG_DB,
refuses a patch that leaves an empty table (sonic-net/sonic-utilities,
``generic_config_updater/generic_updater.py``), and first puts an empty table where the patch names
one that is missing (``generic_config_updater/main.py``, since pull request 4095).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.wiring.devices.device_report import Entry, Report, Verb, commands, whole_report
from topoloom.synth.wiring.devices.line_languages import Language
from topoloom.synth.wiring.devices.port_numbers import command_text, require_two_sides
from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plant import Kind, Pair, Plant

TABLE = "OCS_CROSS_CONNECT"
METADATA = "DEVICE_METADATA"
TUNED = "tuned"
"""Status of a side that carries light."""

MOST_TESTED = 250_000
"""Entries that the patches of a plan test in all: each patch has the table that it begins with."""
_KEY = re.compile(r"([1-9][0-9]{0,6})A-([1-9][0-9]{0,6})B")


def _key(pair: Pair) -> str:
    return f"{pair.a + 1}A-{pair.b + 1}B"


def _pair(plant: Plant, panel: int, key: str, where: str, sides: Any = None) -> Pair:
    """Return the pair of a key; the sides that an entry of the table states must agree."""
    match = _KEY.fullmatch(key)
    row = plant.panels[panel]
    if match is None:
        raise InvalidWiring(where, f"must be a cross-connect such as 3A-12B, not {key[:40]!r}")
    pair = Pair(panel, int(match[1]) - 1, int(match[2]) - 1)
    if row.one_sided or pair.a >= len(row.a) or pair.b >= len(row.b):
        raise InvalidWiring(where, f"{row.id} has no pair {key}")
    for name, side in _row(pair).items():
        found = sides.get(name, side) if isinstance(sides, dict) else side
        if found != side:
            raise InvalidWiring(where, f"states {name} {str(found)[:40]!r} for the pair {key}")
    return pair


def write_lines(script: Script) -> str:
    """Return the commands of every stage and panel: deletes, adds, then a save.

    Adds are ``safe``: the device refuses an add whose port has another cross-connect, and keeps
    the other.  ``update`` would remove the other (``test_configure_ocs_safe`` and
    ``test_configure_ocs_update``, tests of devices that were written for sonic-net/sonic-mgmt).
    """
    require_two_sides(script, "SONiC-OCS")
    return command_text(
        script,
        lambda _, step: [
            *(f"config ocs cross-connect delete {_key(pair)}" for pair in step.removes),
            *(f"config ocs cross-connect add {_key(pair)} safe" for pair in step.adds),
            "config save -y",
        ],
    )


def _read_row(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    dark = row[4] is not None and (row[4], row[5]) != (TUNED, TUNED)
    sides = {"a_side": row[2], "b_side": row[3]}
    yield Entry(where, Verb.PLUGGED, _pair(plant, panel, row[1], where, sides), dark)


def _read_command(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    verb = Verb.ADD if row[1] == "add" else Verb.REMOVE
    return (Entry(where, verb, _pair(plant, panel, key, where)) for key in row[2].split(","))


_ROW = re.compile(r"([0-9]+A-[0-9]+B) +([0-9]+A) +([0-9]+B)(?: +(\S+) +(\S+))?")
_HEADER = re.compile(r"id +a_side +b_side( +a_side_status +b_side_status)?")
SHOW = Language(
    "the table of 'show ocs cross-connect'",
    True,
    re.compile(f"{_ROW.pattern}|{_HEADER.pattern}"),
    {_ROW: _read_row, _HEADER: None, re.compile("show ocs cross-connect.*"): None},
)
"""Answers of ``show ocs cross-connect config`` and ``status`` (high-level design of SONiC-OCS)."""

_COMMAND = re.compile(
    r"(?:sudo )?config ocs cross-connect (add|delete) ([0-9AB,-]+)(?: (?:safe|update|overwrite))?"
)
COMMANDS = Language(
    "the commands of 'config ocs cross-connect'",
    False,
    _COMMAND,
    {_COMMAND: _read_command, re.compile("(?:sudo )?config save( -y)?"): None},
)


def write_patches(script: Script) -> str:
    """Return JSON Patches by stage and panel, each for one state of the table alone.

    A patch first tests the whole table, the only way in RFC 6902 to test that an entry is absent.
    Foreign changes, or applying a patch twice, therefore end in a refusal.  Entries are added and
    removed one by one.  A table that becomes empty is removed, because SONiC has no empty tables.

    Raises:
        DoesNotFit: A panel has one side only, or the patches would test more than `MOST_TESTED`
            entries.
    """
    require_two_sides(script, "SONiC-OCS")
    rows: list[dict[str, Any]] = []
    plugged: dict[int, set[Pair]] = defaultdict(set)
    for pair in script.base.pairs:
        plugged[pair.panel].add(pair)
    tested = 0
    for stage, panel, step in script.blocks:
        tested += len(plugged[panel])
        if tested > MOST_TESTED:
            raise DoesNotFit(
                "/format",
                f"sonic-patch tests the table of a panel in every stage, {MOST_TESTED} entries in "
                "all at most; plan fewer stages, or write sonic-cli",
            )
        patch = _patch(plugged[panel], step)
        rows.append({"device": script.plant.panels[panel].id, "stage": stage, "patch": patch})
        plugged[panel] = plugged[panel] - set(step.removes) | set(step.adds)
    return json.dumps(rows, indent=1)


def _patch(here: set[Pair], step: Step) -> list[dict[str, Any]]:
    before = {_key(pair): _row(pair) for pair in sorted(here)}
    patch: list[dict[str, Any]] = [{"op": "test", "path": f"/{TABLE}", "value": before}]
    patch += [{"op": "remove", "path": f"/{TABLE}/{_key(pair)}"} for pair in step.removes]
    patch += [
        {"op": "add", "path": f"/{TABLE}/{_key(pair)}", "value": _row(pair)} for pair in step.adds
    ]
    if here == set(step.removes) and not step.adds:
        patch.append({"op": "test", "path": f"/{TABLE}", "value": {}})
        patch.append({"op": "remove", "path": f"/{TABLE}"})
    return patch


def _row(pair: Pair) -> dict[str, str]:
    return {"a_side": f"{pair.a + 1}A", "b_side": f"{pair.b + 1}B"}


def read_patches(rows: list[Any], plant: Plant) -> Report:
    """Return the report of patches by device and stage.

    Raises:
        InvalidWiring: A row names no panel, or its patch is none.
    """
    found: list[Entry] = []
    for index, row in enumerate(rows):
        panel = plant.panel_index.get(row["device"]) if isinstance(row.get("device"), str) else None
        if panel is None:
            raise InvalidWiring(f"/{index}/device", "must be a panel of the plant")
        found += _entries_of(row.get("patch"), plant, panel, f"/{index}/patch")
    return commands(found)


def read_patch(ops: list[Any], plant: Plant, panel: int) -> Report:
    """Return the report of one patch for a device."""
    return commands(_entries_of(ops, plant, panel, ""))


def _entries_of(ops: Any, plant: Plant, panel: int, field: str) -> Iterator[Entry]:
    if not isinstance(ops, list):
        raise InvalidWiring(field, "must be a list of operations")
    verbs = {"remove": Verb.REMOVE, "add": Verb.ADD}
    for index, op in enumerate(ops):
        where = f"{field}/{index}"
        path, verb = (op.get("path"), op.get("op")) if isinstance(op, dict) else (None, None)
        if not isinstance(path, str) or not path.startswith(f"/{TABLE}") or verb == "replace":
            raise InvalidWiring(where, f"must add, remove or test a path below /{TABLE}")
        if verb in verbs and path != f"/{TABLE}":
            key = path.removeprefix(f"/{TABLE}/")
            yield Entry(where, verbs[verb], _pair(plant, panel, key, where, op.get("value")))


def write_config(script: Script) -> str:
    """Return the CONFIG_DB fragment of every panel after the plan, by panel."""
    require_two_sides(script, "SONiC-OCS")
    fragments: dict[str, dict[str, Any]] = {
        panel.id: {TABLE: {}}
        for panel in script.plant.panels
        if not panel.one_sided and panel.kind is not Kind.SHUFFLE
    }
    for pair in script.final.pairs:
        panel = script.plant.panels[pair.panel]
        if not panel.one_sided:
            fragments[panel.id][TABLE][_key(pair)] = _row(pair)
    return json.dumps(fragments, indent=1)


def read_table(tables: dict[str, Any], plant: Plant, panel: int, field: str) -> Report:
    """Return the report of the CONFIG_DB of one device; a missing table has no entries.

    Raises:
        InvalidWiring: The table is no object, or names ports that the panel lacks.
    """
    rows = tables.get(TABLE, {})
    if not isinstance(rows, dict):
        raise InvalidWiring(f"{field}/{TABLE}", "must be a table")
    places = ((f"{field}/{TABLE}/{pointer_part(key)}", key, row) for key, row in rows.items())
    pairs = ((where, _pair(plant, panel, key, where, row)) for where, key, row in places)
    return whole_report(pairs, [panel])


def host_names(tables: dict[str, Any]) -> list[str]:
    """Return the host name that a CONFIG_DB states, if any.

    >>> host_names({"DEVICE_METADATA": {"localhost": {"hostname": "ocs-1"}}}), host_names({})
    (['ocs-1'], [])
    """
    rows = tables.get(METADATA)
    local = rows.get("localhost") if isinstance(rows, dict) else None
    name = local.get("hostname") if isinstance(local, dict) else None
    return [name] if isinstance(name, str) else []


def read_config(devices: dict[str, Any], plant: Plant) -> list[Report]:
    """Return the reports of CONFIG_DB fragments by panel."""
    found = []
    for device, tables in devices.items():
        where = f"/{pointer_part(device)}"
        if device not in plant.panel_index or not isinstance(tables, dict):
            raise InvalidWiring(where, "must be a panel of the plant, with its tables")
        found.append(read_table(tables, plant, plant.panel_index[device], where))
    return found


def pointer_part(name: str) -> str:
    """Return a name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
