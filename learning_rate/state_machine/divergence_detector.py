"""Whether the loss of the kept branch has clearly risen again: the sign of too large a rate.

A rate that a network does not bear for long mostly does not explode.  The loss turns, rises
for some tens of steps and stays: units have died, and no rate brings them back.  Early in the run
training then begins again with the untrained model (`learning_rate.state_machine.rate_checks`).

The level, the mean of the last `WINDOW` losses, is compared with the floor, the least level so far.
The units are the fall of the loss until then, and the noise of the run itself.

The floor is the least of many levels, one that noise has made.  On a flat course of pure noise
some level lies six standard errors above it in most runs of a thousand steps.  So after warm-up
`LASTING` windows in a row show a rise.  Noise is that of all remembered losses, of at least
`LASTING` windows: the eight of one window hardly determine it.  Warm-up is short, and a rise that
is seen late has already done its harm: there one window is enough.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.state import State

WINDOW = 8
RISE = 1 / 3  # of the fall, given back: what a rise is
LOW = 1 / 6  # given back at most by a model that is kept to go back to
CERTAIN = 4.0  # standard errors of a level
LASTING = 3  # windows


def with_least_level(state: State) -> State:
    """Return the state with the least level so far, of the branch that it is on."""
    level = _level(state.recent)
    if level is None or (state.floor is not None and state.floor <= level):
        return state
    return replace(state, floor=level)


def has_risen(state: State, certain: float = CERTAIN) -> bool:
    """Whether the level is above the floor by a share of the whole fall, and by standard errors."""
    losses, size = state.recent, 1 if state.stage < 0 else LASTING
    if state.floor is None or len(losses) < LASTING * WINDOW:
        return False
    fall, doubt = fall_to(state, state.floor), certain * _standard_error(losses)
    levels = [_level(losses[: len(losses) - place * WINDOW]) for place in range(size)]
    least = state.floor + RISE * fall + doubt
    return fall > doubt and all(level is not None and level > least for level in levels)


def low(state: State) -> bool:
    """Whether the level is near the floor, so that the model is worth keeping."""
    level = _level(state.recent)
    if level is None or state.floor is None:
        return True
    return level - state.floor <= LOW * max(0.0, fall_to(state, state.floor))


def has_fallen(state: State) -> bool:
    """Whether the level is below the losses that the run began with, by more than noise."""
    level = _level(state.recent)
    return level is not None and fall_to(state, level) > CERTAIN * _standard_error(state.recent)


def stays_above(state: State, floor: float) -> bool:
    """Whether the latest losses are not clearly below an earlier level."""
    losses = [loss for loss in state.recent if usable(loss)]
    least = floor - CERTAIN * _standard_error(state.recent)
    return not losses or statistics.fmean(losses) > least


def fall_to(state: State, loss: float | None) -> float:
    """Return how far a loss, or where less the present level, is below the run's first losses."""
    first = [value for value in state.first if usable(value)]
    ends = [value for value in (loss, _level(state.recent)) if value is not None and usable(value)]
    return statistics.median(first) - min(ends) if first and ends else 0.0


def _level(losses: tuple[float, ...]) -> float | None:
    last = losses[-WINDOW:]
    return statistics.fmean(last) if len(last) == WINDOW and all(map(usable, last)) else None


def _standard_error(losses: tuple[float, ...]) -> float:
    """Return that of a level; from differences, so that a trend does not count as noise."""
    return noise([loss for loss in losses if usable(loss)]) / math.sqrt(WINDOW)


def noise(losses: Sequence[float]) -> float:
    """Return the standard deviation of losses about their course; infinite for fewer than three."""
    changes = [after - before for before, after in pairwise(losses)]
    return statistics.stdev(changes) / math.sqrt(2.0) if len(changes) > 1 else math.inf
