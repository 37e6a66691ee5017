"""Tune ten further trainings at the usual rate, and at one 30 times too low or too high.

    python -m benchmarks.learning_rate.further --seeds 2 --processes 2

WSD runs at the optimizer's rate, without a search.  *tune* begins with a range test at this rate.
*interval* reaches 1.5 decades to each side of this rate.
"""

from itertools import product
from multiprocessing import Pool
from typing import Any

import torch

from benchmarks.learning_rate.arguments import parser_of
from benchmarks.learning_rate.further_tasks import FURTHER
from benchmarks.learning_rate.methods import SCHEDULES, WARMUP, stepped
from benchmarks.learning_rate.own_rates import tuned_loss
from topoloom.learning_rate.callbacks import ResumableBatches

FACTORS = {"usual": 1.0, "usual / 30": 1 / 30, "30 usual": 30.0}
METHODS = ("WSD", "tune", "interval")
Key = tuple[str, str, str, int, int]


def final(key: Key) -> tuple[float, int]:
    """Return the validation loss at the end of a run, infinite where it diverges, and its steps.

    Args:
        key: Task, factor of its rate, method, seed and steps.
    """
    name, factor, method, seed, steps = key
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    task = FURTHER[name]
    made = task.make(seed)
    batches = ResumableBatches(made.size, task.batch_size, seed)
    trained = [value for value in made.model.parameters() if value.requires_grad]
    rate = FACTORS[factor] * task.rate
    optimizer = task.optimizer(trained, rate)
    if method != "WSD":
        options: dict[str, Any] = {} if method == "tune" else {"range_test": False}
        return tuned_loss(made, optimizer, batches, steps, seed=seed, **options)
    warmup = int(WARMUP * steps)
    for step in range(steps):
        progress = (step - warmup + 0.5) / (steps - warmup)
        scale = (step + 1) / warmup if step < warmup else SCHEDULES["WSD"](progress)
        optimizer.param_groups[0]["lr"] = rate * scale
        stepped(made, optimizer, next(batches))
    return made.validate(), steps


def main() -> None:
    arguments = parser_of(__doc__, "--tasks", FURTHER, 2).parse_args()
    names, seeds, steps = list[str](arguments.tasks), range(arguments.seeds), int(arguments.steps)
    columns = list(product(FACTORS, METHODS))
    heads = [f"{factor}: {method}" for factor, method in columns]
    print("| task | " + " | ".join(heads) + " |\n" + "|---" * (len(columns) + 1) + "|")
    keys = [(name, *column, seed, steps) for name, column, seed in product(names, columns, seeds)]
    most = 0
    with Pool(arguments.processes) as pool:
        found = pool.imap(final, keys, chunksize=1)
        for name in names:
            rows = [[next(found) for _ in seeds] for _ in columns]
            most = max(most, *(spent for runs in rows for _, spent in runs))
            cells = [" ".join(f"{loss:.4g}" for loss, _ in runs) for runs in rows]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nmost steps: {most / steps:.3f} of those of the run")


if __name__ == "__main__":
    main()
