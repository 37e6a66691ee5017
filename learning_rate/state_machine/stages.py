"""The phases of a stage: save, try candidates, choose, continue; and fall back."""

import math
import random
from dataclasses import replace

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.candidate_selection import judge_attempt, winner
from topoloom.learning_rate.state_machine.checkpoints import (
    going_wrong,
    restore,
    save,
    save_is_due,
    with_proven_slot,
)
from topoloom.learning_rate.state_machine.decayed_trials import (
    decayed_plan,
    decide_rate,
    next_rates,
    with_end_loss,
)
from topoloom.learning_rate.state_machine.divergence_detector import with_least_level
from topoloom.learning_rate.state_machine.flat_starts import (
    after_first_steps,
    after_untrained_steps,
    looked_at,
)
from topoloom.learning_rate.state_machine.proposed_rates import rates_to_try
from topoloom.learning_rate.state_machine.raised_rates import after_lower_steps, after_raised_steps
from topoloom.learning_rate.state_machine.range_trials import (
    end_range_test,
    next_range_rate,
    with_length,
)
from topoloom.learning_rate.state_machine.rate_checks import (
    begun_check,
    halve_rate,
    has_ended,
    is_the_data,
    keep_rate,
)
from topoloom.learning_rate.state_machine.ratio_trials import (
    begun_with_ratios,
    decide_scales,
    next_scales,
    shared_plan,
    tries_ratios,
)
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
from topoloom.learning_rate.state_machine.state import (
    Action,
    Attempt,
    RateCheck,
    Stage,
    State,
)
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW, run


def begin_stage(state: State) -> State:
    """Begin the next stage, or stop where the run is complete."""
    settings = state.settings
    if state.step >= settings.total_steps:
        return replace(state, phase="done", action=Action("stop", reason="finished"))
    stage = state.stage + 1
    tau = stage_length(settings, stage, state.step)
    state = replace(state, stage=stage, stage_start=state.step, tau=tau, until=state.step + tau)
    state = replace(state, attempts=(), round=())
    plan = decayed_plan(state) if decays(settings) else trial_plan(state)
    state = shared_plan(state, *plan)
    state = replace(state, looking=state.purse > 0 and decays(settings))
    if state.purse or safe_interval(state):
        return save(state, "save_stage", state.stage_slot)
    return begin_first_attempt(state)


def begin_first_attempt(state: State) -> State:
    """Begin the first trial of the stage, or continue without trials.

    The first candidate is the rate in use, where the search is warm-started; AutoLRS
    begins each search with one point drawn uniformly in log rate (n_initial_points = 1).
    """
    if not state.purse:
        return exploit(replace(state, rate=rate_in_use(state)))
    if tries_ratios(state):
        rate = rate_in_use(state)
        return run(replace(_with_round(replace(state, rate=rate), (rate,)), phase="trial"))
    if state.looking:
        return run(replace(_with_round(state, _decayed_rates(state)), phase="trial"))
    return run(replace(_with_first_round(state), phase="trial"))


def _with_first_round(state: State) -> State:
    settings, rate = state.settings, rate_in_use(state)
    if not settings.warm_start:
        low, high = interval(state)
        chance = random.Random(f"{settings.seed}/{state.stage}").random()
        rate = min(high, max(low, low * (high / low) ** chance))
    return _with_round(state, rates_to_try(state, (rate,)))


def _with_round(state: State, rates: tuple[float, ...]) -> State:
    """Begin with the first of candidates that were chosen together."""
    state = replace(state, round=rates[1:], round_start=len(state.attempts))
    if state.stage < 0:
        state = with_length(state, rates[0])
    return with_attempt(state, rates[0])


def with_attempt(state: State, rate: float, scales: tuple[float, ...] | None = None) -> State:
    """Begin with a candidate, at the scales in use or at others."""
    scales = state.scales if scales is None else scales
    attempt = Attempt(rate, f"trial-{len(state.attempts)}", scales=scales)
    until = state.stage_start + state.trial_steps
    return replace(state, bad=0, attempts=(*state.attempts, attempt), until=until)


def after_trial_steps(state: State, losses: tuple[float, ...]) -> State:
    """Go on with a trial, evaluate, or judge it."""
    attempt = state.attempts[-1]
    attempt = replace(attempt, losses=attempt.losses + losses, steps=attempt.steps + len(losses))
    state = _with_last(state, attempt)
    if state.bad >= BAD_IN_A_ROW or not all(map(usable, losses)):
        diverged = replace(attempt, status="diverged", forecast=math.nan, deviation=0.0)
        return next_attempt(_with_last(state, diverged))
    if validates(state.settings, state.stage):
        every = evaluation_interval(state.trial_steps)
        if attempt.steps % every == 0:
            return replace(state, phase="evaluate", action=Action("evaluate"))
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
    judged = with_end_loss(attempt) if state.looking else judge_attempt(state, attempt)
    return next_attempt(_with_last(state, judged))


