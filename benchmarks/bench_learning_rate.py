"""Learning rates: schedules with tuned peaks, packaged methods, AutoLRS, and ours.

    python -m benchmarks.bench_learning_rate --small        # minutes, one core
    python -m benchmarks.bench_learning_rate                # five seeds, five rates
    python -m benchmarks.bench_learning_rate --report       # tables of what is there

Every run is a line of the file --out as soon as it has ended; a run that is there is not
made again, so that the table goes on where it was stopped.  Schedules are run at every rate
of a grid and reported at the best one, found by the same validation loss: that flatters
them, and costs as many runs as the grid has rates.  Schedule-Free and Prodigy are in it
where their packages (schedulefree, prodigyopt) are installed.
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

from benchmarks.learning_rate.methods import PACKAGED, SCHEDULES, TUNED, run
from benchmarks.learning_rate.report import forecast_table, report
from benchmarks.learning_rate.tasks import TASKS

FIRST = ("topoloom", "topoloom, cosine", "paper", "cosine", "WSD")
CHEAP = ("digits CNN", "deep MLP")  # tasks that ablations are run on in the small table
Key = tuple[str, str, float, int, int]


def wanted(seeds: int, steps: int, rates: int, ablations: bool) -> Iterator[Key]:
    """Yield (task, method, rate, seed, steps) of every run, what matters most first."""
    present = [method for method in PACKAGED if importlib.util.find_spec(PACKAGED[method][0])]
    others = [method for method in SCHEDULES if method not in FIRST]
    single = [method for method in TUNED if method not in FIRST]
    for group in (FIRST, (*present, *others), single):
        for seed, name, method in product(range(seeds), TASKS, group):
            if group is single and not ablations and name not in CHEAP:
                continue
            for rate in grid(name, method, rates):
                yield name, method, rate, seed, steps


def grid(name: str, method: str, rates: int) -> tuple[float, ...]:
    if method in TUNED:
        return (0.0,)
    return PACKAGED[method][1] if method == "Prodigy" else TASKS[name].rates[:rates]


def key_of(row: dict[str, Any]) -> Key:
    return row["task"], row["method"], row["rate"], row["seed"], row["steps"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("out/learning-rate.jsonl"))
    parser.add_argument("--small", action="store_true", help="2 seeds, 3 rates")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--report", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    text = arguments.out.read_text() if arguments.out.exists() else ""
    # A run that was cut off may have left half a line.
    rows = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
    seeds, rates = (2, 3) if arguments.small else (5, 5)
    keys = list(wanted(seeds, arguments.steps, rates, ablations=not arguments.small))
    done = {key_of(row) for row in rows}
    todo = [key for key in keys if key not in done and not arguments.report]
    with arguments.out.open("w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
        for number, key in enumerate(todo):
            task, method, rate, seed, steps = key
            row = {"task": task, "method": method, "rate": rate, "seed": seed, "steps": steps}
            row |= asdict(run(*key))
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            final = row["final"] if math.isfinite(row["final"]) else "diverged"
            print(f"{number + 1}/{len(todo)} {task}, {method}, {rate:g}: {final}", flush=True)
    chosen = [row for row in rows if key_of(row) in set(keys)]
    print(report(chosen))
    print(forecast_table(chosen))


if __name__ == "__main__":
    main()
