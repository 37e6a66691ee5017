"""The tuner as a pure state machine: (state, what was reported) -> (state, what to do next).

The loop of AutoLRS (Algorithm 1): a stage of tau steps saves a checkpoint, runs each
candidate tau' steps from it, forecasts its loss after tau steps, asks the search for the next
candidate, and continues with the winner; tau doubles.  Separate options switch the changes of
"topoloom" (`learning_rate.options`).

Nothing here reads a clock, a file or a random generator that is not derived from the
seed; the same losses give the same actions, from a state read back from JSON too.

Invariant: with an allowance (``max_overhead`` finite) ``spent - step`` never exceeds it when
the trainer is on the branch that is kept, hence the whole run costs at most
``total_steps + allowance`` steps.  Proof: a stage plans trials whose steps in all, even if
every one is thrown away, are at most what is left; a fall back to a safe checkpoint counts the
steps since as run if they are not left, so that `step` stays.
"""

from collections.abc import Sequence
from dataclasses import replace

from topoloom.learning_rate.options import Options
from topoloom.learning_rate.state_machine.checkpoints import fresh
from topoloom.learning_rate.state_machine.flat_starts import to_the_same_batches, to_the_untrained
from topoloom.learning_rate.state_machine.raised_rates import (
    at_lower_rate,
    begun_comparison,
    to_the_stage,
)
from topoloom.learning_rate.state_machine.range_trials import begun_with_range
from topoloom.learning_rate.state_machine.report_checks import checked_losses
from topoloom.learning_rate.state_machine.stages import (
    after_evaluation,
    after_exploit_steps,
    after_trial_steps,
    begin_first_attempt,
    exploit,
    next_attempt,
)
from topoloom.learning_rate.state_machine.state import VERSION, Action, State
from topoloom.learning_rate.state_machine.step_counting import count_steps, is_part, run, the_rest
from topoloom.learning_rate.state_machine.warm_up import after_warm_up_steps, warm_up


def start(options: Options) -> State:
    """Return the first state of a run; its ``action`` is what the trainer does first.

    >>> start(Options(0.001, 0.1, 1000)).action.slot
    'safe-0'
    >>> start(Options(0.001, 0.1, 1000, method="paper")).action.do
    'save'
    """
    state = State(VERSION, options.settled(), "warm_up", Action("go_on"))
    state = replace(state, scales=(1.0,) * len(state.settings.group_ratios))
    state = replace(state, until=state.settings.warmup_steps)
    if state.settings.range_test:
        state = begun_with_range(state)
    return state if state.purse else warm_up(state)


def observe(state: State, losses: Sequence[float] = ()) -> State:
    """Return the state after a report that answers ``state.action``.

    Args:
        losses: After set_lr and go_on: 1 to ``steps`` training losses, oldest first, each computed
            before its step changed the model; NaN and Inf are legal.  After evaluate: one
            validation loss.  After save and restore: nothing.

    Raises:
        InvalidObservation: Anything else; the state is a value and stays as it was.

    >>> state = start(Options(0.001, 0.1, 1000, method="paper"))
    >>> observe(state).action.do
    'set_lr'
    >>> observe(state, [1.0])
    Traceback (most recent call last):
    ...
    topoloom.learning_rate.errors.InvalidObservation: /losses: must be empty after save
    """
    values = checked_losses(state.action, losses)
    match state.phase:
        case "warm_up" | "exploit" if is_part(state, values):
            return the_rest(count_steps(state, values), state.action.steps - len(values))
        case "warm_up":
            return after_warm_up_steps(count_steps(state, values))
        case "save_stage":
            return begin_first_attempt(fresh(state, state.stage_slot))
        case "restore_stage":
            return run(replace(state, phase="trial", step=state.stage_start, lr=None))
        case "trial":
            return after_trial_steps(count_steps(state, values), values)
        case "evaluate":
            return after_evaluation(state, values[0])
        case "save_trial":
            return next_attempt(state)
        case "restore_winner":
            return exploit(begun_comparison(replace(state, lr=None)))
        case "exploit":
            return after_exploit_steps(count_steps(state, values))
        case "save_safe":
            state = fresh(state, f"safe-{state.step}")
            return warm_up(state) if state.stage < 0 else exploit(state)
        case "save_flat":
            return _to_the_other(state) if state.runs_other else exploit(state)
        case "restore_flat" if state.flat is not None and state.flat.lower is not None:
            return exploit(at_lower_rate(state, state.flat))
        case "restore_flat":
            return to_the_untrained(state)
        case _:  # restore_safe
            state = replace(state, lr=None)
            return warm_up(state) if state.stage < 0 else exploit(state)


def _to_the_other(state: State) -> State:
    """Return to where the other branch of a comparison begins, or to its batches."""
    if (flat := state.flat) is not None and flat.lower is not None:
        return to_the_stage(state, flat)
    return to_the_same_batches(state)
