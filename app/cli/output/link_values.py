"""Tables of link values and of the effect of repairs."""

from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.bottleneck import labelled
from topoloom.app.cli.output.text_table import Column, Table


def value_lines(document: dict[str, Any]) -> list[str]:
    """Return the lines on the link values of an optimum/1 document; empty without values."""
    if "values" not in document:
        return []
    unit = document["bandwidth_unit"]
    lines = ["", f"algbw gained by 1 {unit} more, lost by 1 less, and with links twice"]
    valuable = [value for value in document["values"] if not _worthless(value)]
    if valuable:
        lines += _table(valuable, unit).text().splitlines()
    if others := len(document["values"]) - len(valuable):
        kinds = f"{others} {'other ' if valuable else ''}kind{'s' if others > 1 else ''} of links"
        lines.append(f"{kinds}: no gain from more capacity, no loss from slightly less")
    if restored := document.get("restored"):
        rows = [f"{_named(part['nodes'])}: {_short(part['algbw'])} {unit}" for part in restored]
        lines += ["", *labelled("after repair", rows)]
    return lines


def _worthless(value: dict[str, Any]) -> bool:
    return all(value.get(name) == "0" for name in ("more", "each_more", "less"))


def _table(values: list[dict[str, Any]], unit: str) -> Table:
    columns = (
        Column("links", "ends", left=True),
        Column("count", "alike"),
        Column(f"{unit} each", "capacity"),
        Column("one more", "more", _short),
        Column("all more", "each_more", _short),
        Column("one less", "less", _short),
        Column("one twice", "doubled", _short),
        Column("all twice", "all_doubled", _short),
    )
    rows = [value | {"ends": _named(value["ends"]), "capacity": _both(value)} for value in values]
    return Table(columns, rows)


def _named(nodes: list[Any]) -> str:
    return " - ".join(map(str, nodes))


def _both(value: dict[str, Any]) -> str:
    there, back = value["capacity"], value["back"]
    return there if there == back else f"{there}, {back} back"


def _short(exact: str) -> str:
    """Return an exact number as a decimal.

    >>> _short("16/15"), _short("350")
    ('1.0667', '350')
    """
    return f"{float(Fraction(exact)):.4f}".rstrip("0").rstrip(".")
