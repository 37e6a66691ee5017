"""Reads a plant from a text in whatever format people keep it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from topoloom.synth.errors import InvalidPlant, InvalidTopology
from topoloom.synth.formats.yaml_text import parse_yaml
from topoloom.synth.naming.unique_names import unique_members
from topoloom.synth.wiring.plant.cable_lists import (
    is_cable_header,
    is_cable_list,
    read_cables,
    read_cables_csv,
)
from topoloom.synth.wiring.plant.csv_rows import read_header
from topoloom.synth.wiring.plant.csv_table import read_plant_csv
from topoloom.synth.wiring.plant.document_reader import read_plant
from topoloom.synth.wiring.plant.model import Plant

MAX_CHARACTERS, MAX_VALUES = 1 << 25, 2_000_000
"""Most characters and values of a YAML document, every use of an anchor counted."""

_NO_PLANT = (
    "a plant is plant/1 as JSON or YAML, a CSV table with the column item, or the cables of NetBox "
    "or Nautobot"
)


def read_plant_values(document: Any) -> Plant:
    """Return the plant of JSON values: plant/1, or cables of NetBox or Nautobot."""
    if isinstance(document, dict) and "OCS_CROSS_CONNECT" in document:
        raise InvalidPlant(
            "/OCS_CROSS_CONNECT", f"is a table of SONiC, which names no hosts; {_NO_PLANT}"
        )
    return read_cables(document) if is_cable_list(document) else read_plant(document)


def read_plant_text(text: str, form: str | None = None) -> Plant:
    r"""Return the plant of a text: plant/1 as JSON or YAML, its CSV table, or a list of cables.

    Args:
        form: One of `TEXT_FORMATS`.  Left out, the text tells: JSON begins with a brace or a
            bracket, CSV has a header with the column ``item`` or those of a list of cables; all
            else is YAML.

    Raises:
        InvalidPlant: It is none of them, or breaks a rule; in CSV the rule ends with the line.

    >>> plant = read_plant_text('''
    ... schema: plant/1
    ... panels: [{id: p1, ports: 4}]
    ... hosts: [{id: h0, ports: [{id: eth0, at: p1/3}]}]
    ... ''')
    >>> plant.panels[0].mode, plant.hosts[0].ports[0].duplex
    (<Mode.BIDIRECTIONAL: 'bidirectional'>, True)
    """
    return _READERS[form or _sniffed(text)](text)


def _sniffed(text: str) -> str:
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        return "json"
    columns = read_header(text)
    return "csv" if "item" in columns or is_cable_header(columns) else "yaml"


def _csv(text: str) -> Plant:
    columns = read_header(text)
    if is_cable_header(columns):
        return read_cables_csv(text)
    if "item" in columns:
        return read_plant_csv(text)
    raise InvalidPlant("", f"must be CSV with the column item, or a list of cables; {_NO_PLANT}")


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique_members)
    except (ValueError, RecursionError) as error:
        raise InvalidPlant("", f"must be JSON: {error}") from None


def _yaml(text: str) -> Any:
    try:
        document = parse_yaml(text, MAX_CHARACTERS, MAX_VALUES)
    except InvalidTopology as error:
        raise InvalidPlant(error.field, error.rule) from None
    if not isinstance(document, dict | list):
        raise InvalidPlant("", f"is no plant: {_NO_PLANT}")
    return document


_READERS: Mapping[str, Callable[[str], Plant]] = {
    "json": lambda text: read_plant_values(_json(text.lstrip("\ufeff"))),
    "yaml": lambda text: read_plant_values(_yaml(text.lstrip("\ufeff"))),
    "csv": _csv,
}
TEXT_FORMATS = tuple(_READERS)
"""The formats of texts: plant/1 or cables as JSON, plant/1 as YAML, a table or cables as CSV."""
