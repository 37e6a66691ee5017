"""The order of forward and backward passes in every stage of a pipeline."""

from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from itertools import count
from typing import NamedTuple

from topoloom.schedules.iterations.training_job import PipelineOrder


class Work(StrEnum):
    """The work of a pass.

    A backward pass computes the gradients of inputs and of parameters.  Zero-bubble schedules
    split a backward pass into ``inputs``, which the earlier stage waits for, and ``weights``.
    """

    FORWARD = "forward"
    BACKWARD = "backward"
    INPUTS = "inputs"
    WEIGHTS = "weights"


class Pass(NamedTuple):
    """One pass of one microbatch through one model chunk.

    Chunk c belongs to stage c mod p.  In DualPipe, stage s also has chunk p - 1 - s, and half of
    the microbatches run from the last stage to the first.
    """

    chunk: int
    microbatch: int
    work: Work

    @property
    def forward(self) -> bool:
        """Whether the pass goes to later chunks."""
        return self.work is Work.FORWARD

    @property
    def has_gradients(self) -> bool:
        """Whether the gradients of the parameters are complete after the pass."""
        return self.work in (Work.BACKWARD, Work.WEIGHTS)


def stage_groups(
    order: PipelineOrder, stage: int, stages: int, microbatches: int, chunks: int = 1
) -> list[tuple[Pass, ...]]:
    """Return the passes of a stage, in order; two passes of one tuple overlap layer by layer.

    Args:
        order: ``gpipe``: all forward passes, then all backward passes.  ``1f1b``: after the first
            passes, one forward and one backward pass in turn.  ``interleaved``: the same over
            ``chunks`` model chunks of a stage.  ``overlapped``: 1f1b with one more first pass, so
            that a forward pass and the next backward pass are of different microbatches.
            ``zero-bubble``: ZB-H1, 1f1b with split backward passes.  ``dualpipe``: microbatches
            enter at both ends, and a forward pass overlaps a backward pass of the other direction.
        stage, stages, microbatches, chunks: Stage of the pipeline, stages, microbatches, and model
            chunks of a stage.

    References:
        Huang et al., "GPipe", arXiv:1811.06965; Narayanan et al., "Efficient large-scale language
        model training on GPU clusters using Megatron-LM", arXiv:2104.04473, section 2.2; Qi et al.,
        "Zero bubble pipeline parallelism", arXiv:2401.10241, section 2; DeepSeek-AI, "DeepSeek-V3
        technical report", arXiv:2412.19437, section 3.2.1, with the order of
        github.com/deepseek-ai/ DualPipe.

    >>> def text(order, stage, stages, count):
    ...     groups = stage_groups(order, stage, stages, count)
    ...     name = lambda one: one.work[0].upper() + str(one.microbatch)
    ...     return " ".join("".join(map(name, group)) for group in groups)
    >>> text(PipelineOrder.ONE_F_ONE_B, 0, 2, 3)
    'F0 F1 B0 F2 B1 B2'
    >>> text(PipelineOrder.ZERO_BUBBLE, 1, 2, 3)
    'F0 I0 F1 I1 W0 F2 I2 W1 W2'
    >>> text(PipelineOrder.DUALPIPE, 0, 2, 4)
    'F0 F2 F1 B2 F3B0 B3 I1 W1'
    """
    if order is PipelineOrder.DUALPIPE:
        return list(_dualpipe(stage, stages, microbatches))
    if order is PipelineOrder.ZERO_BUBBLE:
        passes = _zero_bubble(stage, stages, microbatches)
    else:
        passes = _plain(order, stage, stages, microbatches, chunks)
    if order is PipelineOrder.OVERLAPPED:
        return list(_pairs(passes, stages - stage))
    return [(one,) for one in passes]


def _plain(
    order: PipelineOrder, stage: int, stages: int, microbatches: int, chunks: int
) -> list[Pass]:
    total = microbatches * chunks
    forward = [_virtual(k, stage, stages, chunks, Work.FORWARD) for k in range(total)]
    backward = [_virtual(k, stage, stages, chunks, Work.BACKWARD) for k in range(total)]
    if order is PipelineOrder.GPIPE:
        return [*forward, *backward[::-1]]
    first = stages - stage - 1
    if order is PipelineOrder.INTERLEAVED:
        first = 2 * first + (chunks - 1) * stages
    first = min(first + (order is PipelineOrder.OVERLAPPED), total)
    found = forward[:first]
    for after, before in zip(forward[first:], backward, strict=False):
        found += [after, before]
    return found + backward[total - first :]


