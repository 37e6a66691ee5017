"""The wiring that a text describes: what devices and tools print, and all that is rendered.

The content tells the format.  A text of several devices has a line ``# panel ID`` above the part of
each device.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from topoloom.synth.errors import InvalidPlant, InvalidTopology, InvalidWiring
from topoloom.synth.formats.detection import detect
from topoloom.synth.formats.unsupported import head_of, recognise
from topoloom.synth.formats.unsupported_kinds import FOREIGN as FOREIGN_KINDS
from topoloom.synth.naming.unique_names import unique_members
from topoloom.synth.wiring.devices import calient_dicon, graphs, polatis, sonic, work_sheet
from topoloom.synth.wiring.devices.cable_jumpers import read_jumpers
from topoloom.synth.wiring.devices.device_report import (
    Entry,
    Observed,
    Report,
    Verb,
    movable,
    place_below,
    wiring_after,
)
from topoloom.synth.wiring.devices.line_languages import panel_of, parts, read_lines
from topoloom.synth.wiring.plant import Plant, Present, read_plant_text
from topoloom.synth.wiring.plant.cable_lists import (
    is_cable_header,
    is_cable_list,
    listed_cables,
    tabled_cables,
)
from topoloom.synth.wiring.plant.csv_rows import read_header, read_rows
from topoloom.synth.wiring.plant.current_wiring import final_rows, is_set, named_pairs

LANGUAGES = (
    sonic.SHOW,
    sonic.COMMANDS,
    polatis.ANSWERS,
    polatis.COMMANDS,
    calient_dicon.ANSWERS,
    calient_dicon.COMMANDS,
    calient_dicon.ROUTES,
)
"""Languages of lines, of answers and of commands."""


def read_wiring(given: Any, plant: Plant, base: Present | None = None) -> Observed:
    r"""Return the wiring of JSON values, or of an object whose only member is ``text``.

    Raises:
        InvalidWiring: As `read_wiring_text`.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("single", hosts=3, lanes=1)
    >>> table = "id     a_side    b_side\n1A-2B  1A        2B"
    >>> read_wiring({"text": table}, plant) == read_wiring([{"panel": 0, "a": 0, "b": 1}], plant)
    True
    """
    if not isinstance(given, dict) or given.keys() != {"text"}:
        return _observed(plant, base, lambda: _values(given, plant, None))
    if not isinstance(given["text"], str):
        raise InvalidWiring("/text", "must be a text")
    try:
        return read_wiring_text(given["text"], plant, base)
    except InvalidWiring as error:
        raise InvalidWiring(f"/text{error.field}", error.rule) from None


def read_wiring_text(text: str, plant: Plant, base: Present | None = None) -> Observed:
    r"""Return the wiring that a text describes.

    Args:
        text: Answers of devices (SONiC-OCS, NETCONF, SCPI, TL1), lists of cables of NetBox or
            Nautobot, pairs as JSON or CSV, a plant, or any format of `RENDERERS`.
        base: The wiring before the commands of the text, and of panels that the text does not
            describe; by default that of the plant.

    Raises:
        InvalidWiring: The text is in no such format, or contradicts the plant or itself.  The field
            is ``/line/N`` or a JSON pointer; the rule names the kind of a foreign text.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("per-port", hosts=3, lanes=2)
    >>> found = read_wiring_text("# panel panel-1\n(@1,2),(@5,4)", plant)
    >>> found.present.pairs, found.panels
    ((Pair(panel=1, a=0, b=1), Pair(panel=1, a=1, b=0)), frozenset({1}))
    """

    def read() -> list[Report]:
        found = []
        # A text of old spreadsheets ends its lines with a carriage return.
        for part in parts(text if "\n" in text else text.replace("\r", "\n"), plant):
            try:
                reports = _part(part.text, plant, part.panel)
            except (InvalidPlant, InvalidTopology, InvalidWiring) as error:
                raise InvalidWiring(place_below(error.field, part.above), error.rule) from None
            found += [report.below(part.above) for report in reports]
        return found

    return _observed(plant, base, read)


def _observed(plant: Plant, base: Present | None, read: Callable[[], list[Report]]) -> Observed:
    try:
        return wiring_after(plant, plant.present if base is None else base, read())
    except (InvalidPlant, InvalidTopology) as error:
        raise InvalidWiring(error.field, error.rule) from None


def _part(text: str, plant: Plant, panel: int | None) -> list[Report]:
    """Return the reports of a text, whose beginning tells the format."""
    head = head_of(text).lstrip()
    if not head:
        raise InvalidWiring("", "is empty")
    if head.startswith(("{", "[")):
        return _values(_json(text), plant, panel)
    if head.startswith("<"):
        return [_markup(text, head, plant, panel)]
    if head.startswith("digraph"):
        return [graphs.read_dot(text, plant)]
    found = read_lines(text, plant, panel, LANGUAGES) or _table(text, plant)
    if found is not None:
        return [found]
    if re.search(r"(?m)^schema:\s*[\"']?plant/", head):
        return [_of_plant(read_plant_text(text), plant)]
    raise _foreign(text)


def _json(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff"), object_pairs_hook=unique_members)
    except json.JSONDecodeError as error:
        raise InvalidWiring(f"/line/{error.lineno}", f"must be JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidWiring("", f"must be JSON: {str(error)[:200]}") from None


def _values(given: Any, plant: Plant, panel: int | None) -> list[Report]:
    """Return the reports of JSON values, whose members tell the format."""
    if is_cable_list(given):
        return [read_jumpers(listed_cables(given)[0], plant)]
    if isinstance(given, list):
        return [_listed(given, plant, panel)]
    if not isinstance(given, dict) or not given or given.get("schema") == "patch-plan/1":
        return [_rows(final_rows(given), plant)]
    if isinstance(given.get("cross_connects"), list):
        rows = enumerate(given["cross_connects"])
        return [_rows([(f"/cross_connects/{n}", row) for n, row in rows], plant)]
    if sonic.TABLE in given or sonic.METADATA in given:
        at = panel_of(plant, panel, sonic.host_names(given), "")
        return [sonic.read_table(given, plant, at, "")]
    if isinstance(given.get(polatis.RESTCONF), dict):
        at, field = panel_of(plant, panel, (), ""), f"/{polatis.RESTCONF}/pair"
        return [polatis.read_values(given[polatis.RESTCONF].get("pair", []), plant, at, field)]
    if any(isinstance(value, dict) and sonic.TABLE in value for value in given.values()):
        return sonic.read_config(given, plant)
    raise _foreign(json.dumps(given, indent=1))


def _listed(given: list[Any], plant: Plant, panel: int | None) -> Report:
    """Return the report of a list of pairs, of patches, or of the operations of one patch."""
    first = given[0] if given and isinstance(given[0], dict) else {}
    if "patch" in first:
        return sonic.read_patches(given, plant)
    if {"op", "path"} <= first.keys():
        return sonic.read_patch(given, plant, panel_of(plant, panel, (), ""))
    if first and not {"panel", "a", "b"} & first.keys():
        raise _foreign(json.dumps(given, indent=1))
    return _rows([(f"/{number}", row) for number, row in enumerate(given)], plant)


def _rows(rows: list[tuple[str, Any]], plant: Plant) -> Report:
    """Return the report of rows with panel, a, b, and maybe light and foreign."""
    entries = []
    for pair, (where, row) in zip(named_pairs(rows, plant), rows, strict=True):
        dark = is_set(row, "light", where) is False
        entries.append(Entry(where, Verb.PLUGGED, pair, dark, bool(is_set(row, "foreign", where))))
    return Report(tuple(entries), movable(plant))


def _of_plant(other: Plant, plant: Plant) -> Report:
    """Return the report of the cross-connects of a plant, by their names."""
    rows = []
    for number, pair in enumerate(other.present.pairs):
        a, b = map(other.port_name, other.ends(pair))
        row = {"panel": other.panels[pair.panel].id, "a": a, "b": b}
        row["foreign"] = "true" if pair in other.present.foreign else ""
        rows.append((f"/cross_connects/{number}", row))
    return _rows(rows, plant)


def _table(text: str, plant: Plant) -> Report | None:
    """Return the report of CSV; None for columns of other tables."""
    columns = read_header(text)
    if "item" in columns:
        return _of_plant(read_plant_text(text, "csv"), plant)
    if {"panel", "a", "b"} <= {*columns}:
        return _rows(
            [(f"/line/{row.line}", row.cells) for row in read_rows(text, exact=True)], plant
        )
    if {*work_sheet.OF_A_MOVE} <= {*columns}:
        return work_sheet.read_order(text, plant)
    return read_jumpers(tabled_cables(text)[0], plant) if is_cable_header(columns) else None


def _markup(text: str, head: str, plant: Plant, panel: int | None) -> Report:
    """Return the report of XML or HTML, whose root tells the format."""
    if head[:5].lower() == "<html":
        found = work_sheet.read_sheet(text, plant)
        if found is None:
            raise _foreign(text)
        return found
    root = polatis.parse_xml(text)
    if root.tag == "graphml":
        return graphs.read_graphml(root, plant)
    if root.tag == "edits":
        return polatis.read_edits(root, plant)
    if root.tag in polatis.ROOTS:
        return polatis.read_answer(root, plant, panel_of(plant, panel, (), root.place))
    raise _foreign(text)


def _foreign(text: str) -> InvalidWiring:
    """Return the error that names the kind of a text that describes no wiring."""
    kind = recognise(head_of(text), FOREIGN_KINDS)
    try:
        what = f"a topology ({detect(text)})"
    except InvalidTopology:
        what = "in no known format" if kind is None else kind.what
    first = next((n for n, line in enumerate(text.split("\n"), start=1) if line.strip()), 1)
    return InvalidWiring(
        f"/line/{first}",
        f"is {what}, not the wiring of panels: docs/reference/device-formats.md lists the formats",
    )
