"""Training steps of known models, by name."""

from collections.abc import Iterator
from dataclasses import dataclass

from topoloom.schedules.errors import UnknownPreset
from topoloom.schedules.workloads.models import MODELS, Model
from topoloom.schedules.workloads.parallelism import data_parallel, experts, sharded
from topoloom.schedules.workloads.tasks import Task, Workload
from topoloom.synth.naming.suggestions import one_of

ELEMENT_BYTES = {"float32": 4, "bfloat16": 2}
TOKENS = 4096
"""Tokens per rank in expert parallelism: one sequence of this length."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One training step: a model, its parallelism, and the type of the elements."""

    name: str
    model: Model
    parallelism: str
    dtype: str

    @property
    def title(self) -> str:
        """The description, in one line.

        >>> PRESETS["gpt2-xl-ddp"].title
        'gpt2-xl, 1,557,611,200 parameters, data parallel, gradients in float32'
        """
        spread = {
            "ddp": f"data parallel, gradients in {self.dtype}",
            "fsdp": f"fully sharded, parameters and gradients in {self.dtype}",
            "ep": f"expert parallel, {TOKENS} tokens a rank, in {self.dtype}",
        }[self.parallelism]
        return f"{self.model.name}, {self.model.parameters:,} parameters, {spread}"

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The collectives of one training step.

        >>> [(str(t.collective), t.size_bytes, t.count) for t in PRESETS["llama3-8b-fsdp"].tasks][1]
        ('allgather', 436224000, 64)
        """
        size = ELEMENT_BYTES[self.dtype]
        if self.parallelism == "ddp":
            return data_parallel(self.model, size)
        if self.parallelism == "fsdp":
            return sharded(self.model, size)
        return experts(self.model, size, TOKENS)

    @property
    def workload(self) -> Workload:
        """The tasks under the name and the title of the preset."""
        return Workload(self.tasks, self.name, self.title)


def preset(name: str) -> Preset:
    """Return the preset with a name.

    >>> preset("gpt7")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.UnknownPreset: /preset: must be one of resnet50-ddp, ...
    """
    if name not in PRESETS:
        raise UnknownPreset("/preset", one_of(name, PRESETS))
    return PRESETS[name]


def _all() -> Iterator[Preset]:
    for name in ("resnet50", "bert-large", "gpt2-small", "gpt2-medium", "gpt2-large", "gpt2-xl"):
        yield Preset(f"{name}-ddp", MODELS[name], "ddp", "float32")
    for name in ("llama2-7b", "llama3-8b", "llama3-70b"):
        yield Preset(f"{name}-ddp", MODELS[name], "ddp", "bfloat16")
        yield Preset(f"{name}-fsdp", MODELS[name], "fsdp", "bfloat16")
    yield Preset("mixtral-8x7b-ep", MODELS["mixtral-8x7b"], "ep", "bfloat16")


PRESETS = {one.name: one for one in _all()}
"""The presets, by name."""
