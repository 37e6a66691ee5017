"""Steps that a trainer ran unasked, because nobody could tell it what to do next.

A remote tuner may be unreachable for a while; training continues at the last rate.  The effect
of such steps depends on the pending action:

- on the kept branch (warm-up, a stage's course, a checkpoint of it) they are progress: the
  segment was longer than planned, and the next one begins where the trainer is;
- in a trial that has begun they make the trial longer, and its forecast better;
- before a trial's first step they ran at another rate than the trial's: the stage's checkpoint
  is restored once more;
- before a checkpoint is restored they are thrown away with the rest.

They count in ``spent``, so a run may exceed its allowance by their number; later searches get
less.
"""

from collections.abc import Sequence
from dataclasses import replace

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.options import MAX_OVERRUN
from topoloom.learning_rate.state_machine.flat_starts import saved_later
from topoloom.learning_rate.state_machine.range_trials import without_range
from topoloom.learning_rate.state_machine.report_checks import checked_losses
from topoloom.learning_rate.state_machine.stage_plan import validates
from topoloom.learning_rate.state_machine.stages import (
    after_exploit_steps,
    after_trial_steps,
    begin_stage,
    restore_stage,
)
from topoloom.learning_rate.state_machine.state import Action, State
from topoloom.learning_rate.state_machine.step_counting import count_steps
from topoloom.learning_rate.state_machine.warm_up import after_warm_up_steps


def overrun(state: State, losses: Sequence[float]) -> State:
    """Return the state after steps at the last rate that ``state.action`` did not ask for.

    Args:
        losses: 1 to `MAX_OVERRUN`, oldest first; NaN and Inf are legal.

    Raises:
        InvalidObservation: Anything else; the state is a value and stays as it was.

    >>> from topoloom.learning_rate import Options, observe, start
    >>> state = start(Options(0.001, 0.1, 1000))
    >>> late = overrun(observe(state, [2.0] * state.action.steps), [1.9] * 20)
    >>> late.step == state.action.steps + 20, late.action.do
    (True, 'save')
    """
    values = checked_losses(Action("go_on", steps=MAX_OVERRUN), losses)
    if state.phase == "done" or state.phase.startswith("restore"):
        return replace(state, spent=state.spent + len(values))
    if state.phase in ("trial", "evaluate", "save_trial") and not state.attempts[-1].steps:
        return restore_stage(replace(state, spent=state.spent + len(values)))
    # A run is not made longer than it was to be: what is beyond its end is only counted.
    counted = values[: state.settings.total_steps - state.step]
    # The rate of the trainer is unknown.
    state = replace(state, spent=state.spent + len(values) - len(counted), lr=None)
    if not counted:
        return state
    if state.phase in ("trial", "evaluate", "save_trial"):
        return _longer_trial(state, counted)
    state = count_steps(state, counted)
    if state.phase == "save_flat":
        return saved_later(state)
    if state.phase == "save_stage" and state.stage < 0:
        return after_warm_up_steps(replace(without_range(state), phase="warm_up"))
    if state.phase == "save_stage":
        return begin_stage(replace(state, stage=state.stage - 1))
    if state.stage < 0:
        return after_warm_up_steps(state)
    return after_exploit_steps(state)


def _longer_trial(state: State, losses: tuple[float, ...]) -> State:
    attempt = replace(state.attempts[-1], status="running", forecast=None, deviation=None)
    attempts = (*state.attempts[:-1], attempt)
    state = count_steps(replace(state, phase="trial", attempts=attempts), losses)
    if validates(state.settings, state.stage) and all(map(usable, losses)):
        # The place of its next evaluation may have been passed: it is made here.
        longer = replace(attempt, losses=attempt.losses + losses, steps=attempt.steps + len(losses))
        attempts = (*state.attempts[:-1], longer)
        return replace(state, phase="evaluate", attempts=attempts, action=Action("evaluate"))
    return after_trial_steps(state, losses)
