"""Learning rates: schedules with tuned peaks, packaged methods, AutoLRS, and Topoloom's tuner.

    python -m benchmarks.bench_learning_rate --small        # minutes, one core
    python -m benchmarks.bench_learning_rate                # five seeds, five rates
    python -m benchmarks.bench_learning_rate --unseen       # tasks that no choice was made on
    python -m benchmarks.bench_learning_rate --report       # tables of the runs in the file

Every run is appended to the file --out when it has ended, and a stopped benchmark resumes after the
runs in the file.  Schedules run at every rate of a grid and are reported at the best rate, by the
same validation loss: this favors them, and costs one run for each rate of the grid.  Schedule-Free,
Prodigy, both together and GreedyLR are included if their packages (schedulefree, prodigyopt,
prodigy-plus-schedule-free, transformers) are installed.
"""

import argparse
import importlib.util
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import torch

from benchmarks.learning_rate.methods import FOUND, PACKAGED, PROBED, SCHEDULES, TUNED, run
from benchmarks.learning_rate.plots import courses, finals
from benchmarks.learning_rate.report import best_rate, equal_cost_table, forecast_table, report
from benchmarks.learning_rate.tasks import TASKS
from benchmarks.learning_rate.unseen_report import unseen_runs, unseen_table
from benchmarks.learning_rate.unseen_tasks import UNSEEN

FIRST = ("topoloom", "topoloom, cosine", "paper", "cosine", "WSD")
CHEAP = ("digits CNN", "deep MLP")  # tasks that ablations are run on in the small table
BEST = -1.0
FEW = 3  # rates of each grid that are run before the others are
Key = tuple[str, str, float, int, int]


def wanted(seeds: int, steps: int, rates: int, ablations: bool) -> Iterator[Key]:
    """Yield (task, method, rate, seed, steps) of every run, the most important first.

    Cosine and WSD run at every rate with every seed.  Other methods with a rate run the grid on the
    first seed; `BEST` stands for its best rate on the other seeds.
    """
    present = [method for method in PACKAGED if importlib.util.find_spec(PACKAGED[method][0])]
    others = [method for method in SCHEDULES if method not in FIRST]
    probed = [one for one in PROBED if PROBED[one] in SCHEDULES or PROBED[one] in present]
    single = [one for one in TUNED if one not in FIRST]
    later = []
    for group in (FIRST, (*present, *others, *probed), single):
        for seed, name, method in product(range(seeds), TASKS, group):
            if group is single and not ablations and name not in CHEAP:
                continue
            tried = grid(name, method, rates)
            if method not in FIRST and seed > 0 and len(tried) > 1:
                tried = (BEST,)
            for place, rate in enumerate(tried):
                key = name, method, rate, seed, steps
                if place < FEW:
                    yield key
                else:
                    later.append(key)
    yield from later


def settled(key: Key, rows: list[dict[str, Any]]) -> Key:
    """Return a run's key with its rate; `BEST` becomes the best rate on the first seed."""
    name, method, rate, seed, steps = key
    if rate != BEST:
        return key
    mine = [row for row in rows if key_of(row) == (name, method, row["rate"], 0, steps)]
    return name, method, best_rate(mine), seed, steps


def grid(name: str, method: str, rates: int) -> tuple[float, ...]:
    if method in TUNED or method in PROBED:
        return (0.0,)
    return PACKAGED[method][1] if method in FOUND else TASKS[name].rates[:rates]


def key_of(row: dict[str, Any]) -> Key:
    return row["task"], row["method"], row["rate"], row["seed"], row["steps"]


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """Return the runs of a file; an interrupted run may have left half a line."""
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/learning-rate.jsonl"))
    parser.add_argument("--small", action="store_true", help="2 seeds, 3 rates")
    parser.add_argument("--seeds", type=int, help="so many, in place of 5 or 2")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="run these methods alone")
    parser.add_argument("--tasks", nargs="+", choices=[*TASKS, *UNSEEN], help="these tasks alone")
    parser.add_argument("--unseen", action="store_true", help="the tasks not used in development")
    parser.add_argument("--add", type=Path, nargs="+", default=[], help="report these rows too")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also draw what is there")
    parser.add_argument("--report", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    rows = whole_lines(arguments.out) if arguments.out.exists() else []
    seeds, rates = (2, 3) if arguments.small else (5, 5)
    seeds = arguments.seeds or seeds
    keys = list(wanted(seeds, arguments.steps, rates, ablations=not arguments.small))
    if arguments.unseen:
        keys = list(unseen_runs(seeds, arguments.steps))
    chosen = {
        key for key in keys
        if key[1] in (arguments.only or [key[1]]) and key[0] in (arguments.tasks or [key[0]])
    }  # fmt: skip
    done = {key_of(row) for row in rows}
    with arguments.out.open("w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
        file.flush()
        for number, asked in enumerate(keys):
            if arguments.report or asked not in chosen:
                continue
            key = settled(asked, rows)
            if key in done:
                continue
            task, method, rate, seed, steps = key
            row = {"task": task, "method": method, "rate": rate, "seed": seed, "steps": steps}
            row |= asdict(run(*key))
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            final = row["final"] if math.isfinite(row["final"]) else "diverged"
            print(f"{number + 1}/{len(keys)} {task}, {method}, {rate:g}: {final}", flush=True)
    for path in arguments.add:
        rows += whole_lines(path)
    shown = [row for row in rows if row["steps"] == arguments.steps and row["seed"] < seeds]
    if arguments.unseen:
        print(unseen_table(shown))
        return
    print(report(shown))
    print(equal_cost_table(shown), end="\n\n")
    print(forecast_table(shown))
    if arguments.plots:
        courses(shown, arguments.plots / "learning-rate-courses.svg")
        finals(shown, arguments.plots / "learning-rate-finals.svg")


if __name__ == "__main__":
    main()
