"""Runs and tables of the tasks that no choice of the tuner was made on."""

import importlib.util
import math
import statistics
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.learning_rate.methods import FOUND, PACKAGED
from benchmarks.learning_rate.report import best_rate
from benchmarks.learning_rate.unseen_tasks import UNSEEN

Row = dict[str, Any]
GRID = 3  # rates of a grid, the middle of the interval first
START = "WSD, middle"
COLUMNS = (
    "topoloom", START, "WSD, best of 3", "cosine, best of 3", "WSD, probed", "cosine, probed",
    *PACKAGED,
)  # fmt: skip
CLEAR = 2.0  # standard errors


def unseen_runs(seeds: int, steps: int) -> Iterator[tuple[str, str, float, int, int]]:
    """Yield (task, method, rate, seed, steps) of every run, the most important first.

    Packaged methods run where their packages are installed.
    """
    fixed = dict.fromkeys(("topoloom", "WSD, probed", "cosine, probed"), 0.0)
    fixed |= dict.fromkeys(FOUND, 1.0)
    installed = [name for name in PACKAGED if importlib.util.find_spec(PACKAGED[name][0])]
    single = ("topoloom", "WSD", "WSD, probed", "cosine, probed", *installed)
    for seed, (name, task) in product(range(seeds), UNSEEN.items()):
        yield from ((name, one, fixed.get(one, task.rates[0]), seed, steps) for one in single)
    for seed, (name, task) in product(range(seeds), UNSEEN.items()):
        yield from ((name, "cosine", rate, seed, steps) for rate in task.rates[:GRID])
        yield from ((name, "WSD", rate, seed, steps) for rate in task.rates[1:GRID])


def unseen_table(rows: list[Row]) -> str:
    """Return final losses by task and method, and how often the tuner ends lower.

    A cell is the mean over the seeds; in brackets, the seeds on which the tuner ends lower.
    """
    tasks = [name for name in UNSEEN if any(row["task"] == name for row in rows)]
    lines = ["| task | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    wins = {column: [0, 0] for column in COLUMNS}
    worse = []
    for name in tasks:
        cells = []
        known = {column: _finals(rows, name, column) for column in COLUMNS}
        ours = known["topoloom"]
        for column, theirs in known.items():
            common = sorted(set(ours) & set(theirs))
            won = sum(ours[seed] < theirs[seed] for seed in common)
            wins[column][0] += won
            wins[column][1] += len(common)
            counted = f" ({won} of {len(common)})" if common and column != "topoloom" else ""
            cells.append(_mean(theirs) + counted)
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        if _clearly_above(ours, known[START]):
            worse.append(name)
    total = ["" if c == "topoloom" else f"{won} of {of}" for c, (won, of) in wins.items()]
    lines.append("| seeds on which topoloom ends lower | " + " | ".join(total) + " |")
    told = ", ".join(worse) or "none"
    return "\n".join([*lines, "", f"Clearly above its own start ({START}): {told}."])


def _finals(rows: list[Row], task: str, column: str) -> dict[int, float]:
    """Return the final loss of each seed; a run that diverged counts as infinite.

    The best rate of a grid is that of the seeds which ran at all of its rates.
    """
    method = column.removesuffix(", best of 3").removesuffix(", middle")
    mine = [row for row in rows if (row["task"], row["method"]) == (task, method)]
    if column == START:
        mine = [row for row in mine if row["rate"] == UNSEEN[task].rates[0]]
    elif column.endswith("best of 3"):
        counts = Counter(row["seed"] for row in mine)
        mine = [row for row in mine if counts[row["seed"]] == GRID]
        mine = [row for row in mine if row["rate"] == best_rate(mine)]
    return {row["seed"]: _loss(row["final"]) for row in mine}


def _loss(final: float | None) -> float:
    return final if final is not None and math.isfinite(final) else math.inf


def _mean(finals: dict[int, float]) -> str:
    if not finals:
        return "not run"
    known = [loss for loss in finals.values() if math.isfinite(loss)]
    lost = len(finals) - len(known)
    text = f"{statistics.fmean(known):.4f}" if known else "none"
    return text + (f", {lost} diverged" if lost else "")


def _clearly_above(ours: dict[int, float], theirs: dict[int, float]) -> bool:
    """Whether the mean difference by seed is above zero by `CLEAR` standard errors."""
    gaps = [ours[seed] - theirs[seed] for seed in sorted(set(ours) & set(theirs))]
    gaps = [gap for gap in gaps if not math.isnan(gap)]
    if len(gaps) < 2:
        return False
    if math.inf in gaps:
        return True
    return statistics.fmean(gaps) > CLEAR * statistics.stdev(gaps) / math.sqrt(len(gaps))
