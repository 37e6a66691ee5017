"""The range test: propose the interval to search from the losses at growing rates.

The range test of Smith (arXiv 1506.01186, sec. 3.3) grows the rate every step; ours grows it
geometrically, and reads off

- the largest rate: the last one before the smoothed loss is above its least by half of what it
  had fallen by then, or explodes;
- the least rate: a tenth of the first rate at which the smoothed loss has fallen by a tenth of
  its whole fall, but at least a factor `NARROWEST` below the largest.

A sweep gives small rates little time: hence the tenth.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions
from topoloom.learning_rate.forecasting.forecast import usable

NARROWEST = 10.0
MIN_STEPS = 20
SMOOTHING = 0.15  # weight of a new loss in the running mean
EXPLOSION = 3.0  # times the first loss


@dataclass(frozen=True, slots=True)
class Interval:
    """Rates between which to search."""

    min_lr: float
    max_lr: float


def sweep(low: float, high: float, steps: int) -> list[float]:
    """Return ``steps`` rates from low to high, evenly spaced in their logarithm.

    >>> [round(rate, 4) for rate in sweep(0.001, 1.0, 20)][::19]
    [0.001, 1.0]
    """
    if not (0 < low < high < math.inf):
        raise InvalidOptions("/low", "must be more than 0 and less than high")
    if steps < MIN_STEPS:
        raise InvalidOptions("/steps", f"must be at least {MIN_STEPS}")
    ratio = math.log(high / low)
    return [min(high, low * math.exp(ratio * step / (steps - 1))) for step in range(steps)]


def propose_interval(rates: Sequence[float], losses: Sequence[float]) -> Interval:
    """Return the interval that a sweep of rates and the losses at them propose.

    Parameters
    ----------
    rates : sequence of float
        Growing, one for each step.
    losses : sequence of float
        The loss before each step; may end early, where training has exploded.

    Raises
    ------
    InvalidObservation
        There are fewer than `MIN_STEPS` usable losses before the first that is not, or
        the loss never fell.

    Examples
    --------
    >>> rates = sweep(1e-6, 10.0, 141)
    >>> falling = [2.3 / (1 + (rate / 0.01)) + (rate / 0.5) ** 2 for rate in rates]
    >>> found = propose_interval(rates, falling)
    >>> 1e-4 < found.min_lr < 1e-3, 0.05 < found.max_lr < 1.0
    (True, True)
    """
    smooth = _smoothed(losses)
    if len(smooth) < MIN_STEPS:
        raise InvalidObservation("/losses", f"must hold {MIN_STEPS} usable ones; begin lower")
    best = min(range(len(smooth)), key=smooth.__getitem__)
    fall = smooth[0] - smooth[best]
    if fall <= 0:
        raise InvalidObservation("/losses", "must fall somewhere: no rate of the sweep trains")
    last = best
    while last + 1 < len(smooth) and smooth[last + 1] <= smooth[best] + fall / 2:
        last += 1
    first = next(step for step, loss in enumerate(smooth) if loss <= smooth[0] - fall / 10)
    # A loss depends on the rates before its step.
    high = rates[max(0, last - 1)]
    return Interval(min(rates[first] / 10, high / NARROWEST), high)


def _smoothed(losses: Sequence[float]) -> list[float]:
    """Return the running mean, up to where training has exploded."""
    found: list[float] = []
    for loss in losses:
        if not usable(loss) or (found and loss > EXPLOSION * max(abs(found[0]), 1e-12)):
            break
        found.append(loss if not found else found[-1] + SMOOTHING * (loss - found[-1]))
    return found


def range_test(
    step: Callable[[], float],
    model: Any,
    optimizer: Any,
    *,
    others: Mapping[str, Any] | None = None,
    low: float = 1e-7,
    high: float = 10.0,
    steps: int = 100,
) -> Interval:
    """Sweep the rate of a PyTorch optimizer and return the interval to search.

    Afterwards model, optimizer, ``others`` (other stateful parts, such as the position in the
    data) and the random generators are restored.

    Parameters
    ----------
    step : callable
        Makes one training step and returns its loss.
    low, high : float
        The rates between which is swept, of the parameter group with the largest; the others
        keep their ratios.
    steps : int
        How many, at least `MIN_STEPS`.
    """
    from topoloom.learning_rate.callbacks.snapshot import put_back, take

    parts = {"model": model, "optimizer": optimizer, **(others or {})}
    rates, losses = sweep(low, high, steps), list[float]()
    before = take(parts)
    given = [float(group["lr"]) for group in optimizer.param_groups]
    try:
        for rate in rates:
            for group, own in zip(optimizer.param_groups, given, strict=True):
                group["lr"] = rate * own / max(given)
            losses.append(float(step()))
            if len(_smoothed(losses)) < len(losses):
                break
    finally:
        put_back(before, parts)
    return propose_interval(rates, losses)
