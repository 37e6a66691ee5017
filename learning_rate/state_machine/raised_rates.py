"""Whether a rate far above the start of the search holds for longer than a trial.

The rate of a trial falls to zero within some ten steps.  So a rate may end lowest at which a model
learns little more: its damage shows later, and no lower rate repairs it by then.  Where a search
has raised the rate by two rungs or more, the run therefore begins with a comparison:

- some steps at the raised rate, which is the kept branch;
- from the checkpoint of the trials, as many steps on the same batches at a rung below.

Neither rate falls meanwhile.  The lower one is kept if its last losses are lower, step by step, by
`CLEAR` standard errors and by ``eps`` of what the loss has fallen since the run began.  Otherwise
the run returns to the end of its first steps.  One of both is discarded, so there is no comparison
if ``max_overhead`` does not pay for `SHORTEST` trials more.
"""

import statistics
from dataclasses import replace

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.checkpoints import restore, save
from topoloom.learning_rate.state_machine.decayed_trials import CLEAR, standard_error
from topoloom.learning_rate.state_machine.divergence_detector import fall_to
from topoloom.learning_rate.state_machine.state import FLAT_END, FlatStart, State
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW, SHORT

LONGEST, SHORTEST = 3, 2  # trials that a comparison is as long as
LAST, LEAST_LAST = 3, 6  # the part of the losses that is compared, and how many at least


def begun_comparison(state: State) -> State:
    """Return the state at the stage's start, with a comparison if the rate was raised far."""
    flat = state.flat
    if flat is None or flat.lower is None:
        return state
    paid = (state.settings.allowance or 0) - state.discarded
    steps = min(LONGEST * state.trial_steps, paid, state.tau)
    if steps < SHORTEST * state.trial_steps:
        return replace(state, flat=replace(flat, lower=None))
    floor = state.floor if flat.floor is None else flat.floor
    flat = replace(flat, floor=floor, start=state.step, steps=steps)
    return replace(state, flat=replace(flat, rate=state.rate, peak=state.peak))


def after_raised_steps(state: State, flat: FlatStart) -> State:
    """Save the model once its steps at the raised rate are over."""
    if state.step < (flat.start or 0) + flat.steps:
        return state
    return save(with_raised_end(state, flat), "save_flat", FLAT_END)


def with_raised_end(state: State, flat: FlatStart) -> State:
    """Return the state at the end of the steps; the stage lasts until then at least."""
    flat = replace(flat, end=state.step, losses=state.recent[-SHORT:])
    return replace(state, flat=flat, tau=max(state.tau, state.step - state.stage_start))


def to_the_stage(state: State, flat: FlatStart) -> State:
    """Return to the checkpoint of the trials."""
    return restore(replace(state, step=flat.start or 0), "restore_flat", state.stage_slot)


def at_lower_rate(state: State, flat: FlatStart) -> State:
    """Return the state at the lower rate, which is a peak as the raised one was."""
    state = replace(state, rate=flat.lower, peak=flat.lower, lr=None)
    return replace(state, recent=(), floor=None, bad=0)


def after_lower_steps(state: State, flat: FlatStart) -> State:
    """Keep the lower rate if it is better by now, or return to the raised one."""
    end, exploded = flat.end or 0, state.bad >= BAD_IN_A_ROW
    if state.step < end and not exploded:
        return state
    state = replace(state, flat=FlatStart(floor=flat.floor), new_slot=None)
    if not exploded and _is_better(state, flat):
        return replace(state, safe_slot=state.stage_slot, safe_step=flat.start or 0)
    state = replace(state, rate=flat.rate, peak=flat.peak, recent=flat.losses, floor=None, bad=0)
    state = replace(state, step=end, safe_slot=FLAT_END, safe_step=end)
    return restore(state, "restore_safe", FLAT_END)


def _is_better(state: State, flat: FlatStart) -> bool:
    end = flat.end or 0
    count = max(LEAST_LAST, (end - (flat.start or 0)) // LAST)
    mine = state.recent[: len(state.recent) - (state.step - end)]  # without steps nobody asked for
    pairs = zip(reversed(mine[-count:]), reversed(flat.losses[-count:]), strict=False)
    gaps = [theirs - own for own, theirs in pairs if usable(own) and usable(theirs)]
    if len(gaps) < LEAST_LAST:
        return False
    worth = state.settings.eps * fall_to(state, None)
    return statistics.fmean(gaps) > max(worth, CLEAR * standard_error(gaps))
