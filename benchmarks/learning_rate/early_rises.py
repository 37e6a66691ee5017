"""Three answers to a loss that rises early in the run: begin again, go back, or nothing.

    python -m benchmarks.learning_rate.early_rises --seeds 3 --processes 2

The tuner answers a rise early in the run with the untrained model, at a tenth of the rate
(*again*).  The alternatives are the latest checkpoint near the least loss, at half the rate
(*back*), and no watch for rises (*none*).  The trainings are those of
`benchmarks.learning_rate.rising_tasks`.
"""

import math
from dataclasses import replace
from multiprocessing import Pool
from typing import Any

import torch

from benchmarks.learning_rate.arguments import parser_of
from benchmarks.learning_rate.methods import stepped
from benchmarks.learning_rate.rising_tasks import HARMLESS, TOO_HIGH, Batches, Setting
from topoloom.learning_rate import InProcess, LearningRateError, Options
from topoloom.learning_rate.callbacks import TuningCallback

WAYS = ("again", "back", "none")
WAIT = "wait"  # as "again", without a comparison of a loss that never falls
HIGHER = (1.0, math.sqrt(10.0))  # times the rate of a setting in `TOO_HIGH`
DECADES = 1.5  # of the interval, to each side of the rate
SETTINGS = TOO_HIGH | HARMLESS
Cell = tuple[str, float]  # a setting, and a factor of its rate
Run = tuple[float, int, bool]


def runs(key: tuple[str, float, int, int]) -> dict[str, Run]:
    """Run a setting at a factor of its rate, with a seed and for a number of steps, in each way.

    Where the loss neither rises nor explodes, all ways are the same run.
    """
    torch.set_num_threads(1)
    first = final(key, WAYS[0])
    return {way: first if not first[1] or way == WAYS[0] else final(key, way) for way in WAYS}


def final(key: tuple[str, float, int, int], way: str) -> Run:
    """Run in one way.

    Returns:
        The validation loss at the end, infinite where training diverges, the step at which the run
        first went wrong, 0 for none, and whether the data were the cause once.
    """
    name, factor, seed, steps = key
    return trained(SETTINGS[name], factor, seed, steps, way)


def trained(setting: Setting, factor: float, seed: int, steps: int, way: str) -> Run:
    """Run a setting as `final` does, in one of its ways or in `WAIT`."""
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
    tuner, wrong = InProcess(options), 0
    callback = TuningCallback(tuner, made.model, optimizer, data=batches)
    try:
        while callback.running:
            if way == "back":
                tuner.state = replace(tuner.state, untrained=False)
            if way == WAIT:
                tuner.state = replace(tuner.state, flat=None)
            callback.step(stepped(made, optimizer, next(batches)))
            state = tuner.state
            if not wrong and (state.ceiling is not None or state.check is not None):
                wrong = state.step
    except LearningRateError:
        return math.inf, wrong, tuner.state.times_cleared > 0
    return made.validate(), wrong, tuner.state.times_cleared > 0


def row(cell: Cell, found: list[dict[str, Run]]) -> str:
    """Return the final losses of a cell, seed by seed, and when they went wrong."""
    firsts = [ways[WAYS[0]] for ways in found]
    steps = [f"{step or 'none'}{' (data)' * data}" for _, step, data in firsts]
    ends = [" ".join(f"{ways[way][0]:.4f}" for ways in found) for way in WAYS]
    rate = SETTINGS[cell[0]].rate * cell[1]
    return f"| {cell[0]} | {rate:.2g} | {', '.join(steps)} | " + " | ".join(ends) + " |"


def main() -> None:
    arguments = parser_of(__doc__, "--settings", SETTINGS, 3).parse_args()
    names, seeds, steps = list[str](arguments.settings), int(arguments.seeds), int(arguments.steps)
    cells = [
        (name, factor) for name in names for factor in (HIGHER if name in TOO_HIGH else (1.0,))
    ]
    keys = [(*cell, seed, steps) for cell in cells for seed in range(seeds)]
    print("| setting | rate | went wrong | " + " | ".join(WAYS) + " |\n" + "|---" * 6 + "|")
    with Pool(arguments.processes) as pool:
        found = pool.imap(runs, keys, chunksize=1)
        for cell in cells:
            print(row(cell, [next(found) for _ in range(seeds)]), flush=True)


if __name__ == "__main__":
    main()
