"""Whether a loss that has never fallen waits for its fall, or is held up by too large a rate.

At a rate that is far too large a network may end at a constant answer, where nothing explodes and
nothing rises.  A plateau looks the same, and waiting is right there.  The untrained model tells
them apart: at a tenth of the rate it falls below the first within some ten steps, and does not
leave the second.

`DUE` of the way from the end of warm-up to the last step from which this may begin, the losses are
compared with the least level of up to the first steps after warm-up.  If they are not clearly
below, then

- the run continues for some steps, between two checkpoints;
- the untrained model warms up to a tenth of the rate, on the same batches and with the same random
  numbers;
- it replaces the model if its last losses are lower, step by step, by `CLEAR` standard errors and
  by `LARGE` standard deviation of the other's losses, which is beyond what a large rate itself adds
  to the loss on a plateau.

Otherwise the run returns to its second checkpoint.  Either happens once at most.  The steps of the
untrained model, a tenth fewer if that helps, are discarded if ``max_overhead`` pays for them, and
count as run if not.

A run that is shorter than `LONG` comparisons has one of `SHORT` steps, which judges the `FEW` last
losses, or none if it is shorter than `LONG` of these.  It may not cost a healthy run its steps: a
loss that is clearly below the first ones is not compared, and the comparison ends halfway if the
untrained model is not lower by then in the mean.  Its rate has hardly trained it there, so this
asks whether the model is worse than the untrained one.
"""

import statistics
from dataclasses import replace

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.checkpoints import (
    affordable,
    last_step_to_begin_again,
    restore,
    save,
)
from topoloom.learning_rate.state_machine.decayed_trials import CLEAR, standard_error
from topoloom.learning_rate.state_machine.divergence_detector import (
    WINDOW,
    has_fallen,
    noise,
    stays_above,
)
from topoloom.learning_rate.state_machine.raised_rates import with_raised_end
from topoloom.learning_rate.state_machine.stage_plan import rate_in_use
from topoloom.learning_rate.state_machine.state import (
    FLAT_END,
    FLAT_START,
    UNTRAINED,
    FlatStart,
    State,
)
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW, SHORT, halfway

DUE = 0.9
LONG = 12  # times the steps of a comparison, which a run has at least
COMPARED = 24  # last losses of either model
LARGE = 1.0  # standard deviation
FEW = 12  # last losses of either model in a comparison of `SHORT` steps
SHORTER = 0.9  # of the steps of a comparison, at least, if the budget pays for them
LOWER = 10.0  # times lower is the rate of the untrained model


def looked_at(state: State, flat: FlatStart) -> State:
    """Return the state with the early floor, or with the begin of a comparison where one is due."""
    warmup, steps = state.settings.warmup_steps, _steps(state)
    last = last_step_to_begin_again(state) - steps
    if flat.floor is None and state.step >= max(warmup + WINDOW, 2 * COMPARED):
        flat = replace(flat, floor=state.floor)
    if state.step < warmup + DUE * (last - warmup) or state.check is not None:
        return replace(state, flat=flat)
    lowest = rate_in_use(state) <= state.settings.min_lr
    never = state.untrained and not lowest and steps > 0 and state.step <= last
    if not never or flat.floor is None or not stays_above(state, flat.floor):
        return replace(state, flat=None)
    paid = (state.settings.allowance or 0) - state.discarded
    steps = min(steps, paid) if paid >= SHORTER * steps else steps
    tau = max(state.tau, state.step + 2 * steps - state.stage_start)  # no search meanwhile
    flat = replace(flat, start=state.step, steps=steps, rate=state.rate, peak=state.peak)
    return save(replace(state, flat=flat, tau=tau), "save_flat", FLAT_START)


def _steps(state: State) -> int:
    """Return the steps of a comparison; 0 where the run is too short for any."""
    settings = state.settings
    steps = max(settings.warmup_steps, COMPARED) + COMPARED
    if LONG * steps > settings.total_steps:
        steps = 0 if has_fallen(state) else SHORT
    return steps if LONG * steps <= settings.total_steps else 0


