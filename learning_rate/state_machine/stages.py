"""The phases of a stage: save, try candidates, choose, continue; and fall back."""

import math
import random
import statistics
from dataclasses import replace

from topoloom.learning_rate.forecasting.bayesian_search import Trial, propose
from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.candidate_selection import (
    hopeless,
    judged,
    trials_of,
    winner,
)
from topoloom.learning_rate.state_machine.checkpoints import (
    going_wrong,
    restore,
    save,
    save_is_due,
    to_safe,
    with_proven_slot,
)
from topoloom.learning_rate.state_machine.decayed_trials import (
    decayed_plan,
    decided,
    next_rates,
    seen,
)
from topoloom.learning_rate.state_machine.divergence_detector import watched
from topoloom.learning_rate.state_machine.range_trials import next_range_rate, ranged
from topoloom.learning_rate.state_machine.stage_plan import (
    decays,
    evaluation_interval,
    interval,
    rate_in_use,
    safe_interval,
    stage_length,
    trial_plan,
    validates,
)
from topoloom.learning_rate.state_machine.state import Action, Attempt, Stage, State
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW, RECENT, at_look, run


def begin_stage(state: State) -> State:
    """Begin the next stage, or stop where the run is complete."""
    settings = state.settings
    if state.step >= settings.total_steps:
        return replace(state, phase="done", action=Action("stop", reason="finished"))
    stage = state.stage + 1
    tau = stage_length(settings, stage, state.step)
    state = replace(state, stage=stage, stage_start=state.step, tau=tau, until=state.step + tau)
    state = replace(state, attempts=(), round=())
    trial_steps, purse = decayed_plan(state) if decays(settings) else trial_plan(state)
    looking = purse > 0 and decays(settings)
    state = replace(state, trial_steps=trial_steps, purse=purse, looking=looking)
    if purse or safe_interval(state):
        return save(state, "save_stage", state.stage_slot)
    return begin_first_attempt(state)


def begin_first_attempt(state: State) -> State:
    """Begin the first trial of the stage, or continue without trials.

    The first candidate is the rate in use, where the search is warm-started; AutoLRS
    begins each search with one point drawn uniformly in log rate (n_initial_points = 1).
    """
    if not state.purse:
        return exploit(replace(state, rate=rate_in_use(state)))
    if state.looking:
        return run(replace(_with_round(state, _decayed_rates(state)), phase="trial"))
    return run(replace(_with_first_round(state), phase="trial"))


def _with_first_round(state: State) -> State:
    settings, rate = state.settings, rate_in_use(state)
    if not settings.warm_start:
        low, high = interval(state)
        chance = random.Random(f"{settings.seed}/{state.stage}").random()
        rate = min(high, max(low, low * (high / low) ** chance))
    return _with_round(state, _chosen(state, (rate,)))


def _with_round(state: State, rates: tuple[float, ...]) -> State:
    """Begin with the first of candidates that were chosen together."""
    state = replace(state, round=rates[1:], round_start=len(state.attempts))
    return with_attempt(state, rates[0])


def with_attempt(state: State, rate: float) -> State:
    """Begin with a candidate."""
    attempt = Attempt(rate, f"trial-{len(state.attempts)}")
    until = state.stage_start + state.trial_steps
    return replace(state, bad=0, attempts=(*state.attempts, attempt), until=until)


def after_trial_steps(state: State, losses: tuple[float, ...]) -> State:
    """Go on with a trial, evaluate, give it up, or judge it."""
    attempt = state.attempts[-1]
    attempt = replace(attempt, losses=attempt.losses + losses, steps=attempt.steps + len(losses))
    state = _with_last(state, attempt)
    if state.bad >= BAD_IN_A_ROW or not all(map(usable, losses)):
        diverged = replace(attempt, status="diverged", forecast=math.nan, deviation=0.0)
        return _ended(_with_last(state, diverged))
    if validates(state.settings, state.stage):
        every = evaluation_interval(state.trial_steps)
        if attempt.steps % every == 0:
            return replace(state, phase="evaluate", action=Action("evaluate"))
    elif at_look(state) and (given_up := hopeless(state, attempt)):
        return _ended(_with_last(state, given_up))
    return _trial_goes_on(state)


