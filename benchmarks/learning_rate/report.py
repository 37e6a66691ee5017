"""Tables of what the runs gave, as Markdown."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.learning_rate.methods import TUNED
from schedules.learning_rate.forecast import forecast, last_value
from schedules.learning_rate.published import published_forecast

__all__ = ["best_rate", "forecast_table", "report"]

Row = dict[str, Any]


def _finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _spread(values: Sequence[float]) -> str:
    known = _finite(values)
    if not known:
        return "diverged"
    text = f"{statistics.fmean(known):.4f}"
    if len(known) > 1:
        text += f" ± {statistics.stdev(known):.4f}"
    return text + (f" ({len(values) - len(known)} diverged)" if len(known) < len(values) else "")


def best_rate(rows: list[Row]) -> float:
    """Return the rate of least mean final loss, of those that were run with the most seeds.

    A diverged run counts as infinite.
    """
    by_rate: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        final = row["final"]
        by_rate[row["rate"]].append(final if final is not None and math.isfinite(final) else 1e9)
    most = max(map(len, by_rate.values()))
    known = [rate for rate in by_rate if len(by_rate[rate]) == most]
    return min(known, key=lambda rate: statistics.fmean(by_rate[rate]))


def _to_target(row: Row, target: float) -> float:
    return next((steps for steps, loss in row["looks"] if loss <= target), math.inf)


def _steps_to_target(rows: list[Row], target: float) -> str:
    reached = [_to_target(row, target) for row in rows]
    known = _finite(reached)
    if not known:
        return "never"
    return f"{statistics.fmean(known):.0f}" + (
        f" ({len(known)} of {len(rows)})" if len(known) < len(rows) else ""
    )


def report(rows: list[Row]) -> str:
    """Return one table a task: final loss, steps in all, steps and seconds to a target.

    A schedule's rate is the best of the grid by mean final loss.  The target is what tuned
    cosine had after 80 % of its steps.
    """
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        mine = [row for row in rows if row["task"] == task]
        methods = dict.fromkeys(row["method"] for row in mine)
        cosine = [row for row in mine if row["method"] == "cosine"]
        if not cosine:
            continue
        best = best_rate(cosine)
        at = [
            row["looks"][int(0.8 * len(row["looks"])) - 1][1]
            for row in cosine
            if row["rate"] == best
        ]
        target = statistics.fmean(at)
        lines += [f"### {task} (target {target:.4f})", "",
                  "| method | rate | final loss | steps run | steps to target | seconds |",
                  "|---|---|---|---|---|---|"]  # fmt: skip
        for method in methods:
            kind = [row for row in mine if row["method"] == method]
            tried = len({row["rate"] for row in kind})
            if method not in TUNED:
                rate = best_rate(kind)
                kind = [row for row in kind if row["rate"] == rate]
                shown, cost = f"{rate:g}", f"{tried} x {kind[0]['spent']}"
            else:
                shown = f"{statistics.fmean(max(row['rates']) for row in kind):.3g}"
                cost = f"{statistics.fmean(row['spent'] for row in kind):.0f}"
            lines.append(
                f"| {method} | {shown} | {_spread([row['final'] for row in kind])} | {cost} "
                f"| {_steps_to_target(kind, target)} "
                f"| {statistics.fmean(row['seconds'] for row in kind):.1f} |"
            )
        lines.append("")
    return "\n".join(lines)


def forecast_table(rows: list[Row]) -> str:
    """Return errors of forecasts on recorded curves of constant rates.

    From the first tenth of a stretch the loss at its end, which is the mean of the last
    twentieth; median and mean error over all stretches, which overlap by half.
    """
    lines = ["| stretch | curves | last value | as published | ours | ours within 2 deviations |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for tau in (100, 200, 400):
        errors: dict[str, list[float]] = defaultdict(list)
        within = []
        for row in rows:
            losses = row["losses"]
            if row["method"] != "constant" or not losses or not all(map(math.isfinite, losses)):
                continue
            # After warm-up: the model is of steps at one rate.
            for begin in range(len(losses) // 20, len(losses) - tau + 1, tau // 2):
                seen = losses[begin : begin + tau // 10]
                came = statistics.fmean(losses[begin + tau - tau // 20 : begin + tau])
                ours = forecast(seen, tau)
                errors["last value"].append(abs(last_value(seen) - came))
                errors["published"].append(abs(published_forecast(seen, tau) - came))
                errors["ours"].append(abs(ours.mean - came))
                within.append(abs(ours.mean - came) <= 2 * ours.deviation)
        if within:
            cells = [f"{statistics.median(errors[k]):.3f} / {statistics.fmean(errors[k]):.3f}"
                     for k in ("last value", "published", "ours")]  # fmt: skip
            share = f"{statistics.fmean(within):.0%}"
            lines.append(f"| {tau} | {len(within)} | {' | '.join(cells)} | {share} |")
    return "\n".join(lines)
