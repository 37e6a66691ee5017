"""Ten small trainings of other kinds: other losses, other optimizers, data of the seed.

They were frozen before their first run.  Each has the rate that a user would give its optimizer.
Rules for far too high, far too low and raised rates were since chosen on three of them, *noisy
labels*, *stripes* and *copying*; the others decide nothing.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.nn import functional

from benchmarks.learning_rate.tasks import Training, digits, perceptron, training

Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Further:
    """Constructor of a training from a seed, its usual rate, and how it is trained."""

    make: Callable[[int], Training]
    rate: float
    optimizer: Callable[[Iterable[nn.Parameter], float], Any]
    batch_size: int = 32


def _draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _trained_on(
    model: nn.Module, loss: Callable[..., torch.Tensor], data: Tensors, held: Tensors
) -> Training:
    """Return a training of tensors; the random numbers of a validation are always the same."""

    def validate() -> torch.Tensor:
        with torch.random.fork_rng():
            torch.manual_seed(5)
            return loss(*held)

    def of(batch: list[int]) -> torch.Tensor:
        return loss(*(tensor[batch] for tensor in data))

    return training(model, len(data[0]), of, validate)


def _cross_entropy(model: nn.Module) -> Callable[..., torch.Tensor]:
    return lambda inputs, labels: functional.cross_entropy(model(inputs), labels)


def _split(known: int, *tensors: torch.Tensor) -> tuple[Tensors, Tensors]:
    return tuple(one[:known] for one in tensors), tuple(one[known:] for one in tensors)


class _Experts(nn.Module):
    """Two of six experts for each input, with a balancing loss."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 6)
        self.into = nn.Parameter(torch.randn(6, 16, 32) / 4)
        self.out = nn.Parameter(torch.randn(6, 32, 4) / math.sqrt(32))

    def forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shares = self.gate(inputs).softmax(-1)
        weights, chosen = shares.topk(2, -1)
        hidden = torch.einsum("bd,edh->beh", inputs, self.into).relu()
        outputs = torch.einsum("beh,eho->beo", hidden, self.out)
        outputs = outputs.gather(1, chosen[..., None].expand(-1, -1, 4))
        first = functional.one_hot(chosen[:, 0], 6).float().mean(0)
        return (weights[..., None] * outputs).sum(1), 6 * (shares.mean(0) * first).sum()


def experts(seed: int) -> Training:
    """Return the training of a mixture of experts on a regression in five regions."""
    draw, model = _draw(seed), _Experts()
    inputs = torch.randn(4608, 16, generator=draw)
    maps = torch.randn(5, 16, 4, generator=draw)
    targets = torch.einsum("bd,bdo->bo", inputs, maps[inputs[:, :5].argmax(1)]).tanh()

    def loss(values: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        outputs, balance = model(values)
        return functional.mse_loss(outputs, wanted) + 0.01 * balance

    return _trained_on(model, loss, *_split(4096, inputs, targets))


def variational_digits(_: int) -> Training:
    """Return the training of a variational autoencoder of digits."""
    encoder = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 16))
    decoder = nn.Sequential(nn.Linear(8, 96), nn.ReLU(), nn.Linear(96, 64))

    def loss(images: torch.Tensor) -> torch.Tensor:
        mean, logarithm = encoder(images).chunk(2, -1)
        code = mean + torch.randn_like(mean) * (0.5 * logarithm).exp()
        wrong = functional.binary_cross_entropy_with_logits(decoder(code), images, reduction="none")
        divergence = 0.5 * (mean**2 + logarithm.exp() - 1 - logarithm)
        return (wrong.sum(1) + divergence.sum(1)).mean()

    images, _labels, held, _held_labels = digits()
    return _trained_on(nn.ModuleList([encoder, decoder]), loss, (images,), (held,))


