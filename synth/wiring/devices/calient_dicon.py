"""TL1 of Calient and Polatis, and DiCon: one command a line, ports by their places from 1.

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
from topoloom.synth.wiring.devices.device_report import Entry, Verb
from topoloom.synth.wiring.devices.line_languages import Language
from topoloom.synth.wiring.devices.port_numbers import (
    command_text,
    device_port,
    pair_across,
    require_two_sides,
)
from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plant import Mode, Pair, Plant, Side

GROUP = "topoloom"
"""The group of connections that ours are in."""

MOST_TAGS = 999_999
"""Largest tag of a TL1 command; the next one is 1 again."""

_TL1 = re.compile(
    r"(ENT|ACT|CANC|DLT)-CRS:[^:;]*:([\w.-]{1,40}),([\w.-]{1,40}):\w{1,9}:[^;]*;", re.ASCII | re.I
)
_DICON = re.compile(r"ROUTE([0-9]{1,7}):SCAN ([0-9]{1,7})", re.ASCII)


def write_tl1(script: Script) -> str:
    """Return TL1 commands by stage and panel; removed pairs are canceled and deleted first."""
    require_two_sides(script, "Calient TL1")
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


def _read_command(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    verb = {"ACT": Verb.ADD, "DLT": Verb.REMOVE}.get(row[1].upper())
    if verb is not None:
        yield Entry(where, verb, _pair(plant, panel, row[2], row[3], where))


def _read_row(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    """Yield the pairs of a row of ``RTRV-PATCH`` or ``RTRV-CRS``."""
    patch = _PATCH.fullmatch(row[1])
    if patch is not None:
        one, other = sorted(map(int, patch.groups()))
        yield Entry(where, Verb.PLUGGED, pair_across(plant, panel, one, other, where))
        return
    parts = (part.partition("=") for part in re.split("[,:]", row[1]))
    fields = {name: value for name, _, value in parts}
    if not {"SRCPORT", "DSTPORT"} <= fields.keys():
        raise InvalidWiring(where, f"is no cross-connect: {row[1][:60]!r}")
    source, target = fields["SRCPORT"], fields["DSTPORT"]
    yield Entry(where, Verb.PLUGGED, _pair(plant, panel, source, target, where))
    directed = plant.panels[panel].mode is Mode.DIRECTED
    if directed and fields.get("CONNTYPE", "").upper() == "2WAY" and source != target:
        yield Entry(where, Verb.PLUGGED, _pair(plant, panel, target, source, where))


def _refuse(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    raise InvalidWiring(where, f"is a refusal of {plant.panels[panel].id}: {row[0][:60]!r}")


_PATCH = re.compile("([0-9]{1,7}),([0-9]{1,7})")
_ANSWER_ROW = re.compile('"([^"]*)"')
_COMPLETED = re.compile(r"M +\S+ +(?:COMPLD|RTRV|PRTL)")
_DENIED = re.compile(r"M +\S+ +DENY")
_END = re.compile(";")
ANSWERS = Language(
    "TL1",
    True,
    re.compile(f'{_COMPLETED.pattern}|{_DENIED.pattern}|"{_PATCH.pattern}"|"SRCPORT=[^"]*"'),
    {
        _ANSWER_ROW: _read_row,
        _COMPLETED: None,
        _DENIED: _refuse,
        _END: None,
        re.compile(r"/\*.*\*/"): None,
        re.compile("RTRV-(?:CRS|PATCH):[^;]*;?", re.I): None,
    },
    (_COMPLETED, _END),
)
"""Answers of Calient's ``RTRV-CRS`` and of Polatis' ``RTRV-PATCH``.

The fields of ``RTRV-CRS`` are in QualiSystems/cloudshell-L1-calient, ``calient/driver_handler.py``.
``RTRV-PATCH`` counts egress ports on after the ingress ports.
"""

COMMANDS = Language("the commands of TL1 for cross-connects", False, _TL1, {_TL1: _read_command})


def write_dicon(script: Script) -> str:
    """Return ``ROUTE`` commands by stage and panel; an input that goes dark is put on output 0."""
    require_two_sides(script, "DiCon")
    return command_text(
        script,
        lambda _, step: [
            *(f"ROUTE{pair.a + 1}:SCAN 0" for pair in step.removes),
            *(f"ROUTE{pair.a + 1}:SCAN {pair.b + 1}" for pair in step.adds),
        ],
    )


def _read_route(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    a = device_port(plant, panel, Side.A, row[1], where)
    if int(row[2]):
        yield Entry(where, Verb.ADD, _pair(plant, panel, row[1], row[2], where))
    else:
        yield Entry(where, Verb.REMOVE, Pair(panel, a, -1))


ROUTES = Language("the commands ROUTE of DiCon", False, _DICON, {_DICON: _read_route}, breaks=True)


def _pair(plant: Plant, panel: int, one: str, other: str, where: str) -> Pair:
    """Return the pair of two ports that a device names."""
    ends = ((Side.A, one), (Side.B, other))
    a, b = (device_port(plant, panel, side, text, where) for side, text in ends)
    if plant.panels[panel].one_sided:
        if a == b:
            raise InvalidWiring(where, f"joins port {one[:40]!r} to itself")
        a, b = min(a, b), max(a, b)
    return Pair(panel, a, b)
