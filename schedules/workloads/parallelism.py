"""The collectives of one training step, by the parallelism of the model."""

from collections.abc import Iterable, Iterator

from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.workloads.models import Model
from topoloom.schedules.workloads.tasks import Task, merged

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


def sharded(model: Model, element_bytes: int) -> tuple[Task, ...]:
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
    return merged(tasks)


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
    return merged([*_reduced(tensors, element_bytes), moved])


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
    return merged(Task(Collective.ALLREDUCE, size) for size in buckets(ready))
