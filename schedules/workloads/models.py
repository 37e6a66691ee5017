"""Public model architectures as data: the sizes of all parameter tensors, in order of use.

Every model lists its parts from input to output.  A part is computed, and gathered or reduced,
as a unit: an embedding, a layer, a head.  Counts follow from the dimensions that the sources
state; no count is measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One part of a model; ``tensors`` are the elements of each parameter tensor.

    ``expert`` tensors are those of the experts of a mixture, which expert parallelism
    does not replicate.  ``layer`` marks repeated layers, ``lookup`` tables of which a sample reads
    rows without a multiplication.
    """

    tensors: tuple[int, ...]
    expert: tuple[int, ...] = ()
    layer: bool = False
    lookup: bool = False

    @property
    def parameters(self) -> int:
        """Elements of all tensors."""
        return sum(self.tensors) + sum(self.expert)


@dataclass(frozen=True, slots=True)
class Model:
    """A model: its parts in order, its width, and the source of its dimensions.

    ``attention`` is the mean width of the products of queries with keys and of weights with values,
    over all heads; 0 without attention.  ``keys_values`` are the elements of keys and values that
    a token keeps.  ``experts`` counts the experts of a layer, ``experts_per_token`` those that a
    token visits.
    """

    name: str
    parts: tuple[ModelPart, ...]
    hidden: int
    source: str
    experts_per_token: int = 0
    experts: int = 0
    attention: int = 0
    keys_values: int = 0

    @property
    def parameters(self) -> int:
        """Elements of all tensors of all parts.

        >>> MODELS["gpt2-xl"].parameters, MODELS["resnet50"].parameters
        (1557611200, 25557032)
        """
        return sum(part.parameters for part in self.parts)


def _resnet50() -> Model:
    """Build 16 bottleneck blocks in four stages; every convolution has a normalization."""

    def convolution(inputs: int, outputs: int, width: int) -> list[int]:
        return [inputs * outputs * width * width, outputs, outputs]

    parts = [ModelPart(tuple(convolution(3, 64, 7)))]
    inputs = 64
    for blocks, width in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for block in range(blocks):
            tensors = convolution(inputs, width, 1) + convolution(width, width, 3)
            tensors += convolution(width, 4 * width, 1)
            if block == 0:
                tensors += convolution(inputs, 4 * width, 1)
            parts.append(ModelPart(tuple(tensors), layer=True))
            inputs = 4 * width
    parts.append(ModelPart((2048 * 1000, 1000)))
    return Model("resnet50", tuple(parts), 2048, "arXiv:1512.03385, table 1")


def _bert(name: str, layers: int, h: int) -> Model:
    """Build an encoder with pooler, without the heads of pre-training."""
    attention = (h * h, h) * 4 + (h, h)
    layer = (*attention, 4 * h * h, 4 * h, 4 * h * h, h, h, h)
    parts = [
        ModelPart((30522 * h, 512 * h, 2 * h, h, h), lookup=True),
        *[ModelPart(layer, layer=True)] * layers,
        ModelPart((h * h, h)),
    ]
    source = "arXiv:1810.04805, section 3; vocabulary of 30522"
    return Model(name, tuple(parts), h, source, attention=h, keys_values=2 * h)


def _gpt2(name: str, layers: int, h: int) -> Model:
    """Build a decoder whose head is its embedding."""
    layer = (h, h, 3 * h * h, 3 * h, h * h, h, h, h, 4 * h * h, 4 * h, 4 * h * h, h)
    parts = [
        ModelPart((50257 * h, 1024 * h), lookup=True),
        *[ModelPart(layer, layer=True)] * layers,
        ModelPart((h, h)),
    ]
    source = "Radford et al., Language models are unsupervised multitask learners, 2019, table 2"
    return Model(name, tuple(parts), h, source, attention=h, keys_values=2 * h)


