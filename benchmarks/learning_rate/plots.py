"""Plots of the runs."""

import math
import statistics
from pathlib import Path
from typing import Any

from benchmarks.learning_rate.report import ORDER, Row, at_best_rate
from topoloom.app.plots.canvas import COLOURS, GREY, saved_figure

SHOWN = ("topoloom", "cosine", "WSD", "cosine, probed", "paper")


def courses(rows: list[Row], path: Path) -> None:
    """Draw validation loss over all steps run, the search included: mean, least and largest."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    with saved_figure(path, 9.0, 6.0) as figure:
        for task, panel in zip(tasks, figure.subplots(2, 2).flat, strict=False):
            mine = [row for row in rows if row["task"] == task]
            for colour, method in zip(COLOURS, SHOWN, strict=False):
                kind = at_best_rate(mine, method) if _has(mine, method) else []
                _course(panel, kind, method, colour)
            panel.set_title(task, loc="left")
            if _wide([look[1] for row in mine for look in row["looks"] if _finite(look[1])]):
                panel.set_yscale("log")
                panel.yaxis.set_major_formatter("{x:g}")
            panel.set_xlabel("steps run, search included")
            panel.set_ylabel("validation loss")
        figure.axes[0].legend(frameon=False)


def _course(panel: Any, kind: list[Row], method: str, colour: str) -> None:
    """Draw one method; validations with the same index are those of different seeds."""
    looks = [[look for look in row["looks"] if look[1] is not None] for row in kind]
    points = [
        (statistics.fmean(look[0] for look in same), [look[1] for look in same])
        for same in zip(*looks, strict=False)
        if all(math.isfinite(look[1]) for look in same)
    ]
    if not points:
        return
    across = [steps for steps, _ in points]
    lows, highs = ([end(losses) for _, losses in points] for end in (min, max))
    means = [statistics.fmean(losses) for _, losses in points]
    panel.plot(across, means, color=colour, label=f"{method} ({_seeds(kind)})")
    panel.fill_between(across, lows, highs, color=colour, alpha=0.12, lw=0)


def finals(rows: list[Row], path: Path) -> None:
    """Draw every run's final validation loss, one line a method, at its best rate."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    methods = [method for method in ORDER if _has(rows, method)]
    with saved_figure(path, 11.0, 0.23 * len(methods) + 1.2) as figure:
        panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
        for task, panel in zip(tasks, panels, strict=True):
            mine = [row for row in rows if row["task"] == task]
            for height, method in enumerate(methods):
                kind = at_best_rate(mine, method) if _has(mine, method) else []
                known = [row["final"] for row in kind if _finite(row["final"])]
                if known:
                    panel.plot(known, [height] * len(known), ".", color=GREY)
                    panel.plot(statistics.fmean(known), height, "|", color=COLOURS[0], ms=11, mew=2)
            panel.set_title(task, loc="left")
            if _wide([row["final"] for row in mine if _finite(row["final"])]):
                panel.set_xscale("log")
                panel.xaxis.set_major_formatter("{x:g}")
                panel.xaxis.set_minor_formatter("")
            panel.set_xlabel("final validation loss")
        panels[0].set_yticks(range(len(methods)), methods)
        panels[0].invert_yaxis()


def _seeds(kind: list[Row]) -> str:
    return f"{len(kind)} seed" + ("s" if len(kind) > 1 else "")


def _wide(values: list[float]) -> bool:
    """Return whether losses vary so widely that a logarithmic axis is needed."""
    return min(values) > 0 and max(values) > 5 * min(values)


def _has(rows: list[Row], method: str) -> bool:
    return any(row["method"] == method for row in rows)


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
