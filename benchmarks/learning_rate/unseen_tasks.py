"""Nine small trainings that no choice of the tuner was made on, sized for one core.

These trainings decide nothing: the tuner is developed on `benchmarks.learning_rate.tasks` and on
made-up losses, and is measured here afterwards.  Intervals span three or four decades, as a user
who knows the optimizer would give them.  Their middle is sometimes a good rate and sometimes not.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from sklearn.datasets import make_friedman1, make_moons
from torch import nn

from benchmarks.learning_rate.tasks import (
    MASK,
    Task,
    Training,
    classifier,
    digits,
    language_model,
    perceptron,
    text,
    training,
)

PLACES = (1 / 2, 1 / 4, 3 / 4, 3 / 8, 5 / 8)  # of the grid, in the logarithm of the interval


def _task(
    make: Callable[[], Training], batch: int, optimizer: str, low: float, high: float
) -> Task:
    rates = tuple(low * (high / low) ** place for place in PLACES)
    return Task(make, batch, optimizer, rates, (low, high))


def matrix_factorization() -> Training:
    """Return the training of two factors of rank 6 on noisy entries of a 96 x 80 matrix."""
    draw = torch.Generator().manual_seed(0)
    rows, columns, rank = 96, 80, 6
    truth = torch.randn(rows, rank, generator=draw) @ torch.randn(rank, columns, generator=draw)
    noisy = truth / math.sqrt(rank) + 0.3 * torch.randn(rows, columns, generator=draw)
    places = torch.randperm(rows * columns, generator=draw)
    known, held = places[:5000], places[5000:]
    model = nn.ModuleList([nn.Embedding(rows, rank), nn.Embedding(columns, rank)])
    for factor in model:
        assert isinstance(factor, nn.Embedding)
        nn.init.normal_(factor.weight, std=0.01)

    def error(entries: torch.Tensor) -> torch.Tensor:
        row, column = entries // columns, entries % columns
        return ((model[0](row) * model[1](column)).sum(1) - noisy[row, column]).square().mean()

    return training(model, len(known), lambda batch: error(known[batch]), lambda: error(held))


def parity() -> Training:
    """Return the training of a perceptron on the parity of three of twelve bits: a plateau."""
    draw = torch.Generator().manual_seed(0)
    bits = torch.randint(0, 2, (4096, 12), generator=draw).float() * 2 - 1
    labels = (bits[:, 1] * bits[:, 4] * bits[:, 9] > 0).long()
    model = perceptron(12, 96, 2)

    def loss(places: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(bits[places]), labels[places])

    known, held = torch.arange(3072), torch.arange(3072, 4096)
    return training(model, len(known), lambda batch: loss(known[batch]), lambda: loss(held))


def normalized_cnn() -> Training:
    """Return the training of three convolutions with batch normalization on 8 x 8 digits."""
    layers: list[nn.Module] = []
    for before, after in ((1, 12), (12, 12), (12, 24)):
        layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    layers += [nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 10)]
    return classifier(nn.Sequential(*layers), (1, 8, 8))


def regression() -> Training:
    """Return the training of a perceptron on Friedman's first function, with noise."""
    inputs, targets = make_friedman1(3000, n_features=10, noise=1.0, random_state=0)
    inputs = torch.tensor(inputs, dtype=torch.float32)
    targets = torch.tensor((targets - targets.mean()) / targets.std(), dtype=torch.float32)
    model = perceptron(10, 64, 64, 1)

    def loss(places: torch.Tensor) -> torch.Tensor:
        return (model(inputs[places])[:, 0] - targets[places]).square().mean()

    known, held = torch.arange(2400), torch.arange(2400, 3000)
    return training(model, len(known), lambda batch: loss(known[batch]), lambda: loss(held))


def contrastive() -> Training:
    """Return the training of an encoder by InfoNCE between two shifted, noisy views of digits."""
    known, _, held, _ = digits()
    model = perceptron(64, 96, 32)

    def loss(images: torch.Tensor, draw: torch.Generator | None) -> torch.Tensor:
        views = []
        for _ in range(2):
            sides = torch.randint(-1, 2, (2,), generator=draw).tolist()
            moved = images.reshape(-1, 8, 8).roll(sides, (1, 2)).flatten(1)
            noise = 0.2 * torch.randn(moved.shape, generator=draw)
            views.append(nn.functional.normalize(model(moved + noise), dim=1))
        return nn.functional.cross_entropy(views[0] @ views[1].T / 0.2, torch.arange(len(images)))

    def validate() -> torch.Tensor:
        draw = torch.Generator().manual_seed(1)
        parts = [loss(part, draw) for part in held[:576].split(64)]
        return torch.stack(parts).mean()

    return training(model, len(known), lambda batch: loss(known[batch], None), validate)


