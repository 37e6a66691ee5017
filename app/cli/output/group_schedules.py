"""Text output of a group-schedule/1 document."""

from typing import Any

from topoloom.app.cli.output.formatting import rate, seconds
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.requests.base import format_bytes


def show_group_schedules(document: dict[str, Any]) -> None:
    """Print the joint time, if sizes are given, and the kinds of groups with their rates."""
    count = sum(len(kind["groups"]) for kind in document["kinds"])
    time = f" in {seconds(document['seconds'])}" if "seconds" in document else ""
    name = document["name"] or "topology"
    print(f"{name}: {count} verified schedules of groups run at once{time}")
    rows = [
        {
            "kind": kind["kind"],
            "traffic": " ".join(
                [kind["collective"], *([format_bytes(kind["bytes"])] if "bytes" in kind else [])]
            ),
            "groups": len(kind["groups"]),
            "size": len(kind["groups"][0]["hosts"]),
            "algbw": f"{rate(kind['algbw'])} {document['bandwidth_unit']}",
        }
        for kind in document["kinds"]
    ]
    columns = (
        Column("group", "kind", left=True),
        Column("traffic", "traffic", left=True),
        Column("groups", "groups"),
        Column("hosts", "size"),
        Column("algbw", "algbw"),
    )
    Table(columns, rows).print()
    if "seconds" in document:
        unit = document["bandwidth_unit"]
        if unit == "link":
            print(f"note: 1 link sends {document['unit_gbps']:g} Gbit/s; --node-gbps changes this")
        if "alpha_us" in document:
            print(f"note: a hop takes {document['alpha_us']:g} us; --alpha-us changes this")
