"""The wiring of today: which ports are joined now, read from where people keep it."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from synth.errors import InvalidWiring
from synth.wiring.panels import Pair, Panels

__all__ = ["Present", "read_present", "read_present_csv"]


@dataclass(frozen=True, slots=True)
class Present:
    """The pairs plugged today, sorted.

    Some may belong to hosts that a topology does not use.

    >>> Present.of([(0, 2, 1), (0, 0, 2)]).pairs
    (Pair(panel=0, a=0, b=2), Pair(panel=0, a=2, b=1))
    """

    pairs: tuple[Pair, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int, int]]) -> "Present":
        """Return the wiring of those (panel, a, b)."""
        return cls(tuple(sorted(Pair(*pair) for pair in pairs)))

    def require_valid(self, panels: Panels) -> None:
        """Raise `InvalidWiring` unless the ports exist and each is in one pair at most."""
        _check(self.pairs, [f"/{index}" for index in range(len(self.pairs))], panels)


def _check(pairs: Sequence[Pair], pointers: Sequence[str], panels: Panels) -> None:
    seen: dict[tuple[int, str, int], str] = {}
    for pair, pointer in zip(pairs, pointers, strict=True):
        if not 0 <= pair.panel < panels.count:
            raise InvalidWiring(f"{pointer}/panel", f"must be below {panels.count}")
        for side, port in (("a", pair.a), ("b", pair.b)):
            if not 0 <= port < panels.ports_per_side:
                raise InvalidWiring(f"{pointer}/{side}", f"must be below {panels.ports_per_side}")
            before = seen.setdefault((pair.panel, side, port), pointer)
            if before != pointer:
                raise InvalidWiring(
                    f"{pointer}/{side}",
                    f"port {port}{side.upper()} of {panels.id(pair.panel)} "
                    f"must be in one pair only; {before} has it",
                )


def read_present(document: Any, panels: Panels) -> Present:
    """Read the present wiring from JSON values.

    Parameters
    ----------
    document : list or dict
        A list of ``{"panel": 0, "a": 3, "b": 5}``, in which the panel may also be
        written ``"panel-0"`` and the ports ``"3A"`` and ``"5B"``; or a patch-plan/1
        document, whose ``final`` is meant.
    panels : Panels

    Raises
    ------
    InvalidWiring
        With a JSON pointer into ``document``.

    Examples
    --------
    >>> panels = Panels("per-port", hosts=6, lanes=2)
    >>> read_present([{"panel": "panel-1", "a": "3A", "b": 5}], panels).pairs
    (Pair(panel=1, a=3, b=5),)
    >>> read_present([{"panel": 1, "a": 3, "b": 6}], panels)
    Traceback (most recent call last):
    ...
    synth.errors.InvalidWiring: /0/b: must be below 6
    """
    if isinstance(document, dict):
        rows = _final_rows(document)
    elif isinstance(document, list):
        rows = [(f"/{index}", row) for index, row in enumerate(document)]
    else:
        raise InvalidWiring("", "must be a list of pairs or a patch-plan/1 document")
    return _parse(rows, panels)


def read_present_csv(text: str, panels: Panels) -> Present:
    r"""Read the present wiring from CSV with the columns ``panel``, ``a`` and ``b``.

    Values are written as in `read_present`; other columns are ignored.  Pointers in
    errors count the rows below the header from 0.

    >>> read_present_csv("panel,a,b\n0,3A,1B\n", Panels("single", 2, 2)).pairs
    (Pair(panel=0, a=3, b=1),)
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        missing = {"panel", "a", "b"} - set(reader.fieldnames or ())
        if missing:
            raise InvalidWiring("", f"must have a column {min(missing)!r}")
        rows = [(f"/{index}", row) for index, row in enumerate(reader)]
    except csv.Error as error:
        raise InvalidWiring("", f"must be CSV: {error}") from None
    return _parse(rows, panels)


def _final_rows(document: dict[str, Any]) -> list[tuple[str, Any]]:
    if document.get("schema") != "patch-plan/1":
        raise InvalidWiring("/schema", 'must be "patch-plan/1"')
    final = document.get("final")
    if not isinstance(final, dict):
        raise InvalidWiring("/final", "must be an object with one entry per panel")
    rows: list[tuple[str, Any]] = []
    for panel, state in final.items():
        pointer = "/final/" + panel.replace("~", "~0").replace("/", "~1")
        if not isinstance(state, dict) or not isinstance(state.get("pairs"), list):
            raise InvalidWiring(pointer, 'must be an object with a list "pairs"')
        for index, row in enumerate(state["pairs"]):
            entry = {**row, "panel": panel} if isinstance(row, dict) else row
            rows.append((f"{pointer}/pairs/{index}", entry))
    return rows


def _parse(rows: list[tuple[str, Any]], panels: Panels) -> Present:
    pairs: list[Pair] = []
    for pointer, row in rows:
        if not isinstance(row, dict):
            raise InvalidWiring(pointer, 'must be an object with "panel", "a" and "b"')
        pairs.append(
            Pair(
                _panel(row.get("panel"), f"{pointer}/panel", panels),
                _port(row.get("a"), f"{pointer}/a", "A"),
                _port(row.get("b"), f"{pointer}/b", "B"),
            )
        )
    _check(pairs, [pointer for pointer, _ in rows], panels)
    return Present.of(pairs)


def _panel(value: Any, pointer: str, panels: Panels) -> int:
    text = value.strip().removeprefix("panel-") if isinstance(value, str) else value
    number = _number(text)
    if number is None:
        raise InvalidWiring(pointer, f"must be a panel, 0 to {panels.count - 1} or its id")
    return number


def _port(value: Any, pointer: str, side: str) -> int:
    text = value.strip().removesuffix(side) if isinstance(value, str) else value
    number = _number(text)
    if number is None:
        raise InvalidWiring(pointer, f"must be a port, such as 3 or 3{side}")
    return number


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
