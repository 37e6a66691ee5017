"""Forecast candidates, and choose the winner."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from topoloom.learning_rate.forecasting.autolrs_fit import published_forecast
from topoloom.learning_rate.forecasting.bayesian_search import Trial
from topoloom.learning_rate.forecasting.forecast import Forecast, forecast, usable
from topoloom.learning_rate.state_machine.stage_plan import evaluation_interval, validates
from topoloom.learning_rate.state_machine.state import Attempt, State

EXPLOSION = 3.0  # times the loss of the untrained model


def has_exploded(first: Sequence[float], loss: float) -> bool:
    """Whether a loss is unusable, or far above where the run began.

    >>> has_exploded((2.3, 2.2), 2.5), has_exploded((2.3, 2.2), 9.0), has_exploded((), math.nan)
    (False, True, True)
    """
    if not usable(loss):
        return True
    known = [value for value in first if usable(value)]
    if not known:
        return False
    start = statistics.median(known)
    size = max(abs(start), max(known) - min(known), 1e-12)
    return loss > start + (EXPLOSION - 1.0) * size


def judge_attempt(state: State, attempt: Attempt) -> Attempt:
    """Return the attempt that has just run its steps, with forecast and deviation."""
    curve, horizon = attempt.losses, state.tau
    validation = validates(state.settings, state.stage)
    if validation:
        every = evaluation_interval(state.trial_steps)
        curve, horizon = attempt.evaluations, state.tau // every
    if not any(usable(loss) for loss in curve):
        return replace(attempt, status="diverged", forecast=math.nan, deviation=0.0)
    horizon = max(horizon, len(curve) - 1)
    if state.settings.method == "paper":
        predicted = Forecast(published_forecast(curve, horizon, validation=validation), 0.0)
        # As published: where validation is worse than at the start, no forecast is trusted.
        if validation and state.first and max(curve) >= state.first[0]:
            predicted = Forecast(curve[-1], 0.0)
    else:
        predicted = forecast(curve, horizon)
    status = "finished" if usable(predicted.mean) else "diverged"
    return replace(attempt, status=status, forecast=predicted.mean, deviation=predicted.deviation)


def trials_of(attempts: Sequence[Attempt]) -> list[Trial]:
    """Return the trials of ended candidates, for the search."""
    return [
        Trial(
            attempt.rate,
            math.nan if attempt.forecast is None else attempt.forecast,
            attempt.deviation or 0.0,
        )
        for attempt in attempts
        if attempt.status != "running"
    ]


def winner(state: State) -> Attempt | None:
    """Return the candidate that the stage continues with; None where all diverged.

    Judged by the forecast plus its deviation, since large rates' curves are the noisy ones and
    a short curve may promise anything.  The largest rate wins that is within ``eps`` of the
    best: of two rates that promise about the same, the smaller one mostly owes it to
    decaying early.  The gain that ``eps`` is a share of is that from the stage's start.

    Where the stage began at a rate in use, which is then the first candidate, that rate
    stays unless the best forecast is below its own by more than both deviations.
    """
    done = [attempt for attempt in state.attempts if attempt.status == "finished"]
    if not done:
        return None
    if state.settings.method == "paper" and state.settings.eps == 0:
        # AutoLRS, Algorithm 1: the rate of least forecast loss.
        return min(done, key=lambda attempt: (_mean(attempt), attempt.rate))
    best = min(done, key=lambda attempt: (_pessimistic(attempt), -attempt.rate))
    start = [loss for loss in (*state.recent, best.losses[0]) if usable(loss)]
    level = statistics.fmean(start[-8:]) if start else _mean(best)
    margin = state.settings.eps * max(0.0, level - _mean(best))
    control = state.attempts[0]
    if state.settings.warm_start and control.rate == state.rate and control in done:
        doubt = math.hypot(control.deviation or 0.0, best.deviation or 0.0)
        if _mean(control) - _mean(best) <= max(margin, doubt):
            return control
    limit = _pessimistic(best) + margin
    return max((a for a in done if _pessimistic(a) <= limit), key=lambda attempt: attempt.rate)


def _mean(attempt: Attempt) -> float:
    return attempt.forecast or 0.0


def _pessimistic(attempt: Attempt) -> float:
    return _mean(attempt) + (attempt.deviation or 0.0)
