"""Text output of patch plans, failures and repairs."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from topoloom.app.cli.output.formatting import fraction, seconds
from topoloom.app.cli.output.text_table import Column, Table

if TYPE_CHECKING:
    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.operations.observed_state import Comparison
    from topoloom.synth.wiring.operations.worst_failures import Failure
    from topoloom.synth.wiring.plant import Pair, Present

_STAGES = (
    Column("stage", "id"),
    Column("removed", "removes"),
    Column("added", "adds"),
    Column("links down", "links_down"),
    Column("capacity left", "capacity_left", fraction),
    Column("rate left", "bandwidth_left", fraction),
    Column("connected", "connected", lambda yes: "yes" if yes else "no", left=True),
    Column("time", "seconds", seconds),
)
_PANELS = (
    Column("panel", "panel", left=True),
    Column("kind", "kind", left=True),
    Column("before", "before"),
    Column("removed", "removes"),
    Column("added", "adds"),
    Column("after", "after"),
)

_WAYS = (
    Column("repair", "way", left=True),
    Column("moves", "moves"),
    Column("bound", "lower_bound"),
    Column("time", "seconds", seconds),
    Column("hosts drained", "hosts_drained"),
    Column("links lost", "lost_links"),
    Column("nodes lost", "lost_nodes"),
    Column("algbw left", "share", fraction),
)

_FAILURES = (
    Column("lost", "parts", left=True),
    Column("other links lost", "lost_links"),
    Column("connected", "connected", left=True),
    Column("algbw left", "share", fraction),
)


def failures_table(failures: "Iterable[Failure]") -> Table:
    """Return the table of the effects of failures."""
    rows = [
        {
            "parts": ", ".join(f"{part.kind} {part.name}" for part in failure.parts),
            "lost_links": failure.lost_links,
            "connected": "yes" if failure.connected else "no",
            "share": None if failure.share is None else str(failure.share),
        }
        for failure in failures
    ]
    return Table(_FAILURES, rows)


def repairs_table(repairs: list[dict[str, Any]]) -> Table:
    """Return the table of a repairs/1 document."""
    rows = [row | row.get("schedule", {}) for row in repairs]
    return Table(_timed(_WAYS, rows), rows)


def _timed(columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> tuple[Column, ...]:
    """Return the columns, without that of times if no panel states how long its moves take."""
    if any(row.get("seconds") for row in rows):
        return columns
    return tuple(column for column in columns if column.member != "seconds")


def moves_line(summary: dict[str, Any]) -> str:
    """Return the moves of a plan with their lower bound."""
    return (
        f"{summary['moves']} moves: {summary['removes']} removed, {summary['adds']} added, "
        f"{summary['kept']} links kept; lower bound {summary['lower_bound']}{_optimal(summary)}"
    )


def show_plan(document: dict[str, Any], script: "Script") -> None:
    """Print a patch-plan/1 document: moves, stages, changed panels."""
    summary, made_on = document["summary"], document.get("plant")
    if made_on is None:
        regular = document["panels"]
        where = f"{regular['layout']} panels of {regular['hosts']} hosts x {regular['lanes']}"
    else:
        where = f"plant {script.plant.name or made_on['digest']}"
    print(f"patch plan {script.plan_id}\non {where}")
    print(moves_line(summary))
    if "objective" in summary:
        print(_objective_line(summary["objective"]))
    if "with_spare_port" in summary:
        print(_spare_port_line(summary["with_spare_port"]))
    if not script.steps:
        print("no moves needed")
        return
    print()
    _stages(document, script).print()
    print()
    _panels(script).print()


def _optimal(summary: dict[str, Any]) -> str:
    return ", optimal" if summary["optimal"] else ", not proven optimal"


def _objective_line(goal: dict[str, Any]) -> str:
    if goal["least"] == "seconds":
        shown, noun = seconds, "in one stage"
    else:
        shown, noun = "{:.0f}".format, "hosts drained"
    value, bound = (shown(goal[name]) for name in ("value", "lower_bound"))
    return f"minimized {goal['least']}: {value} {noun}; lower bound {bound}{_optimal(goal)}"


def _spare_port_line(spare: dict[str, int]) -> str:
    proven = "" if spare["moves"] == spare["lower_bound"] else " at most"
    return f"no port is spare; with one more port at every host: {spare['moves']} moves{proven}"


def _stages(document: dict[str, Any], script: "Script") -> Table:
    rows = [
        {
            "id": stage["id"],
            "removes": len(step.removes),
            "adds": len(step.adds),
            **stage["effect"],
        }
        for stage, step in zip(document["stages"], script.steps, strict=True)
    ]
    named = {name for row in rows for name in row}
    columns = tuple(column for column in _STAGES if column.member in named)
    return Table(_timed(columns, rows), rows)


def _panels(script: "Script") -> Table:
    rows = []
    for panel in script.panels:
        steps = [step for _, step in script.of_panel(panel)]
        rows.append(
            {
                "panel": script.plant.panels[panel].id,
                "kind": script.plant.panels[panel].kind.value,
                "before": sum(pair.panel == panel for pair in script.base.pairs),
                "removes": sum(len(step.removes) for step in steps),
                "adds": sum(len(step.adds) for step in steps),
                "after": sum(pair.panel == panel for pair in script.final.pairs),
            }
        )
    return Table(_PANELS, rows)


def show_comparison(script: "Script", observed: "Present", found: "Comparison") -> None:
    """Print the differences between observed pairs and the end of a plan, and the progress."""
    plant = script.plant
    for kind in ("missing", "outdated", "unexpected", "dark"):
        for pair in getattr(found, kind):
            name = plant.pair_name(pair)
            print(f"{kind:<11}{plant.panels[pair.panel].id}  {name}  {script.label(pair)}")
    for panel in found.unseen:
        print(f"unseen     {plant.panels[panel].id}")
    counts = [
        _counted(script, found.missing, script.final, "missing"),
        _counted(script, found.unexpected, observed, "unexpected"),
    ]
    counts += [_counted(script, found.dark, observed, "dark")] if found.dark else []
    left = len(found.missing) + len(found.extra)
    print(
        f"{', '.join(counts)}; {_progress(script, found)}{f'; moves left: {left}' if left else ''}"
    )


def _counted(script: "Script", pairs: "Sequence[Pair]", plugged: "Present", what: str) -> str:
    """Return the number of pairs, and of the links that they carry if that differs."""
    from topoloom.synth.wiring.plant.light_paths import links_of

    links = len(links_of(script.plant, pairs, plugged.pairs))
    some = f" ({links} {'link' if links == 1 else 'links'})" if links != len(pairs) else ""
    return f"{len(pairs)} {what}{some}"


def _progress(script: "Script", found: "Comparison") -> str:
    stages, where = len(script.steps), " of the observed panels" if found.unseen else ""
    if found.stages_done is not None:
        return f"the wiring{where} matches stage {found.stages_done} of {stages}"
    done = f"{found.complete} of {stages} stages are complete"
    if found.complete < stages:
        done += f", and {found.made} of {found.of_stage} moves of stage {found.complete + 1}{where}"
    return done