def _llama(
    name: str, layers: int, h: int, width: int, vocabulary: int, shared: int, source: str
) -> Model:
    """Build a decoder with gated layers; ``shared`` heads use one key and one value."""
    attention = (h, h * h, h * h // shared, h * h // shared, h * h, h)
    layer = (*attention, h * width, h * width, h * width)
    parts = [
        ModelPart((vocabulary * h,), lookup=True),
        *[ModelPart(layer, layer=True)] * layers,
        ModelPart((h, vocabulary * h)),
    ]
    return Model(name, tuple(parts), h, source, attention=h, keys_values=2 * h // shared)


def _mixtral(name: str, layers: int, h: int, width: int, experts: int) -> Model:
    """Build a decoder whose layers choose two of their experts for every token."""
    attention = (h, h * h, h * h // 4, h * h // 4, h * h, h, h * experts)
    expert = (h * width, h * width, h * width) * experts
    parts = [
        ModelPart((32000 * h,), lookup=True),
        *[ModelPart(attention, expert, layer=True)] * layers,
        ModelPart((h, 32000 * h)),
    ]
    return Model(
        *(name, tuple(parts), h, "arXiv:2401.04088, table 1"),
        experts_per_token=2,
        experts=experts,
        attention=h,
        keys_values=h // 2,
    )


def _deepseek_v3() -> Model:
    """Build a decoder with latent attention; all layers but the first 3 have 256 experts and 1.

    The module that predicts a second token is left out.
    """
    h, heads, query, latent, rope = 7168, 128, 1536, 512, 64
    attention = (
        *(h, h * query, query, query * heads * (128 + rope)),
        *(h * (latent + rope), latent, latent * heads * (128 + 128), heads * 128 * h, h),
    )
    dense = (h * 18432,) * 3
    expert = (h * 2048,) * 3
    parts = [
        ModelPart((129280 * h,), lookup=True),
        *[ModelPart((*attention, *dense), layer=True)] * 3,
        *[ModelPart((*attention, h * 256, *expert), expert * 256, layer=True)] * 58,
        ModelPart((h, 129280 * h)),
    ]
    return Model(
        *("deepseek-v3", tuple(parts), h, "arXiv:2412.19437, section 4.2"),
        experts_per_token=8,
        experts=256,
        attention=heads * (128 + rope + 128) // 2,
        keys_values=latent + rope,
    )


def _vit(name: str, layers: int, h: int, width: int, source: str) -> Model:
    """Build an image encoder with patches of 14 x 14 pixels, without its head."""
    layer = (h, 3 * h * h, h * h, h * width, width * h, h)
    parts = [ModelPart((14 * 14 * 3 * h, h)), *[ModelPart(layer, layer=True)] * layers]
    return Model(name, tuple(parts), h, source, attention=h, keys_values=2 * h)


DLRM_ROWS = (
    *(40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956, 405282, 10),
    *(2209, 11938, 155, 4, 976, 14, 40000000, 40000000, 40000000, 590152, 12973, 108, 36),
)
"""Rows of the embedding tables of the MLPerf recommendation benchmark."""

DLRM_LOOKUPS = (
    3 + 2 + 1 + 2 + 6 + 1 * 4 + 7 + 3 + 8 + 1 + 6 + 9 + 5 + 1 * 3 + 12 + 100 + 27 + 10 + 3 + 1 * 2
)
"""Rows that one record reads, over all tables."""


def _dlrm() -> Model:
    """Build a recommendation model: dense features, 26 tables, 3 cross layers, a classifier."""

    def dense(*widths: int) -> tuple[int, ...]:
        return tuple(n for a, b in pairwise(widths) for n in (a * b, b))

    joined = 27 * 128
    parts = (
        ModelPart(dense(13, 512, 256, 128), layer=True),
        ModelPart((), tuple(rows * 128 for rows in DLRM_ROWS), layer=True, lookup=True),
        ModelPart((joined * 512, 512 * joined, joined) * 3, layer=True),
        ModelPart(dense(joined, 1024, 1024, 512, 256, 1), layer=True),
    )
    source = "MLPerf Training, recommendation_v2 (torchrec_dlrm), README"
    return Model("dlrm-dcnv2", parts, 128, source, experts_per_token=len(DLRM_ROWS))


def _all() -> Iterator[Model]:
    yield _resnet50()
    yield _bert("bert-large", 24, 1024)
    yield _gpt2("gpt2-small", 12, 768)
    yield _gpt2("gpt2-medium", 24, 1024)
    yield _gpt2("gpt2-large", 36, 1280)
    yield _gpt2("gpt2-xl", 48, 1600)
    yield _llama("llama2-7b", 32, 4096, 11008, 32000, 1, "arXiv:2307.09288, section 2.2")
    yield _llama("llama3-8b", 32, 4096, 14336, 128256, 4, "arXiv:2407.21783, table 3")
    yield _llama("llama3-70b", 80, 8192, 28672, 128256, 8, "arXiv:2407.21783, table 3")
    yield _llama("llama3-405b", 126, 16384, 53248, 128256, 16, "arXiv:2407.21783, table 3")
    yield _mixtral("mixtral-8x7b", 32, 4096, 14336, 8)
    yield _deepseek_v3()
    yield _vit("vit-22b", 48, 6144, 24576, "arXiv:2302.05442, table 1")
    yield _dlrm()


MODELS = {model.name: model for model in _all()}
"""The models, by name."""
