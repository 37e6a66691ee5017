"""How long stages and trials are, where rates are searched, and the rate at each step."""

import math

from topoloom.learning_rate.options import Settings
from topoloom.learning_rate.rate_shape import shape
from topoloom.learning_rate.state_machine.state import State

MAX_BATCH = 1024  # steps that are run without a report
MIN_TRIAL = 12  # steps without which a trial says nothing
FIRST_SHARE, SHARE = 0.8, 0.5  # of what is left for search, in the first stage and in others
RESERVE_SHARE = 0.2  # of the allowance, kept for recovery from divergence
GRAINS = 256  # pieces of constant rate that an anchor is cut into
WARMUP_GRAINS = 32
WARMUP_SAVES = 8
FALL_GRAINS = 32  # pieces of constant rate of a trial that falls to zero
RANGE = 2.0  # later stages search peak / RANGE to peak * RANGE


def middle(state: State) -> float:
    """Return the geometric mean of the interval, without overflow on the way."""
    settings, ceiling = state.settings, state.ceiling
    high = settings.max_lr if ceiling is None else min(settings.max_lr, ceiling)
    return math.sqrt(settings.min_lr) * math.sqrt(max(settings.min_lr, high))


def rate_in_use(state: State) -> float:
    """Return the rate that the stage begins at; a peak where there is an anchor."""
    return middle(state) if state.rate is None else state.rate


def warmup_target(state: State) -> float:
    """Return the rate that warm-up ends at; the middle below a rate at which it exploded."""
    target = state.settings.warmup_lr
    return target if state.ceiling is None else min(target, middle(state))


def stage_length(settings: Settings, stage: int, step: int) -> int:
    """Return tau: doubling from tau_min to tau_max (AutoLRS, Algorithm 1), cut at the end."""
    doublings = min(stage, settings.tau_max.bit_length())
    return min(settings.tau_max, settings.tau_min << doublings, settings.total_steps - step)


def decays(settings: Settings) -> bool:
    """Whether trials decay to zero (`learning_rate.state_machine.decayed_trials`)."""
    return settings.look_above and settings.allowance is not None


def validates(settings: Settings, stage: int) -> bool:
    """Whether a stage judges by validation loss: those after the first of length tau_max."""
    longest = stage > 0 and settings.tau_min << min(stage - 1, 64) >= settings.tau_max
    return settings.validation == "late" and longest and not decays(settings)


def evaluation_interval(trial_steps: int) -> int:
    """Return the steps between two evaluations of a trial: 16 of them, as published."""
    return max(1, trial_steps // 16)


def trial_plan(state: State) -> tuple[int, int]:
    """Return how long a trial of the present stage is, and its purse: the steps of all trials.

    Without an allowance: tau' = trial_fraction * tau, and a purse for all candidates.  With
    one, the purse is a share of what is left of it.  A purse of fewer than two trials of
    `MIN_TRIAL` steps is none at all: (0, 0).
    """
    settings = state.settings
    steps = max(1, int(settings.trial_fraction * state.tau))
    if settings.allowance is None:
        return steps, settings.candidates * steps
    purse = int((FIRST_SHARE if state.stage == 0 else SHARE) * left_for_search(state))
    shortest = min(MIN_TRIAL, state.tau)
    candidates = min(settings.candidates, purse // shortest)
    if candidates < 2:
        return 0, 0
    return min(max(steps, shortest), purse // candidates), purse


def left_for_search(state: State) -> int:
    """Return the steps of the allowance that searches may yet throw away."""
    allowance = state.settings.allowance or 0
    return max(0, allowance - int(RESERVE_SHARE * allowance) - state.discarded)


def interval(state: State) -> tuple[float, float]:
    """Return where the present stage searches."""
    settings = state.settings
    low, high = settings.min_lr, settings.max_lr
    if state.ceiling is not None:
        high = min(high, state.ceiling)
    if settings.anchor != "none" and state.peak is not None:
        low, high = max(low, state.peak / RANGE), min(high, state.peak * RANGE)
    return low, max(high, low * 1.000001)


def safe_interval(state: State) -> int:
    """Return after how many steps a checkpoint to fall back on is made; 0: never."""
    settings = state.settings
    every = int(RESERVE_SHARE * settings.allowance) if settings.allowance is not None else 0
    if state.phase == "warm_up" or state.stage < 0:
        soon = max(1, -(-settings.warmup_steps // WARMUP_SAVES))
        return min(every, soon) if settings.stop_rises else 0
    return every


def rate_at(state: State, rate: float) -> float:
    """Return what the optimizer is set to at a state's step, for a rate that is a peak."""
    settings, step = state.settings, state.step
    warmup = settings.warmup_steps
    if state.looking and state.phase == "trial":
        return rate * _fallen(state)
    ramp = (_warm_change(state) - state.begun) / warmup if warming(state) else 1.0
    if warming(state) and not state.begun:
        return warmup_target(state) * ramp
    grain = _grain(settings)
    start = step - (step - warmup) % grain  # before the end of a warm-up cut short: the peak
    factor = shape(settings.anchor, start, warmup, settings.total_steps, settings.decay_share)
    return rate * factor * ramp


def warming(state: State) -> bool:
    """Whether a state's step is one of warm-up."""
    if state.begun or state.warm_until is None:
        return state.step < state.begun + state.settings.warmup_steps
    return state.step < state.warm_until


def next_change(state: State) -> int:
    """Return the first step after a state's at which the rate may change by itself."""
    settings, step = state.settings, state.step
    warmup = settings.warmup_steps
    if state.looking and state.phase == "trial":
        return state.stage_start + _piece(state)[1]
    warm = _warm_change(state) if warming(state) else settings.total_steps
    if settings.anchor == "none" or (warming(state) and not state.begun):
        return warm
    grain = _grain(settings)
    return min(warm, step + grain - (step - warmup) % grain)


def _warm_change(state: State) -> int:
    """Return the end of the piece of one rate that a step of warm-up is in."""
    warmup = state.settings.warmup_steps
    grain = max(1, warmup // WARMUP_GRAINS)
    return state.begun + min(warmup, ((state.step - state.begun) // grain + 1) * grain)


def _fallen(state: State) -> float:
    """Return the factor at which a trial is that falls linearly to zero; in (0, 1)."""
    first, last = _piece(state)
    return 1.0 - (first + last) / 2 / state.trial_steps


def _piece(state: State) -> tuple[int, int]:
    """Return the begin and the end, in steps of the trial, of a piece of one rate."""
    grain = max(1, state.trial_steps // FALL_GRAINS)
    done = state.step - state.stage_start
    first = min(done, state.trial_steps - 1) // grain * grain
    return first, min(first + grain, state.trial_steps)


def _grain(settings: Settings) -> int:
    return max(1, settings.total_steps // GRAINS)