def _with_last(state: State, attempt: Attempt) -> State:
    return replace(state, attempts=(*state.attempts[:-1], attempt))


def next_attempt(state: State) -> State:
    """Go back to the stage's start for another candidate, or choose the winner."""
    if state.round:
        rate, *rest = state.round
        return restore_stage(with_attempt(replace(state, round=tuple(rest)), rate))
    if tries_ratios(state):
        return _next_ratio(state)
    rates = _decayed_rates(state) if state.looking else rates_to_try(state, ())
    return restore_stage(_with_round(state, rates)) if rates else _conclude(state)


def _next_ratio(state: State) -> State:
    """Go back to the stage's start for other scales, or continue with the best ones."""
    scales, rate = next_scales(state), state.attempts[state.base or 0].rate
    if scales is None:
        return _to_winner(decide_scales(state))
    state = replace(state, round_start=len(state.attempts))
    return restore_stage(with_attempt(state, rate, scales))


def _decayed_rates(state: State) -> tuple[float, ...]:
    return next_range_rate(state) if state.stage < 0 else next_rates(state)


def restore_stage(state: State) -> State:
    """Go back to the stage's start; the last candidate is run from there."""
    state = replace(state, step=state.stage_start)
    return restore(state, "restore_stage", state.stage_slot)


def _conclude(state: State) -> State:
    """Choose the stage's rate and go to where its branch begins."""
    if state.stage < 0:
        return end_range_test(state)
    if state.looking:
        state = begun_with_ratios(decide_rate(state))
        if tries_ratios(state):
            return _next_ratio(state)
        return _to_winner(state)
    if (best := winner(state)) is None:
        lowest = min(attempt.rate for attempt in state.attempts)
        return _to_winner(replace(state, rate=max(state.settings.min_lr, lowest / 2.0)))
    peak = best.rate if state.peak is None else state.peak
    return _to_winner(replace(state, rate=best.rate, peak=peak))


def _to_winner(state: State) -> State:
    """Go back to the stage's start, which its steps are run from at the chosen rate."""
    restored = restore(state, "restore_winner", state.stage_slot)
    return replace(restored, step=state.stage_start, bad=0)


def exploit(state: State) -> State:
    """Run the stage's branch on, with a checkpoint to fall back on every so often."""
    until = state.stage_start + state.tau
    state = replace(state, phase="exploit", until=until)
    if state.step >= until:
        return _end_stage(state)
    return save(state, "save_safe", f"safe-{state.step}") if save_is_due(state) else run(state)


def after_exploit_steps(state: State) -> State:
    """Go on, or check the rate where training has diverged or its loss rises."""
    if not safe_interval(state):
        return exploit(state)
    state = with_least_level(state)
    if state.check is not None:
        return _after_check_steps(state, state.check)
    if state.flat is not None and state.runs_other:
        after = after_untrained_steps if state.flat.lower is None else after_lower_steps
        return _unless_saved_or_restored(after(state, state.flat))
    if going_wrong(state):
        return _check_rate(replace(state, flat=None))
    return _unless_saved_or_restored(_compared(with_proven_slot(state)))


def _compared(state: State) -> State:
    """Begin a comparison with another branch where one is due, or continue it."""
    if state.flat is None:
        return state
    if state.flat.start is None:
        return looked_at(state, state.flat)
    after = after_first_steps if state.flat.lower is None else after_raised_steps
    return after(state, state.flat)


def _check_rate(state: State) -> State:
    """Return to a checkpoint, at a lower rate; end where there is none, or no lower rate."""
    exploded, lowest = state.bad >= BAD_IN_A_ROW, rate_in_use(state) <= state.settings.min_lr
    if exploded and (lowest or state.safe_slot is None):
        return replace(state, phase="done", action=Action("stop", reason="diverged"))
    return _unless_saved_or_restored(begun_check(state))


def _after_check_steps(state: State, check: RateCheck) -> State:
    """Go on with the check of a rate; at its end, continue at this rate or at a lower one."""
    if not has_ended(state, check):
        return exploit(state)
    if is_the_data(state, check):
        return exploit(keep_rate(state, check))
    return _unless_saved_or_restored(halve_rate(state, check))


def _unless_saved_or_restored(state: State) -> State:
    """Run on, unless a checkpoint is saved or restored first."""
    return state if state.phase in ("restore_safe", "save_flat") else exploit(state)


def _end_stage(state: State) -> State:
    assert state.rate is not None, "a stage has a rate when it ends"
    told = tuple(replace(attempt, losses=(), evaluations=()) for attempt in state.attempts)
    record = Stage(state.stage_start, state.tau, state.rate, told, state.scales)
    return begin_stage(replace(state, history=(*state.history, record)))
