"""Search the ratios between parameter groups, or leave them: small trainings, one thread.

    python -m benchmarks.learning_rate.group_ratios

The regression adds two linear layers, and the inputs of the second one have another size, so its
right rate for SGD is 10, 1 or 0.1 times that of the first layer.  The perceptron's first layer is
stored times a factor, with the same effect for AdamW.  The character model has Muon for its
matrices and AdamW for the rest, at common rates and at ratios that are ten times smaller and
larger.  Each trains with WSD at the optimizer's rates, with `tune`, and with ``group_ratios=True``.
"""

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.learning_rate.tasks import TASKS, Training, classifier, training
from topoloom.learning_rate import tune
from topoloom.learning_rate.callbacks import ResumableBatches

WAYS = ("WSD", "tune", "tune, ratios")
WRONG = (10.0, 1.0, 0.1)  # the right ratio, of the optimizer's one
BATCH = 16

Job = tuple[Training, list[Any]]


class Stored(nn.Linear):
    """A linear layer whose weights are stored times a factor."""

    def __init__(self, inputs: int, outputs: int, factor: float) -> None:
        super().__init__(inputs, outputs)
        self.factor = factor
        with torch.no_grad():
            self.weight *= factor
            self.bias *= factor

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the layer's values."""
        return super().forward(input) / self.factor


class TwoLayers(nn.Module):
    """The sum of two linear layers; the inputs of the second one are multiplied by a size."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.first, self.second, self.size = nn.Linear(8, 1), nn.Linear(8, 1), size

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the sum."""
        return self.first(inputs[:, :8]) + self.second(self.size * inputs[:, 8:])


def regression(right: float) -> Job:
    """Return a regression whose second layer is right at a multiple of the first one's rate.

    The curvature of a linear layer grows with the square of its inputs.
    """
    draw = torch.Generator().manual_seed(3)
    inputs = torch.randn(4000, 16, generator=draw)
    targets = inputs @ torch.randn(16, 1, generator=draw)
    targets += 0.5 * torch.randn(4000, 1, generator=draw)
    model = TwoLayers(right**-0.5)

    def loss(places: Any) -> torch.Tensor:
        return (model(inputs[places]) - targets[places]).square().mean()

    held = torch.arange(3000, 4000)
    groups = [
        {"params": list(model.first.parameters()), "name": "first"},
        {"params": list(model.second.parameters()), "name": "second"},
    ]
    return training(model, 3000, loss, lambda: loss(held)), [torch.optim.SGD(groups, lr=3e-3)]


def perceptron(right: float) -> Job:
    """Return a perceptron on digits whose first layer is right at a multiple of the others' rate.

    AdamW's steps do not depend on the size of gradients, so weights that are stored times a factor
    need a rate times this factor.
    """
    model = nn.Sequential(Stored(64, 64, right), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
    model.append(nn.Linear(64, 10))
    groups = [
        {"params": list(model[0].parameters()), "name": "first"},
        {"params": list(model[2].parameters()) + list(model[4].parameters()), "name": "others"},
    ]
    return classifier(model, (64,)), [torch.optim.AdamW(groups, lr=3e-3)]


def muon(right: float) -> Job:
    """Return the character model with Muon for matrices, and AdamW at a multiple of its rate."""
    made = TASKS["character LM"].make()
    named = list(made.model.named_parameters())
    matrices = [value for name, value in named if value.ndim == 2 and "weight" in name]
    inner = {id(value) for value in matrices[1:-1]}  # neither the embedding nor the head
    rest = [value for _, value in named if id(value) not in inner]
    return made, [
        torch.optim.Muon([value for value in matrices if id(value) in inner], lr=0.02),
        torch.optim.AdamW(rest, lr=3e-3 / right),
    ]


JOBS: dict[str, Callable[[float], Job]] = {
    "regression": regression,
    "perceptron": perceptron,
    "Muon + AdamW": muon,
}


def final(job: str, right: float, way: str, steps: int, seed: int) -> tuple[float, str]:
    """Return the validation loss at the end of a run, and the scales that were chosen."""
    torch.manual_seed(seed)
    made, optimizers = JOBS[job](right)
    data = ResumableBatches(made.size, BATCH, seed=seed)
    options: dict[str, Any] = {"group_ratios": True} if way == WAYS[2] else {}
    if way == WAYS[0]:
        options["max_overhead"] = 0.0
    tuned = tune(
        made.model, optimizers, data, steps, range_test=False, on_divergence="warn", **options
    )
    for batch in tuned:
        loss = made.loss(batch)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        tuned.step(loss)
    state: Any = tuned.tuner
    chosen = [round(scale, 2) for scale in state.state.scales]
    return made.validate(), f"{state.state.rate:.3g} {chosen} {state.state.spent}"


def main() -> None:
    """Print a table of the mean loss by task, right ratio and way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", nargs="*", default=list(JOBS), choices=JOBS)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    print(f"| task | right ratio | {' | '.join(WAYS)} | lower than tune |")
    print("|---" * (len(WAYS) + 3) + "|")
    for job in asked.jobs:
        for right in WRONG:
            losses: dict[str, list[float]] = {}
            for way in WAYS:
                for seed in range(asked.seeds):
                    loss, chosen = final(job, right, way, asked.steps, seed)
                    losses.setdefault(way, []).append(loss)
                    if asked.out is not None:
                        with asked.out.open("a") as file:
                            file.write(json.dumps([job, right, way, seed, loss, chosen]) + "\n")
            lower = sum(a < b for a, b in zip(losses[WAYS[2]], losses[WAYS[1]], strict=True))
            means = " | ".join(f"{statistics.fmean(losses[way]):.4f}" for way in WAYS)
            print(f"| {job} | {right:g} | {means} | {lower} of {asked.seeds} |", flush=True)


if __name__ == "__main__":
    main()
