"""Tables of the runs, as Markdown."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.learning_rate.methods import PACKAGED, PROBED, SCHEDULES, TUNED
from topoloom.learning_rate.forecasting.autolrs_fit import published_forecast
from topoloom.learning_rate.forecasting.forecast import forecast, last_value

Row = dict[str, Any]
RIVALS = ("cosine", "WSD")
COMPARED = (*RIVALS, *(f"{name}, probed" for name in RIVALS))
ORDER = (*TUNED, *COMPARED, *(name for name in SCHEDULES if name not in RIVALS), *PACKAGED)


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
    """Return the rate of least mean final loss, among the rates with the most seeds.

    A diverged run counts as infinite.
    """
    by_rate: dict[float, list[float]] = defaultdict(list)
    for row in rows:
        final = row["final"]
        by_rate[row["rate"]].append(final if final is not None and math.isfinite(final) else 1e9)
    most = max(map(len, by_rate.values()))
    known = [rate for rate in by_rate if len(by_rate[rate]) == most]
    return min(known, key=lambda rate: statistics.fmean(by_rate[rate]))


def target_of(rows: list[Row]) -> float:
    """Return the mean loss of cosine at its best rate after 80 % of its steps."""
    cosine = [row for row in rows if row["method"] == "cosine"]
    best = best_rate(cosine)
    return statistics.fmean(
        row["looks"][int(0.8 * len(row["looks"])) - 1][1] for row in cosine if row["rate"] == best
    )


def at_best_rate(rows: list[Row], method: str) -> list[Row]:
    """Return a method's rows at its best rate; all rows if it finds its rate itself."""
    mine = [row for row in rows if row["method"] == method]
    if method in TUNED or method in PROBED:
        return mine
    rate = best_rate(mine)
    return [row for row in mine if row["rate"] == rate]


def _to_target(row: Row, target: float) -> tuple[float, float, float]:
    """Return steps run, steps of the kept run and seconds until the target; infinite: never."""
    looks = row["looks"]
    for place, (steps, loss, seconds) in enumerate(looks):
        if loss is not None and loss <= target:
            return steps, (place + 1) * row["steps"] / len(looks), seconds
    return math.inf, math.inf, math.inf


def _reached(rows: list[Row], target: float) -> str:
    """Return three cells: steps to the target, search included and not, and seconds."""
    reached = [found for row in rows if math.isfinite((found := _to_target(row, target))[0])]
    if not reached:
        return "never | never | never"
    steps, kept, seconds = (statistics.fmean(column) for column in zip(*reached, strict=True))
    some = f" ({len(reached)} of {len(rows)})" if len(reached) < len(rows) else ""
    return f"{steps:.0f}{some} | {kept:.0f} | {seconds:.1f}"


def _better_than(rows: list[Row], others: list[Row]) -> str:
    """Return the number of common seeds on which the first method has less loss."""
    theirs = {row["seed"]: _loss(row) for row in others}
    both = [(_loss(row), theirs[row["seed"]]) for row in rows if row["seed"] in theirs]
    return f"{sum(mine < other for mine, other in both)} of {len(both)}"


def _loss(row: Row) -> float:
    final = row["final"]
    return final if final is not None and math.isfinite(final) else math.inf


def report(rows: list[Row]) -> str:
    """Return one table a task: final loss, steps in all, steps and seconds to a target.

    A schedule's rate is the best of the grid by mean final loss (`best_rate`), the target
    that of `target_of`.  Steps and seconds are means over the runs that reached it.
    """
    lines = []
    for task in dict.fromkeys(row["task"] for row in rows):
        mine = [row for row in rows if row["task"] == task]
        methods = {row["method"] for row in mine} - set(PROBED).difference(COMPARED)
        if "cosine" not in methods:
            continue
        target = target_of(mine)
        rivals = {name: at_best_rate(mine, name) for name in COMPARED if name in methods}
        lines += [f"### {task} (target {target:.4f})", "",
                  "| method | seeds | rate | final loss | "
                  + "".join(f"less than {name} | " for name in rivals)
                  + "steps run | steps to target | without search | seconds to target |",
                  "|---|---|---|---|" + "---|" * (len(rivals) + 4)]  # fmt: skip
        for method in sorted(methods, key=_place):
            kind = at_best_rate(mine, method)
            wins = "".join(
                f"{'' if method == name else _better_than(kind, other)} | "
                for name, other in rivals.items()
            )
            lines.append(
                f"| {method} | {len(kind)} | {_rate_cell(kind, method)} "
                f"| {_spread([row['final'] for row in kind])} | {wins}{_cost(mine, kind, method)} "
                f"| {_reached(kind, target)} |"
            )
        lines.append("")
    return "\n".join(lines)


def equal_cost_table(rows: list[Row]) -> str:
    """Return methods that find their rate within a run's allowance, by task: mean loss, our wins.

    ``a (b of n)``: the mean of final losses, and the number of common seeds on which `topoloom`
    ends lower.  Diverged runs are in no mean.
    """
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    lines = [
        "| rate found within the run | " + " | ".join(tasks) + " |",
        "|---" * (len(tasks) + 1) + "|",
    ]
    run = {row["method"] for row in rows}
    for method in (one for one in ("topoloom", *PROBED) if one in run):
        cells = [method]
        for task in tasks:
            mine = [row for row in rows if (row["task"], row["method"]) == (task, "topoloom")]
            theirs = [row for row in rows if (row["task"], row["method"]) == (task, method)]
            known = _finite(row["final"] for row in theirs)
            mean = f"{statistics.fmean(known):.4f}" if known else "none"
            ours = "" if method == "topoloom" else f" ({_better_than(mine, theirs)})"
            cells.append(mean + ours)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _place(method: str) -> int:
    return ORDER.index(method) if method in ORDER else len(ORDER)


def _rate_cell(kind: list[Row], method: str) -> str:
    if method in TUNED or method in PROBED:
        rates = [max(row["rates"]) for row in kind]
        return f"{min(rates):.2g} to {max(rates):.2g}" if len(rates) > 1 else f"{rates[0]:.2g}"
    return f"{kind[0]['rate']:g}"


def _cost(rows: list[Row], kind: list[Row], method: str) -> str:
    """Return the steps of one run, or of a grid of runs."""
    spent = f"{statistics.fmean(row['spent'] for row in kind):.0f}"
    tried = len({row["rate"] for row in rows if row["method"] == method})
    return spent if method in TUNED or method in PROBED else f"{tried} x {spent}"


def forecast_table(rows: list[Row]) -> str:
    """Return errors of forecasts on recorded curves of constant rates.

    From the first tenth of a segment, forecasts the loss at its end, the mean of the last
    twentieth.  Median and mean error over all segments, which overlap by half.
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
            # After warm-up: the model assumes a constant rate.
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
