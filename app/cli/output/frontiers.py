"""Tables of frontiers and of costs."""

from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.formatting import algorithm_of, fraction, name_of, short_id, steps_of
from topoloom.app.cli.output.text_table import Column, Table

POINT = (
    Column("topology", "name", left=True),
    Column("id", "topology_id", short_id, left=True, drop=2),
    Column("steps", "steps_shown"),
    Column(None, "recipe"),
    Column(None, "steps"),
    Column(None, "steps_transposed"),
    Column("T_B", "bandwidth", fraction, drop=4),
    Column("T_B transposed", "bandwidth_transposed", fraction, drop=1),
    Column("algorithm", "algorithm_shown", left=True, drop=3),
    Column(None, "algorithm"),
    Column(None, "within_steps"),
)
"""What is shown of a point of a frontier."""


def point_row(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a point of a frontier/1 or design/1 document as a row."""
    return {
        "name": name_of(entry),
        "topology_id": entry["topology_id"],
        "recipe": entry["recipe"],
        "steps_shown": steps_of(entry),
        "steps": entry["steps"],
        "steps_transposed": entry["transpose"]["steps"],
        "bandwidth": entry["bandwidth"],
        "bandwidth_transposed": entry["transpose"]["bandwidth"],
        "algorithm_shown": algorithm_of(entry),
        "algorithm": entry["algorithm"],
    } | {name: entry[name] for name in ("within_steps",) if name in entry}


def bound_row(bounds: dict[str, Any]) -> dict[str, Any]:
    """Return the lower bounds as a row."""
    return {
        "name": "lower bound",
        "steps_shown": str(bounds["steps"]),
        "steps": bounds["steps"],
        "steps_transposed": bounds["steps"],
        "bandwidth": bounds["bandwidth"],
        "bandwidth_transposed": bounds["bandwidth"],
    }


def frontier_table(document: dict[str, Any]) -> Table:
    """Return the table of a frontier/1 document."""
    columns, rows = list(POINT), []
    if "all_to_all" in document["frontier"][0]:
        columns += [
            Column("T_B all-to-all", "all_to_all_shown"),
            Column(None, "all_to_all_bandwidth"),
            Column(None, "all_to_all_bound"),
        ]
    for entry in document["frontier"]:
        row = point_row(entry) | {"status": entry["status"]}
        if exchange := entry.get("all_to_all"):
            row |= {
                "all_to_all_shown": _all_to_all(exchange),
                "all_to_all_bandwidth": exchange["bandwidth"],
                "all_to_all_bound": exchange["bound"],
            }
        rows.append(row)
    columns.append(Column("", "status", left=True))
    return Table(tuple(columns), [*rows, bound_row(document["bounds"])])


def _all_to_all(entry: dict[str, Any]) -> str:
    """Show the exact optimum, or the bounds it lies between."""
    if entry["proved"]:
        return fraction(entry["bandwidth"])
    low, high = Fraction(entry["bound"]), Fraction(entry["bandwidth"])
    return f"{float(low):.4f} to {float(high):.4f}"


def cost_table(document: dict[str, Any]) -> Table:
    """Return the table of a cost/1 document."""
    rows = [("allgather", document), ("reduce-scatter", document["transpose"])]
    rows.append(("lower bound", document["bounds"]))
    if healthy := document.get("healthy"):
        rows.append(("healthy allgather", healthy))
        rows.append(("healthy reduce-scatter", healthy["transpose"]))
    columns = (
        Column("", "collective", left=True),
        Column("steps", "steps"),
        Column("T_B", "bandwidth", fraction),
    )
    return Table(
        columns,
        [
            {"collective": name, "steps": cost["steps"], "bandwidth": cost["bandwidth"]}
            for name, cost in rows
        ],
    )
