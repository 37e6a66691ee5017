"""Sixteen trainings whose loss rises early: by a rate that is too high, or harmlessly.

The settings of `TOO_HIGH` have no normalization, no warm-up or a large initialization, and a rate
that is high for them.  In those of `HARMLESS` the data become harder, or momentum swings, and the
loss falls again at the same rate.  They were chosen before any of them ran, and are not for
development.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn

from benchmarks.learning_rate.tasks import CHARACTERS, Training, classifier, digits, text, training


@dataclass(frozen=True)
class Setting:
    """A training with its rate; ``pool`` tells from which examples the batch of a step is."""

    make: Callable[[], Training]
    rate: float
    optimizer: str = "SGD"
    momentum: float = 0.9
    batch_size: int = 32
    warmup_steps: int | None = None
    pool: Callable[[int], tuple[int, int]] | None = None


class Batches:
    """Random batches of the examples that are in use at a step; the position can be restored."""

    def __init__(self, pool: Callable[[int], tuple[int, int]], batch_size: int, seed: int) -> None:
        self._pool, self._batch_size, self._seed, self._position = pool, batch_size, seed, 0

    def __next__(self) -> list[int]:
        draw = random.Random(f"{self._seed}/{self._position}")
        examples = range(*self._pool(self._position))
        self._position += 1
        return draw.choices(examples, k=self._batch_size)

    def state_dict(self) -> dict[str, int]:
        """Return the position."""
        return {"position": self._position}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go back to a position."""
        self._position = state["position"]


def _plain(widths: list[int], activation: type[nn.Module], gain: float) -> nn.Sequential:
    """Return layers without normalization, whose weights have variance gain² / inputs."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layer = nn.Linear(before, after)
        nn.init.normal_(layer.weight, std=gain / math.sqrt(before))
        layers += [layer, activation()]
    return nn.Sequential(*layers[:-1])


class _Rows(nn.Module):
    """A recurrent network that reads the eight rows of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.core = nn.RNN(8, 64, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(64, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.core(images)[0][:, -1])


class _Attention(nn.Module):
    """Four transformer layers that normalize last, on the rows of an image."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(8, 32)
        self.place = nn.Parameter(torch.randn(8, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embed(images) + self.place).mean(1))


class _Residual(nn.Module):
    """Ten residual blocks without normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(64, 48), nn.Linear(48, 10)
        self.blocks = nn.ModuleList(_plain([48, 48, 48], nn.ReLU, 1.0) for _ in range(10))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        hidden = self.first(images)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.last(hidden)


def _convolutions() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU()]
    for _ in range(7):
        layers += [nn.Conv2d(16, 16, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 10))


class _Characters(nn.Module):
    """An LSTM that predicts characters."""

    def __init__(self) -> None:
        super().__init__()
        words = len(CHARACTERS) + 1
        self.embed, self.core = nn.Embedding(words, 32), nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, words)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        return self.head(self.core(self.embed(codes))[0]).flatten(0, 1)


def characters() -> Training:
    """Return the training of an LSTM on characters."""
    model, (windows, held) = _Characters(), text()

    def loss(codes: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(codes[:, :-1]), codes[:, 1:].flatten())

    return training(model, len(windows), lambda batch: loss(windows[batch]), lambda: loss(held))


def _on_digits(model: Callable[[], nn.Module], *shape: int) -> Callable[[], Training]:
    return lambda: classifier(model(), shape)


def _perceptron(
    images: torch.Tensor, labels: torch.Tensor, held: torch.Tensor, held_labels: torch.Tensor
) -> Training:
    """Return the training of a perceptron on images, in the order that they have."""
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def loss(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(one), other)

    return training(
        model,
        len(images),
        lambda batch: loss(images[batch], labels[batch]),
        lambda: loss(held, held_labels),
    )


def _two_parts(
    change: Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
) -> Callable[[], Training]:
    """Return a training whose examples from 1200 on are changed digits, which are validated."""

    def make() -> Training:
        known, labels, held, held_labels = digits()
        with torch.random.fork_rng():
            torch.manual_seed(5)
            more, more_labels = change(known, labels)
            held, held_labels = change(held, held_labels)
        images, targets = torch.cat([known, more]), torch.cat([labels, more_labels])
        return _perceptron(images, targets, held, held_labels)

    return make


