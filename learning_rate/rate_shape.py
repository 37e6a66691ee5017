"""The shapes of schedules that a search may be anchored to: rate = peak * shape(step).

``cosine`` is Loshchilov and Hutter's (arXiv 1608.03983, eq. 5, one cycle, minimum 0);
``wsd`` holds the peak and goes linearly to zero over the last ``decay_share`` of the steps
(warm-up, stable, decay; arXiv 2404.06395); ``none`` is constant, as AutoLRS is within a stage.
"""

import math
from collections.abc import Callable


def _none(progress: float, decay_share: float) -> float:
    return 1.0


def _cosine(progress: float, decay_share: float) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def _wsd(progress: float, decay_share: float) -> float:
    return min(1.0, (1.0 - progress) / decay_share)


ANCHORS: dict[str, Callable[[float, float], float]] = {
    "none": _none,
    "cosine": _cosine,
    "wsd": _wsd,
}


def shape(anchor: str, step: int, warmup_steps: int, total_steps: int, decay_share: float) -> float:
    """Return the factor on the peak at a step counted from 0, after warm-up; in (0, 1].

    Progress is counted in the middle of the step, so the last step's rate is not zero.

    >>> shape("cosine", 0, 0, 2, 0.4), shape("cosine", 1, 0, 2, 0.4)
    (0.8535533905932737, 0.14644660940672627)
    >>> [round(shape("wsd", step, 0, 10, 0.2), 3) for step in (0, 7, 8, 9)]
    [1.0, 1.0, 0.75, 0.25]
    >>> shape("none", 9, 0, 10, 0.4)
    1.0
    """
    progress = (step - warmup_steps + 0.5) / (total_steps - warmup_steps)
    return ANCHORS[anchor](min(1.0, max(0.0, progress)), decay_share)
