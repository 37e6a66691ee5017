"""Warm-up: linear, nothing searched in it, and over where the loss rises."""

from dataclasses import replace

from topoloom.learning_rate.state_machine.checkpoints import (
    affordable,
    going_wrong,
    save,
    save_is_due,
    to_safe,
    with_proven_slot,
)
from topoloom.learning_rate.state_machine.divergence_detector import watched
from topoloom.learning_rate.state_machine.stage_plan import rate_at, safe_interval
from topoloom.learning_rate.state_machine.stages import begin_stage
from topoloom.learning_rate.state_machine.state import State
from topoloom.learning_rate.state_machine.step_counting import run


def warm_up(state: State) -> State:
    """Run warm-up on, to the first stage."""
    state = replace(state, phase="warm_up")
    if state.step >= state.until:
        return begin_stage(state)
    return save(state, "save_safe", f"safe-{state.step}") if save_is_due(state) else run(state)


def after_warm_up_steps(state: State) -> State:
    """Go on with warm-up; end it, and go back, where the loss rises or explodes."""
    if safe_interval(state):
        state = watched(state)
        if going_wrong(state):
            return _end_warm_up(state)
        state = with_proven_slot(state)
    return warm_up(state)


def _end_warm_up(state: State) -> State:
    """Begin the first stage before the rise, at the rate of then; else here, at half of it."""
    state = replace(state, ceiling=state.lr, recent=(), floor=None, bad=0)
    step = state.safe_step if affordable(state) else state.step
    rate = rate_at(replace(state, step=step), 1.0) if step < state.step else (state.lr or 0.0) / 2
    rate = max(state.settings.min_lr, rate)
    state = replace(state, rate=rate, warm_until=step)
    return to_safe(state) if step < state.step else begin_stage(state)
