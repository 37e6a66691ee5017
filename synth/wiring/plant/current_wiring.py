"""The wiring of today: which ports are joined now, read from where people keep it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from topoloom.synth.errors import InvalidWiring
from topoloom.synth.wiring.plant import Pair, Plant, Present, Side
from topoloom.synth.wiring.plant.validation import check_pairs

Row = tuple[str, Any]


def read_present(document: Any, plant: Plant) -> Present:
    """Read the present wiring from JSON values.

    Args:
        document: A list of ``{"panel": "panel-0", "a": "3A", "b": "5B"}``, in which the panel may
            also be its number and ports may be written without their side; ``"foreign": true``
            marks pairs of others.  Or a patch-plan/1 document, whose ``final`` is meant.

    Raises:
        InvalidWiring: With a JSON pointer into ``document``.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> plant = uniform("per-port", hosts=6, lanes=2)
    >>> read_present([{"panel": "panel-1", "a": "3A", "b": 5}], plant).pairs
    (Pair(panel=1, a=3, b=5),)
    >>> read_present([{"panel": 1, "a": 3, "b": 6}], plant)
    Traceback (most recent call last):
    ...
    topoloom.synth.errors.InvalidWiring: /0/b: panel-1 has no port 6 there
    """
    if isinstance(document, list):
        return _parse([(f"/{index}", row) for index, row in enumerate(document)], plant)
    return _parse(final_rows(document), plant)


def final_rows(document: Any) -> list[Row]:
    """Return the rows of ``final`` of a patch-plan/1 document, each with its JSON pointer."""
    if not isinstance(document, dict):
        raise InvalidWiring("", "must be a list of pairs or a patch-plan/1 document")
    if document.get("schema") != "patch-plan/1":
        raise InvalidWiring("/schema", 'must be "patch-plan/1"')
    final = document.get("final")
    if not isinstance(final, dict):
        raise InvalidWiring("/final", "must be an object with one entry per panel")
    rows: list[Row] = []
    for panel, state in final.items():
        pointer = "/final/" + panel.replace("~", "~0").replace("/", "~1")
        if not isinstance(state, dict) or not isinstance(state.get("pairs"), list):
            raise InvalidWiring(pointer, 'must be an object with a list "pairs"')
        for index, row in enumerate(state["pairs"]):
            entry = {**row, "panel": panel} if isinstance(row, dict) else row
            rows.append((f"{pointer}/pairs/{index}", entry))
    return rows


def _parse(rows: list[Row], plant: Plant) -> Present:
    found = named_pairs(rows, plant)
    foreign = [
        pair
        for pair, (pointer, row) in zip(found, rows, strict=True)
        if is_set(row, "foreign", pointer)
    ]
    # In the order of the rows, so that of two that clash the later one is named.
    given = Present(found, frozenset(foreign))
    check_pairs(plant, given, [pointer for pointer, _ in rows], InvalidWiring)
    known = plant.present.foreign & set(given.pairs)
    return Present.of(given.pairs, given.foreign | known)


def is_set(row: Mapping[str, Any], name: str, pointer: str) -> bool | None:
    """Return the truth value of a member, as JSON or as a spreadsheet writes it; None for none.

    Raises:
        InvalidWiring: The value is neither true nor false; with its pointer.

    >>> is_set({"light": "FALSE"}, "light", "/0"), is_set({"light": ""}, "light", "/0")
    (False, None)
    """
    value = row.get(name)
    text = "" if value is None else str(value).strip().lower()
    if text and text not in _TRUTH:
        raise InvalidWiring(f"{pointer}/{name}", f"must be true or false; not {str(value)[:40]!r}")
    return _TRUTH.get(text)


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def named_pairs(rows: Iterable[Row], plant: Plant) -> tuple[Pair, ...]:
    """Return the pair of every (pointer, row), in their order; a port may be in several pairs.

    Raises:
        InvalidWiring: A row names a panel or a port that the plant does not have; with the pointer
            of the row.

    >>> from topoloom.synth.wiring.plant import uniform
    >>> named_pairs([("/0", {"panel": 0, "a": "3A", "b": 1})], uniform("single", 2, 2))
    (Pair(panel=0, a=3, b=1),)
    """
    names = _Names(plant)
    found: list[Pair] = []
    for pointer, row in rows:
        if not isinstance(row, dict):
            raise InvalidWiring(pointer, 'must be an object with "panel", "a" and "b"')
        panel = names.panel(row.get("panel"), f"{pointer}/panel")
        a = names.port(panel, Side.A, row.get("a"), f"{pointer}/a")
        b = names.port(panel, Side.B, row.get("b"), f"{pointer}/b")
        if plant.panels[panel].one_sided:
            if a == b:
                raise InvalidWiring(f"{pointer}/b", "must be another port than a")
            a, b = min(a, b), max(a, b)
        found.append(Pair(panel, a, b))
    return tuple(found)


class _Names:
    """Finds panels and ports by all that people write for them."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant

    def panel(self, value: Any, pointer: str) -> int:
        text = value.strip() if isinstance(value, str) else value
        for name in (value, text):
            if isinstance(name, str) and name in self.plant.panel_index:
                return self.plant.panel_index[name]
        number = _number(text)
        if number is None:
            raise InvalidWiring(pointer, f"there is no panel {str(value)[:80]!r}")
        if number >= len(self.plant.panels) or number < 0:
            raise InvalidWiring(pointer, f"must be below {len(self.plant.panels)}")
        return number

    def port(self, panel: int, side: Side, value: Any, pointer: str) -> int:
        known = self.plant.port_index[panel, side]
        number = _number(value.strip() if isinstance(value, str) else value)
        text = value.strip() if isinstance(value, str) else str(number)
        for name in (value if isinstance(value, str) else text, text, f"{text}{side}"):
            if name in known and not isinstance(value, bool):
                return known[name]
        if number is None and not isinstance(value, str):
            raise InvalidWiring(pointer, f"must be a port, such as 3 or 3{side}")
        raise InvalidWiring(pointer, f"{self.plant.panels[panel].id} has no port {text[:80]} there")


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