class _Translator(nn.Module):
    """Two GRUs; the second one starts from the last state of the first."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words + 1, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        _, state = self.encoder(self.source(source))
        hidden, _ = self.decoder(self.target(target), state)
        return self.head(hidden)


def sequence_to_sequence() -> Training:
    """Return the training of an encoder and a decoder that reverse five of eight words."""
    words, draw = 8, torch.Generator().manual_seed(0)
    source = torch.randint(0, words, (6000, 5), generator=draw)
    target = source.flip(1)
    given = torch.cat([torch.full((6000, 1), words), target[:, :-1]], 1)
    model = _Translator(words, 48)

    def loss(places: torch.Tensor) -> torch.Tensor:
        scores = model(source[places], given[places])
        return nn.functional.cross_entropy(scores.flatten(0, 1), target[places].flatten())

    known, held = torch.arange(5400), torch.arange(5400, 6000)
    return training(model, len(known), lambda batch: loss(known[batch]), lambda: loss(held))


@cache
def _pretrained() -> dict[str, torch.Tensor]:
    """Return the weights of the masked language model after 400 steps on half of the text."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        general = language_model(masked=True)
        optimizer = torch.optim.AdamW(general.model.parameters(), lr=3e-3)
        half = general.size // 2
        for _ in range(400):
            loss = general.loss(torch.randint(0, half, (16,)).tolist())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return {name: value.clone() for name, value in general.model.state_dict().items()}


def fine_tuning() -> Training:
    """Return the training of a pretrained masked language model on text spelled backwards."""
    weights = _pretrained()
    model = language_model(masked=True).model
    model.load_state_dict(weights)
    windows, held = text()

    def loss(codes: torch.Tensor, draw: torch.Generator | None) -> torch.Tensor:
        targets = codes[:, 1:].flip(1)
        chosen = torch.rand(targets.shape, generator=draw) < 0.2
        scores = model(targets.masked_fill(chosen, MASK))
        return nn.functional.cross_entropy(scores[chosen], targets[chosen])

    half = len(windows) // 2
    return training(
        model,
        half,
        lambda batch: loss(windows[half:][batch], None),
        lambda: loss(held, torch.Generator().manual_seed(1)),
    )


def diffusion() -> Training:
    """Return the training of a perceptron that predicts the noise added to two moons."""
    points = np.asarray(make_moons(4000, noise=0.05, random_state=0)[0])
    data = torch.tensor((points - points.mean(0)) / points.std(0), dtype=torch.float32)
    model = perceptron(2 + 8, 96, 96, 2)
    waves = 2.0 ** torch.arange(4) * math.pi

    def loss(clean: torch.Tensor, draw: torch.Generator | None) -> torch.Tensor:
        time = torch.rand(len(clean), 1, generator=draw)
        noise = torch.randn(clean.shape, generator=draw)
        noisy = torch.cos(time * math.pi / 2) * clean + torch.sin(time * math.pi / 2) * noise
        moment = torch.cat([torch.sin(time * waves), torch.cos(time * waves)], 1)
        return (model(torch.cat([noisy, moment], 1)) - noise).square().mean()

    def validate() -> torch.Tensor:
        return loss(data[3000:].repeat(4, 1), torch.Generator().manual_seed(1))

    return training(model, 3000, lambda batch: loss(data[:3000][batch], None), validate)


class _PlainTransformer(nn.Module):
    """Two layers of attention with normalization behind each, on patches of 2 x 2 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(4, 32)
        self.place = nn.Parameter(torch.randn(16, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True, norm_first=False)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        patches = images.reshape(-1, 4, 2, 4, 2).permute(0, 1, 3, 2, 4).reshape(-1, 16, 4)
        return self.head(self.layers(self.embed(patches) + self.place).mean(1))


def patch_transformer() -> Training:
    """Return the training of a transformer with late normalization on patches of digits."""
    return classifier(_PlainTransformer(), (8, 8))


UNSEEN = {
    "matrix factorization": _task(matrix_factorization, 64, "AdamW", 1e-4, 1e-1),
    "parity": _task(parity, 64, "AdamW", 1e-4, 1e-1),
    "CNN + BatchNorm": _task(normalized_cnn, 32, "SGD", 1e-3, 10.0),
    "regression": _task(regression, 32, "SGD", 1e-3, 1.0),
    "contrastive": _task(contrastive, 64, "AdamW", 1e-5, 1e-1),
    "seq2seq": _task(sequence_to_sequence, 32, "AdamW", 1e-4, 1.0),
    "masked LM, fine-tuned": _task(fine_tuning, 16, "AdamW", 1e-5, 1e-1),
    "diffusion": _task(diffusion, 64, "AdamW", 1e-5, 1e-1),
    "patch transformer": _task(patch_transformer, 32, "AdamW", 1e-5, 1e-1),
}
