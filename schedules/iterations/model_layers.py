"""Layers of a public model: operations per sample, and what its parallelism sends."""

from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.training_job import Layer
from topoloom.schedules.workloads.models import Model, ModelPart


def layers_of(
    model: Model, sequence: int, expert_bytes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
) -> tuple[Layer, ...]:
    """Return the layers of a model.

    A multiplication with a matrix takes two operations per element and sample.  Attention takes
    4 * sequence * width operations per token, without credit for a mask, as in arXiv:2204.02311,
    appendix B.  A layer has two allreduces of a tensor group, as in arXiv:1909.08053.

    Args:
        model: The model.
        sequence: Samples that attend to each other: the tokens of a sequence or the patches of an
            image.
        expert_bytes (pair of tuples of int): Bytes per sample of the all-to-alls of a layer with
            experts: forward, backward.

    Raises:
        NoSchedule: The model has convolutions, whose operations this module does not count.

    >>> from topoloom.schedules.workloads.models import MODELS
    >>> layers = layers_of(MODELS["llama3-8b"], 8192)
    >>> len(layers), float(sum(layer.forward_flops for layer in layers)) / 1e9
    (34, 19.30481664)
    """
    if not model.attention and not model.experts_per_token:
        raise NoSchedule("/model", f"must have layers of matrices; {model.name} has convolutions")
    return tuple(
        _layer(model, part, place, sequence, expert_bytes) for place, part in enumerate(model.parts)
    )


def _layer(
    model: Model,
    part: ModelPart,
    place: int,
    sequence: int,
    expert_bytes: tuple[tuple[int, ...], tuple[int, ...]],
) -> Layer:
    dense, sparse = sum(part.tensors), sum(part.expert)
    flops = Fraction(0 if part.lookup else 2 * dense)
    if model.experts and sparse:
        flops += Fraction(2 * sparse * model.experts_per_token, model.experts)
    weighted = flops
    attends = part.layer and model.attention > 0
    if attends:
        flops += 4 * sequence * model.attention
    forward, backward = expert_bytes if sparse else ((), ())
    return Layer(
        f"layer {place}" if part.layer else ("embedding" if place == 0 else "head"),
        dense,
        sparse,
        model.experts if sparse else 0,
        flops,
        # The backward pass takes twice the operations of the forward pass.
        weight_share=weighted / (2 * flops) if flops else Fraction(1, 2),
        tensor_width=2 * model.hidden if attends else 0,
        tensor_runs=2,
        context_width=model.keys_values if attends else 0,
        expert_bytes=forward,
        expert_backward_bytes=backward,
    )
