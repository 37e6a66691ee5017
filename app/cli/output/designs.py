"""Prints a design: the answer in one sentence, what can be wired, and what others take."""

from dataclasses import replace
from typing import Any

from topoloom.app.cli.output.formatting import algorithm_of, name_of, seconds, short_id, size
from topoloom.app.cli.output.frontiers import POINT, bound_row, point_row
from topoloom.app.cli.output.text_table import Column, Table, wrapped

__all__ = ["answer_sentence", "design_table", "show_design"]

_WIRED = ("point", "bound")
_USUAL = {"double-binary-tree": "double binary tree", "shifted-ring": "shifted ring"}
_OTHERS = (
    Column("others take", "name", left=True),
    Column("kind", "kind", left=True),
    Column("time", "seconds", seconds),
    Column("to best", "to_best", "{:.3f}".format),
)

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
    """Print a design/1 document: the answer first, then the tables, then what runs by size."""
    request, best = design["request"], _best(design)
    print(wrapped(answer_sentence(design)))
    print()
    whole = design_table(design)
    named = replace(whole.columns[0], heading="can be wired")
    wired = [row for row in whole.rows if row["kind"] in _WIRED]
    Table((named, *whole.columns[1:]), wired).print()
    print()
    _others(design).print()
    for assumption in dict.fromkeys(one["assumption"] for one in design.get("assumed", ())):
        names = [one["name"] for one in design["assumed"] if one["assumption"] == assumption]
        print(wrapped(f"assumed for {' and '.join(names)}: {assumption}"))
    print()
    print(
        wrapped(
            f"hosts: {request['nodes']} of {request['degree']} ports, {request['links']} links, "
            f"{request['node_gbps']} Gbit/s per host, {request['alpha_us']} us per hop"
            f"{_costs(request)}"
        )
    )
    if _is_workload(design):
        print(wrapped(f"workload: {_asked(design)}"))
    print(f"topology {short_id(best['topology_id'])}: {best['recipe']}")
    for line in _trade_off(design):
        print(line)
    if _is_workload(design):
        _tasks(design).print()
    for line in (*_switches(design), *_left_out(design), *_schedules(design)):
        print(wrapped(line))


def answer_sentence(design: dict[str, Any]) -> str:
    """Return the best topology, its time, its gap to the bound and the usual alternatives."""
    best, request = design["best"], design["request"]
    found = (
        f"{name_of(_best(design))} takes {seconds(best['seconds'])} for {_task(design)} on "
        f"{request['nodes']} hosts, {_gap(best['seconds'] / design['bounds']['seconds'])}"
    )
    others = [
        f"{name} {'takes ' * (not number)}{seconds(time)} "
        f"({time / best['seconds']:.2f} times{' as long' * (not number)})"
        for number, (name, time) in enumerate(_alternatives(design))
    ]
    return f"{'; '.join([found, ', '.join(others)][: 1 + bool(others)])}."


def _alternatives(design: dict[str, Any]) -> list[tuple[str, float]]:
    """Return what is usually run instead, and the fastest baseline if that beats the best."""
    times = {one["name"]: one["seconds"] for one in design["baselines"]}
    switched = [
        one["seconds"] for one in design.get("assumed", ()) if one["name"].startswith("switch-")
    ]
    found = [(f"a {name}", times[key]) for key, name in _USUAL.items() if key in times]
    if switched:
        found.append(("a switch", min(switched)))
    fastest = min(times, key=times.__getitem__, default="")
    if fastest and fastest not in _USUAL and times[fastest] < design["best"]["seconds"]:
        found.insert(0, (f"the baseline {fastest}", times[fastest]))
    return found


def _gap(ratio: float) -> str:
    """Return how far a time is from its bound.

    >>> _gap(1.0), _gap(1.0517)
    ('which is the lower bound', '5.2% above the lower bound')
    >>> _gap(0.75)
    '25.0% below the bound of two passes'
    """
    share = f"{abs(ratio - 1) * 100:.1f}%"
    if share == "0.0%":
        return "which is the lower bound" if ratio == 1 else "within 0.1% of the lower bound"
    return (
        f"{share} above the lower bound" if ratio > 1 else f"{share} below the bound of two passes"
    )


def _task(design: dict[str, Any]) -> str:
    """Return what is run, as the object of a sentence."""
    request, workload = design["request"], design["workload"]
    if "collective" in request:
        name = request["collective"]
        return f"a{'n' * name.startswith('a')} {name} of {size(request['bytes'])}"
    times = sum(task["count"] for task in workload["tasks"])
    return f"{times} collectives" + (f" of {workload['preset']}" if "preset" in workload else "")


def _others(design: dict[str, Any]) -> Table:
    """Return the table of what others take: baselines, and what needs more than cables."""
    best = design["best"]["seconds"]
    rows = [
        {"name": one["name"], "kind": kind, "seconds": one["seconds"]}
        | {"to_best": one["seconds"] / best}
        for kind, entries in (
            ("baseline", design["baselines"]),
            ("assumed", design.get("assumed", ())),
        )
        for one in entries
    ]
    return Table(_OTHERS, sorted(rows, key=lambda row: row["seconds"]))


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