def by_class() -> Training:
    """Return the training of a perceptron on digits in the order of their classes."""
    known, labels, held, held_labels = digits()
    order = torch.argsort(labels, stable=True)
    return _perceptron(known[order], labels[order], held, held_labels)


def _numbers(stretch: float, later: float, width: int) -> Callable[[], Training]:
    """Return a regression: inputs of unequal scales, targets that are larger from 2000 on."""

    def make() -> Training:
        draw = torch.Generator().manual_seed(6)
        scales = stretch ** -torch.linspace(0.0, 1.0, 16)
        inputs = torch.randn(5000, 16, generator=draw) * scales
        weights = torch.randn(16, 1, generator=draw) / scales / 4
        targets = torch.tanh(inputs @ weights) + 0.1 * torch.randn(5000, 1, generator=draw)
        targets[2000:] *= later
        layers = (nn.Linear(16, width), nn.Tanh()) if width else ()
        model = nn.Sequential(*layers, nn.Linear(width or 16, 1))

        def loss(places: torch.Tensor) -> torch.Tensor:
            return (model(inputs[places]) - targets[places]).square().mean()

        held = torch.arange(4000, 5000)
        return training(model, 4000, lambda batch: loss(torch.tensor(batch)), lambda: loss(held))

    return make


def _noisy(images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return images + torch.randn(images.shape), labels


def _turned(images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return images.reshape(-1, 8, 8).transpose(1, 2).flatten(1), labels


def _mislabeled(images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    wrong = torch.rand(len(labels)) < 0.4
    return images, torch.where(wrong, torch.randint(10, labels.shape), labels)


def _after(
    steps: int, first: tuple[int, int], then: tuple[int, int]
) -> Callable[[int], tuple[int, int]]:
    return lambda step: first if step < steps else then


TOO_HIGH = {
    "deep tanh": Setting(_on_digits(lambda: _plain([64, *[48] * 19, 10], nn.Tanh, 1.5), 64), 0.1),
    "deep ReLU, AdamW": Setting(
        _on_digits(lambda: _plain([64, *[48] * 15, 10], nn.ReLU, 1.4), 64), 0.01, "AdamW"
    ),
    "recurrent": Setting(_on_digits(_Rows, 8, 8), 0.1),
    "attention, no warm-up": Setting(_on_digits(_Attention, 8, 8), 0.01, "AdamW", warmup_steps=0),
    "plain convolutions": Setting(_on_digits(_convolutions, 1, 8, 8), 0.1),
    "large weights": Setting(_on_digits(lambda: _plain([64, 128, 128, 10], nn.ReLU, 4.0), 64), 0.1),
    "LSTM": Setting(characters, 0.1, "AdamW", batch_size=8),
    "plain residual": Setting(_on_digits(_Residual, 64), 0.1),
}
HARMLESS = {
    "new classes": Setting(by_class, 0.1, pool=_after(200, (0, 600), (0, 1200))),
    "classes in turn": Setting(
        by_class, 0.1, pool=lambda step: (step // 50 % 5 * 240, step // 50 % 5 * 240 + 240)
    ),
    "noise": Setting(_two_parts(_noisy), 0.1, pool=_after(150, (0, 1200), (1200, 2400))),
    "wrong labels": Setting(
        _two_parts(_mislabeled), 0.1, pool=_after(150, (0, 1200), (1200, 2400))
    ),
    "turned images": Setting(
        _two_parts(_turned), 3e-3, "AdamW", pool=_after(200, (0, 1200), (1200, 2400))
    ),
    "larger targets": Setting(
        _numbers(1.0, 4.0, 64), 3e-3, "AdamW", pool=_after(200, (0, 2000), (2000, 4000))
    ),
    "heavy momentum": Setting(_numbers(30.0, 1.0, 0), 0.01, momentum=0.99),
    "whole batch": Setting(_numbers(3.0, 1.0, 64), 0.3, batch_size=2000),
}  # fmt: skip
