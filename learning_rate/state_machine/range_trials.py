"""Find the interval before the first step, in trials that the budget of the search pays for.

The trials start from the untrained model and see the same batches, and the rate of each falls
linearly to zero (`learning_rate.state_machine.decayed_trials`).  The ladder begins at the rate that
warm-up would end at, and its rungs are decades.  The walk goes up as long as the next rung ends
clearly lower, step by step.  If the first rung above is not clearly lower, the walk goes down as
long as the next rung ends clearly lower, and by a share of what that rung gains over the lowest
rate of the interval, which hardly trains.  So a loss that does not fall at any rate, and is the
higher the larger the rate is, does not lead to the smallest rate.

- Up: the best rate of a short run is larger than that of a long run, so the interval's middle is
  one rung below the best rung.  A best rung just above the start therefore changes nothing.
  Where the budget or the interval ends before a rung is worse, the middle is the last rung.
- Proportional: a rung that is not clearly lower, but not higher either, counts as a step up if its
  effects on the losses are `RUNG` times those of the rung below, up to a share `BENT`.  The losses
  are then linear in the rate: noise hides the gain, and curvature does not yet limit the rate.  If
  the walk ends at such a rung, this rung is the middle.
- Down: the middle is the best rung.
- Nothing clear: the middle is the start.
- Doubtful: the start, or a rate below it, that ends clearly below neither the rung below nor the
  lowest rate is tried once more for `LONGER` times the steps.  If this trial explodes, the rate
  counts as one that exploded: some networks bear a rate that is too high for a few steps.
- Overshot: the start, or a rate below it, counts as one that exploded if it once raises the loss
  above that of the lowest rate, on the same batches, by `OVERSHOOT` times the first loss, and by
  more than its trial ends lower.  Eight steps show such a rise, and not the damage that it does.

Then warm-up begins with the untrained model, and the interval reaches `DECADES` to each side of its
middle.  All steps of the trials are discarded.
"""

import math
import statistics
from dataclasses import replace

from topoloom.learning_rate.options import Settings
from topoloom.learning_rate.state_machine.candidate_selection import EXPLOSION
from topoloom.learning_rate.state_machine.checkpoints import restore, save
from topoloom.learning_rate.state_machine.decayed_trials import Rungs, below, gaps_between
from topoloom.learning_rate.state_machine.stage_plan import left_for_search
from topoloom.learning_rate.state_machine.state import Attempt, State

RUNG = 10.0
DECADES = 1.5  # that the interval reaches to each side of its middle
TRIAL_SHARE = 0.08  # of the allowance
WORTH = 0.25  # of the gain over a rate without effect, by which a smaller rate is better
BENT = 1 / RUNG  # of the effects, that is not linear; quadratic ones are as large a rung higher
OVERSHOOT = EXPLOSION - 1.0  # times the untrained model's loss, by which a trial may rise
SHORTEST = 8  # steps of a trial
LONGER = 4  # times the steps, of a second trial of a rate in doubt
LEAST_TRIALS = 3  # the start, a rung above, a rung below


def begun_with_range(state: State) -> State:
    """Save the untrained model for the trials; set the interval if three cannot be paid for."""
    steps, purse = _steps(state.settings), left_for_search(state)
    if purse < LEAST_TRIALS * steps:
        return without_range(state)
    state = replace(state, trial_steps=steps, purse=purse, looking=True)
    return save(state, "save_stage", state.stage_slot)


def next_range_rate(state: State) -> tuple[float, ...]:
    """Return the rate to try next; nothing at the end of the walk or of its budget."""
    known = _rungs(state)
    lowest = _lowest(state.settings)
    best = _best(known, lowest)
    wanted = [best + 1] if best > 0 else [0, 1, best, best - 1]
    if any(rung <= 0 and _overshot(attempt, None) for rung, attempt in known.items()):
        wanted.insert(0, lowest)
    in_doubt = best <= 0 and best in known and not _trains(known, best, lowest)
    if in_doubt:
        wanted.append(lowest)
    if 0 in known and known[0].status == "diverged":
        wanted.remove(1)
    rungs = [rung for rung in wanted if rung not in known and _is_inside(state.settings, rung)]
    rates = [_rate(state.settings, rung) for rung in (rungs or [best] if in_doubt else rungs)]
    return tuple(rate for rate in rates[:1] if _is_open(state, rate))


def with_length(state: State, rate: float) -> State:
    """Return a state whose next trial has a rate; a rate that was tried before has more steps."""
    return replace(state, trial_steps=_length(state, rate))


def end_range_test(state: State) -> State:
    """Return to the untrained model, with the interval that the trials are for."""
    known = _rungs(state)
    best = _best(known, _lowest(state.settings))
    is_worse_above = best > 0 and best + 1 in known and below(known[best], known[best - 1])
    rate = _rate(state.settings, best - 1 if is_worse_above else best)
    told = tuple(replace(attempt, losses=(), evaluations=()) for attempt in state.attempts)
    settings = around(state.settings, rate)
    state = replace(state, settings=settings, tested=told)
    state = restore(state, "restore_safe", state.stage_slot)
    # As before the first step: the losses of the trials tell nothing of the run.
    state = replace(state, attempts=(), first=(), recent=(), bad=0, safe_slot=None, looking=False)
    return replace(state, step=0, trial_steps=0, purse=0, until=settings.warmup_steps)