def after_first_steps(state: State, flat: FlatStart) -> State:
    """Save the model that ran, if its steps are over, to run the untrained one."""
    if flat.start is None or state.step < flat.start + flat.steps:
        return state
    return save(_with_end(state, flat), "save_flat", FLAT_END)


def saved_later(state: State) -> State:
    """Return a state in which steps that nobody asked for ran before a requested save."""
    flat = state.flat or FlatStart()
    if state.step >= state.settings.total_steps:
        return replace(state, flat=None)
    if flat.end is None:
        return replace(state, flat=replace(flat, start=state.step))
    return _with_end(state, flat) if flat.lower is None else with_raised_end(state, flat)


def _with_end(state: State, flat: FlatStart) -> State:
    """Return the state at the end of the model's steps; the stage lasts until the other's end."""
    steps = state.step - (flat.start or 0)  # more than planned after steps that nobody asked for
    last = min(state.settings.total_steps, state.step + steps)
    tau = max(state.tau, last - state.stage_start)
    flat = replace(flat, end=state.step, losses=state.recent[-SHORT:])
    return replace(state, flat=flat, tau=tau)


def to_the_same_batches(state: State) -> State:
    """Return to the batches that the model has seen; the untrained model is restored next."""
    return restore(state, "restore_flat", FLAT_START)


def to_the_untrained(state: State) -> State:
    """Restore the untrained model for a warm-up to a tenth of the rate."""
    lower = max(state.settings.min_lr, rate_in_use(state) / LOWER)
    peak = None if state.peak is None else min(state.peak, lower)
    state = replace(state, rate=lower, peak=peak, begun=state.step, recent=(), floor=None, bad=0)
    return restore(replace(state, untrained=False), "restore_safe", UNTRAINED)


def after_untrained_steps(state: State, flat: FlatStart) -> State:
    """Keep the untrained model if it is better by now, or return to the other one."""
    end = flat.end or 0
    done, steps = state.step - end, end - (flat.start or 0)
    hopeless = state.bad >= BAD_IN_A_ROW or (done == halfway(flat) and not _is_lower(state, flat))
    if done < steps and not hopeless and state.step < state.settings.total_steps:
        return state
    state = replace(state, flat=None)
    if not hopeless and _is_better(state, flat):
        assert flat.rate is not None, "a run that is compared has a rate"
        ceiling = max(rate_in_use(state), flat.rate / 2.0)
        state = replace(state, ceiling=ceiling, new_slot=None)
        return replace(state, safe_slot=UNTRAINED, safe_step=end)
    state = replace(state, rate=flat.rate, peak=flat.peak, begun=0, recent=(), floor=None, bad=0)
    state = replace(state, safe_slot=FLAT_END, safe_step=end, new_slot=None, untrained=True)
    if affordable(state) and end >= state.stage_start:
        state = replace(state, step=end)
    return restore(state, "restore_safe", FLAT_END)


def _is_better(state: State, flat: FlatStart) -> bool:
    """Whether the untrained model ends lower than the other one, by more than noise explains."""
    least = FEW if flat.steps <= SHORT else COMPARED
    pairs = _pairs(state, flat, least)
    if len(pairs) < least // 2:
        return False
    gaps = [theirs - mine for mine, theirs in pairs]
    deviation = noise([theirs for _, theirs in pairs])
    return statistics.fmean(gaps) > max(CLEAR * standard_error(gaps), LARGE * deviation)


def _is_lower(state: State, flat: FlatStart) -> bool:
    """Whether the untrained model is lower in the mean of its latest losses."""
    return sum(theirs - mine for mine, theirs in _pairs(state, flat, WINDOW)) > 0


def _pairs(state: State, flat: FlatStart, count: int) -> list[tuple[float, float]]:
    """Return the last losses of both models on the same batches, the untrained one's first."""
    end, done = flat.end or 0, state.step - (flat.end or 0)
    late = done - (end - (flat.start or 0))  # below 0 before the end, above 0 after other steps
    mine = state.recent[: len(state.recent) - max(0, late)][-count:]
    theirs = flat.losses[: max(0, len(flat.losses) + min(0, late))][-count:]
    pairs = zip(reversed(mine), reversed(theirs), strict=False)
    return [(a, b) for a, b in pairs if usable(a) and usable(b)]