def copying(seed: int) -> Training:
    """Return the training of a GRU that repeats five symbols after six blanks."""
    symbols = torch.randint(0, 8, (8192, 5), generator=_draw(seed))
    blanks = torch.full((8192, 6), 8), torch.full((8192, 5), 9)
    embed, cells, head = nn.Embedding(10, 24), nn.GRU(24, 64, batch_first=True), nn.Linear(64, 8)

    def loss(inputs: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        outputs = head(cells(embed(inputs))[0][:, -5:])
        return functional.cross_entropy(outputs.flatten(0, 1), wanted.flatten())

    data = _split(7680, torch.cat([symbols, *blanks], 1), symbols)
    return _trained_on(nn.ModuleList([embed, cells, head]), loss, *data)


def energy(seed: int) -> Training:
    """Return the training of an energy of two moons, by contrast with Gaussian noise."""
    points = torch.tensor(make_moons(4608, noise=0.08, random_state=seed)[0], dtype=torch.float32)
    points = (points - points.mean(0)) / points.std(0)
    model = perceptron(2, 64, 64, 1, activation=nn.SiLU)

    def log_ratio(values: torch.Tensor) -> torch.Tensor:
        noise = -0.5 * (values / 1.5).square().sum(1) - math.log(2 * math.pi * 1.5**2)
        return -model(values)[:, 0] - noise

    def loss(values: torch.Tensor) -> torch.Tensor:
        noise = 1.5 * torch.randn_like(values)
        softplus = functional.softplus
        return softplus(-log_ratio(values)).mean() + softplus(log_ratio(noise)).mean()

    return _trained_on(model, loss, *_split(4096, points))


def noisy_labels(seed: int) -> Training:
    """Return the training of a perceptron on digits; three tenths of the labels are random."""
    draw = _draw(seed)
    images, labels, held, held_labels = digits()
    drawn = torch.randint(0, 10, labels.shape, generator=draw)
    labels = torch.where(torch.rand(len(labels), generator=draw) < 0.3, drawn, labels)
    model = perceptron(64, 128, 128, 10)

    return _trained_on(model, _cross_entropy(model), (images, labels), (held, held_labels))


def imbalanced(seed: int) -> Training:
    """Return the training of a classifier of which two in a hundred examples are positive."""
    draw = _draw(seed)
    inputs, weights = torch.randn(12288, 20, generator=draw), torch.randn(20, generator=draw)
    scores = inputs @ weights / weights.norm() + 0.7 * inputs[:, 0] * inputs[:, 1]
    scores += 0.3 * torch.randn(12288, generator=draw)
    model = perceptron(20, 64, 64, 1)

    def loss(values: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return functional.binary_cross_entropy_with_logits(model(values)[:, 0], wanted)

    return _trained_on(model, loss, *_split(8192, inputs, (scores > scores.quantile(0.98)).float()))


def quantiles(seed: int) -> Training:
    """Return the training of three quantiles of a noise that depends on the inputs."""
    draw = _draw(seed)
    inputs = 4 * torch.rand(6144, 6, generator=draw) - 2
    targets = torch.sin(2 * inputs[:, 0]) + inputs[:, 1] * inputs[:, 2]
    targets += (0.2 + inputs[:, 3].abs()) * torch.randn(6144, generator=draw)
    model, levels = perceptron(6, 64, 64, 3, activation=nn.Tanh), torch.tensor([0.1, 0.5, 0.9])

    def loss(values: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        errors = wanted[:, None] - model(values)
        return torch.maximum(levels * errors, (levels - 1) * errors).mean()

    return _trained_on(model, loss, *_split(5120, inputs, targets))


def stripes(seed: int) -> Training:
    """Return the training of two convolutions on the direction of noisy stripes."""
    draw, count = _draw(seed), 2560
    labels = torch.randint(0, 8, (count,), generator=draw)
    angles = labels * math.pi / 8 + 0.1 * torch.randn(count, generator=draw)
    phases = 2 * math.pi * torch.rand(count, generator=draw)
    widths = 0.7 + 0.6 * torch.rand(count, generator=draw)
    rows, columns = torch.meshgrid(torch.arange(14.0), torch.arange(14.0), indexing="ij")
    places = rows * angles.cos()[:, None, None] + columns * angles.sin()[:, None, None]
    images = torch.sin(widths[:, None, None] * places + phases[:, None, None])
    images = (images + torch.randn(count, 14, 14, generator=draw))[:, None]
    model = nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(216, 8),
    )  # fmt: skip

    return _trained_on(model, _cross_entropy(model), *_split(2048, images, labels))


def topics(seed: int) -> Training:
    """Return the training of a bag of embeddings on the topics of texts of thirty words."""
    draw = _draw(seed)
    words = (1.3 * torch.randn(10, 500, generator=draw)).softmax(-1)
    labels = torch.randint(0, 10, (5120,), generator=draw)
    mixed = 0.5 * words[labels] + 0.5 * words.mean(0)
    texts = torch.multinomial(mixed, 30, replacement=True, generator=draw)
    model = nn.Sequential(nn.EmbeddingBag(500, 32, mode="mean"), nn.Linear(32, 10))

    return _trained_on(model, _cross_entropy(model), *_split(4096, texts, labels))


class _Adapted(nn.Module):
    """A linear layer that is fixed, and a product of rank 4 that is trained."""

    def __init__(self, fixed: nn.Linear) -> None:
        super().__init__()
        self.fixed, width = fixed.requires_grad_(False), fixed.in_features
        self.into = nn.Parameter(torch.randn(4, width) / math.sqrt(width))
        self.out = nn.Parameter(torch.zeros(fixed.out_features, 4))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return self.fixed(values) + 2 * values @ self.into.T @ self.out.T


def _block() -> nn.ModuleDict:
    norms = {name: nn.LayerNorm(48) for name in ("before", "between")}
    linear = {"qkv": (48, 144), "out": (48, 48), "up": (48, 96), "down": (96, 48)}
    return nn.ModuleDict(norms | {name: nn.Linear(*shape) for name, shape in linear.items()})


class _Decoder(nn.Module):
    """A transformer of two blocks on texts of sixteen symbols."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.place = nn.Embedding(16, 48), nn.Parameter(0.1 * torch.randn(24, 48))
        self.blocks = nn.ModuleList(_block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(48), nn.Linear(48, 16)

    def loss(self, texts: torch.Tensor) -> torch.Tensor:
        hidden = self.embed(texts[:, :-1]) + self.place
        for block in self.blocks:
            assert isinstance(block, nn.ModuleDict)
            mixed = block["qkv"](block["before"](hidden)).unflatten(-1, (3, 4, 12))
            heads = mixed.permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(*heads, is_causal=True)
            hidden = hidden + block["out"](seen.transpose(1, 2).flatten(2))
            wide = functional.gelu(block["up"](block["between"](hidden)))
            hidden = hidden + block["down"](wide)
        outputs = self.head(self.norm(hidden)).flatten(0, 1)
        return functional.cross_entropy(outputs, texts[:, 1:].flatten())


def _texts(seed: int, count: int, language: int) -> torch.Tensor:
    """Return texts of 25 symbols; each depends on the two before, as the language says."""
    draw = _draw(seed)
    odds = (2 * torch.randn(16, 16, 16, generator=_draw(language))).softmax(-1)
    texts = torch.randint(0, 16, (count, 25), generator=draw)
    for place in range(2, 25):
        chances = odds[texts[:, place - 2], texts[:, place - 1]]
        texts[:, place] = torch.multinomial(chances, 1, generator=draw)[:, 0]
    return texts


def adapters(seed: int) -> Training:
    """Return the training of low-rank adapters of a transformer that knows another language."""
    model, known = _Decoder(), _texts(seed, 8192, 11)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(500):
        optimizer.zero_grad()
        model.loss(known[torch.randint(0, 8192, (32,))]).backward()
        optimizer.step()
    model.requires_grad_(False)
    for block in model.blocks:
        assert isinstance(block, nn.ModuleDict)
        for name, layer in list(block.items()):
            if isinstance(layer, nn.Linear):
                block[name] = _Adapted(layer)
    return _trained_on(model, model.loss, *_split(4096, _texts(seed + 50, 4608, 12)))


_SGD = partial(torch.optim.SGD, momentum=0.9)
FURTHER = {
    "experts": Further(experts, 3e-3, torch.optim.AdamW),
    "variational digits": Further(variational_digits, 1e-3, torch.optim.Adam),
    "copying": Further(copying, 3e-3, torch.optim.Adam),
    "energy": Further(energy, 1e-3, torch.optim.RMSprop, 64),
    "noisy labels": Further(noisy_labels, 0.05, partial(_SGD, nesterov=True)),
    "imbalanced": Further(imbalanced, 1e-3, torch.optim.Adam, 64),
    "adapters": Further(adapters, 2e-3, torch.optim.AdamW),
    "quantiles": Further(quantiles, 2e-3, torch.optim.NAdam),
    "stripes": Further(stripes, 0.02, partial(_SGD, weight_decay=5e-4)),
    "topics": Further(topics, 0.05, torch.optim.Adagrad),
}