def without_range(state: State) -> State:
    """Return the state of a run that has no trials before its first step."""
    settings = around(state.settings, state.settings.warmup_lr)
    return replace(state, settings=settings, trial_steps=0, purse=0, looking=False)


def around(settings: Settings, rate: float) -> Settings:
    """Return settings whose interval is around a rate, inside the present interval.

    >>> from topoloom.learning_rate import Options
    >>> found = around(Options(1e-8, 100.0, 1000).settled(), 0.01)
    >>> round(found.min_lr, 6), round(found.max_lr, 6), found.warmup_lr
    (0.000316, 0.316228, 0.01)
    """
    rate = min(settings.max_lr, max(settings.min_lr, rate))
    low = max(settings.min_lr, rate / RUNG**DECADES)
    high = min(settings.max_lr, rate * RUNG**DECADES)
    return replace(settings, min_lr=low, max_lr=high, warmup_lr=rate)


def _best(known: Rungs, lowest: int) -> int:
    """Return the rung at which the walk stands: a tried one, or one below all that diverged."""
    rung = 0
    while below(known.get(rung + 1), known.get(rung)) or _is_proportional(known, rung + 1):
        rung += 1
    if rung > 0:
        return rung
    while (here := known.get(rung)) is not None:
        if here.status == "finished" and not _promises_more(known, rung, lowest):
            break
        rung -= 1
    return rung


def _promises_more(known: Rungs, rung: int, lowest: int) -> bool:
    """Whether the rung below ends lower by a share of what it gains over a rate without effect."""
    lower, here, still = known.get(rung - 1), known.get(rung), known.get(lowest)
    if here is None or lower is None or still is None or not below(lower, still):
        return False
    gain = gaps_between(lower, still)
    return below(lower, here, WORTH * statistics.fmean(gain) if len(gain) > 1 else 0.0)


def _is_proportional(known: Rungs, rung: int) -> bool:
    """Whether a rung lowers the losses, each `RUNG` times as much as the rung below does."""
    trials = [known.get(place) for place in (rung - 2, rung - 1, rung)]
    finished = [trial for trial in trials if trial is not None and trial.status == "finished"]
    if len(finished) < len(trials):
        return False
    # A trial may have steps that nobody asked for, and the others none.
    losses = list(zip(*(trial.losses for trial in finished), strict=False))
    effects = [lower - here for _, lower, here in losses]
    bends = [
        effect - RUNG * (lowest - lower)
        for effect, (lowest, lower, _) in zip(effects, losses, strict=True)
    ]
    return sum(effects) > 0 and math.hypot(*bends) <= BENT * math.hypot(*effects)


def _trains(known: Rungs, rung: int, lowest: int) -> bool:
    """Whether a rung ends clearly lower than the one below, or than a rate without effect."""
    others = known.get(rung - 1), known.get(lowest)
    return rung == lowest or any(below(known.get(rung), other) for other in others)


def _is_open(state: State, rate: float) -> bool:
    """Whether a rate may be tried: twice at most, within the budget."""
    used = sum(attempt.steps for attempt in state.attempts)
    tried = sum(attempt.rate == rate for attempt in state.attempts)
    return tried < 2 and used + _length(state, rate) <= state.purse


def _length(state: State, rate: float) -> int:
    again = any(attempt.rate == rate for attempt in state.attempts)
    return _steps(state.settings) * (LONGER if again else 1)


def _steps(settings: Settings) -> int:
    return max(SHORTEST, int(TRIAL_SHARE * (settings.allowance or 0)))


def _rungs(state: State) -> Rungs:
    """Return the trials that have ended, by their place on the ladder; overshot ones diverged.

    Of two trials at a rate, the first is compared with others, unless the second diverged.  There
    is nothing above a start that diverged.
    """
    base, lowest = state.settings.warmup_lr, _lowest(state.settings)
    known: Rungs = {}
    for attempt in state.attempts:
        rung = round(math.log(attempt.rate / base, RUNG))
        if attempt.status == "diverged" or (attempt.status != "running" and rung not in known):
            known[rung] = attempt
    still = known.get(lowest)
    for rung, attempt in known.items():
        if rung <= 0 and still and still.status == "finished" and _overshot(attempt, still):
            known[rung] = replace(attempt, status="diverged")
    too_high = 0 in known and known[0].status == "diverged"
    return {rung: attempt for rung, attempt in known.items() if rung <= 0 or not too_high}


def _overshot(attempt: Attempt, still: Attempt | None) -> bool:
    """Whether a trial rose far above a rate without effect, and further than it ends below.

    Without such a trial the loss of the first batch stands for all of its losses.
    """
    if attempt.status != "finished" or attempt is still:
        return False
    theirs = still.losses if still is not None else attempt.losses[:1] * attempt.steps
    # A trial may have steps that nobody asked for, and the other one none.
    gaps = [other - mine for mine, other in zip(attempt.losses, theirs, strict=False)]
    gain = statistics.fmean(gaps[len(gaps) // 2 :])
    return -min(gaps) > max(gain, OVERSHOOT * abs(attempt.losses[0]))


def _lowest(settings: Settings) -> int:
    return -math.floor(math.log(settings.warmup_lr / settings.min_lr, RUNG) + 1e-9)


def _rate(settings: Settings, rung: int) -> float:
    return settings.warmup_lr * RUNG**rung


def _is_inside(settings: Settings, rung: int) -> bool:
    rate = _rate(settings, rung)
    return not rung or (settings.min_lr <= rate * 1.000001 and rate <= settings.max_lr * 1.000001)
