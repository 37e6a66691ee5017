"""The range test: propose the interval to search, by short trials of a ladder of rates.

All trials start from one state and see the same batches, and the rate of each falls linearly to
zero, so its last losses show progress and not the noise of the rate.  The trial of the lowest rate
hardly trains: the others are compared with it, step by step.  The interval spans three decades.
Its middle, which a run warms up to, is one and a half rungs below the best rate of the ladder: the
best rate of a short run is larger than that of a long run.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions
from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.candidate_selection import has_exploded
from topoloom.learning_rate.state_machine.decayed_trials import CLEAR, STEP, standard_error

MIN_STEPS = 8  # of a trial
TAIL = 1 / 3  # of a trial's losses, which are compared
BELOW, ABOVE = 10**2.25, 10**0.75  # the best rate: reach of the interval


@dataclass(frozen=True, slots=True)
class Interval:
    """Rates between which to search."""

    min_lr: float
    max_lr: float


def ladder(low: float, high: float) -> list[float]:
    """Return rates from low to at most high, each √10 times the one before.

    >>> [round(rate, 4) for rate in ladder(0.001, 0.1)]
    [0.001, 0.0032, 0.01, 0.0316, 0.1]
    """
    if not (0 < low < high < math.inf):
        raise InvalidOptions("/low", "must be more than 0 and less than high")
    rungs = math.floor(math.log(high / low, STEP) + 1e-9)
    return [low * STEP**rung for rung in range(rungs + 1)]


def propose_interval(rates: Sequence[float], trials: Sequence[Sequence[float]]) -> Interval:
    """Return the interval around the rate whose trial ends lowest.

    Args:
        rates: Growing; the first hardly trains.
        trials: The losses of each rate's trial, all on the same batches; a trial that explodes ends
            early.

    Raises:
        InvalidObservation: No trial ends lower than the first by two standard errors of the
            differences.

    >>> losses = [[2 - 0.1 * step * fall for step in range(12)] for fall in (0, 0.1, 1, 0.3)]
    >>> found = propose_interval([1e-4, 1e-3, 1e-2, 1e-1], losses)
    >>> round(found.min_lr, 7), round(found.max_lr, 4)
    (5.62e-05, 0.0562)
    """
    first = len(trials[0]) - max(2, int(TAIL * len(trials[0])))
    best, most = 0.0, 0.0
    for rate, losses in zip(rates[1:], trials[1:], strict=True):
        pairs = zip(trials[0][first:], losses[first:], strict=False)
        gaps = [theirs - mine for theirs, mine in pairs if usable(mine) and usable(theirs)]
        if len(losses) < len(trials[0]) or len(gaps) < 2:
            continue
        gain = sum(gaps) / len(gaps)
        if gain > max(most, CLEAR * standard_error(gaps)):
            best, most = rate, gain
    if not best:
        raise InvalidObservation(
            "/losses", "must fall clearly at some rate: give more steps, or an interval of your own"
        )
    return Interval(best / BELOW, best * ABOVE)


def range_test(
    step: Callable[[], float],
    model: Any,
    optimizer: Any,
    *,
    others: Mapping[str, Any] | None = None,
    low: float = 1e-7,
    high: float = 10.0,
    steps: int = 200,
) -> Interval:
    """Try a ladder of rates with a PyTorch optimizer, and return the interval to search.

    Afterwards model, optimizer, ``others`` and the random generators are restored.

    Args:
        step: Makes one training step and returns its loss.
        others: Other parts with a state.  The position in the data must be one of them: otherwise
            the trials see different batches, and are compared badly.
        low, high: The rates between which the ladder reaches, of the parameter group with the
            largest rate; the others keep their ratios.
        steps: Steps of all trials; each trial has at least `MIN_STEPS`.

    Raises:
        InvalidOptions: The ladder is empty, or ``steps`` are too few for its rungs.
        InvalidObservation: No rate trains clearly.
    """
    from topoloom.learning_rate.callbacks.rates import Rates
    from topoloom.learning_rate.callbacks.snapshot import put_back, take

    rates = ladder(low, high)
    each = steps // len(rates)
    if each < MIN_STEPS:
        raise InvalidOptions("/steps", f"must be at least {MIN_STEPS * len(rates)}")
    parts = {"model": model, "optimizer": optimizer, **(others or {})}
    before, groups, trials = take(parts), Rates([optimizer]), list[list[float]]()
    for rate in rates:
        losses = list[float]()
        try:
            while len(losses) < each and not (losses and has_exploded(tuple(losses), losses[-1])):
                groups.set(rate * (1 - len(losses) / each))
                losses.append(float(step()))
        finally:
            put_back(before, parts)
        trials.append(losses)
    return propose_interval(rates, trials)
