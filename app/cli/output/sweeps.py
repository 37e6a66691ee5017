"""What is said of a sweep: one row for every question, of sizes one for every point."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.formatting import fraction, seconds, short_id
from topoloom.app.cli.output.text_table import Column, Table

__all__ = ["lost_of", "sweep_table", "worst_first"]

_HOSTS = (Column("nodes", "nodes"), Column("degree", "degree"))
_TOPOLOGY = (
    Column("topology", "name", left=True),
    Column("id", "topology_id", short_id, left=True),
)
_WHY = (Column("why not", "problem", left=True),)
_COLUMNS = {
    "sizes": (*_HOSTS, *_TOPOLOGY, Column("steps", "steps"), Column("T_B", "bandwidth", fraction)),
    "time": (
        *_HOSTS,
        *_TOPOLOGY,
        Column("time", "seconds", seconds),
        Column("bound", "bound_seconds", seconds),
    ),
    "faults": (
        Column("lost", "lost", left=True),
        Column(None, "part"),
        Column("alike", "alike"),
        Column("algbw", "algbw", "{:.4g}".format),
        Column(None, "inverse_rate"),
        Column("left", "left", fraction),
    ),
}


def sweep_table(sweep: dict[str, Any]) -> Table:
    """Return the table of a sweep/1 document; of faults the worst are first."""
    questions = sweep["rows"]
    if sweep["over"] == "faults":
        questions = worst_first(questions)
    rows = [row for question in questions for row in _rows(question)]
    why = _WHY if any("problem" in row for row in rows) else ()
    return Table((*_COLUMNS[sweep["over"]], *why), rows)


def worst_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the faults in the order of what they leave; those that leave nothing come first."""
    return sorted(rows, key=lambda row: Fraction(row.get("left", -1)))


def lost_of(row: dict[str, Any]) -> str:
    """Return what a row of a survey says is lost.

    >>> lost_of({"link": ["a", "b"]}), lost_of({"node": 3})
    ('a-b', '3')
    """
    return "-".join(map(str, row.get("link", [row.get("node")])))


def _rows(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "part" in question:
        yield question | {"lost": lost_of(question)}
    elif "points" in question:
        hosts = {name: question[name] for name in ("nodes", "degree")}
        yield from (hosts | point for point in question["points"])
    else:
        yield question
