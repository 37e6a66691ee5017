"""Four small trainings on data from installed packages, sized for one core.

Digits are scikit-learn's.  Text comes from the docstrings of the standard library, read as
characters.
"""

import pydoc
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

MODULES = ("argparse", "asyncio", "collections", "csv", "datetime", "decimal", "email", "json",
           "logging", "os", "pathlib", "random", "re", "socket", "ssl", "statistics", "string",
           "subprocess", "threading", "typing", "unittest", "zipfile")  # fmt: skip
CONTEXT = 32
CHARACTERS = "\n !\"'()*,-./0123456789:=>_abcdefghijklmnopqrstuvwxyz"
MASK = len(CHARACTERS) + 1


@dataclass(frozen=True)
class Training:
    """A model with its loss: ``loss(batch)`` of training examples, ``validate()``."""

    model: nn.Module
    size: int
    loss: Callable[[list[int]], torch.Tensor]
    validate: Callable[[], float]


@dataclass(frozen=True)
class Task:
    """Constructor of a training, and the range of its rates."""

    make: Callable[[], Training]
    batch_size: int
    optimizer: str
    rates: tuple[float, ...]
    interval: tuple[float, float]


# The rates that win anywhere come first: the small table takes the first three.
ADAM = (3e-3, 1e-2, 3e-2, 1e-3, 3e-4)
SGD = (1e-2, 3e-2, 3e-3, 1e-1, 3e-1)


def training(
    model: nn.Module,
    size: int,
    loss: Callable[[list[int]], torch.Tensor],
    held: Callable[[], torch.Tensor],
) -> Training:
    """Return a training whose validation loss is ``held()`` of the model in evaluation mode."""

    @torch.no_grad()
    def validate() -> float:
        model.eval()
        value = held()
        model.train()
        return value.item()

    return Training(model, size, loss, validate)


@cache
def digits() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return images and labels to train on, and held-out ones."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    inputs = torch.tensor(images[order] / 16.0, dtype=torch.float32)
    targets = torch.tensor(labels[order])
    return inputs[:1200], targets[:1200], inputs[1200:], targets[1200:]


def classifier(model: nn.Module, shape: tuple[int, ...]) -> Training:
    """Return the training of a classifier of digits of a shape."""
    inputs, targets, held_inputs, held_targets = digits()

    def loss(images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(images.reshape(-1, *shape)), labels)

    return training(
        model,
        len(inputs),
        lambda batch: loss(inputs[batch], targets[batch]),
        lambda: loss(held_inputs, held_targets),
    )


def perceptron(*widths: int, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Return linear layers of widths, with an activation between two of them."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths[:-1]):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers, nn.Linear(widths[-2], widths[-1]))


def digits_cnn() -> Training:
    """Return the training of two convolutions and a linear layer on 8 x 8 digits."""
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10),
    )  # fmt: skip
    return classifier(model, (1, 8, 8))


def deep_mlp() -> Training:
    """Return the training of ten layers of 32 without normalization; few rates train them."""
    layers: list[nn.Module] = [nn.Linear(64, 32), nn.ReLU()]
    for _ in range(8):
        layers += [nn.Linear(32, 32), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(32, 10))
    for layer in model:
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
    return classifier(model, (64,))


@cache
def text() -> tuple[torch.Tensor, torch.Tensor]:
    """Return windows of characters to train on, and held-out ones."""
    text = "\n".join(pydoc.plain(pydoc.getdoc(__import__(name, fromlist=["_"]))) + "\n".join(
        pydoc.getdoc(value)
        for key, value in sorted(vars(__import__(name, fromlist=["_"])).items())
        if not key.startswith("_")
    ) for name in MODULES)  # fmt: skip
    codes = {character: place for place, character in enumerate(CHARACTERS)}
    data = torch.tensor([codes.get(c, len(CHARACTERS)) for c in text.lower()])
    windows = data[: len(data) // (CONTEXT + 1) * (CONTEXT + 1)].reshape(-1, CONTEXT + 1)
    windows = windows[torch.randperm(len(windows), generator=torch.Generator().manual_seed(0))]
    return windows[:-256], windows[-256:]


class _Transformer(nn.Module):
    def __init__(self, causal: bool) -> None:
        super().__init__()
        width = 32
        self.embed = nn.Embedding(len(CHARACTERS) + 2, width)
        self.place = nn.Parameter(torch.randn(CONTEXT, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 64, 0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(CHARACTERS) + 1)
        mask = nn.Transformer.generate_square_subsequent_mask(CONTEXT) if causal else None
        self.mask = mask

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        hidden = self.layers(self.embed(codes) + self.place, mask=self.mask)
        return self.head(self.norm(hidden))


def language_model(masked: bool) -> Training:
    """Return the training of a one-layer transformer, causal or masked, on characters."""
    model = _Transformer(causal=not masked)
    windows, held = text()

    def of(codes: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
        if not masked:
            inputs, targets = codes[:, :-1], codes[:, 1:]
            chosen = torch.ones_like(targets, dtype=torch.bool)
        else:
            targets = codes[:, :-1]
            chosen = torch.rand(targets.shape, generator=generator) < 0.2
            inputs = targets.masked_fill(chosen, MASK)
        return nn.functional.cross_entropy(model(inputs)[chosen], targets[chosen])

    def validate() -> torch.Tensor:
        return of(held, torch.Generator().manual_seed(1))

    return training(model, len(windows), lambda batch: of(windows[batch], None), validate)


TASKS = {
    "digits CNN": Task(digits_cnn, 32, "AdamW", ADAM, (1e-4, 1e-1)),
    "character LM": Task(lambda: language_model(False), 8, "AdamW", ADAM, (1e-4, 1e-1)),
    "masked LM": Task(lambda: language_model(True), 8, "AdamW", ADAM, (1e-4, 1e-1)),
    "deep MLP": Task(deep_mlp, 32, "SGD", SGD, (3e-3, 3.0)),
}
