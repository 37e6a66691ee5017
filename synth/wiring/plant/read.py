"""Reads a plant from a text in whatever format people keep it."""

import json
from collections.abc import Iterable
from typing import Any

from synth.errors import InvalidPlant
from synth.wiring.plant.cables import is_cable_list, read_cables, read_cables_csv
from synth.wiring.plant.document import read_plant
from synth.wiring.plant.model import Plant
from synth.wiring.plant.table import read_plant_csv

__all__ = ["read_plant_text", "read_plant_values"]

MAX_NODES = 2_000_000
"""Most values of a YAML document, every use of an anchor counted."""
MAX_INTEGER = 10**30
"""Bound of integers: YAML has hexadecimal ones of any length, which Python refuses to print."""


def read_plant_values(document: Any) -> Plant:
    """Return the plant of JSON values: plant/1, or cables of NetBox or Nautobot."""
    return read_cables(document) if is_cable_list(document) else read_plant(document)


def read_plant_text(text: str) -> Plant:
    r"""Return the plant of a text: plant/1 as JSON or YAML, its CSV table, or a list of cables.

    The format is told from the text: JSON begins with a brace or a bracket, CSV has a
    header with the column ``item`` or ``side_a_device``; all else is YAML.

    Raises
    ------
    InvalidPlant
        It is none of them, or breaks a rule.

    Examples
    --------
    >>> plant = read_plant_text('''
    ... schema: plant/1
    ... panels: [{id: p1, ports: 4}]
    ... hosts: [{id: h0, ports: [{id: eth0, at: p1/3}]}]
    ... ''')
    >>> plant.panels[0].mode, plant.hosts[0].ports[0].duplex
    (<Mode.BIDIRECTIONAL: 'bidirectional'>, True)
    """
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "[")):
        return read_plant_values(_json(start))
    header = [cell.strip().strip('"') for cell in start.partition("\n")[0].split(",")]
    if "side_a_device" in header:
        return read_cables_csv(start)
    if "item" in header:
        return read_plant_csv(start)
    return read_plant_values(_yaml(start))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidPlant("", f"must be JSON: {error}") from None


# PyYAML raises these where a tag such as !!int does not fit its text.
_MALFORMED = (ValueError, TypeError, AttributeError, LookupError, OverflowError)


def _yaml(text: str) -> Any:
    import yaml

    # The loader in C is ten times as fast; not every installation has it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document = yaml.load(text, loader)
    except (yaml.YAMLError, RecursionError, *_MALFORMED) as error:
        said = " ".join(str(error).split())
        raise InvalidPlant("", f"must be YAML: {said[:300]}") from None
    # Anchors let a short text stand for a huge one, and for one without end.
    _count(document, [0], 0)
    return document


def _count(value: Any, total: list[int], depth: int) -> None:
    total[0] += 1
    if total[0] > MAX_NODES or depth > 20:
        raise InvalidPlant("", f"must have at most {MAX_NODES} values, nested at most 20 deep")
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise InvalidPlant("", "must have integers of at most 30 digits")
    parts: Iterable[Any] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        parts = (*value, *value.values())
    for part in parts:
        _count(part, total, depth + 1)