def after_evaluation(state: State, loss: float) -> State:
    """Take down a validation loss of the running trial."""
    attempt = state.attempts[-1]
    attempt = replace(attempt, evaluations=(*attempt.evaluations, loss))
    return _trial_goes_on(_with_last(replace(state, phase="trial"), attempt))


def _trial_goes_on(state: State) -> State:
    if state.step < state.until:
        return run(state)
    attempt = state.attempts[-1]
    return _ended(_with_last(state, seen(attempt) if state.looking else judged(state, attempt)))


def _with_last(state: State, attempt: Attempt) -> State:
    return replace(state, attempts=(*state.attempts[:-1], attempt))


def _ended(state: State) -> State:
    """Keep the end of a trial that may win, else go straight to the next one."""
    attempt = state.attempts[-1]
    goes_on = state.settings.continue_winner and not state.looking
    if goes_on and attempt.status == "finished":
        return save(state, "save_trial", attempt.slot)
    return next_attempt(state)


def next_attempt(state: State) -> State:
    """Go back to the stage's start for another candidate, or choose the winner."""
    if state.round:
        rate, *rest = state.round
        return restore_stage(with_attempt(replace(state, round=tuple(rest)), rate))
    rates = _decayed_rates(state) if state.looking else _chosen(state, ())
    return restore_stage(_with_round(state, rates)) if rates else _conclude(state)


def _decayed_rates(state: State) -> tuple[float, ...]:
    return next_range_rate(state) if state.stage < 0 else next_rates(state)


def restore_stage(state: State) -> State:
    """Go back to the stage's start; the last candidate is run from there."""
    return restore(state, "restore_stage", state.stage_slot)


def _chosen(state: State, rates: tuple[float, ...]) -> tuple[float, ...]:
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


def _conclude(state: State) -> State:
    """Choose the stage's rate and go to where its branch begins."""
    if state.stage < 0:
        return ranged(state)
    if state.looking:
        return _to_winner(decided(state), state.stage_slot, state.stage_start)
    settings, best = state.settings, winner(state)
    if best is None:
        lowest = min(attempt.rate for attempt in state.attempts)
        state = replace(state, rate=max(settings.min_lr, lowest / 2.0))
        return _to_winner(state, state.stage_slot, state.stage_start)
    peak = best.rate if state.peak is None else state.peak
    state = replace(state, rate=best.rate, peak=peak)
    if not settings.continue_winner:
        return _to_winner(state, state.stage_slot, state.stage_start)
    kept = replace(state, recent=(*state.recent, *best.losses)[-RECENT:])
    if best is state.attempts[-1]:
        return exploit(replace(kept, phase="exploit"))
    return _to_winner(kept, best.slot, state.stage_start + best.steps)


def _to_winner(state: State, slot: str, step: int) -> State:
    return replace(restore(state, "restore_winner", slot), step=step, bad=0)


def exploit(state: State) -> State:
    """Run the stage's branch on, with a checkpoint to fall back on every so often."""
    until = state.stage_start + state.tau
    state = replace(state, phase="exploit", until=until)
    if state.step >= until:
        return _end_stage(state)
    return save(state, "save_safe", f"safe-{state.step}") if save_is_due(state) else run(state)


def after_exploit_steps(state: State) -> State:
    """Go on, or fall back where training has diverged or its loss rises."""
    if not safe_interval(state):
        return exploit(state)
    state = watched(state)
    if going_wrong(state):
        return _fall_back(state)
    return exploit(with_proven_slot(state))


def _fall_back(state: State) -> State:
    """Return to the latest safe checkpoint at half the rate; no higher rate is searched again."""
    settings, rate = state.settings, rate_in_use(state)
    exploded = state.bad >= BAD_IN_A_ROW
    if exploded and (rate <= settings.min_lr or state.safe_slot is None):
        return replace(state, phase="done", action=Action("stop", reason="diverged"))
    half = max(settings.min_lr, rate / 2.0)
    peak = None if state.peak is None else min(state.peak, half)
    state = replace(state, rate=half, peak=peak, ceiling=rate, recent=(), floor=None, bad=0)
    return exploit(state) if state.safe_slot is None else to_safe(state)


def _end_stage(state: State) -> State:
    assert state.rate is not None, "a stage has a rate when it ends"
    told = tuple(replace(attempt, losses=(), evaluations=()) for attempt in state.attempts)
    record = Stage(state.stage_start, state.tau, state.rate, told)
    return begin_stage(replace(state, history=(*state.history, record)))
