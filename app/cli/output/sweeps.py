"""What is said of a sweep: one row for every question, of sizes one for every point."""

from collections.abc import Iterator
from typing import Any

from topoloom.app.cli.output.formatting import fraction, seconds, short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.documents.fault_rows import lost_of, worst_first

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


def _rows(question: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "part" in question:
        yield question | {"lost": lost_of(question)}
    elif "points" in question:
        hosts = {name: question[name] for name in ("nodes", "degree")}
        yield from (hosts | point for point in question["points"])
    else:
        yield question
