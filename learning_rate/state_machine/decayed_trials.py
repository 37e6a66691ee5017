"""Search the rate in short trials that decay to zero, all on the same batches.

At a constant rate a trial of a few dozen steps shows the noise of the rate more than its progress.
A rate that falls linearly to zero removes that noise by the end of the trial.  The search walks a
ladder of rates, each `STEP` times the one below, from the last rate of warm-up: upwards as long as
the next rung ends clearly lower, otherwise downwards.  All trials start from one checkpoint, so two
of them are compared step by step, by the differences of their last losses.

- Clear: the mean difference is beyond `CLEAR` standard errors.  Where no rung is clearly better,
  the rate stays, and a later stage searches again with the steps that are left.
- A smaller rate must also save ``eps`` of what the loss has fallen since the run began.  Before the
  loss has fallen, no smaller rate is tried: only noise tells rates apart there.
- A larger rate is chosen half a rung (`DISCOUNT`) below the best one, and never below the start:
  the best rate of a short run is larger than that of a long run.  Trials are proportional to the
  run, so one discount serves runs of any length.

The rate of a trial ends at zero, so no trial is continued: all their steps are discarded.
"""

import math
import statistics
from dataclasses import replace

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.divergence_detector import fall_to, has_fallen
from topoloom.learning_rate.state_machine.stage_plan import interval, left_for_search, rate_in_use
from topoloom.learning_rate.state_machine.state import Attempt, State

STEP = math.sqrt(10.0)
DISCOUNT = 0.5  # rungs
RAISED = 2.0  # rungs, from which the rate is compared once more (`raised_rates`)
TRIAL_SHARE = 0.16  # of the allowance
SHORTEST = 12  # steps of a trial
TAIL, LEAST_TAIL = 1 / 4, 6  # of a trial's losses, which are compared
CLEAR = 2.0  # standard errors
LATEST = 1 / 2  # of the run, after which nothing is searched

Rungs = dict[int, Attempt]


def decayed_plan(state: State) -> tuple[int, int]:
    """Return the steps of a trial of the present stage, and of all its trials; zeros for none."""
    late = state.step > LATEST * state.settings.total_steps
    if state.peak is not None or late or (state.stage > 0 and not has_fallen(state)):
        return 0, 0
    purse = left_for_search(state)
    steps = min(max(SHORTEST, int(TRIAL_SHARE * (state.settings.allowance or 0))), state.tau)
    return (steps, purse) if purse >= 2 * steps else (0, 0)


def next_rates(state: State) -> tuple[float, ...]:
    """Return the rates to try next, as far as the steps for trials last; none ends the search."""
    used = sum(attempt.steps for attempt in state.attempts)
    most = min(
        state.settings.side_by_side,
        state.settings.candidates - len(state.attempts),
        (state.purse - used) // state.trial_steps,
    )
    known = _rungs(state)
    best = _best(state, known)
    wanted = [best + 1] if best > 0 else [1, best, best - 1]
    if rungs := _open(state, known, wanted):
        # The neighbors of these candidates may be the next ones.
        rungs = _open(state, known, [*rungs, 1, 0, 2, -1])
    return tuple(_rate(state, rung) for rung in rungs[: max(0, most)])


def with_end_loss(attempt: Attempt) -> Attempt:
    """Return a trial that has run its steps, with the loss it ended at."""
    tail = [loss for loss in attempt.losses[-_tail(attempt.steps) :] if usable(loss)]
    if not tail:
        return replace(attempt, status="diverged", forecast=math.nan, deviation=0.0)
    error = standard_error(tail) if len(tail) > 1 else 0.0
    return replace(attempt, status="finished", forecast=statistics.fmean(tail), deviation=error)


