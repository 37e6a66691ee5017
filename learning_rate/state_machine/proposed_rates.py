"""Rates that Bayesian optimization proposes for trials at constant rates."""

import statistics

from topoloom.learning_rate.forecasting.bayesian_search import Trial, propose
from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.candidate_selection import trials_of
from topoloom.learning_rate.state_machine.stage_plan import interval
from topoloom.learning_rate.state_machine.state import State


def rates_to_try(state: State, rates: tuple[float, ...]) -> tuple[float, ...]:
    """Return rates to try together: those given, and proposals as far as the purse pays.

    Each proposal takes those before it for tried, with the mean of all forecasts that are
    known (the constant liar of Ginsbourger et al. 2010).
    """
    used = sum(attempt.steps for attempt in state.attempts)
    most = min(
        state.settings.side_by_side,
        state.settings.candidates - len(state.attempts),
        (state.purse - used) // state.trial_steps,
    )
    known = [trial for trial in trials_of(state.attempts) if usable(trial.loss)]
    lie = statistics.fmean(trial.loss for trial in known) if known else 0.0
    doubt = statistics.fmean(trial.deviation for trial in known) if known else 0.0
    while len(rates) < most:
        rate = _proposal(state, [Trial(rate, lie, doubt) for rate in rates])
        if rate is None:
            break
        rates = (*rates, rate)
    return rates


def _proposal(state: State, pretended: list[Trial]) -> float | None:
    low, high = interval(state)
    trials = trials_of(state.attempts) + pretended
    if state.settings.warm_start:
        trials += _remembered(state)
    # Where few trials are planned they should not crowd round the best one.
    distance = 1 / 64 if state.settings.allowance is None else 0.5 * state.trial_steps / state.purse
    return propose(trials, low, high, kappa=state.settings.kappa, distance=distance)


def _remembered(state: State) -> list[Trial]:
    """Return the last stage's trials as if made now, with three times the deviation.

    Levels are aligned at the rate in use, which both stages have tried.
    """
    if not state.attempts or not state.history:
        return []
    control = state.attempts[0]
    if control.status != "finished" or control.forecast is None:
        return []
    before = state.history[-1]
    known = [a for a in before.attempts if a.status == "finished" and a.forecast is not None]
    levels = [a.forecast for a in known if a.rate == control.rate]
    if not levels:
        return []
    shift = control.forecast - (levels[0] or 0.0)
    return [
        Trial(a.rate, (a.forecast or 0.0) + shift, 3.0 * (a.deviation or 0.0) + 1e-6)
        for a in known
        if a.rate != control.rate
    ]
