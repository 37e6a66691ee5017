"""The order of forward and backward passes in every stage of a pipeline."""

from collections.abc import Iterator
from typing import NamedTuple

from topoloom.schedules.iterations.training_job import PipelineOrder


class Pass(NamedTuple):
    """One pass of one microbatch through one model chunk; chunk c belongs to stage c mod p."""

    chunk: int
    microbatch: int
    forward: bool


def stage_passes(
    order: PipelineOrder, stage: int, stages: int, microbatches: int, chunks: int = 1
) -> list[Pass]:
    """Return the passes of a stage, in order.

    Parameters
    ----------
    order : PipelineOrder
        ``gpipe``: all forward passes, then all backward passes.  ``1f1b``: after the first
        passes, one forward and one backward pass in turn.  ``interleaved``: the same over
        ``chunks`` model chunks of a stage.  ``overlapped``: 1f1b with one more first pass, so
        that a forward pass and the next backward pass are of different microbatches.
    stage, stages, microbatches, chunks : int
        Stage of the pipeline, stages, microbatches, and model chunks of a stage.

    References
    ----------
    Huang et al., "GPipe", arXiv:1811.06965; Narayanan et al., "Efficient large-scale language
    model training on GPU clusters using Megatron-LM", arXiv:2104.04473, section 2.2.

    Examples
    --------
    >>> text = lambda one: ("F" if one.forward else "B") + str(one.microbatch)
    >>> " ".join(map(text, stage_passes(PipelineOrder.ONE_F_ONE_B, 0, 2, 3)))
    'F0 F1 B0 F2 B1 B2'
    """
    total = microbatches * chunks
    forward = [_virtual(k, stage, stages, chunks, True) for k in range(total)]
    backward = [_virtual(k, stage, stages, chunks, False) for k in range(total)]
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


def _virtual(k: int, stage: int, stages: int, chunks: int, forward: bool) -> Pass:
    """Return the k-th pass: ``stages`` microbatches through one chunk, then the next chunk."""
    if chunks == 1:
        return Pass(stage, k, forward)
    round_, place = divmod(k, stages * chunks)
    chunk, microbatch = divmod(place, stages)
    if not forward:
        chunk = chunks - 1 - chunk
    return Pass(chunk * stages + stage, round_ * stages + microbatch, forward)


def overlapped_pairs(passes: list[Pass], ahead: int) -> Iterator[list[Pass]]:
    """Yield every forward pass with the backward pass after it, if ``ahead`` microbatches apart.

    A backward pass waits for later stages, which wait for earlier forward passes of this stage.

    >>> tried = [Pass(0, 0, True), Pass(0, 1, True), Pass(0, 0, False), Pass(0, 1, False)]
    >>> [[len(group) for group in overlapped_pairs(tried, ahead)] for ahead in (1, 2)]
    [[1, 2, 1], [1, 1, 1, 1]]
    """
    at = 0
    while at < len(passes):
        pair = passes[at : at + 2]
        joined = len(pair) == 2 and pair[0].forward and not pair[1].forward
        joined = joined and pair[0].microbatch - pair[1].microbatch == ahead
        yield pair if joined else pair[:1]
        at += 2 if joined else 1
