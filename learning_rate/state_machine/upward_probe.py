"""Probe a larger rate than the last rate of warm-up, by two trials that decay to zero.

At a constant rate a trial of a few dozen steps shows the noise of the rate more than its progress,
so the search mostly keeps the rate of warm-up in long runs.  A rate that falls linearly to zero
removes that noise by the end of a trial.  Before the first search the probe runs two trials from
one checkpoint: the last rate of warm-up, and that rate times `STEP`.  Both see the same batches.
The larger rate wins where the mean of the differences of their last losses, step by step, is below
zero by `CLEAR` standard errors; otherwise the search starts as without the probe.

The probe tries no smaller rate: a trial that decays does not show a late divergence, a constant
rate does.  The rate of both branches ends at zero, so all their steps are thrown away.
"""

import math
import statistics
from dataclasses import replace

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.stage_plan import (
    interval,
    left_for_search,
    middle,
    trial_plan,
)
from topoloom.learning_rate.state_machine.state import Attempt, State

STEP = math.sqrt(10.0)
LOOK_SHARE = 0.16  # of the allowance, for each of the two
SHORTEST = 64  # steps of the shortest trial; a default allowance has them from 4,000 steps on
TAIL = 1 / 4  # of a trial's losses, which are compared
CLEAR = 2.0  # standard errors


def look_steps(state: State) -> int:
    """Return how long each of the two trials is; 0 where none is made."""
    settings = state.settings
    if not settings.look_above or state.stage > 0 or settings.allowance is None:
        return 0
    if _above(state) > interval(state)[1] * 1.000001:
        return 0
    steps = min(int(LOOK_SHARE * settings.allowance), state.tau, left_for_search(state) // 2)
    return steps if steps >= SHORTEST else 0


def next_look(state: State) -> float | None:
    """Return the rate that is looked at next: above first, which may spare the other.

    A trial that diverged is compared with nothing.
    """
    if not state.attempts:
        return _above(state)
    if len(state.attempts) == 1 and state.attempts[0].status == "finished":
        return _base(state)
    return None


def seen(attempt: Attempt) -> Attempt:
    """Return a trial that has run its steps, with the loss it ended at."""
    tail = [loss for loss in attempt.losses[-_tail(attempt) :] if usable(loss)]
    if not tail:
        return replace(attempt, status="diverged", forecast=math.nan, deviation=0.0)
    spread = statistics.stdev(tail) if len(tail) > 1 else 0.0
    error = spread / math.sqrt(len(tail))
    return replace(attempt, status="finished", forecast=statistics.fmean(tail), deviation=error)


def decided(state: State) -> State:
    """Return the state with what was seen: the larger rate in use, or the search before it.

    The trainer is taken back to the stage's start.
    """
    told = tuple(replace(attempt, losses=(), evaluations=()) for attempt in state.attempts)
    clear = _clearly_better(state.attempts)
    state = replace(state, looking=False, looked=told, attempts=(), step=state.stage_start)
    if clear:
        rate = _above(state)
        return replace(state, rate=rate, peak=rate, trial_steps=0, purse=0)
    trial_steps, purse = trial_plan(state)
    return replace(state, trial_steps=trial_steps, purse=purse)


def _clearly_better(attempts: tuple[Attempt, ...]) -> bool:
    """Whether the first trial ended below the second by more than noise explains."""
    if len(attempts) < 2 or any(attempt.status != "finished" for attempt in attempts):
        return False
    above, base = attempts
    size = min(_tail(above), _tail(base))
    # Steps beyond the plan, which nobody asked for, have no counterpart.
    steps = min(above.steps, base.steps)
    pairs = zip(above.losses[steps - size : steps], base.losses[steps - size : steps], strict=True)
    gaps = [mine - other for mine, other in pairs if usable(mine) and usable(other)]
    if len(gaps) < 2:
        return False
    return statistics.fmean(gaps) < -CLEAR * statistics.stdev(gaps) / math.sqrt(len(gaps))


def _tail(attempt: Attempt) -> int:
    return max(1, int(TAIL * attempt.steps))


def _base(state: State) -> float:
    return middle(state.settings) if state.rate is None else state.rate


def _above(state: State) -> float:
    return STEP * _base(state)
