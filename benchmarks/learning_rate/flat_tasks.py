"""Fourteen trainings whose loss is flat at first: for good, or for some hundred steps.

In `NEVER` the rate is so high for the network that the loss hardly ever falls below that of a
constant answer.  In `LATER` the rate is usual, and a small initialization, saturated units or the
task itself make a plateau; waiting is right there.  They were chosen before the rule for flat
beginnings was written and before any of the new ones ran; four of `NEVER` are of `rising_tasks`.
"""

import torch
from torch import nn

from benchmarks.learning_rate.rising_tasks import TOO_HIGH, Setting
from benchmarks.learning_rate.tasks import Training, classifier, deep_mlp, digits, training
from benchmarks.learning_rate.unseen_tasks import patch_transformer


def autoencoder() -> Training:
    """Return the training of an autoencoder of digits with twelve hidden values."""
    known, _, held, _ = digits()
    layers = [nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 12), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 64))

    def loss(images: torch.Tensor) -> torch.Tensor:
        return 10 * (model(images) - images).square().mean()

    return training(model, len(known), lambda batch: loss(known[batch]), lambda: loss(held))


def factors() -> Training:
    """Return the training of two small factors of rank 4 on entries of a 60 x 50 matrix."""
    draw = torch.Generator().manual_seed(11)
    truth = torch.randn(60, 4, generator=draw) @ torch.randn(4, 50, generator=draw) / 2
    noisy = truth + 0.2 * torch.randn(60, 50, generator=draw)
    places = torch.randperm(3000, generator=draw)
    model = nn.ModuleList([nn.Embedding(60, 4), nn.Embedding(50, 4)])
    for factor in model:
        assert isinstance(factor, nn.Embedding)
        nn.init.normal_(factor.weight, std=0.003)

    def error(entries: torch.Tensor) -> torch.Tensor:
        row, column = entries // 50, entries % 50
        return ((model[0](row) * model[1](column)).sum(1) - noisy[row, column]).square().mean()

    known, held = places[:2400], places[2400:]
    return training(model, len(known), lambda batch: error(known[batch]), lambda: error(held))


class _Unnormalized(nn.Module):
    """Three residual layers of attention without normalization, with small weights."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Linear(8, 32), nn.Linear(32, 10)
        self.place = nn.Parameter(torch.zeros(8, 32))
        self.mixers = nn.ModuleList(
            nn.MultiheadAttention(32, 4, batch_first=True) for _ in range(3)
        )
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)) for _ in range(3)
        )
        for value in self.parameters():
            nn.init.normal_(value, std=0.02)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(images) + self.place
        for mixer, layer in zip(self.mixers, self.layers, strict=True):
            hidden = hidden + mixer(hidden, hidden, hidden, need_weights=False)[0]
            hidden = hidden + layer(hidden)
        return self.head(hidden.mean(1))


def _sigmoid() -> nn.Module:
    layers = [nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 64), nn.Sigmoid()]
    return nn.Sequential(*layers, nn.Linear(64, 64), nn.Sigmoid(), nn.Linear(64, 10))


def _small_convolutions() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(1, 12, 3, padding=1), nn.ReLU()]
    for _ in range(5):
        layers += [nn.Conv2d(12, 12, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(768, 10))


def bits() -> Training:
    """Return the training of a perceptron on the parity of three of ten bits."""
    draw = torch.Generator().manual_seed(12)
    inputs = torch.randint(0, 2, (4000, 10), generator=draw).float() * 2 - 1
    labels = (inputs[:, 0] * inputs[:, 3] * inputs[:, 7] > 0).long()
    model = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 2))

    def loss(places: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(inputs[places]), labels[places])

    held = torch.arange(3200, 4000)
    return training(model, 3200, lambda batch: loss(torch.tensor(batch)), lambda: loss(held))


def products() -> Training:
    """Return the training of five linear layers with small weights."""
    draw = torch.Generator().manual_seed(13)
    inputs = torch.randn(3000, 12, generator=draw)
    targets = inputs @ torch.randn(12, 3, generator=draw) / 3
    targets += 0.1 * torch.randn(3000, 3, generator=draw)
    model = nn.Sequential(*(nn.Linear(12, 12) for _ in range(4)), nn.Linear(12, 3))
    for value in model.parameters():
        nn.init.normal_(value, std=0.08)

    def loss(places: torch.Tensor) -> torch.Tensor:
        return (model(inputs[places]) - targets[places]).square().mean()

    held = torch.arange(2400, 3000)
    return training(model, 2400, lambda batch: loss(torch.tensor(batch)), lambda: loss(held))


class _Memory(nn.Module):
    """A GRU that tells the first of fourteen symbols after it has read all."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(8, 16), nn.Linear(40, 8)
        self.core = nn.GRU(16, 40, batch_first=True)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        return self.head(self.core(self.embed(codes))[0][:, -1])


def memory() -> Training:
    """Return the training of a GRU on the first of fourteen symbols."""
    codes = torch.randint(0, 8, (4000, 14), generator=torch.Generator().manual_seed(14))
    model = _Memory()

    def loss(places: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(codes[places]), codes[places, 0])

    held = torch.arange(3500, 4000)
    return training(model, 3500, lambda batch: loss(torch.tensor(batch)), lambda: loss(held))


NEVER = {
    "attention": Setting(TOO_HIGH["attention, no warm-up"].make, 0.032, "AdamW"),
    "attention, no warm-up": Setting(
        TOO_HIGH["attention, no warm-up"].make, 0.032, "AdamW", warmup_steps=0
    ),
    "plain convolutions": Setting(TOO_HIGH["plain convolutions"].make, 0.32),
    "large weights": Setting(TOO_HIGH["large weights"].make, 0.32),
    "convolutions, AdamW": Setting(
        lambda: classifier(_small_convolutions(), (1, 8, 8)), 0.1, "AdamW"
    ),
    "patches": Setting(patch_transformer, 0.1, "AdamW"),
    "autoencoder": Setting(autoencoder, 0.3, "AdamW"),
    "deep MLP": Setting(deep_mlp, 1.0),
}
LATER = {
    "factors": Setting(factors, 0.1),
    "attention without normalization": Setting(
        lambda: classifier(_Unnormalized(), (8, 8)), 1e-3, "AdamW"
    ),
    "sigmoid": Setting(lambda: classifier(_sigmoid(), (64,)), 0.3),
    "bits": Setting(bits, 0.1),
    "products": Setting(products, 0.03),
    "memory": Setting(memory, 3e-3, "AdamW"),
}  # fmt: skip
