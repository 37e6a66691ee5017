"""Tables of best known topologies and of comparisons."""

from typing import Any

from topoloom.app.cli.output.formatting import algorithm_of, fraction, seconds, short_id
from topoloom.app.cli.output.text_table import Column, Table
from topoloom.app.requests.base import format_bytes


def best_table(document: dict[str, Any]) -> Table:
    """Return the table of a best/1 document."""
    timed = any("seconds" in candidate for candidate in document["candidates"])
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
        Column("source", "sources", left=True, drop=1),
        Column(None, "recipe"),
        Column(None, "topology_id"),
        Column(None, "algorithm"),
        Column(None, "within_steps"),
    )
    return Table(tuple(columns), [_row(candidate) for candidate in document["candidates"]])


def _row(candidate: dict[str, Any]) -> dict[str, Any]:
    return {
        "shown": candidate["name"] or candidate.get("recipe", ""),
        "nodes": candidate["nodes"],
        "steps": max(candidate["steps"], candidate["transpose"]["steps"]),
        "steps_gap": candidate["gap"]["steps"],
        "bandwidth": candidate["bandwidth"],
        "bandwidth_gap": candidate["gap"]["bandwidth"],
        "algorithm_shown": algorithm_of(candidate),
        "algorithm": candidate["algorithm"],
        "within_steps": candidate.get("within_steps", ""),
        "seconds": candidate.get("seconds"),
        "bound": candidate.get("bound_seconds"),
        "sources": ", ".join(
            f"{source['kind']} {short_id(source['id'])}" if "id" in source else source["kind"]
            for source in candidate["known_from"][:2]
        ),
        "recipe": candidate.get("recipe", ""),
        "topology_id": candidate.get("topology_id", ""),
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
            Column("baseline", "baseline_seconds", _microseconds),
            Column("name", "baseline", left=True),
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


def algorithm_table(document: dict[str, Any]) -> Table:
    """Return the table of a comparison/1 document of algorithms on a fabric, a column per size."""
    fabric = document["fabric"]
    times = {
        size["bytes"]: {entry["name"]: entry["seconds"] for entry in size["times"]}
        for size in fabric["sizes"]
    }
    columns = (
        Column("algorithm", "name", left=True),
        Column("kind", "kind", left=True, drop=1),
        Column("hops", "hops", drop=3),
        Column("trees", "trees_per_root", drop=2),
        Column("algbw GB/s", "algbw", "{:.4g}".format),
        *(Column(format_bytes(size), str(size), seconds) for size in times),
    )
    rows = [
        {"trees_per_root": None}
        | algorithm
        | {str(size): by_name[algorithm["name"]] for size, by_name in times.items()}
        for algorithm in fabric["ways"]
    ]
    return Table(columns, rows)


def algorithm_notes(document: dict[str, Any]) -> list[str]:
    """Return the fastest algorithm by size, and the reason for each missing algorithm."""
    fabric = document["fabric"]
    lines = judge_notes(fabric["ways"])
    lines += [f"from {part['from_bytes']} bytes: {part['name']}" for part in fabric["switch_over"]]
    return lines + [f"not {entry['name']}: {entry['reason']}" for entry in fabric["left_out"]]


def judge_notes(entries: list[dict[str, Any]]) -> list[str]:
    """Return what judged the times of algorithms or baselines."""
    bounded = [entry["name"] for entry in entries if entry["judged_by"] != "simulation"]
    if not bounded:
        return ["judged by: simulation, each in its best number of chunks"]
    rest = "; the others by simulation" if len(bounded) < len(entries) else ""
    return [f"judged by: full rounds, a bound, for {', '.join(bounded)}{rest}"]


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us"
