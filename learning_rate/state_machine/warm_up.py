"""Warm-up: linear, nothing searched in it, and lower or over where the loss rises.

The model is saved before the first step.  Where warm-up explodes before a later checkpoint is
known to be safe, the whole interval is too high: warm-up begins again from the untrained model,
to the middle of what lies below the rate that exploded.
"""

from dataclasses import replace

from topoloom.learning_rate.state_machine.checkpoints import (
    affordable,
    going_wrong,
    save,
    save_is_due,
    to_safe,
    with_proven_slot,
)
from topoloom.learning_rate.state_machine.divergence_detector import with_least_level
from topoloom.learning_rate.state_machine.stage_plan import safe_interval, warming
from topoloom.learning_rate.state_machine.stages import begin_stage
from topoloom.learning_rate.state_machine.state import State
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW, run


def warm_up(state: State) -> State:
    """Run warm-up on, to the first stage."""
    state = replace(state, phase="warm_up")
    due = save_is_due(state)
    first = due and not state.step  # without a warm-up, too
    if not first and not warming(state):
        return begin_stage(state)
    return save(state, "save_safe", f"safe-{state.step}") if due else run(state)


def after_warm_up_steps(state: State) -> State:
    """Go on with warm-up; end it, and go back, where the loss rises or explodes."""
    if safe_interval(state):
        state = with_least_level(state)
        if going_wrong(state):
            return _gone_wrong(state)
        state = with_proven_slot(state)
    return warm_up(state)


def _gone_wrong(state: State) -> State:
    """Begin the first stage at half the rate that rose, before the rise where that is paid for.

    A model that exploded is restored in any case.  If the checkpoint is the untrained model, or the
    budget does not pay for going back, warm-up continues at the current step towards a lower rate.
    """
    back, exploded = affordable(state) and state.safe_step > 0, state.bad >= BAD_IN_A_ROW
    state = replace(state, ceiling=state.lr, recent=(), floor=None, bad=0)
    if exploded and state.safe_slot is not None and not back:
        return to_safe(state)
    rate = max(state.settings.min_lr, (state.lr or 0.0) / 2.0)
    state = replace(state, rate=rate, warm_until=state.safe_step if back else state.step)
    return to_safe(state) if back else begin_stage(state)
