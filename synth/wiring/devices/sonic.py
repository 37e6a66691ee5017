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
from typing import Any

from topoloom.synth.errors import DoesNotFit, InvalidWiring
from topoloom.synth.wiring.devices.port_numbers import command_text, panel_blocks, sided
from topoloom.synth.wiring.plans.panel_actions import Move, Script, Step
from topoloom.synth.wiring.plant import Kind, Pair, Plant, Present

TABLE = "OCS_CROSS_CONNECT"

MOST_TESTED = 250_000
"""Entries that the patches of a plan test in all: each patch has the table that it begins with."""
_LINE = re.compile(r"config ocs cross-connect (add|delete) ([0-9A-Z-]+)( safe| update)?")
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
    """Return the commands of every stage and panel: deletes, adds, then a save.

    Adds are ``safe``: the device refuses an add whose port has another cross-connect, and keeps
    the other.  ``update`` would remove the other (``test_configure_ocs_safe`` and
    ``test_configure_ocs_update``, tests of devices that were written for sonic-net/sonic-mgmt).
    """
    sided(script, "SONiC-OCS")
    return command_text(
        script,
        lambda _, step: [
            *(f"config ocs cross-connect delete {_key(pair)}" for pair in step.removes),
            *(f"config ocs cross-connect add {_key(pair)} safe" for pair in step.adds),
            "config save -y",
        ],
    )


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
    """Return JSON Patches by stage and panel, each for one state of the table alone.

    A patch first tests the whole table, the only way in RFC 6902 to test that an entry is absent.
    Foreign changes, or applying a patch twice, therefore end in a refusal.  Entries are added and
    removed one by one.  A table that becomes empty is removed, because SONiC has no empty tables.

    Raises
    ------
    DoesNotFit
        A panel has one side only, or the patches would test more than `MOST_TESTED` entries.
    """
    sided(script, "SONiC-OCS")
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
            fragments[panel.id][TABLE][_key(pair)] = _row(pair)
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
