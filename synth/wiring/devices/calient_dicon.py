"""Calient TL1 and DiCon: one command a line, ports by their places from 1.

The arguments of Calient's commands are those of QualiSystems/cloudshell-L1-calient,
``calient/driver_handler.py``: ``ENT-CRS`` takes group and kind, ``ACT-CRS`` name and group,
``CANC-CRS`` and ``DLT-CRS`` an empty argument, group and name.  A connection is called by its
ports, with ``>`` for one way and ``-`` for both (there, and in MonALISA-CIT/Monalisa,
``src/lia/util/telnet/CalientTelnet.java``).  ``ROUTE6:SCAN 2`` is in DiCon's operation manual of
the MXS-9100, 91592 Rev. A2, page 17.
"""

import re
from collections.abc import Iterator
from itertools import count

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.devices.port_numbers import command_text, panel_blocks, sided
from topoloom.synth.wiring.plans.panel_actions import Move, Script, Step
from topoloom.synth.wiring.plant import Mode, Pair, Plant

GROUP = "topoloom"
"""The group of connections that ours are in."""

MOST_TAGS = 999_999
"""Largest tag of a TL1 command; the next one is 1 again."""

_TL1 = re.compile(r"(ENT|ACT|CANC|DLT)-CRS::([0-9]{1,7}),([0-9]{1,7}):[0-9]{1,6}::[^;]*;", re.ASCII)
_DICON = re.compile(r"ROUTE([0-9]{1,7}):SCAN ([0-9]{1,7})", re.ASCII)


def write_tl1(script: Script) -> str:
    """Return TL1 commands by stage and panel; removed pairs are canceled and deleted first."""
    sided(script, "Calient TL1")
    tags = count()

    def commands(panel: int, step: Step) -> Iterator[str]:
        both = script.plant.panels[panel].mode is Mode.BIDIRECTIONAL
        kind, sign = ("2WAY", "-") if both else ("1WAY", ">")
        for verbs, pairs in ((("CANC", "DLT"), step.removes), (("ENT", "ACT"), step.adds)):
            for pair in pairs:
                name = f"{pair.a + 1}{sign}{pair.b + 1}"
                tail = {"ENT": f"{GROUP},{kind}", "ACT": f"{name},{GROUP}"}
                for verb in verbs:
                    tag = next(tags) % MOST_TAGS + 1
                    arguments = tail.get(verb, f",{GROUP},{name}")
                    yield f"{verb}-CRS::{pair.a + 1},{pair.b + 1}:{tag}::{arguments};"

    return command_text(script, commands, end=";")


def read_tl1(text: str, plant: Plant) -> tuple[Move, ...]:
    """Return the moves that such commands make: activated and deleted pairs."""
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
    """Return ``ROUTE`` commands by stage and panel; an input that goes dark is put on output 0."""
    sided(script, "DiCon")
    return command_text(
        script,
        lambda _, step: [
            *(f"ROUTE{pair.a + 1}:SCAN 0" for pair in step.removes),
            *(f"ROUTE{pair.a + 1}:SCAN {pair.b + 1}" for pair in step.adds),
        ],
    )


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
