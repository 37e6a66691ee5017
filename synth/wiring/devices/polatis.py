"""Polatis: NETCONF edit-config bodies, and SCPI.

Ingress ports count from 1, egress ports on from there; where any two ports are joined there is
one count.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from topoloom.synth.errors import InvalidTopology, InvalidWiring
from topoloom.synth.formats.safe_xml import Element, parse
from topoloom.synth.formats.unsupported import head_of
from topoloom.synth.wiring.devices.device_report import Entry, Report, Verb, commands, whole_report
from topoloom.synth.wiring.devices.line_languages import Language
from topoloom.synth.wiring.devices.port_numbers import (
    across,
    command_text,
    device_port,
    pair_across,
)
from topoloom.synth.wiring.plans.panel_actions import Script, Step
from topoloom.synth.wiring.plant import Pair, Plant, Side

BASE = "urn:ietf:params:xml:ns:netconf:base:1.0"
SWITCH = "http://www.polatis.com/yang/optical-switch"
ENDS = ("ingress", "egress")
ROOTS = ("rpc-reply", "data", "config", "cross-connects")
"""Roots of answers to get-config, of NETCONF and of clients, and of RESTCONF."""
END_OF_MESSAGE = "]]>]]>"
"""Mark behind a message of NETCONF 1.0 (RFC 4742)."""
RESTCONF = "optical-switch:cross-connects"

_ROOT = re.compile(r"<(?:[\w.-]+:)?([\w.-]+)")

MOST_LISTED = 50
"""Ports of one SCPI command."""


def edit_config(plant: Plant, step: Step) -> ElementTree.Element:
    """Return the ``<config>`` of one stage on one panel.

    One ``pair`` element per ingress: deleted, replaced where it moves, or created, so that a
    device that is not as expected refuses.  All of an edit happens at once.
    """
    root = ElementTree.Element(f"{{{BASE}}}config")
    table = ElementTree.SubElement(root, f"{{{SWITCH}}}cross-connects")
    gone = {across(plant, pair)[0] for pair in step.removes}
    come = {across(plant, pair)[0]: across(plant, pair)[1] for pair in step.adds}
    for ingress in sorted(gone | come.keys()):
        verb = "delete" if ingress not in come else "replace" if ingress in gone else "create"
        row = ElementTree.SubElement(table, f"{{{SWITCH}}}pair", {f"{{{BASE}}}operation": verb})
        ElementTree.SubElement(row, f"{{{SWITCH}}}ingress").text = str(ingress)
        if ingress in come:
            ElementTree.SubElement(row, f"{{{SWITCH}}}egress").text = str(come[ingress])
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


def parse_xml(text: str) -> Element:
    """Return the root of an XML text; elements know their lines.

    Raises:
        InvalidWiring: The text is not well-formed XML, or has a DOCTYPE.
    """
    root = _ROOT.match(head_of(text))
    try:
        whole = text.lstrip("\ufeff \t").rstrip().removesuffix(END_OF_MESSAGE)
        return parse(whole, root[1] if root else "data")
    except InvalidTopology as error:
        raise InvalidWiring(error.field, error.rule) from None


def read_pairs(text: str, plant: Plant, panel: int) -> frozenset[Pair]:
    """Return the plugged pairs in the answer of a switch to get-config.

    Raises:
        InvalidWiring: It is no XML, or a pair of it is of ports that the panel does not have.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("single", hosts=2, lanes=1)
    >>> pair = "<pair><ingress>1</ingress><egress>4</egress></pair>"
    >>> read_pairs(f"<data><cross-connects>{pair}</cross-connects></data>", plant, 0)
    frozenset({Pair(panel=0, a=0, b=1)})
    """
    return frozenset(one.pair for one in read_answer(parse_xml(text), plant, panel).entries)


def read_answer(root: Element, plant: Plant, panel: int) -> Report:
    """Return the report of an answer to get-config or of RESTCONF, as XML.

    Raises:
        InvalidWiring: The answer is an error of the switch, has other contents than cross-connects,
            or names ports that the panel lacks.
    """
    inside = root
    while inside.tag in ROOTS[:3] and inside.children:
        if all(child.tag not in ROOTS for child in inside.children):
            what = "an error" if inside.all("rpc-error") else "no cross-connects"
            raise InvalidWiring(inside.place, f"holds {what}")
        inside = next(child for child in inside.children if child.tag in ROOTS)
    rows = ((row.place, _ends(row)) for row in _pairs_below(root))
    return whole_report(
        ((where, pair_across(plant, panel, *e, where)) for where, e in rows), [panel]
    )


def read_values(rows: Any, plant: Plant, panel: int, field: str) -> Report:
    """Return the report of the JSON list ``pair`` of RESTCONF."""
    if not isinstance(rows, list):
        raise InvalidWiring(field, "must be a list of pairs with ingress and egress")
    found = []
    for number, row in enumerate(rows):
        where = f"{field}/{number}"
        ends = [row.get(name) if isinstance(row, dict) else None for name in ENDS]
        one, other = (end if type(end) is int and 0 < end < 10**7 else None for end in ends)
        if one is None or other is None:
            raise InvalidWiring(where, "must have ingress and egress with a number")
        found.append((where, pair_across(plant, panel, one, other, where)))
    return whole_report(found, [panel])


def read_edits(root: Element, plant: Plant) -> Report:
    """Return the report of a document of edits by device and stage."""
    found: list[Entry] = []
    for edit in root.all("edit"):
        panel = plant.panel_index.get(edit.attributes.get("device", ""))
        if panel is None:
            raise InvalidWiring(edit.place, "must name a panel of the plant as device")
        found += sorted(_edited(edit, plant, panel), key=lambda one: one.verb is Verb.ADD)
    return commands(found)


def _edited(edit: Element, plant: Plant, panel: int) -> Iterator[Entry]:
    """Yield the commands of an edit: what a replacement removes, and what it adds."""
    for row in _pairs_below(edit):
        verb = next((text for key, text in row.attributes.items() if "operation" in key), "merge")
        if verb not in ("delete", "replace", "create"):
            raise InvalidWiring(row.place, f"must delete, replace or create; not {verb[:40]}")
        ingress = _number(row, "ingress")
        if verb in ("delete", "replace"):
            gone = device_port(plant, panel, Side.A, str(ingress), row.place)
            yield Entry(row.place, Verb.REMOVE, Pair(panel, gone, -1))
        if verb in ("create", "replace"):
            pair = pair_across(plant, panel, *_ends(row), row.place)
            yield Entry(row.place, Verb.ADD, pair)


def _pairs_below(root: Element) -> Iterator[Element]:
    waiting = [root]
    while waiting:
        row = waiting.pop()
        if row.tag == "pair":
            yield row
        waiting += reversed(row.children)


def _ends(row: Element) -> tuple[int, int]:
    return _number(row, ENDS[0]), _number(row, ENDS[1])


def _number(row: Element, name: str) -> int:
    texts = [child.text.strip() for child in row.all(name)]
    if len(texts) != 1 or not re.fullmatch("[0-9]{1,7}", texts[0]):
        raise InvalidWiring(row.place, f"must have one {name} with a number")
    return int(texts[0])


def write_scpi(script: Script) -> str:
    """Return SCPI commands by stage and panel: ``sub`` for removes, then ``add`` for adds."""

    def commands(_: int, step: Step) -> Iterator[str]:
        for verb, pairs in (("sub", step.removes), ("add", step.adds)):
            for first in range(0, len(pairs), MOST_LISTED):
                ends = [across(script.plant, p) for p in pairs[first : first + MOST_LISTED]]
                ins, outs = (",".join(map(str, side)) for side in zip(*ends, strict=True))
                yield f":oxc:swit:conn:{verb} (@{ins}),(@{outs})"

    return command_text(script, commands)


def _read_lists(plant: Plant, panel: int, row: re.Match[str], where: str) -> Iterator[Entry]:
    verb = {"add": Verb.ADD, "sub": Verb.REMOVE, "": Verb.PLUGGED}[row["verb"]]
    sides = [[int(part) for part in row[name].split(",") if part] for name in ENDS]
    if len(sides[0]) != len(sides[1]):
        raise InvalidWiring(where, "must list as many outputs as inputs")
    for one, other in zip(*sides, strict=True):
        yield Entry(where, verb, pair_across(plant, panel, one, other, where))


_LIST = "(?:[0-9]{1,7}(?:,[0-9]{1,7})*)?"
_LISTS = rf"\(@(?P<ingress>{_LIST})\), ?\(@(?P<egress>{_LIST})\)"
_STATE = re.compile(f"(?P<verb>){_LISTS}")
_SCPI = re.compile(f":?oxc:swit:conn:(?P<verb>add|sub) {_LISTS}")
ANSWERS = Language(
    "the answer to :oxc:swit:conn:stat?",
    True,
    _STATE,
    {_STATE: _read_lists, re.compile(r":?oxc:swit:conn:stat\?"): None},
)
COMMANDS = Language("the commands :oxc:swit:conn of SCPI", False, _SCPI, {_SCPI: _read_lists})
