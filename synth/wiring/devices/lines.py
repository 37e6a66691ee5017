"""Calient TL1 and DiCon: one command a line, ports by their places from 1."""

import re

from synth.errors import InvalidWiring
from synth.wiring.devices.numbers import panel_blocks, sided
from synth.wiring.devices.script import Move, Script
from synth.wiring.plant import Mode, Pair, Plant

__all__ = ["read_dicon", "read_tl1", "write_dicon", "write_tl1"]

GROUP = "topoloom"
"""The group of connections that ours are in."""

_TL1 = re.compile(r"(ENT|ACT|CANC|DLT)-CRS::([0-9]{1,7}),([0-9]{1,7}):[0-9]{1,6}::[^;]*;", re.ASCII)
_DICON = re.compile(r"ROUTE([0-9]{1,7}):SCAN ([0-9]{1,7})", re.ASCII)


def write_tl1(script: Script) -> str:
    """Return TL1 commands by panel and stage; what goes is cancelled and deleted first."""
    sided(script, "Calient TL1")
    lines: list[str] = []
    tag = 0
    for panel in script.panels:
        both = script.plant.panels[panel].mode is Mode.BIDIRECTIONAL
        way, sign = ("2WAY", "-") if both else ("1WAY", ">")
        for number, step in script.of_panel(panel):
            lines.append(f"# panel {script.plant.panels[panel].id}, stage {number}")
            for verbs, pairs in ((("CANC", "DLT"), step.removes), (("ENT", "ACT"), step.adds)):
                for pair in pairs:
                    ends, name = f"{pair.a + 1},{pair.b + 1}", f"{pair.a + 1}{sign}{pair.b + 1}"
                    for verb in verbs:
                        tag = tag % 999_999 + 1
                        tail = f"{GROUP},{way}" if verb == "ENT" else f"{name},{GROUP}"
                        lines.append(f"{verb}-CRS::{ends}:{tag}::{tail};")
    return "\n".join(lines) + "\n" if lines else ""


def read_tl1(text: str, plant: Plant) -> tuple[Move, ...]:
    """Return the moves that such commands make: what is activated, and what is deleted."""
    moves = []
    for panel, stage, line, where in panel_blocks(text, plant):
        match = _TL1.fullmatch(line)
        if match is None:
            raise InvalidWiring(where, f"is no command of cross-connects: {line[:60]!r}")
        if match[1] in ("ACT", "DLT"):
            pair = _pair(plant, panel, int(match[2]), int(match[3]), where)
            moves.append(Move(stage, match[1] == "ACT", pair))
    return tuple(moves)


def write_dicon(script: Script) -> str:
    """Return ``ROUTE`` commands by panel and stage; an input that goes dark is put on output 0."""
    sided(script, "DiCon")
    lines: list[str] = []
    for panel in script.panels:
        for number, step in script.of_panel(panel):
            lines.append(f"# panel {script.plant.panels[panel].id}, stage {number}")
            lines += [f"ROUTE{pair.a + 1}:SCAN 0" for pair in step.removes]
            lines += [f"ROUTE{pair.a + 1}:SCAN {pair.b + 1}" for pair in step.adds]
    return "\n".join(lines) + "\n" if lines else ""


def read_dicon(text: str, plant: Plant, base: tuple[Pair, ...]) -> tuple[Move, ...]:
    """Return the moves that such commands make on panels plugged as ``base`` says."""
    there = {(pair.panel, pair.a): pair for pair in base}
    found = []
    for number, (panel, stage, line, where) in enumerate(panel_blocks(text, plant)):
        match = _DICON.fullmatch(line)
        if match is None:
            raise InvalidWiring(where, f"is no command of routes: {line[:60]!r}")
        found.append((stage, number, panel, int(match[1]), int(match[2]), where))
    moves = []
    for stage, _, panel, one, other, where in sorted(found):
        if other:
            pair = _pair(plant, panel, one, other, where)
            there[panel, pair.a] = pair
            moves.append(Move(stage, True, pair))
        elif (panel, one - 1) not in there:
            raise InvalidWiring(where, f"nothing is plugged at input {one}")
        else:
            moves.append(Move(stage, False, there.pop((panel, one - 1))))
    return tuple(moves)


def _pair(plant: Plant, panel: int, one: int, other: int, where: str) -> Pair:
    row = plant.panels[panel]
    if row.one_sided or not (1 <= one <= len(row.a) and 1 <= other <= len(row.b)):
        raise InvalidWiring(where, f"{row.id} has no pair of {one} and {other}")
    return Pair(panel, one - 1, other - 1)
