"""What is said of a sweep: one row for every question, of sizes one for every point."""

from collections.abc import Iterator
from typing import Any

from app.printing.words import fraction, seconds, short_id
from app.tabular import Column, Table

__all__ = ["sweep_table"]

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
        Column("algbw", "algbw", "{:.4g}".format),
        Column(None, "inverse_rate"),
        Column("left", "left", fraction),
    ),
}


def sweep_table(sweep: dict[str, Any]) -> Table:
    """Return the table of a sweep/1 document."""
    rows = [row for question in sweep["rows"] for row in _rows(question)]
    why = _WHY if any("problem" in row for row in rows) else ()
    return Table((*_COLUMNS[sweep["over"]], *why), rows)


def _rows(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "link" in question:
        yield question | {"lost": "-".join(map(str, question["link"]))}
    elif "points" in question:
        hosts = {name: question[name] for name in ("nodes", "degree")}
        yield from (hosts | point for point in question["points"])
    else:
        yield question
