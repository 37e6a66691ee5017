"""Twenty-two small trainings that the search of the tuner is developed on, sized for one core.

None of them is in `benchmarks.learning_rate.unseen_tasks`.  Eight are those of other benchmarks,
and the others are here.  Intervals span three to five decades, as a user who knows the optimizer
would give them.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer, load_diabetes, make_swiss_roll
from torch import nn

from benchmarks.learning_rate.own_rates import CHOSEN
from benchmarks.learning_rate.tasks import (
    CHARACTERS,
    TASKS,
    Task,
    Training,
    classifier,
    digits,
    text,
    training,
)
from benchmarks.learning_rate.unseen_tasks import PLACES

Layer = Callable[[int, int], list[nn.Module]]
WORDS = len(CHARACTERS) + 1


def _stacked(widths: list[int], layer: Layer) -> nn.Sequential:
    """Return layers of widths, and a linear one at the end."""
    layers = [part for before, after in pairwise(widths[:-1]) for part in layer(before, after)]
    return nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1]))


def _relu(before: int, after: int) -> list[nn.Module]:
    return [nn.Linear(before, after), nn.ReLU()]


def _linear(before: int, after: int) -> list[nn.Module]:
    return [nn.Linear(before, after)]


def _batch_normalized(before: int, after: int) -> list[nn.Module]:
    return [nn.Linear(before, after), nn.BatchNorm1d(after), nn.ReLU()]


def _layer_normalized(before: int, after: int) -> list[nn.Module]:
    return [nn.Linear(before, after), nn.LayerNorm(after), nn.GELU()]


def _supervised(
    model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, held: int
) -> Training:
    """Return the training of a model of all but the last examples, on classes or on numbers."""

    def loss(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        if targets.is_floating_point():
            return (model(one) - other).square().mean()
        return nn.functional.cross_entropy(model(one), other)

    known = len(inputs) - held
    return training(
        model,
        known,
        lambda batch: loss(inputs[batch], targets[batch]),
        lambda: loss(inputs[known:], targets[known:]),
    )


def deep_linear() -> Training:
    """Return the training of six linear layers with small weights: a plateau, then a fall."""
    draw = torch.Generator().manual_seed(0)
    inputs = torch.randn(3000, 16, generator=draw)
    targets = inputs @ torch.randn(16, 4, generator=draw) / 4
    targets += 0.1 * torch.randn(3000, 4, generator=draw)
    model = _stacked([16, 24, 24, 24, 24, 24, 4], _linear)
    for layer in model:
        assert isinstance(layer, nn.Linear)
        nn.init.normal_(layer.weight, std=0.1)
    return _supervised(model, inputs, targets, 600)


def diabetes() -> Training:
    """Return the training of a small perceptron on 442 patients."""
    inputs, targets = map(np.asarray, load_diabetes(return_X_y=True))
    values = torch.tensor(inputs, dtype=torch.float32) * 20
    wanted = torch.tensor((targets - targets.mean()) / targets.std(), dtype=torch.float32)
    return _supervised(_stacked([10, 32, 1], _relu), values, wanted[:, None], 112)


def cancer() -> Training:
    """Return the training of a perceptron on 569 tumors."""
    inputs, targets = map(np.asarray, load_breast_cancer(return_X_y=True))
    values = torch.tensor((inputs - inputs.mean(0)) / inputs.std(0), dtype=torch.float32)
    order = torch.randperm(len(values), generator=torch.Generator().manual_seed(0))
    wanted = torch.tensor(targets)
    return _supervised(_stacked([30, 64, 2], _relu), values[order], wanted[order], 150)


def addition() -> Training:
    """Return the training of a perceptron on the sum of two numbers modulo 23."""
    count = 23
    pairs = torch.cartesian_prod(torch.arange(count), torch.arange(count))
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0))
    pairs = pairs[order]
    embed = nn.Sequential(nn.Embedding(count, 32), nn.Flatten())
    return _supervised(
        nn.Sequential(embed, *_stacked([64, 96, count], _relu)), pairs, pairs.sum(1) % count, 80
    )


def roll_noise() -> Training:
    """Return the training of a perceptron that finds the noise in points of a roll."""
    points = torch.tensor(make_swiss_roll(3000, random_state=0)[0], dtype=torch.float32)
    clean = (points - points.mean(0)) / points.std(0)
    model = _stacked([4, 64, 64, 3], lambda a, b: [nn.Linear(a, b), nn.SiLU()])

    def loss(one: torch.Tensor, draw: torch.Generator | None) -> torch.Tensor:
        size = 0.05 * 20 ** torch.rand(len(one), 1, generator=draw)
        noise = torch.randn(one.shape, generator=draw)
        seen = (one + size * noise) / (1 + size * size).sqrt()
        return (model(torch.cat([seen, size.log()], 1)) - noise).square().mean()

    def held() -> torch.Tensor:
        return loss(clean[2400:].repeat(4, 1), torch.Generator().manual_seed(1))

    return training(model, 2400, lambda batch: loss(clean[:2400][batch], None), held)


def variational() -> Training:
    """Return the training of a variational autoencoder of digits."""
    known, _, held, _ = digits()
    encoder, decoder = _stacked([64, 64, 12], _relu), _stacked([6, 64, 64], _relu)
    model = nn.ModuleList([encoder, decoder])

    def loss(images: torch.Tensor, draw: torch.Generator | None) -> torch.Tensor:
        mean, log = encoder(images).chunk(2, 1)
        drawn = mean + (log / 2).exp() * torch.randn(mean.shape, generator=draw)
        error = nn.functional.binary_cross_entropy_with_logits(decoder(drawn), images)
        return 64 * error + 0.5 * (mean.square() + log.exp() - log - 1).sum(1).mean()

    return training(
        model,
        len(known),
        lambda batch: loss(known[batch], None),
        lambda: loss(held, torch.Generator().manual_seed(1)),
    )


class _Mixer(nn.Module):
    """Two layers that mix the eight rows of an image, then its columns."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
            for _ in range(4)
        )
        self.head = nn.Linear(64, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        for part in self.parts:
            images = images + part(images.transpose(1, 2))
        return self.head(images.flatten(1))


class _Recurrent(nn.Module):
    """A GRU over rows or characters, with a head on its last state or on all."""

    def __init__(self, inputs: nn.Module, width: int, outputs: int, last: bool) -> None:
        super().__init__()
        self.inputs, self.last = inputs, last
        self.core = nn.GRU(width, 32, batch_first=True)
        self.head = nn.Linear(32, outputs)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.core(self.inputs(values))
        return self.head(hidden[:, -1] if self.last else hidden.flatten(0, 1))


def rows() -> Training:
    """Return the training of a GRU that reads the rows of digits."""
    return classifier(_Recurrent(nn.Identity(), 8, 10, last=True), (8, 8))


def recurrent_language_model() -> Training:
    """Return the training of a GRU on sixteen characters at a time."""
    model = _Recurrent(nn.Embedding(WORDS, 24), 24, WORDS, last=False)
    windows, held = text()

    def loss(codes: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(codes[:, :16]), codes[:, 1:17].flatten())

    return training(model, len(windows), lambda batch: loss(windows[batch]), lambda: loss(held))


def neighbors() -> Training:
    """Return the training of embeddings that tell the next two characters (skip-gram)."""
    windows, held = text()
    model = nn.Sequential(nn.Embedding(WORDS, 16), nn.Linear(16, WORDS))

    def loss(codes: torch.Tensor) -> torch.Tensor:
        scores = model(codes[:, :-2]).flatten(0, 1)
        near = [codes[:, 1:-1].flatten(), codes[:, 2:].flatten()]
        return sum((nn.functional.cross_entropy(scores, one) for one in near), torch.zeros(()))

    return training(model, len(windows), lambda batch: loss(windows[batch]), lambda: loss(held))


def triplets() -> Training:
    """Return the training of an encoder by classes: the scores of a batch's own members."""
    known, labels, held, held_labels = digits()
    model = _stacked([64, 64, 16], _relu)

    def loss(images: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
        codes = nn.functional.normalize(model(images), dim=1)
        scores = codes @ codes.T / 0.1 - 1e4 * torch.eye(len(codes))
        same = (classes[:, None] == classes).float() - torch.eye(len(codes))
        logs = nn.functional.log_softmax(scores, 1)
        return -((logs * same).sum(1) / same.sum(1).clamp(min=1)).mean()

    return training(
        model,
        len(known),
        lambda batch: loss(known[batch], labels[batch]),
        lambda: loss(held[:512], held_labels[:512]),
    )


def _task(
    make: Callable[[], Training], batch: int, optimizer: str, low: float, high: float
) -> Task:
    rates = tuple(low * math.exp(place * math.log(high / low)) for place in PLACES)
    return Task(make, batch, optimizer, rates, (low, high))


def _image_model(model: Callable[[], nn.Module], *shape: int) -> Callable[[], Training]:
    return lambda: classifier(model(), shape)


DEVELOPMENT = {
    **{
        name: _task(task.make, task.batch_size, task.optimizer, *task.interval)
        for name, task in (TASKS | CHOSEN).items()
    },
    "deep linear": _task(deep_linear, 32, "AdamW", 1e-6, 1e-2),
    "diabetes": _task(diabetes, 16, "SGD", 1e-4, 1.0),
    "cancer": _task(cancer, 32, "AdamW", 1e-5, 1.0),
    "addition": _task(addition, 32, "AdamW", 1e-5, 1e-1),
    "roll noise": _task(roll_noise, 64, "AdamW", 1e-5, 1e-1),
    "variational": _task(variational, 32, "AdamW", 1e-5, 1e-1),
    "mixer": _task(_image_model(_Mixer, 8, 8), 32, "AdamW", 1e-5, 1e-1),
    "rows": _task(rows, 32, "AdamW", 1e-4, 1.0),
    "recurrent LM": _task(recurrent_language_model, 16, "AdamW", 1e-4, 1e-1),
    "neighbors": _task(neighbors, 16, "AdamW", 1e-5, 1.0),
    "triplets": _task(triplets, 64, "AdamW", 1e-5, 1e-1),
    "batch-normalized MLP": _task(
        _image_model(lambda: _stacked([64, 48, 48, 10], _batch_normalized), 64),
        32, "SGD", 1e-3, 10.0,
    ),
    "layer-normalized MLP": _task(
        _image_model(lambda: _stacked([64, 48, 48, 48, 10], _layer_normalized), 64),
        32, "AdamW", 1e-6, 1e-2,
    ),
    "wide MLP": _task(
        _image_model(lambda: _stacked([64, 128, 10], _relu), 64), 32, "SGD", 1e-3, 1.0
    ),
}  # fmt: skip
