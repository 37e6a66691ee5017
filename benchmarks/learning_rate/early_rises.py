"""What answers a rise of the loss early in the run: begin again, go back, or nothing.

    python -m benchmarks.learning_rate.early_rises --seeds 3 --processes 2

The tuner answers a rise early in the run with the untrained model, at a tenth of the rate
(*again*).  The alternatives are the latest checkpoint near the least loss, at half the rate
(*back*), and no watch for rises (*none*).  The trainings are those of
`benchmarks.learning_rate.rising_tasks`.
"""

import argparse
import math
from dataclasses import replace
from itertools import product
from multiprocessing import Pool
from typing import Any

import torch

from benchmarks.learning_rate.methods import stepped
from benchmarks.learning_rate.rising_tasks import HARMLESS, TOO_HIGH, Batches
from topoloom.learning_rate import InProcess, LearningRateError, Options
from topoloom.learning_rate.callbacks import TuningCallback

WAYS = ("again", "back", "none")
HIGHER = (1.0, math.sqrt(10.0))  # times the rate of a setting in `TOO_HIGH`
DECADES = 1.5  # of the interval, to each side of the rate
SETTINGS = TOO_HIGH | HARMLESS
Key = tuple[str, float, str, int, int]


def final(key: Key) -> tuple[float, int]:
    """Run a setting, factor of its rate, way, seed and number of steps.

    Returns:
        The validation loss at the end, infinite where training diverges, and the step at which a
        rise was answered first, 0 for none.
    """
    name, factor, way, seed, steps = key
    torch.set_num_threads(1)
    setting = SETTINGS[name]
    torch.manual_seed(seed)
    made, rate = setting.make(), setting.rate * factor
    batches = Batches(setting.pool or (lambda step: (0, made.size)), setting.batch_size, seed)
    parameters = made.model.parameters()
    if setting.optimizer == "SGD":
        optimizer: Any = torch.optim.SGD(parameters, lr=rate, momentum=setting.momentum)
    else:
        optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    low, high = rate / 10**DECADES, rate * 10**DECADES
    options = Options(
        low, high, steps, seed=seed, warmup_steps=setting.warmup_steps, stop_rises=way != "none"
    )
    tuner, answered = InProcess(options), 0
    callback = TuningCallback(tuner, made.model, optimizer, data=batches)
    try:
        while callback.running:
            if way == "back":
                tuner.state = replace(tuner.state, untrained=False)
            callback.step(stepped(made, optimizer, next(batches)))
            answered = answered or (tuner.state.step if tuner.state.ceiling is not None else 0)
    except LearningRateError:
        return math.inf, answered
    return made.validate(), answered


def table(runs: dict[Key, tuple[float, int]]) -> str:
    """Return the mean of the final losses of each setting and way, and when rises came."""
    lines = ["| setting | rate | rises answered | " + " | ".join(WAYS) + " |", "|---" * 6 + "|"]
    for name, factor in dict.fromkeys(key[:2] for key in runs):
        mine = {key: run for key, run in runs.items() if key[:2] == (name, factor)}
        steps = [step for key, (_, step) in mine.items() if key[2] == WAYS[0]]
        rises = ", ".join(str(step) for step in steps if step) or "none"
        cells = [
            " ".join(f"{loss:.4f}" for key, (loss, _) in mine.items() if key[2] == way)
            for way in WAYS
        ]
        rate = SETTINGS[name].rate * factor
        lines.append(f"| {name} | {rate:.2g} | {rises} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    arguments = parser.parse_args()
    chosen, steps = list[str](arguments.settings), int(arguments.steps)
    cells = [
        (name, factor) for name in chosen for factor in (HIGHER if name in TOO_HIGH else (1.0,))
    ]
    keys = [
        (name, factor, way, seed, steps)
        for (name, factor), way, seed in product(cells, WAYS, range(arguments.seeds))
    ]
    with Pool(arguments.processes) as pool:
        runs = dict(zip(keys, pool.map(final, keys, chunksize=1), strict=True))
    print(table(runs))


if __name__ == "__main__":
    main()