def decide_rate(state: State) -> State:
    """Return the state with the rate that the trials are for; a peak where they are clear."""
    known = _rungs(state)
    best = _best(state, known)
    # Searched again later, unless the start is clearly better than the rate above.
    clear = best != 0 or below(known.get(0), known.get(1))
    rung = max(0.0, least(known, best) - DISCOUNT) if best > 0 else best
    rate, flat = _rate(state, rung), state.flat
    if rung >= RAISED and flat is not None and flat.start is None:
        flat = replace(flat, lower=rate / STEP)
    return replace(state, rate=rate, peak=rate if clear else None, flat=flat)


def _best(state: State, known: Rungs) -> int:
    """Return the rung at which the walk stands: a tried one, or one below all that diverged."""
    if (rung := highest_clear_rung(known)) > 0:
        return rung
    while (here := known.get(rung)) is not None:
        lower = known.get(rung - 1)
        worth = state.settings.eps * fall_to(state, lower.forecast if lower else None)
        if here.status == "finished" and not below(lower, here, worth):
            break
        rung -= 1
    return rung


def _open(state: State, known: Rungs, rungs: list[int]) -> list[int]:
    """Return the rungs that may be tried: in the interval, and lower ones after a fall only."""
    low, high = interval(state)
    base_failed = 0 in known and known[0].status == "diverged"
    lower = base_failed or has_fallen(state)
    return [
        rung
        for rung in dict.fromkeys(rungs)
        if rung not in known
        and (rung == 0 or low / 1.000001 <= _rung_rate(state, rung) <= high * 1.000001)
        and (rung >= 0 or lower)
    ]


def least(known: Rungs, best: int) -> float:
    """Return where a parabola through the best rung and its neighbors is least."""
    points = [known.get(rung) for rung in (best - 1, best, best + 1)]
    if any(point is None or point.status == "diverged" for point in points):
        return float(best)
    low, middle, high = (point.forecast or 0.0 for point in points if point is not None)
    bend = low - 2.0 * middle + high
    return best + min(1.0, (low - high) / (2.0 * bend)) if bend > 0 else best + 1.0


def highest_clear_rung(known: Rungs) -> int:
    """Return the last rung of a walk up from 0 on which each rung ends clearly lower."""
    rung = 0
    while below(known.get(rung + 1), known.get(rung)):
        rung += 1
    return rung


def below(one: Attempt | None, other: Attempt | None, worth: float = 0.0) -> bool:
    """Whether a trial ends below another by more than noise explains, and by what it has to."""
    if one is None or other is None or one.status == "diverged":
        return False
    if other.status == "diverged":
        return True
    gaps = gaps_between(one, other)
    if len(gaps) < 2:
        return False
    return statistics.fmean(gaps) > max(worth, CLEAR * standard_error(gaps))


def gaps_between(one: Attempt, other: Attempt) -> list[float]:
    """Return how far the last losses of a trial are below those of another, step by step."""
    # Steps beyond the plan, which nobody asked for, have no counterpart.
    steps = min(one.steps, other.steps)
    first = steps - _tail(steps)
    pairs = zip(one.losses[first:steps], other.losses[first:steps], strict=True)
    return [theirs - mine for mine, theirs in pairs if usable(mine) and usable(theirs)]


def standard_error(values: list[float]) -> float:
    """Return the standard error of a mean of at least two values."""
    return statistics.stdev(values) / math.sqrt(len(values))


def _tail(steps: int) -> int:
    return min(steps, max(LEAST_TAIL, int(TAIL * steps)))


def _rungs(state: State) -> Rungs:
    """Return the trials that have ended, by their place on the ladder."""
    base = rate_in_use(state)
    ended = [attempt for attempt in state.attempts if attempt.status != "running"]
    return {round(math.log(attempt.rate / base, STEP)): attempt for attempt in ended}


def _rung_rate(state: State, rung: float) -> float:
    return rate_in_use(state) * STEP**rung


def _rate(state: State, rung: float) -> float:
    """Return the rate of a rung, inside the interval."""
    low, high = interval(state)
    return min(high, max(low, _rung_rate(state, rung)))
