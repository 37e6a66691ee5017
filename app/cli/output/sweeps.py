"""Table of a sweep: a row per request; for frontiers, a row per point."""

from collections.abc import Iterator
from typing import Any

from topoloom.app.cli.output.formatting import fraction, seconds, short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.documents.fault_rows import lost_of, worst_first
from topoloom.app.requests.renamed import both_names

_LONGEST = 44


def _short(recipe: str) -> str:
    return recipe if len(recipe) <= _LONGEST else f"{recipe[: _LONGEST - 1]}…"


_HOSTS = (Column("nodes", "nodes"), Column("degree", "degree"))
_TOPOLOGY = (
    Column("topology", "name", left=True),
    Column("id", "topology_id", short_id, left=True),
)
_PROBLEM = (Column("problem", "problem", left=True),)
_COLUMNS = {
    "sizes": (*_HOSTS, *_TOPOLOGY, Column("steps", "steps"), Column("T_B", "bandwidth", fraction)),
    "workload": (
        *_HOSTS,
        *_TOPOLOGY,
        Column("time", "seconds", seconds),
        Column("bound", "bound_seconds", seconds),
    ),
    "iteration": (
        Column("job", "job", left=True),
        *_HOSTS,
        Column("topology", "name", _short, left=True, drop=2),
        Column("ranks", "parallel", left=True, drop=1),
        Column("time", "seconds", seconds),
        Column("exposed", "exposed_share", "{:.1%}".format),
        Column("limited by", "limit", left=True, drop=6),
        Column("torus", "torus_seconds", seconds, drop=5),
        Column("rings", "rings_seconds", seconds, drop=4),
        Column("switch", "switch_seconds", seconds, drop=3),
    ),
    "fault-analysis": (
        Column("lost", "lost", left=True),
        Column(None, "part"),
        Column("count", "alike"),
        Column("algbw", "algbw", "{:.4g}".format),
        Column(None, "inverse_rate"),
        Column("left", "left", fraction),
    ),
}


def sweep_table(sweep: dict[str, Any]) -> Table:
    """Return the table of a sweep/1 document; faults are sorted worst first."""
    answers, kind = sweep["rows"], both_names(sweep, ("over",))["kind"]
    if kind == "fault-analysis":
        answers = worst_first(answers)
    rows = [row for answer in answers for row in _rows(answer)]
    problem = _PROBLEM if any("problem" in row for row in rows) else ()
    return Table((*_COLUMNS[kind], *problem), rows)


def _rows(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "part" in answer:
        yield answer | {"lost": lost_of(answer)}
    elif "points" in answer:
        hosts = {name: answer[name] for name in ("nodes", "degree")}
        yield from (hosts | point for point in answer["points"])
    else:
        yield answer
