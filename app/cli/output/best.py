"""Tables of what is known: the best topologies, and answers side by side."""

from typing import Any

from topoloom.app.cli.output.formatting import algorithm_of, fraction, seconds, short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.requests.base import format_bytes

__all__ = ["best_table", "comparison_table", "ways_notes", "ways_table"]


def best_table(document: dict[str, Any]) -> Table:
    """Return the table of a best/1 document."""
    timed = any("seconds" in one for one in document["candidates"])
    columns = (
        Column("topology", "shown", left=True),
        Column("hosts", "nodes"),
        Column("steps", "steps"),
        Column("above", "steps_gap", drop=2),
        Column("T_B", "bandwidth", fraction, drop=4),
        Column("above", "bandwidth_gap", fraction, drop=3),
        Column("algorithm", "algorithm_shown", left=True),
        *((Column("time", "seconds", _microseconds), Column("bound", "bound", _microseconds)))
        * timed,
        Column("known from", "sources", left=True, drop=1),
        Column(None, "recipe"),
        Column(None, "topology_id"),
        Column(None, "algorithm"),
        Column(None, "within_steps"),
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
        "algorithm_shown": algorithm_of(one),
        "algorithm": one["algorithm"],
        "within_steps": one.get("within_steps", ""),
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
            Column("steps", "steps", drop=4),
            Column("T_B", "bandwidth", fraction, drop=1),
            Column("time", "seconds", _microseconds),
            Column("co-design", "co_design_seconds", _microseconds, drop=2),
            Column("bound", "bound_seconds", _microseconds, drop=3),
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
        Column("T_B", "bandwidth", fraction, drop=1),
        Column("algbw GB/s", "algbw"),
        Column("busbw GB/s", "busbw"),
        Column("time", "seconds", _microseconds),
    )
    return Table(columns, document["schedules"])


def ways_table(document: dict[str, Any]) -> Table:
    """Return the table of a comparison/1 document of all ways on a fabric, a column a size."""
    fabric = document["fabric"]
    times = {
        size["bytes"]: {one["name"]: one["seconds"] for one in size["times"]}
        for size in fabric["sizes"]
    }
    columns = (
        Column("way", "name", left=True),
        Column("kind", "kind", left=True, drop=1),
        Column("hops", "hops", drop=3),
        Column("trees", "trees_per_root", drop=2),
        Column("algbw GB/s", "algbw", "{:.4g}".format),
        *(Column(format_bytes(size), str(size), seconds) for size in times),
    )
    rows = [
        {"trees_per_root": None}
        | way
        | {str(size): found[way["name"]] for size, found in times.items()}
        for way in fabric["ways"]
    ]
    return Table(columns, rows)


def ways_notes(document: dict[str, Any]) -> list[str]:
    """Return who is fastest from which size on, and what is not compared and why."""
    fabric = document["fabric"]
    lines = [f"from {one['from_bytes']} bytes: {one['name']}" for one in fabric["switch_over"]]
    return lines + [f"not {one['name']}: {one['reason']}" for one in fabric["left_out"]]


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"
