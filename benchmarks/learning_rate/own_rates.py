"""Tune without an interval, from an optimizer's rate that is wrong by decades.

    python -m benchmarks.learning_rate.own_rates --processes 16

Each task runs from several rates of the optimizer, in three ways: WSD at this rate, `tune` with the
interval around this rate (``range_test=False``), and `tune` as it is, with a range test.  The tasks
are two of those that the tuner was developed on, and four further ones.
"""

import math
import statistics
from itertools import product
from multiprocessing import Pool
from typing import Any

import torch
from torch import nn

from benchmarks.learning_rate.arguments import parser_of
from benchmarks.learning_rate.methods import begun, optimizer_of, scheduled, stepped
from benchmarks.learning_rate.tasks import TASKS, Task, Training, classifier, digits, training
from topoloom.learning_rate import LearningRateError, tune
from topoloom.learning_rate.callbacks import ResumableBatches

DECADES = (-4, -3, -2, -1, 0, 1, 2)  # the optimizer's rate, from the middle of the task's interval
WAYS = ("WSD", "tune around it", "tune")


def softmax() -> Training:
    """Return the training of a linear classifier of digits."""
    return classifier(nn.Linear(64, 10), (64,))


def autoencoder() -> Training:
    """Return the training of an autoencoder of digits with eight hidden values."""
    known, _, held, _ = digits()
    layers = (nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 8), nn.Linear(8, 48), nn.ReLU())
    model = nn.Sequential(*layers, nn.Linear(48, 64))

    def loss(images: torch.Tensor) -> torch.Tensor:
        return 10 * (model(images) - images).square().mean()

    return training(model, len(known), lambda batch: loss(known[batch]), lambda: loss(held))


def teacher() -> Training:
    """Return the training of a perceptron on the noisy outputs of another one."""
    draw = torch.Generator().manual_seed(3)
    inputs = torch.randn(4000, 12, generator=draw)
    hidden = torch.tanh(inputs @ torch.randn(12, 16, generator=draw) / 3)
    targets = hidden @ torch.randn(16, 1, generator=draw) / 2
    targets += 0.2 * torch.randn(4000, 1, generator=draw)
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))

    def loss(places: torch.Tensor) -> torch.Tensor:
        return (model(inputs[places]) - targets[places]).square().mean()

    held = torch.arange(3000, 4000)
    return training(model, 3000, lambda batch: loss(torch.tensor(batch)), lambda: loss(held))


def sine() -> Training:
    """Return the training of a perceptron with two layers of tanh on a noisy sine."""
    draw = torch.Generator().manual_seed(4)
    inputs = 2 * torch.rand(3000, 1, generator=draw) - 1
    targets = torch.sin(9 * inputs) + 0.1 * torch.randn(3000, 1, generator=draw)
    layers = (nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
    model = nn.Sequential(*layers, nn.Linear(64, 1))

    def loss(places: torch.Tensor) -> torch.Tensor:
        return (model(inputs[places]) - targets[places]).square().mean()

    held = torch.arange(2400, 3000)
    return training(model, 2400, lambda batch: loss(torch.tensor(batch)), lambda: loss(held))


CHOSEN = {
    "linear classifier": Task(softmax, 32, "SGD", (), (1e-3, 10.0)),
    "autoencoder": Task(autoencoder, 32, "AdamW", (), (1e-5, 1e-1)),
    "teacher": Task(teacher, 32, "SGD", (), (1e-4, 1.0)),
    "sine": Task(sine, 32, "AdamW", (), (1e-5, 1e-1)),
    **{name: TASKS[name] for name in ("digits CNN", "deep MLP")},
}


def final(task: Task, way: str, rate: float, seed: int, steps: int) -> tuple[float, int]:
    """Return the validation loss at the end of a run, and its steps; infinite where it diverges."""
    made, batches = begun(task, seed)
    if way == "WSD":
        return scheduled(task, made, batches, way, rate, steps, steps).final, steps
    optimizer = optimizer_of(task, made, "", rate, steps)
    options: dict[str, Any] = {} if way == "tune" else {"range_test": False}
    return tuned_loss(made, optimizer, batches, steps, seed=seed, **options)


def tuned_loss(
    made: Training, optimizer: Any, batches: ResumableBatches, steps: int, **options: Any
) -> tuple[float, int]:
    """Tune a training; return its validation loss as `final` does, and its steps."""
    tuned = tune(made.model, optimizer, batches, steps, **options)
    spent = 0
    try:
        for batch in tuned:
            tuned.step(stepped(made, optimizer, batch))
            spent += 1
    except LearningRateError:
        return math.inf, spent + 1
    return made.validate(), spent


def cell(runs: list[tuple[float, int]]) -> str:
    """Return the mean loss of runs, and the highest one where they differ by a half."""
    losses = [loss for loss, _ in runs]
    mean = statistics.fmean(losses)
    if not math.isfinite(mean):
        return "diverged"
    return f"{mean:.3f}" + (f" (to {max(losses):.3f})" if max(losses) > 1.5 * min(losses) else "")


def main() -> None:
    arguments = parser_of(__doc__, "--tasks", CHOSEN, 3).parse_args()
    seeds, steps = range(arguments.seeds), int(arguments.steps)
    rows = [(name, way) for name in list[str](arguments.tasks) for way in WAYS]
    keys = [
        (name, way, decade, seed, steps)
        for (name, way), decade, seed in product(rows, DECADES, seeds)
    ]
    with Pool(arguments.processes) as pool:
        runs = dict(zip(keys, pool.map(_run, keys, chunksize=1), strict=True))
    print("| task | way | " + " | ".join(f"1e{decade:+d}" for decade in DECADES) + " |")
    print("|---" * (len(DECADES) + 2) + "|")
    for name, way in rows:
        told = [[runs[name, way, decade, seed, steps] for seed in seeds] for decade in DECADES]
        print(f"| {name} | {way} | " + " | ".join(map(cell, told)) + " |")
    most = max(spent for _, spent in runs.values())
    print(f"\nmost steps: {most / steps:.3f} of those of the run")


def _run(key: tuple[str, str, int, int, int]) -> tuple[float, int]:
    """Run a task, way, decade, seed and number of steps."""
    name, way, decade, seed, steps = key
    torch.set_num_threads(1)
    task = CHOSEN[name]
    middle = math.sqrt(task.interval[0] * task.interval[1])
    return final(task, way, middle * 10.0**decade, seed, steps)


if __name__ == "__main__":
    main()
