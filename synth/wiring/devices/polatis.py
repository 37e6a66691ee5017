"""Polatis: NETCONF edit-config bodies, and SCPI.

Ingress ports count from 1, egress ports on from there; where any two ports are joined there is
one count.
"""

import re
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.devices.port_numbers import (
    across,
    command_text,
    pair_across,
    panel_blocks,
)
from topoloom.synth.wiring.plans.panel_actions import Move, Script, Step
from topoloom.synth.wiring.plant import Pair, Plant

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
SWITCH = "http://www.polatis.com/yang/optical-switch"
_SCPI = re.compile(r":oxc:swit:conn:(add|sub) \(@([0-9,]+)\),\(@([0-9,]+)\)")

MOST_LISTED = 50
"""Ports of one SCPI command."""


def edit_config(plant: Plant, step: Step, namespace: str = SWITCH) -> ElementTree.Element:
    """Return the ``<config>`` of one stage on one panel.

    One ``pair`` element per ingress: deleted, replaced where it moves, or created, so that a
    device that is not as expected refuses.  All of an edit happens at once.
    """
    root = ElementTree.Element(f"{{{BASE}}}config")
    table = ElementTree.SubElement(root, f"{{{namespace}}}cross-connects")
    gone = {across(plant, pair)[0] for pair in step.removes}
    come = {across(plant, pair)[0]: across(plant, pair)[1] for pair in step.adds}
    for ingress in sorted(gone | come.keys()):
        verb = "delete" if ingress not in come else "replace" if ingress in gone else "create"
        row = ElementTree.SubElement(table, f"{{{namespace}}}pair", {f"{{{BASE}}}operation": verb})
        ElementTree.SubElement(row, f"{{{namespace}}}ingress").text = str(ingress)
        if ingress in come:
            ElementTree.SubElement(row, f"{{{namespace}}}egress").text = str(come[ingress])
    return root


def write_edits(script: Script) -> str:
    """Return one XML document: an ``edit`` with its ``config`` for every stage and panel."""
    ElementTree.register_namespace("nc", BASE)
    ElementTree.register_namespace("sw", SWITCH)
    root = ElementTree.Element("edits")
    for stage, panel, step in script.blocks:
        device = script.plant.panels[panel].id
        edit = ElementTree.SubElement(root, "edit", {"device": device, "stage": str(stage)})
        edit.append(edit_config(script.plant, step))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def read_pairs(text: str, plant: Plant, panel: int) -> frozenset[Pair]:
    """Return the pairs of a panel that the answer of its switch to get-config says are plugged.

    Raises
    ------
    InvalidWiring
        It is no XML, or a pair of it is of ports that the panel does not have.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("single", hosts=2, lanes=1)
    >>> pair = "<pair><ingress>1</ingress><egress>4</egress></pair>"
    >>> read_pairs(f'<data><t xmlns="{SWITCH}">{pair}</t></data>', plant, 0)
    frozenset({Pair(panel=0, a=0, b=1)})
    """
    root = _parsed(text)
    return frozenset(
        pair_across(
            plant, panel, _number(row, "ingress", where), _number(row, "egress", where), where
        )
        for number, row in enumerate(root.iter(f"{{{SWITCH}}}pair"))
        for where in (f"/pair/{number}",)
    )


def _parsed(text: str) -> ElementTree.Element:
    if "<!" in text:
        raise InvalidWiring("", "must be XML without declarations of types")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InvalidWiring("", f"must be XML: {error}") from None


def read_edits(text: str, plant: Plant, base: Iterable[Pair] = ()) -> tuple[Move, ...]:
    """Return the moves of such a document on panels that are plugged as ``base`` says."""
    root = _parsed(text)
    there = {(pair.panel, across(plant, pair)[0]): pair for pair in base}
    edits = [(int(e.get("stage", "0")), n, e) for n, e in enumerate(root.findall("edit"))]
    moves = []
    for stage, number, edit in sorted(edits, key=lambda row: row[:2]):
        where = f"/edit/{number}"
        panel = plant.panel_index.get(edit.get("device", ""))
        if panel is None:
            raise InvalidWiring(where, f"there is no panel {edit.get('device')!r}")
        for row in edit.iter(f"{{{SWITCH}}}pair"):
            ingress = _number(row, "ingress", where)
            verb = row.get(f"{{{BASE}}}operation")
            if verb in ("delete", "replace"):
                if (panel, ingress) not in there:
                    raise InvalidWiring(where, f"nothing is plugged at ingress {ingress}")
                moves.append(Move(stage, False, there.pop((panel, ingress))))
            if verb in ("create", "replace"):
                pair = pair_across(plant, panel, ingress, _number(row, "egress", where), where)
                there[panel, ingress] = pair
                moves.append(Move(stage, True, pair))
    return tuple(sorted(moves, key=lambda move: (move.stage, move.adds)))


def _number(row: ElementTree.Element, name: str, where: str) -> int:
    text = row.findtext(f"{{{SWITCH}}}{name}") or ""
    if not re.fullmatch("[0-9]{1,7}", text):
        raise InvalidWiring(where, f"must have {name} with a number")
    return int(text)


def write_scpi(script: Script) -> str:
    """Return SCPI commands by stage and panel: ``sub`` for removes, then ``add`` for adds."""

    def commands(_: int, step: Step) -> Iterator[str]:
        for verb, pairs in (("sub", step.removes), ("add", step.adds)):
            for first in range(0, len(pairs), MOST_LISTED):
                ends = [across(script.plant, p) for p in pairs[first : first + MOST_LISTED]]
                ins, outs = (",".join(map(str, side)) for side in zip(*ends, strict=True))
                yield f":oxc:swit:conn:{verb} (@{ins}),(@{outs})"

    return command_text(script, commands)


def read_scpi(text: str, plant: Plant) -> tuple[Move, ...]:
    """Return the moves that such commands make."""
    moves = []
    for panel, stage, line, where in panel_blocks(text, plant):
        match = _SCPI.fullmatch(line)
        if match is None:
            raise InvalidWiring(where, f"is no command of connections: {line[:60]!r}")
        ins, outs = (
            [int(part) for part in side.split(",") if part] for side in (match[2], match[3])
        )
        if len(ins) != len(outs):
            raise InvalidWiring(where, "must list as many outputs as inputs")
        for one, other in zip(ins, outs, strict=True):
            pair = pair_across(plant, panel, one, other, where)
            moves.append(Move(stage, match[1] == "add", pair))
    return tuple(moves)
