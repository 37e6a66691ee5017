"""Tables of what is known: the best topologies, and answers side by side."""

from typing import Any

from app.printing.words import fraction, short_id
from app.tabular import Column, Table

__all__ = ["best_table", "comparison_table"]


def best_table(document: dict[str, Any]) -> Table:
    """Return the table of a best/1 document."""
    timed = any("seconds" in one for one in document["candidates"])
    columns = (
        Column("topology", "shown", left=True),
        Column("hosts", "nodes"),
        Column("steps", "steps"),
        Column("above", "steps_gap"),
        Column("T_B", "bandwidth", fraction),
        Column("above", "bandwidth_gap", fraction),
        *((Column("time", "seconds", _microseconds), Column("bound", "bound", _microseconds)))
        * timed,
        Column("known from", "sources", left=True),
        Column(None, "recipe"),
        Column(None, "topology_id"),
    )
    return Table(tuple(columns), [_row(one) for one in document["candidates"]])


def _row(one: dict[str, Any]) -> dict[str, Any]:
    return {
        "shown": one["name"] or one.get("recipe", ""),
        "nodes": one["nodes"],
        "steps": max(one["steps"], one["transpose"]["steps"]),
        "steps_gap": one["gap"]["steps"],
        "bandwidth": one["bandwidth"],
        "bandwidth_gap": one["gap"]["bandwidth"],
        "seconds": one.get("seconds"),
        "bound": one.get("bound_seconds"),
        "sources": ", ".join(
            f"{source['kind']} {short_id(source['id'])}" if "id" in source else source["kind"]
            for source in one["known_from"][:2]
        ),
        "recipe": one.get("recipe", ""),
        "topology_id": one.get("topology_id", ""),
    }


def comparison_table(document: dict[str, Any]) -> Table:
    """Return the table of a comparison/1 document."""
    if "designs" in document:
        columns = (
            Column("design", "id", short_id, left=True),
            Column("best topology", "name", left=True),
            Column("steps", "steps"),
            Column("T_B", "bandwidth", fraction),
            Column("time", "seconds", _microseconds),
            Column("co-design", "co_design_seconds", _microseconds),
            Column("bound", "bound_seconds", _microseconds),
            Column("today", "baseline_seconds", _microseconds),
            Column("by", "baseline", left=True),
        )
        return Table(columns, document["designs"])
    columns = (
        Column("schedule", "id", short_id, left=True),
        Column("collective", "collective", left=True),
        Column("algorithm", "algorithm", left=True),
        Column("topology", "name", left=True),
        Column("steps", "steps"),
        Column("T_B", "bandwidth", fraction),
        Column("algbw GB/s", "algbw"),
        Column("busbw GB/s", "busbw"),
        Column("time", "seconds", _microseconds),
    )
    return Table(columns, document["schedules"])


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"
