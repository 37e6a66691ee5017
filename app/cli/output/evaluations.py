"""Text output of costs, optima and simulations."""

from fractions import Fraction
from typing import Any

from topoloom.app.cli.output.bottleneck import cut_lines, with_label
from topoloom.app.cli.output.formatting import fraction, number_of, seconds
from topoloom.app.cli.output.frontiers import cost_table
from topoloom.app.cli.output.groups import show_group_optimum
from topoloom.app.cli.output.text_table import Column, Table, say, terminal_width


def show_cost(document: dict[str, Any]) -> None:
    """Print a cost/1 document: a title and the table."""
    print(
        f"{document['name'] or 'topology'}: {document['nodes']} nodes of degree "
        f"{document['degree']}, {document['links']}"
    )
    cost_table(document).print()


def show_optimum(document: dict[str, Any]) -> None:
    """Print an optimum/1, an all-to-all/1 or a group-optimum/1 document."""
    if document["schema"] == "group-optimum/1":
        show_group_optimum(document)
        return
    if document["schema"] == "all-to-all/1":
        _show_all_to_all(document)
        return
    collective, nodes = document["collective"], document["nodes"]
    title = f"{document['name'] or 'topology'}: {nodes} compute nodes"
    if "participants" in document:
        title += " take part"
    if "root" in document:
        title += f", {collective} {'from' if collective == 'broadcast' else 'to'} "
        title += str(document["root"])
    elif collective != "allgather":
        title += f", {collective}"
    unit = document["bandwidth_unit"]
    kind = "taking part" if "participants" in document else "compute"
    lines = [
        title,
        f"algbw          {document['algbw']} {unit}",
        f"inverse rate   {document['inverse_rate']}",
    ]
    if "parts" not in document:
        lines += _pass_lines(document, unit, kind)
    if "bound" in document:
        lines.append(_bound_line(document))
        if "shards" in document:
            shares = document["shards"]
            lines.append(f"roots          {len(shares)}, with unequal shares, in --json")
    if "bound_left_out" in document:
        lines.append(f"bound          not computed: {document['bound_left_out']}")
    for part in document.get("parts", ()):
        lines += ["", part["collective"], f"inverse rate   {part['inverse_rate']}"]
        lines += _pass_lines(part, unit, kind)
    if healthy := document.get("healthy"):
        lines.append(
            f"healthy algbw  {healthy['algbw']} {unit}, {healthy['nodes']} compute nodes; "
            f"{fraction(healthy['ratio'])} of it remains"
        )
    for line in lines + value_lines(document):
        say(line)


def _bound_line(document: dict[str, Any]) -> str:
    """Return the line on the bound for both passes of an allreduce at once."""
    bound = document["bound"]
    text = f"bound          {bound['inverse_rate']} with both passes at once"
    if not bound["exact"]:
        text += f" ({bound['feasible_algbw']} {document['bandwidth_unit']} is reached)"
    if document.get("together"):
        text += ", as here"
    times = 1 + Fraction(bound["gap"])
    longer = "as long" if times == 1 else f"{fraction(str(times))} times as long"
    return f"{text}; one after the other takes {longer}"


def _show_all_to_all(document: dict[str, Any]) -> None:
    unit, best = document["bandwidth_unit"], document["routings"][-1]
    proof = "proved optimal" if document["proved"] else f"bound {document['lower_bound']}"
    lines = (
        f"{document['name'] or 'topology'}: {document['nodes']} compute nodes, all-to-all",
        f"algbw          {document['algbw']} {unit}",
        f"inverse rate   {document['inverse_rate']}, {proof}",
        f"T_B            {fraction(best['bandwidth'])}",
        f"routes         {best['method']}, at most {best['steps']} hops",
    )
    for line in lines:
        say(line)


def show_simulation(document: dict[str, Any]) -> None:
    """Print a simulation/1 document."""
    used, link = document["utilisation"], document["utilisation"]["busiest_link"]
    rows = [
        ("time", seconds(document["seconds"])),
        ("algbw", f"{document['algbw']} GB/s for this size, in this time"),
        *_large_row(document),
        ("chunks", str(document["chunks"])),
        (
            "busiest link",
            f"{link['source']} -> {link['target']}, {used['busiest']:.1%} of the time",
        ),
        ("mean link", f"{used['mean']:.1%} of the time"),
        ("messages", f"{document['messages']}, in {document['events']} link transmissions"),
    ]
    for name, value in rows:
        say(f"{name:<14}{value}")