def _virtual(k: int, stage: int, stages: int, chunks: int, work: Work) -> Pass:
    """Return the k-th pass: ``stages`` microbatches through one chunk, then the next chunk."""
    if chunks == 1:
        return Pass(stage, k, work)
    round_, place = divmod(k, stages * chunks)
    chunk, microbatch = divmod(place, stages)
    if work is not Work.FORWARD:
        chunk = chunks - 1 - chunk
    return Pass(chunk * stages + stage, round_ * stages + microbatch, work)


def _pairs(passes: list[Pass], ahead: int) -> Iterator[tuple[Pass, ...]]:
    """Yield every forward pass with the backward pass after it, if ``ahead`` microbatches apart.

    A backward pass waits for later stages, which wait for earlier forward passes of this stage.

    >>> work = (Work.FORWARD, Work.FORWARD, Work.BACKWARD, Work.BACKWARD)
    >>> tried = [Pass(0, count, one) for count, one in zip((0, 1, 0, 1), work)]
    >>> [[len(group) for group in _pairs(tried, ahead)] for ahead in (1, 2)]
    [[1, 2, 1], [1, 1, 1, 1]]
    """
    at = 0
    while at < len(passes):
        pair = tuple(passes[at : at + 2])
        joined = len(pair) == 2 and pair[0].forward and not pair[1].forward
        joined = joined and pair[0].microbatch - pair[1].microbatch == ahead
        yield pair if joined else pair[:1]
        at += 2 if joined else 1


def _zero_bubble(stage: int, stages: int, microbatches: int) -> list[Pass]:
    """Return the passes of ZB-H1: stage s computes parameters' gradients s microbatches late.

    Every stage then holds the activations of at most p microbatches, as the first stage of 1f1b.
    """
    first = min(stages - stage - 1, microbatches)
    late = min(stage, microbatches)
    found = [Pass(stage, k, Work.FORWARD) for k in range(first)]
    for k in range(microbatches):
        if first + k < microbatches:
            found.append(Pass(stage, first + k, Work.FORWARD))
        found.append(Pass(stage, k, Work.INPUTS))
        if k >= late:
            found.append(Pass(stage, k - late, Work.WEIGHTS))
    return found + [Pass(stage, microbatches - late + k, Work.WEIGHTS) for k in range(late)]


def _dualpipe(stage: int, stages: int, microbatches: int) -> Iterator[tuple[Pass, ...]]:
    """Yield the passes of DualPipe.

    ``here`` is the direction whose microbatches enter at the nearer end, ``there`` the other, each
    as its chunk and its number.
    """
    edge = min(stage, stages - 1 - stage)
    late = stages // 2 - edge - 1
    here, there = (stage, 0), (stages - 1 - stage, 1)
    if stage >= stages // 2:
        here, there = there, here
    half = microbatches // 2
    sent, returned = ([count(), count(half)] for _ in range(2))
    waiting = deque[Pass]()

    def forward(way: tuple[int, int]) -> Pass:
        return Pass(way[0], next(sent[way[1]]), Work.FORWARD)

    def backward(way: tuple[int, int]) -> Pass:
        return Pass(way[0], next(returned[way[1]]), Work.BACKWARD)

    def inputs(way: tuple[int, int]) -> Pass:
        one = backward(way)
        waiting.append(one._replace(work=Work.WEIGHTS))
        return one._replace(work=Work.INPUTS)

    for _ in range(2 * late):
        yield (forward(here),)
    for _ in range(edge + 1):
        yield (forward(here),)
        yield (forward(there),)
    for _ in range(late):
        yield (inputs(there),)
        yield (waiting.popleft(),)
        yield (forward(there),)
    for turn in range(half - stages + edge + 1):
        pair = forward(here), backward(there)
        # The two stages in the middle do not overlap the first pair: their neighbors wait for it.
        yield from [pair] if turn or late else ((one,) for one in pair)
        yield forward(there), backward(here)
    for _ in range(late):
        yield (backward(there),)
        yield forward(there), backward(here)
    for turn in range(2 * (edge + 1)):
        way = there if turn % 2 == 0 else here
        yield (backward(way) if turn <= edge else inputs(way),)
    for _ in range(late):
        yield (waiting.popleft(),)
        yield (inputs(here),)
    for _ in range(edge + 1):
        yield (waiting.popleft(),)
