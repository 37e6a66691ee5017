"""What the command line shows to people; ``--json`` shows the document instead."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.table import Table

from app.cut_lines import cut_lines

__all__ = ["PRINTERS"]

_MAX_RECIPE = 48


def show_design(design: dict[str, Any]) -> None:
    """Print a design/1 document as one table, fastest first, and what runs by message size."""
    request, best, bounds = design["request"], design["best"], design["bounds"]
    console = Console()
    console.print(
        f"{request['nodes']} hosts of {request['degree']} ports, {request['links']} links, "
        f"{request['node_gbps']} Gbit/s per host, {request['alpha_us']} us per hop; "
        + _asked(design),
        soft_wrap=True,
    )
    whole = "collective" not in request
    times = design["co_design"]["points"] if whole else design["frontier"]
    points = zip(times, design["frontier"], strict=True)
    rows = [(timed["seconds"], _design_row(entry)) for timed, entry in points]
    rows += [
        (entry["seconds"], [entry["name"] + " (baseline)", "", "", ""])
        for entry in design["baselines"]
    ]
    table = _table("topology", "steps", "T_B", "T_B transposed", "time", "to bound")
    for seconds, row in sorted(rows, key=lambda pair: pair[0]):
        table.add_row(*row, _time(seconds), f"{seconds / bounds['seconds']:.3f}")
    table.add_section()
    table.add_row(
        "lower bound",
        str(bounds["steps"]),
        _fraction(bounds["bandwidth"]),
        _fraction(bounds["bandwidth"]),
        _time(bounds["seconds"]),
        "1.000",
    )
    console.print(table)
    console.print(f"best: {_short(best['recipe'])}, topology {best['topology_id']}", soft_wrap=True)
    _show_co_design(console, design["co_design"], whole)
    schedule = best["schedule"]
    if whole:
        for used in design["co_design"]["schedules"]:
            found = f"verified schedule {used['id']}" if used["id"] else used["left_out"]
            line = f"{used['collective']} by {used['algorithm']}: {found}"
            console.print(line, soft_wrap=True, highlight=False)
    elif schedule is None:
        console.print(f"no schedule: {best['schedule_left_out']}", soft_wrap=True)
    else:
        console.print(
            f"verified schedule {schedule['id']}: {schedule['algorithm']}, "
            f"{schedule['steps']} steps in all",
            soft_wrap=True,
        )


def _asked(design: dict[str, Any]) -> str:
    request, tasks = design["request"], design["workload"]["tasks"]
    if "collective" in request:
        return f"{request['collective']} of {request['bytes']} bytes"
    times = sum(task["count"] for task in tasks)
    named = design["workload"].get("title", f"{len(tasks)} kinds of collectives")
    return f"{named}; {times} collectives in all"


def _show_co_design(console: Console, design: dict[str, Any], whole: bool) -> None:
    """Print what runs each task, where there are several, and which algorithm at which size."""
    if whole:
        table = _table("collective", "bytes", "count", "algorithm", "chunks", "time", "to floor")
        for task in design["tasks"]:
            table.add_row(
                task["collective"],
                str(task["bytes"]),
                str(task["count"]),
                task["algorithm"],
                str(task["chunks"]),
                _time(task["seconds"]),
                f"{task['seconds'] / task['floor_seconds']:.3f}",
            )
        console.print(table)
    ranges: dict[str, list[str]] = {}
    for part in design["switch_over"]:
        from_ = f" from {part['from_bytes']} bytes" if part["from_bytes"] > 1 else ""
        ranges.setdefault(part["collective"], []).append(part["algorithm"] + from_)
    for collective, parts in ranges.items():
        line = f"by message size, {collective} there: {', '.join(parts)}"
        console.print(line, soft_wrap=True, highlight=False)


def _short(recipe: str) -> str:
    """Cut a recipe that lists arcs to one line; documents and `topoloom topology` have it all."""
    return recipe if len(recipe) <= _MAX_RECIPE else f"{recipe[: _MAX_RECIPE - 1]}…"


def _design_row(entry: dict[str, Any]) -> list[str]:
    return [
        _short(entry["recipe"]),
        _steps(entry),
        _fraction(entry["bandwidth"]),
        _fraction(entry["transpose"]["bandwidth"]),
    ]


def show_frontier(document: dict[str, Any]) -> None:
    """Print a frontier/1 document."""
    bounds = document["bounds"]
    measured = ["T_B all-to-all"] if "all_to_all" in document["frontier"][0] else []
    table = _table("topology", "steps", "T_B", "T_B transposed", *measured, "")
    for entry in document["frontier"]:
        more = [_all_to_all(entry["all_to_all"])] if measured else []
        table.add_row(*_design_row(entry), *more, entry["status"])
    table.add_section()
    bound = _fraction(bounds["bandwidth"])
    table.add_row("lower bound", str(bounds["steps"]), bound, bound)
    Console().print(table)


def _all_to_all(entry: dict[str, Any]) -> str:
    """Show the exact optimum, or the bounds it lies between."""
    if entry["proved"]:
        return _fraction(entry["bandwidth"])
    low, high = Fraction(entry["bound"]), Fraction(entry["bandwidth"])
    return f"{float(low):.4f} to {float(high):.4f}"


def show_cost(document: dict[str, Any]) -> None:
    """Print a cost/1 document."""
    console = Console()
    console.print(
        f"{document['name'] or 'topology'}: {document['nodes']} nodes of degree "
        f"{document['degree']}, {document['links']}",
        soft_wrap=True,
    )
    table = _table("", "steps", "T_B")
    transpose, bounds = document["transpose"], document["bounds"]
    table.add_row("allgather", str(document["steps"]), _fraction(document["bandwidth"]))
    table.add_row("reduce-scatter", str(transpose["steps"]), _fraction(transpose["bandwidth"]))
    table.add_section()
    table.add_row("lower bound", str(bounds["steps"]), _fraction(bounds["bandwidth"]))
    if healthy := document.get("healthy"):
        back = healthy["transpose"]
        table.add_section()
        table.add_row("healthy allgather", str(healthy["steps"]), _fraction(healthy["bandwidth"]))
        table.add_row("healthy reduce-scatter", str(back["steps"]), _fraction(back["bandwidth"]))
    console.print(table)


def show_optimum(document: dict[str, Any]) -> None:
    """Print an optimum/1 or an all-to-all/1 document."""
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
        bound = document["bound"]
        lines.append(
            f"bound          {bound['inverse_rate']} with both passes at once; "
            f"one after the other takes {bound['gap']} longer"
        )
    if "bound_left_out" in document:
        lines.append(f"bound          left out: {document['bound_left_out']}")
    for part in document.get("parts", ()):
        lines += ["", part["collective"], f"inverse rate   {part['inverse_rate']}"]
        lines += _pass_lines(part, unit, kind)
    if healthy := document.get("healthy"):
        lines.append(
            f"healthy algbw  {healthy['algbw']} {unit}, {healthy['nodes']} compute nodes; "
            f"{_fraction(healthy['ratio'])} of it is left"
        )
    for line in lines:
        Console().print(line, soft_wrap=True, highlight=False)


def _show_all_to_all(document: dict[str, Any]) -> None:
    unit, best = document["bandwidth_unit"], document["routings"][-1]
    proof = "proved optimal" if document["proved"] else f"bound {document['lower_bound']}"
    lines = (
        f"{document['name'] or 'topology'}: {document['nodes']} compute nodes, all-to-all",
        f"algbw          {document['algbw']} {unit}",
        f"inverse rate   {document['inverse_rate']}, {proof}",
        f"T_B            {_fraction(best['bandwidth'])}",
        f"routes         {best['method']}, at most {best['steps']} hops",
    )
    for line in lines:
        Console().print(line, soft_wrap=True, highlight=False)


def show_simulation(document: dict[str, Any]) -> None:
    """Print a simulation/1 document."""
    used, link = document["utilisation"], document["utilisation"]["busiest_link"]
    console = Console()
    rows = [
        ("time", _time(document["seconds"])),
        ("algbw", f"{document['algbw']} GB/s"),
        ("chunks", str(document["chunks"])),
        (
            "busiest link",
            f"{link['source']} -> {link['target']}, {used['busiest']:.1%} of the time",
        ),
        ("mean link", f"{used['mean']:.1%} of the time"),
        ("messages", f"{document['messages']}, put on a link {document['events']} times"),
    ]
    for name, value in rows:
        console.print(f"{name:<14}{value}", soft_wrap=True, highlight=False)


def _pass_lines(facts: dict[str, Any], unit: str, kind: str) -> list[str]:
    """Return the lines on one pass: its trees, its gap, the cut that proves it."""
    equal, one = facts["data"] == facts["nodes"], facts["data"] == 1
    trees = "trees per root" if equal else "trees         " if one else "trees per unit"
    lines = [f"{trees} {facts['trees_per_root']}, {facts['unit_bandwidth']} {unit} each"]
    if "gap" in facts:
        lines.append(
            f"gap            {facts['gap']} above the optimum's inverse rate, "
            f"{facts['optimal_inverse_rate']}"
        )
    cut = facts["bottleneck"]
    inside = f"{len(cut['nodes'])} nodes, {cut['compute_inside']} of them {kind}"
    if not (equal or one):
        inside += f", with {cut['data_inside']} of {facts['data']} units of data"
    verb = "send out" if "exit_capacity" in cut else "take in"
    capacity = cut.get("exit_capacity", cut.get("entry_capacity"))
    lines.append(f"bottleneck     {inside}, {verb} {capacity} {unit}")
    return lines + cut_lines(cut, unit)


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for index, header in enumerate(headers):
        table.add_column(
            header, justify="left" if index == 0 else "right", overflow="fold", no_wrap=index > 0
        )
    return table


def _steps(entry: dict[str, Any]) -> str:
    forth, back = entry["steps"], entry["transpose"]["steps"]
    return str(forth) if forth == back else f"{forth}/{back}"


def _fraction(text: str) -> str:
    top, _, bottom = text.partition("/")
    return f"{text} = {int(top) / int(bottom):.4f}" if bottom else text


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


PRINTERS: Mapping[str, Callable[[dict[str, Any]], None]] = MappingProxyType(
    {
        "design": show_design,
        "frontier": show_frontier,
        "cost": show_cost,
        "optimum": show_optimum,
        "simulation": show_simulation,
    }
)
"""Kind of document -> what prints it."""
