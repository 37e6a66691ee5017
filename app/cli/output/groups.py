"""Tables of process groups: schedules, and best rates."""

from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.formatting import rate, seconds
from topoloom.app.cli.output.text_table import Column, Table, say
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
            speed = f"{document['unit_gbps']:g} Gbit/s"
            say(f"note: 1 link sends {speed}; --node-gbps changes this")
        if "alpha_us" in document:
            latency = f"{document['alpha_us']:g} us"
            say(f"note: a hop takes {latency}; --alpha-us changes this")


def show_group_optimum(document: dict[str, Any]) -> None:
    """Print a group-optimum/1 document."""
    kinds, unit = document["kinds"], document["bandwidth_unit"]
    name, mixed = document["name"] or "topology", "collective" not in document
    last = "all_kinds" if mixed else "together"
    rates = ", ".join(
        f"each {kind['kind']} group reaches {rate(kind[last]['algbw'])} {unit}" for kind in kinds
    )
    at_once = "the groups of all kinds" if mixed else "all groups of a kind"
    start = name if mixed else f"{name}, {document['collective']}"
    say(f"{start}: with {at_once} at once, {rates}")
    rows = [
        {
            "kind": kind["kind"],
            "traffic": f"{kind['collective']} {format_bytes(kind['bytes'])}" if mixed else "",
            "groups": len(kind["groups"]),
            "size": kind["size"],
            "members_only": rate(kind["members_only"]["algbw"]) if "members_only" in kind else "-",
            "alone": rate(kind["alone"]["algbw"]),
            "together": rate(kind["together"]["algbw"]),
            "all_kinds": rate(kind["all_kinds"]["algbw"]) if mixed else "",
            "proof": _proof(kind[last]),
        }
        for kind in kinds
    ]
    columns = (
        Column("group", "kind", left=True),
        *((Column("traffic", "traffic", left=True),) if mixed else ()),
        Column("groups", "groups"),
        Column("hosts", "size"),
        Column("own links", "members_only", drop=1),
        Column("alone", "alone", drop=2),
        Column("all of kind" if mixed else "all at once", "together"),
        *((Column("all kinds", "all_kinds"),) if mixed else ()),
        Column("proof", "proof", left=True),
    )
    Table(columns, rows).print()
    if "dimensions" in document:
        order = ", then ".join(one["name"] for one in document["dimensions"])
        say(
            f"note: ranks count through {order}, in the order of --groups; rank r runs on the r-th "
            "compute node"
        )
    idle = "in the first three rates, " if mixed else ""
    say(
        f"note: own links are links among the members and switches; {idle}groups of other kinds "
        "are idle"
    )
    if mixed:
        say("note: all kinds: the least time in which every group moves its own bytes")


def _proof(found: dict[str, Any]) -> str:
    """Return what proves the rate, or how far it may be from the optimum."""
    if not found["exact"]:
        bound = f"{float(Fraction(found['bound'])):.6g}"
        return f"at most {bound}; up to {100 * found['gap']:.2g} % from the optimum"
    prices = found.get("prices", [])
    links = sum(one["count"] for one in prices)
    return f"optimal, by lengths of {links} links" if prices else "optimal"
