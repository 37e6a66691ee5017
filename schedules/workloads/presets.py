"""Training steps of known models by name, and their collectives by parallelism."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from topoloom.schedules.errors import UnknownPreset
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.models import MODELS, Model
from topoloom.schedules.workloads.tasks import Task, Workload, merge_tasks
from topoloom.synth.naming.suggestions import one_of

BUCKET_BYTES = 25 * 2**20
FIRST_BUCKET_BYTES = 2**20


def data_parallel(model: Model, element_bytes: int) -> tuple[Task, ...]:
    """Return the allreduces of gradients in buckets, as DistributedDataParallel does.

    References:
        Li et al., "PyTorch Distributed", arXiv:2006.15704, section 3.2.3.

    >>> from topoloom.schedules.workloads.models import MODELS
    >>> sum(t.size_bytes * t.count for t in data_parallel(MODELS["resnet50"], 4)) // 4
    25557032
    """
    tensors = [size for part in model.parts for size in part.tensors + part.expert]
    return _reduced(tensors, element_bytes)


def fsdp_tasks(model: Model, element_bytes: int) -> tuple[Task, ...]:
    """Return the collectives of fully sharded data parallelism: allgathers and reduce-scatters.

    Every layer is gathered for the forward and again for the backward pass.  All parameters
    outside the layers form one unit that is gathered once and kept.  Every unit's gradients
    are reduce-scattered once.

    References:
        Zhao et al., "PyTorch FSDP", arXiv:2304.11277, section 3.
    """
    units = [part.parameters for part in model.parts if part.layer]
    rest = sum(part.parameters for part in model.parts if not part.layer)
    tasks = [Task(Collective.ALLGATHER, rest * element_bytes)]
    tasks += [Task(Collective.ALLGATHER, unit * element_bytes, 2) for unit in units]
    tasks += [Task(Collective.REDUCE_SCATTER, unit * element_bytes) for unit in [rest, *units]]
    return merge_tasks(tasks)


def experts(model: Model, element_bytes: int, tokens: int) -> tuple[Task, ...]:
    """Return the collectives of expert parallelism: tokens to experts and back, and gradients.

    Every rank holds ``tokens`` tokens.  In every layer each token travels to the ranks of its
    experts and back, in the forward and in the backward pass: four all-to-alls of
    tokens * experts per token * width elements, assumed even over all ranks.  The gradients of all
    other parameters are reduced as in `data_parallel`.
    """
    layers = sum(part.layer for part in model.parts)
    size = tokens * model.experts_per_token * model.hidden * element_bytes
    tensors = [tensor for part in model.parts for tensor in part.tensors]
    moved = Task(Collective.ALL_TO_ALL, size, 4 * layers)
    return merge_tasks([*_reduced(tensors, element_bytes), moved])


def buckets(sizes: Iterable[int]) -> Iterator[int]:
    """Yield the bytes of each bucket, for tensors in the order their gradients are ready.

    A bucket is full once it holds its limit or more: `FIRST_BUCKET_BYTES` for the first, so that
    communication starts early, `BUCKET_BYTES` for the others.  Tensors are not cut.

    >>> list(buckets([2**21, 2**24, 2**24, 5]))
    [2097152, 33554432, 5]
    """
    held, limit = 0, FIRST_BUCKET_BYTES
    for size in sizes:
        held += size
        if held >= limit:
            yield held
            held, limit = 0, BUCKET_BYTES
    if held:
        yield held


def _reduced(tensors: list[int], element_bytes: int) -> tuple[Task, ...]:
    # Gradients are ready from the output back to the input.
    ready = [size * element_bytes for size in reversed(tensors)]
    return merge_tasks(Task(Collective.ALLREDUCE, size) for size in buckets(ready))


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
            return fsdp_tasks(self.model, size)
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
