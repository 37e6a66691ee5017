"""Text output of a design: the answer, the topologies that can be wired, the alternatives."""

from dataclasses import replace
from typing import Any

from topoloom.app.cli.output.formatting import algorithm_of, name_of, seconds, short_id, size, speed
from topoloom.app.cli.output.frontiers import POINT, bound_row, point_row
from topoloom.app.cli.output.text_table import Column, Table, say
from topoloom.app.documents.bound_names import bound_name

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
    bounds = design["bounds"]
    times = design["co_design"]["points"] if _is_workload(design) else design["frontier"]
    rows = [
        _point_row(entry) | {"kind": "point", "seconds": timed["seconds"]} | _rewiring(entry)
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
    columns, bound = POINT, bound_row(bounds) | {"name": _bound(design)}
    if "routing" in design["frontier"][0]:
        # The bounds on T_B are those of an allgather, and an all-to-all has one direction.
        columns = tuple(one for one in POINT if not one.member.endswith("_transposed"))
        bound = {name: bound[name] for name in ("name", "steps_shown", "steps")}
    rows.append(bound | {"kind": "bound", "seconds": bounds["seconds"]})
    for row in rows:
        row["to_bound"] = row["seconds"] / bounds["seconds"]
    more = (
        Column("time", "seconds", seconds),
        Column("to bound", "to_bound", "{:.3f}".format),
        Column(None, "kind"),
    )
    if "trade_off" in design:
        more = (*more[:2], *_WEIGHED[_weighed(design)], more[2])
    return Table((*columns, *more), rows)


def _point_row(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a point as a row; for a single all-to-all, with the cost of its routing."""
    row = point_row(entry)
    if "routing" not in entry:
        return row
    routing = entry["routing"]
    shown = {"steps_shown": routing["steps"], "algorithm_shown": routing["algorithm"]}
    return row | routing | shown


def show_design(design: dict[str, Any]) -> None:
    """Print a design/1 document: the answer, the tables, the algorithms by size."""
    request, best = design["request"], _best(design)
    say(answer_sentence(design))
    print()
    whole = design_table(design)
    named = replace(whole.columns[0], heading="can be wired")
    wired = [row for row in whole.rows if row["kind"] in _WIRED]
    Table((named, *whole.columns[1:]), wired).print()
    print()
    _others(design).print()
    for assumption in dict.fromkeys(entry["assumption"] for entry in design.get("assumed", ())):
        names = [e["name"] for e in design["assumed"] if e["assumption"] == assumption]
        say(f"assumed for {' and '.join(names)}: {assumption}")
    print()
    say(
        f"hosts: {request['nodes']} of {request['degree']} ports, {request['links']} links, "
        f"{speed(request)}"
    )
    if _is_workload(design):
        say(f"workload: {_workload(design)}")
    say(f"topology {short_id(best['topology_id'])}: {best['recipe']}")
    for line in _trade_off(design):
        print(line)
    if _is_workload(design):
        _tasks(design).print()
    for line in (*_switches(design), *_pruned(design), *_schedules(design)):
        say(line)


def answer_sentence(design: dict[str, Any]) -> str:
    """Return a sentence: the best topology, its time, its gap, the usual alternatives."""
    best, request = design["best"], design["request"]
    answer = (
        f"{name_of(_best(design))} takes {seconds(best['seconds'])} for {_task(design)} on "
        f"{request['nodes']} hosts, "
        f"{_gap(best['seconds'] / design['bounds']['seconds'], _bound(design))}"
    )
    others = [
        f"{name} {'takes ' * (not number)}{seconds(time)} "
        f"({time / best['seconds']:.2f} times{' as long' * (not number)})"
        for number, (name, time) in enumerate(_alternatives(design))
    ]
    return f"{'; '.join([answer, ', '.join(others)][: 1 + bool(others)])}."


def _alternatives(design: dict[str, Any]) -> list[tuple[str, float]]:
    """Return the usual alternatives with times; first any baseline faster than the best."""
    times = {entry["name"]: entry["seconds"] for entry in design["baselines"]}
    switched = [e["seconds"] for e in design.get("assumed", ()) if e["name"].startswith("switch-")]
    alternatives = [(f"a {name}", times[key]) for key, name in _USUAL.items() if key in times]
    if switched:
        alternatives.append(("a switch", min(switched)))
    fastest = min(times, key=times.__getitem__, default="")
    if fastest and fastest not in _USUAL and times[fastest] < design["best"]["seconds"]:
        alternatives.insert(0, (f"the baseline {fastest}", times[fastest]))
    return alternatives


def _bound(design: dict[str, Any]) -> str:
    return bound_name(task["collective"] for task in design["workload"]["tasks"])


def _gap(ratio: float, bound: str) -> str:
    """Return the gap between a time and its bound, as text.

    >>> _gap(1.0, "lower bound"), _gap(1.0517, "lower bound")
    ('which is the lower bound', '5.2% above the lower bound')
    >>> _gap(0.75, "bound of two passes")
    '25.0% below the bound of two passes'
    """
    share = f"{abs(ratio - 1) * 100:.1f}%"
    if share == "0.0%":
        return f"which is the {bound}" if ratio == 1 else f"within 0.1% of the {bound}"
    return f"{share} {'above' if ratio > 1 else 'below'} the {bound}"


def _task(design: dict[str, Any]) -> str:
    """Return the workload, as the object of a sentence."""
    request, workload = design["request"], design["workload"]
    if "collective" in request:
        name = request["collective"]
        return f"a{'n' * name.startswith('a')} {name} of {size(request['bytes'])}"
    times = sum(task["count"] for task in workload["tasks"])
    return f"{times} collectives" + (f" of {workload['preset']}" if "preset" in workload else "")


def _others(design: dict[str, Any]) -> Table:
    """Return the table of the alternatives: baselines, with and without assumptions."""
    best = design["best"]["seconds"]
    rows = [
        {"name": entry["name"], "kind": kind, "seconds": entry["seconds"]}
        | {"to_best": entry["seconds"] / best}
        for kind, entries in (
            ("baseline", design["baselines"]),
            ("assumed", design.get("assumed", ())),
        )
        for entry in entries
    ]
    return Table(_OTHERS, sorted(rows, key=lambda row: row["seconds"]))


def _best(design: dict[str, Any]) -> dict[str, Any]:
    """Return the best point of the frontier."""
    best = design["best"]
    names = ("topology_id", "within_steps")
    return next(
        entry
        for entry in design["frontier"]
        if all(entry.get(name) == best.get(name) for name in names)
    )


def _trade_off(design: dict[str, Any]) -> list[str]:
    """Return the lines of the trade-off between rewiring and time."""
    return [
        f"{_change(point)}: {seconds(point['seconds'])}, "
        f"{name_of(point)}, topology {short_id(point['topology_id'])}"
        for point in design.get("trade_off", ())
    ]


def _weighed(design: dict[str, Any]) -> str:
    return design["request"].get("objective", "moves")


def _rewiring(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the rewiring cells of a point; empty without rewiring."""
    if "rewiring" not in entry:
        return {}
    rewiring = entry["rewiring"]
    bound = rewiring.get("objective", rewiring).get("lower_bound")
    cells = {"moves": rewiring["moves"], "drained": rewiring.get("drained")}
    return cells | {"rewiring": rewiring.get("seconds"), "lower_bound": bound}


def _change(point: dict[str, Any]) -> str:
    """Return the objective value of a change, with its lower bound.

    >>> _change({"moves": 4, "lower_bound": 2})
    '4 moves (at least 2)'
    """
    goal = point.get("objective")
    if goal is None:
        return f"{point['moves']} moves (at least {point['lower_bound']})"
    value, bound = goal["value"], goal["lower_bound"]
    if goal["least"] == "seconds":
        return f"{seconds(value)} of {point['moves']} moves (at least {seconds(bound)})"
    return f"{value:.0f} hosts drained by {point['moves']} moves (at least {bound:.0f})"


def _is_workload(design: dict[str, Any]) -> bool:
    return "collective" not in design["request"]


def _workload(design: dict[str, Any]) -> str:
    tasks = design["workload"]["tasks"]
    title = design["workload"].get("title", f"{len(tasks)} kinds of collectives")
    return f"{title}; {sum(task['count'] for task in tasks)} collectives in total"


def _tasks(design: dict[str, Any]) -> Table:
    """Return the table of the tasks of a workload with their algorithms."""
    rows = [
        task | {"to_floor": task["seconds"] / task["floor_seconds"]}
        for task in design["co_design"]["tasks"]
    ]
    return Table(_TASK, rows)


def _switches(design: dict[str, Any]) -> list[str]:
    """Return the fastest algorithms by message size, a line for each collective."""
    ranges: dict[str, list[str]] = {}
    for part in design["co_design"]["switch_over"]:
        from_ = f" from {part['from_bytes']} bytes" if part["from_bytes"] > 1 else ""
        ranges.setdefault(part["collective"], []).append(part["algorithm"] + from_)
    return [
        f"fastest {collective} by message size: {', '.join(parts)}"
        for collective, parts in ranges.items()
    ]


def _pruned(design: dict[str, Any]) -> list[str]:
    """Return the algorithms without a schedule, with reasons."""
    return [
        f"not {entry['name']}: {entry['reason']}, {seconds(entry['at_least_seconds'])}"
        for entry in design["co_design"].get("left_out", ())
    ]


def _schedules(design: dict[str, Any]) -> list[str]:
    """Return the verified schedules, or the reason for their absence."""
    best = design["best"]
    if _is_workload(design):
        schedules = (
            (used, f"verified schedule {short_id(used['id'])}" if used["id"] else used["left_out"])
            for used in design["co_design"]["schedules"]
        )
        return [f"{used['collective']} by {algorithm_of(used)}: {text}" for used, text in schedules]
    schedule = best["schedule"]
    if schedule is None:
        return [f"no schedule: {best['schedule_left_out']}"]
    return [
        f"verified schedule {short_id(schedule['id'])}: {algorithm_of(schedule)}, "
        f"{schedule['steps']} steps in total"
    ]
