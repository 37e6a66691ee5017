"""Whether the rate or the data made the kept branch explode or rise, on the same batches.

Data that become harder raise the loss at every rate.  So a run that goes wrong returns to its
latest safe checkpoint and sees the same batches again, at the lowest rate, up to the place where it
went wrong.  This rate hardly changes the model.  So the data are the cause

- if the run explodes no later than before, to losses of no less than half.  Later losses are then
  compared with the exploded ones;
- if the loss rises within the check, too, by the same share of the whole fall.  A checkpoint whose
  units have died has a high loss from the first batch on, and clears no rate.

Then the run continues at its former rate.  A check costs the steps of a return, so rises are
watched until the data have been the cause `MOST_CLEARED` times.  If the checkpoint is one of
warm-up, or the lowest rate is not far below the one in use, there is no check, and the rate counts
as the cause.
"""

from dataclasses import replace

from topoloom.learning_rate.state_machine.checkpoints import may_begin_again, to_safe, to_untrained
from topoloom.learning_rate.state_machine.divergence_detector import LASTING, WINDOW, has_risen
from topoloom.learning_rate.state_machine.stage_plan import rate_in_use, warming
from topoloom.learning_rate.state_machine.state import RateCheck, State
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW

LOWER = 10.0  # times lower is the rate of a check at least, and that of another beginning


def begun_check(state: State) -> State:
    """Return to the latest safe checkpoint, at the lowest rate.

    Without a checkpoint of after warm-up, and at the end of a stage, the rate counts as the cause.
    """
    check = RateCheck(
        steps=state.step - state.safe_step,
        exploded=state.bad >= BAD_IN_A_ROW,
        again=state.bad < BAD_IN_A_ROW and may_begin_again(state),
        rate=rate_in_use(state),
        peak=state.peak,
        ceiling=state.ceiling,
        loss=_latest(state),
    )
    if state.safe_slot is None:
        return halve_rate(state, check)
    lowest = state.settings.min_lr
    state = to_safe(replace(state, rate=lowest, recent=(), floor=None, bad=0))
    if _stage_ends(state) or warming(state) or check.rate < LOWER * lowest:
        return halve_rate(state, check)
    return replace(state, check=replace(check, start=state.step))


def has_ended(state: State, check: RateCheck) -> bool:
    """Whether a check has come to the place where the run went wrong, or explodes before."""
    steps = check.steps if check.exploded else max(check.steps, LASTING * WINDOW)
    done = state.step >= check.start + steps or state.bad >= BAD_IN_A_ROW
    return done or _stage_ends(state)


def is_the_data(state: State, check: RateCheck) -> bool:
    """Whether the run has gone wrong at the lowest rate as it had before."""
    exploded = state.bad >= BAD_IN_A_ROW
    if not check.exploded:
        return not exploded and has_risen(state, certain=0.0)
    return exploded and state.step <= check.start + check.steps and 2 * _latest(state) >= check.loss


def keep_rate(state: State, check: RateCheck) -> State:
    """Return the state at the former rate; exploded losses become those that the run began with."""
    first = state.recent[-BAD_IN_A_ROW:] if check.exploded else state.first
    state = replace(state, rate=check.rate, peak=check.peak, ceiling=check.ceiling, first=first)
    return replace(
        state, recent=(), floor=None, bad=0, check=None, times_cleared=state.times_cleared + 1
    )


def halve_rate(state: State, check: RateCheck) -> State:
    """Return the state at half the rate; no rate near the former one is searched again.

    Early in the run a rise leads back to the untrained model, once, at a tenth of the rate: units
    that have died while the loss still fell are dead in the latest safe checkpoint, too.
    """
    lower = max(state.settings.min_lr, check.rate / (LOWER if check.again else 2.0))
    peak = None if check.peak is None else min(check.peak, lower)
    ceiling = max(lower, check.rate / 2.0) if check.again else check.rate
    exploded = state.bad >= BAD_IN_A_ROW
    state = replace(state, rate=lower, peak=peak, ceiling=ceiling, recent=(), floor=None, bad=0)
    state = replace(state, check=None)
    if check.again:
        return to_untrained(state)
    return to_safe(state) if exploded else state


def _stage_ends(state: State) -> bool:
    return state.step >= state.stage_start + state.tau


def _latest(state: State) -> float:
    """Return the mean of the losses that say whether training has diverged."""
    losses = state.recent[-BAD_IN_A_ROW:]
    return sum(losses) / len(losses)  # fmean raises where losses overflow
