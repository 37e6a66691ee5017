"""What is said of a design: all points, fastest first, and what runs at which size."""

from typing import Any

from app.printing.frontiers import POINT, bound_row, point_row
from app.printing.words import algorithm_of, name_of, seconds, short_id
from app.tabular import Column, Table

__all__ = ["design_table", "show_design"]

_TASK = (
    Column("collective", "collective", left=True),
    Column("bytes", "bytes"),
    Column("count", "count"),
    Column("algorithm", "algorithm"),
    Column("chunks", "chunks"),
    Column("time", "seconds", seconds),
    Column("to floor", "to_floor", "{:.3f}".format),
)
_WEIGHED = {
    "moves": (Column("moves", "moves"), Column("at least", "lower_bound")),
    "seconds": (
        Column("rewiring", "rewiring", seconds),
        Column("at least", "lower_bound", seconds),
        Column("moves", "moves"),
    ),
    "drained": (
        Column("hosts drained", "drained"),
        Column("at least", "lower_bound", "{:.0f}".format),
        Column("moves", "moves"),
    ),
}


def design_table(design: dict[str, Any]) -> Table:
    """Return the table of a design/1 document: points and baselines, fastest first."""
    bounds, whole = design["bounds"], _is_workload(design)
    times = design["co_design"]["points"] if whole else design["frontier"]
    rows = [
        point_row(entry) | {"kind": "point", "seconds": timed["seconds"]} | _rewiring(entry)
        for timed, entry in zip(times, design["frontier"], strict=True)
    ]
    rows += [
        {"name": f"{entry['name']} (baseline)", "kind": "baseline", "seconds": entry["seconds"]}
        for entry in design["baselines"]
    ]
    rows += [
        {"name": f"{entry['name']} (assumed)", "kind": "assumed", "seconds": entry["seconds"]}
        for entry in design.get("assumed", ())
    ]
    rows.sort(key=lambda row: row["seconds"])
    rows.append(bound_row(bounds) | {"kind": "bound", "seconds": bounds["seconds"]})
    for row in rows:
        row["to_bound"] = row["seconds"] / bounds["seconds"]
    more = (
        Column("time", "seconds", seconds),
        Column("to bound", "to_bound", "{:.3f}".format),
        Column(None, "kind"),
    )
    if "trade_off" in design:
        more = (*more[:2], *_WEIGHED[_weighed(design)], more[2])
    return Table((*POINT, *more), rows)


def show_design(design: dict[str, Any]) -> None:
    """Print a design/1 document as one table, and what runs by message size."""
    request, best = design["request"], _best(design)
    print(
        f"{request['nodes']} hosts of {request['degree']} ports, {request['links']} links, "
        f"{request['node_gbps']} Gbit/s per host, {request['alpha_us']} us per hop"
        f"{_costs(request)}; " + _asked(design)
    )
    design_table(design).print()
    for assumption in dict.fromkeys(one["assumption"] for one in design.get("assumed", ())):
        names = [one["name"] for one in design["assumed"] if one["assumption"] == assumption]
        print(f"assumed for {' and '.join(names)}: {assumption}")
    print(f"best: {name_of(best)}, topology {short_id(best['topology_id'])}")
    if name_of(best) != best["recipe"]:
        print(f"recipe: {best['recipe']}")
    for line in _trade_off(design):
        print(line)
    if _is_workload(design):
        _tasks(design).print()
    for line in (*_switches(design), *_left_out(design), *_schedules(design)):
        print(line)


def _best(design: dict[str, Any]) -> dict[str, Any]:
    """Return the point of the frontier that is best."""
    best = design["best"]
    names = ("topology_id", "within_steps")
    return next(
        entry
        for entry in design["frontier"]
        if all(entry.get(name) == best.get(name) for name in names)
    )


def _trade_off(design: dict[str, Any]) -> list[str]:
    """Return what less change costs in time."""
    return [
        f"{_change(one)}: {seconds(one['seconds'])}, "
        f"{name_of(one)}, topology {short_id(one['topology_id'])}"
        for one in design.get("trade_off", ())
    ]


def _weighed(design: dict[str, Any]) -> str:
    return design["request"].get("objective", "moves")


def _rewiring(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of what it takes to reach a point, None where it does not fit."""
    if "rewiring" not in entry:
        return {}
    found = entry["rewiring"]
    bound = found.get("objective", found).get("lower_bound")
    cells = {"moves": found["moves"], "drained": found.get("drained")}
    return cells | {"rewiring": found.get("seconds"), "lower_bound": bound}


def _change(one: dict[str, Any]) -> str:
    """Return what is weighed of a change, and its bound.

    >>> _change({"moves": 4, "lower_bound": 2})
    '4 moves (at least 2)'
    """
    goal = one.get("objective")
    if goal is None:
        return f"{one['moves']} moves (at least {one['lower_bound']})"
    value, bound = goal["value"], goal["lower_bound"]
    if goal["least"] == "seconds":
        return f"{seconds(value)} of {one['moves']} moves (at least {seconds(bound)})"
    return f"{value:.0f} hosts drained by {one['moves']} moves (at least {bound:.0f})"


def _is_workload(design: dict[str, Any]) -> bool:
    return "collective" not in design["request"]


def _asked(design: dict[str, Any]) -> str:
    request, tasks = design["request"], design["workload"]["tasks"]
    if "collective" in request:
        return f"{request['collective']} of {request['bytes']} bytes"
    times = sum(task["count"] for task in tasks)
    named = design["workload"].get("title", f"{len(tasks)} kinds of collectives")
    return f"{named}; {times} collectives in all"


def _tasks(design: dict[str, Any]) -> Table:
    """Return what runs each task of a workload."""
    rows = [
        task | {"to_floor": task["seconds"] / task["floor_seconds"]}
        for task in design["co_design"]["tasks"]
    ]
    return Table(_TASK, rows)


def _switches(design: dict[str, Any]) -> list[str]:
    """Return which algorithm is the fastest from which size on."""
    ranges: dict[str, list[str]] = {}
    for part in design["co_design"]["switch_over"]:
        from_ = f" from {part['from_bytes']} bytes" if part["from_bytes"] > 1 else ""
        ranges.setdefault(part["collective"], []).append(part["algorithm"] + from_)
    return [
        f"by message size, {collective} there: {', '.join(parts)}"
        for collective, parts in ranges.items()
    ]


def _left_out(design: dict[str, Any]) -> list[str]:
    """Return which algorithms were weighed and not made."""
    return [
        f"not {one['name']}: {one['reason']}, {seconds(one['at_least_seconds'])}"
        for one in design["co_design"].get("left_out", ())
    ]


def _schedules(design: dict[str, Any]) -> list[str]:
    """Return which verified schedules there are, or why there are none."""
    best = design["best"]
    if _is_workload(design):
        found = (
            (used, f"verified schedule {short_id(used['id'])}" if used["id"] else used["left_out"])
            for used in design["co_design"]["schedules"]
        )
        return [f"{used['collective']} by {algorithm_of(used)}: {text}" for used, text in found]
    schedule = best["schedule"]
    if schedule is None:
        return [f"no schedule: {best['schedule_left_out']}"]
    return [
        f"verified schedule {short_id(schedule['id'])}: {algorithm_of(schedule)}, "
        f"{schedule['steps']} steps in all"
    ]


def _costs(request: dict[str, Any]) -> str:
    """Return what messages and chunks cost, if anything."""
    named = (("overhead_us", "message"), ("chunk_us", "chunk"))
    return "".join(f", {request[name]} us a {what}" for name, what in named if request.get(name))
