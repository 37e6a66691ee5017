"""Text output of a group-optimum/1 document: the answer, the table of rates, and the proofs."""

from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.formatting import rate
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.requests.base import format_bytes


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
    print(f"{start}: with {at_once} at once, {rates}")
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
        Column("own links", "members_only"),
        Column("alone", "alone"),
        Column("all of kind" if mixed else "all at once", "together"),
        *((Column("all kinds", "all_kinds"),) if mixed else ()),
        Column("proof", "proof", left=True),
    )
    Table(columns, rows).print()
    if "dimensions" in document:
        order = ", then ".join(one["name"] for one in document["dimensions"])
        print(
            f"note: ranks count through {order}, in the order of --groups; rank r runs on the r-th "
            "compute node"
        )
    idle = "in the first three rates, " if mixed else ""
    print(
        f"note: own links are links among the members and switches; {idle}groups of other kinds "
        "are idle"
    )
    if mixed:
        print("note: all kinds: the least time in which every group moves its own bytes")


def _proof(found: dict[str, Any]) -> str:
    """Return what proves the rate, or how far it may be from the optimum."""
    if not found["exact"]:
        bound = f"{float(Fraction(found['bound'])):.6g}"
        return f"at most {bound}; up to {100 * found['gap']:.2g} % from the optimum"
    prices = found.get("prices", [])
    links = sum(one["count"] for one in prices)
    return f"optimal, by lengths of {links} links" if prices else "optimal"
