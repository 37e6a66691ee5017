"""Public model architectures as data: the sizes of all parameter tensors, in order of use.

Every model lists its parts from input to output.  A part is computed, and gathered or reduced,
as a unit: an embedding, a layer, a head.  Counts follow from the dimensions that the sources
state; no count is measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelPart:
    """One part of a model; ``tensors`` are the elements of each parameter tensor.

    ``expert`` tensors are those of the experts of a mixture, which expert parallelism
    does not replicate.  ``layer`` marks repeated layers.
    """

    tensors: tuple[int, ...]
    expert: tuple[int, ...] = ()
    layer: bool = False

    @property
    def parameters(self) -> int:
        """Elements of all tensors."""
        return sum(self.tensors) + sum(self.expert)


@dataclass(frozen=True, slots=True)
class Model:
    """A model: its parts in order, its width, and the source of its dimensions."""

    name: str
    parts: tuple[ModelPart, ...]
    hidden: int
    source: str
    experts_per_token: int = 0

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
        ModelPart((30522 * h, 512 * h, 2 * h, h, h)),
        *[ModelPart(layer, layer=True)] * layers,
        ModelPart((h * h, h)),
    ]
    return Model(name, tuple(parts), h, "arXiv:1810.04805, section 3; vocabulary of 30522")


def _gpt2(name: str, layers: int, h: int) -> Model:
    """Build a decoder whose head is its embedding."""
    layer = (h, h, 3 * h * h, 3 * h, h * h, h, h, h, 4 * h * h, 4 * h, 4 * h * h, h)
    parts = [
        ModelPart((50257 * h, 1024 * h)),
        *[ModelPart(layer, layer=True)] * layers,
        ModelPart((h, h)),
    ]
    source = "Radford et al., Language models are unsupervised multitask learners, 2019, table 2"
    return Model(name, tuple(parts), h, source)


def _llama(
    name: str, layers: int, h: int, width: int, vocabulary: int, shared: int, source: str
) -> Model:
    """Build a decoder with gated layers; ``shared`` heads use one key and one value."""
    attention = (h, h * h, h * h // shared, h * h // shared, h * h, h)
    layer = (*attention, h * width, h * width, h * width)
    parts = [
        ModelPart((vocabulary * h,)),
        *[ModelPart(layer, layer=True)] * layers,
        ModelPart((h, vocabulary * h)),
    ]
    return Model(name, tuple(parts), h, source)


def _mixtral(name: str, layers: int, h: int, width: int, experts: int) -> Model:
    """Build a decoder whose layers choose two of their experts for every token."""
    attention = (h, h * h, h * h // 4, h * h // 4, h * h, h, h * experts)
    expert = (h * width, h * width, h * width) * experts
    parts = [
        ModelPart((32000 * h,)),
        *[ModelPart(attention, expert, layer=True)] * layers,
        ModelPart((h, 32000 * h)),
    ]
    return Model(name, tuple(parts), h, "arXiv:2401.04088, table 1", experts_per_token=2)


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
    yield _mixtral("mixtral-8x7b", 32, 4096, 14336, 8)


MODELS = {model.name: model for model in _all()}
"""The models, by name."""