def _large_row(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the row with the rate for large data; empty if the rate is unknown."""
    if "algbw_large" not in document:
        return []
    meaning = "as printed by topoloom schedule: no latency, no idle links"
    return [("large data", f"{document['algbw_large']} GB/s, {meaning}")]


def _pass_lines(facts: dict[str, Any], unit: str, kind: str) -> list[str]:
    """Return the lines on one pass: trees, gap, and the cut that proves the rate."""
    equal, one = facts["data"] == facts["nodes"], facts["data"] == 1
    trees = "trees per root" if equal else "trees         " if one else "trees per unit"
    lines = [f"{trees} {facts['trees_per_root']}, {facts['unit_bandwidth']} {unit} each"]
    if not facts.get("least", True):
        lines[0] += " (a smaller number may suffice)"
    if "bound_inverse_rate" in facts:
        lines.append(f"proven         inverse rate at least {facts['bound_inverse_rate']}")
    if "gap" in facts:
        lines.append(
            f"gap            {facts['gap']} above the optimum's inverse rate, "
            f"{facts['optimal_inverse_rate']}"
        )
    cut = facts["bottleneck"]
    inside = f"{number_of(len(cut['nodes']), 'node')}, {cut['compute_inside']} of them {kind}"
    if not (equal or one):
        inside += f", with {cut['data_inside']} of {facts['data']} units of data"
    verb = "send out" if "exit_capacity" in cut else "take in"
    capacity = cut.get("exit_capacity", cut.get("entry_capacity"))
    lines.append(f"bottleneck     {inside}, {verb} {capacity} {unit}")
    if patterns := facts.get("proof", {}).get("patterns"):
        # The worst cut of all links allows more than any trees reach.
        lines[-1] = (
            f"proof          {len(patterns)} sets of switches that copy, each with sets of nodes, "
            "in --json"
        )
        return lines
    if "proof" in facts:
        places = ", ".join(str(price["node"]) for price in facts["proof"]["prices"][:4])
        more = ", ..." if len(facts["proof"]["prices"]) > 4 else ""
        lines.append(
            f"proof          {len(facts['proof']['sets'])} sets of nodes, in --json: no more "
            f"leaves {places}{more} than enters"
        )
        return lines
    return lines + cut_lines(cut, unit)


def value_lines(document: dict[str, Any]) -> list[str]:
    """Return the lines on the link values of an optimum/1 document; empty without values."""
    if "values" not in document:
        return []
    unit = document["bandwidth_unit"]
    lines = ["", f"algbw gained by 1 {unit} more, lost by 1 less, and with links twice"]
    valuable = [value for value in document["values"] if not _worthless(value)]
    if valuable:
        lines += _table(valuable, unit).text(terminal_width()).splitlines()
    if others := len(document["values"]) - len(valuable):
        kinds = f"{others} {'other ' if valuable else ''}kind{'s' if others > 1 else ''} of links"
        lines.append(f"{kinds}: no gain from more capacity, no loss from slightly less")
    if restored := document.get("restored"):
        rows = [f"{_named(part['nodes'])}: {_short(part['algbw'])} {unit}" for part in restored]
        lines += ["", *with_label("after repair", rows)]
    return lines


def _worthless(value: dict[str, Any]) -> bool:
    return all(value.get(name) == "0" for name in ("more", "each_more", "less"))


def _table(values: list[dict[str, Any]], unit: str) -> Table:
    columns = (
        Column("links", "ends", left=True),
        Column("count", "alike"),
        Column(f"{unit} each", "capacity"),
        Column("one more", "more", _short),
        Column("all more", "each_more", _short, drop=1),
        Column("one less", "less", _short),
        Column("one twice", "doubled", _short),
        Column("all twice", "all_doubled", _short, drop=2),
    )
    rows = [value | {"ends": _named(value["ends"]), "capacity": _both(value)} for value in values]
    return Table(columns, rows)


def _named(nodes: list[Any]) -> str:
    return " - ".join(map(str, nodes))


def _both(value: dict[str, Any]) -> str:
    there, back = value["capacity"], value["back"]
    return there if there == back else f"{there}, {back} back"


def _short(exact: str) -> str:
    """Return an exact number as a decimal.

    >>> _short("16/15"), _short("350")
    ('1.0667', '350')
    """
    return f"{float(Fraction(exact)):.4f}".rstrip("0").rstrip(".")
