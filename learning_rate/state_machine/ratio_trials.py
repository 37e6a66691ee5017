"""Search the ratios between the rates of parameter groups, after the rate of the run.

The groups of `Options.group_ratios` have a factor each, their scale, which is 1 at first.  When the
rate of a stage is decided, further trials run from the same checkpoint, on the same batches, and
decay to zero as those of the rate do (`learning_rate.state_machine.decayed_trials`).  All of them
have the rate of the trial that ended lowest, which is their first opponent: about the best common
rate the gains and losses of all groups balance, so a group that gains there differs from the rest.

The search goes group by group, first upwards, then downwards: a scale is multiplied by `STEP` as
long as the trial ends clearly lower, step by step, and by ``eps`` of what the loss has fallen since
the run began.  A group that has not risen is divided likewise.  Every improvement is the opponent
of what follows.  The rate of the run stays, and so do the scales where nothing is clear; before the
loss has fallen no ratio is tried.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from topoloom.learning_rate.state_machine.decayed_trials import (
    LATEST,
    SHORTEST,
    STEP,
    TRIAL_SHARE,
    below,
)
from topoloom.learning_rate.state_machine.divergence_detector import fall_to, has_fallen
from topoloom.learning_rate.state_machine.stage_plan import decays, left_for_search
from topoloom.learning_rate.state_machine.state import Attempt, State

RATE_TRIALS, LEAST_RATE_TRIALS = 4, 3  # that the rate has before the ratios
PER_GROUP = 2  # trials: a factor up, a factor down
REACH = 4  # factors of STEP that a scale may be from 1

Rungs = tuple[int, ...]


def shared_plan(state: State, steps: int, purse: int) -> State:
    """Return a state with the plan of a stage whose rates had ``purse``, shared with ratios.

    The trials of the rate get what is left for them beside `PER_GROUP` trials for each group, at
    least `LEAST_RATE_TRIALS`.  A stage without trials of the rate tries ratios alone, where the
    run has not tried any.
    """
    ratios = PER_GROUP * len(state.settings.group_ratios)
    base = None
    if ratios and purse:
        steps = min(steps, max(SHORTEST, purse // (RATE_TRIALS + ratios)))
        purse = min(purse, steps * max(LEAST_RATE_TRIALS, purse // steps - ratios))
    elif ratios and decays(state.settings) and _is_due(state):
        left, most = left_for_search(state), int(TRIAL_SHARE * (state.settings.allowance or 0))
        steps = min(max(SHORTEST, min(most, left // (1 + ratios))), state.tau)
        if left >= (1 + PER_GROUP) * steps:
            purse, base = left, 0
    return replace(state, trial_steps=steps, purse=purse, base=base)


def begun_with_ratios(state: State) -> State:
    """Return the state at the end of the trials of the rate, with the first opponent of ratios."""
    ended = [place for place, one in enumerate(state.attempts) if one.status == "finished"]
    paid = left_for_search(state) >= state.trial_steps
    if not state.settings.group_ratios or not ended or not paid or not has_fallen(state):
        return state
    return replace(state, base=min(ended, key=lambda place: state.attempts[place].forecast or 0.0))


def next_scales(state: State) -> tuple[float, ...] | None:
    """Return the scales to try next; None at the end of the search or of its budget."""
    if left_for_search(state) < state.trial_steps:
        return None
    wanted = _walk(state)[1]
    return None if wanted is None else _scales(state, wanted)


def decide_scales(state: State) -> State:
    """Return the state with the scales that the trials are for."""
    return replace(state, scales=_scales(state, _walk(state)[0]))


def tries_ratios(state: State) -> bool:
    """Whether the present trials are of ratios."""
    return state.base is not None


def _is_due(state: State) -> bool:
    late = state.step > LATEST * state.settings.total_steps
    tried = any(len({one.scales for one in stage.attempts}) > 1 for stage in state.history)
    return not late and not tried and has_fallen(state)


def _walk(state: State) -> tuple[Rungs, Rungs | None]:
    """Return the rungs at which the search stands, and those to try next; None at its end."""
    known = _known(state)
    best: Rungs = (0,) * len(state.scales)
    if best not in known:
        return best, None
    for group, direction in _moves(len(best)):
        if best[group] * direction < 0:  # has risen, and need not be tried below
            continue
        while (wanted := _moved(best, group, direction)) and _is_within(state, wanted):
            if wanted not in known:
                return best, wanted
            worth = state.settings.eps * fall_to(state, known[wanted].forecast)
            if not below(known[wanted], known[best], worth):
                break
            best = wanted
    return best, None


def _moves(groups: int) -> Iterator[tuple[int, int]]:
    """Yield groups with a direction, all of them upwards first."""
    for direction in (1, -1):
        for group in range(groups):
            yield group, direction


def _moved(rungs: Rungs, group: int, direction: int) -> Rungs:
    return (*rungs[:group], rungs[group] + direction, *rungs[group + 1 :])


def _known(state: State) -> dict[Rungs, Attempt]:
    """Return the ended trials at the rate of the first opponent, by their place in scales."""
    assert state.base is not None, "ratios have an opponent"
    rate = state.attempts[state.base].rate
    return {
        _rungs(one.scales, state.scales): one
        for one in state.attempts[state.base :]
        if one.rate == rate and one.status != "running"
    }


def _rungs(scales: tuple[float, ...], base: tuple[float, ...]) -> Rungs:
    return tuple(round(math.log(a / b, STEP)) for a, b in zip(scales, base, strict=True))


def _scales(state: State, rungs: Rungs) -> tuple[float, ...]:
    return tuple(
        scale * STEP**rung if rung else scale
        for scale, rung in zip(state.scales, rungs, strict=True)
    )


def _is_within(state: State, rungs: Rungs) -> bool:
    return all(abs(math.log(scale, STEP)) <= REACH + 1e-6 for scale in _scales(state, rungs))
