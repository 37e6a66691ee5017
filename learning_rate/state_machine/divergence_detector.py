"""Whether the loss of the kept branch has clearly risen again: the sign of too large a rate.

A rate that a network does not bear for long mostly does not explode.  The loss turns, rises
for some tens of steps and stays: units have died, and no rate brings them back.  What is
compared is the mean of the last `WINDOW` losses (the level) with the least level so far (the
floor), in units of what the loss had fallen by then: one odd batch makes no such rise.  After
warm-up noise comes on top, since the floor is then the least of many levels, and one that
noise has made; in warm-up, which is short, a rise that is seen late has already done its harm.
"""

import math
import statistics
from dataclasses import replace
from itertools import pairwise

from topoloom.learning_rate.forecasting.forecast import usable
from topoloom.learning_rate.state_machine.state import State

WINDOW = 8
RISE = 1 / 3  # of the fall, given back: what a rise is
LOW = 1 / 6  # given back at most by a model that is kept to go back to
CERTAIN = 3.0  # standard errors of a level


def watched(state: State) -> State:
    """Return the state with the least level so far, of the branch that it is on."""
    level = _level(state)
    if level is None or (state.floor is not None and state.floor <= level):
        return state
    return replace(state, floor=level)


def risen(state: State) -> bool:
    """Whether the level is above the floor by a share of the whole fall, and clearly so."""
    rise, fall = _rise_and_fall(state)
    if rise <= 0:
        return False
    doubt = CERTAIN * _standard_error(state.recent[-WINDOW:])
    least = max(RISE * fall, doubt) if state.stage < 0 else RISE * fall + doubt
    return fall > doubt and rise > least


def low(state: State) -> bool:
    """Whether the level is near the floor, so that the model is worth keeping."""
    rise, fall = _rise_and_fall(state)
    return rise <= LOW * max(0.0, fall)


def _rise_and_fall(state: State) -> tuple[float, float]:
    """Return how far the level is above the floor, and the floor below the run's start."""
    level, first = _level(state), [loss for loss in state.first if usable(loss)]
    if level is None or state.floor is None or not first:
        return 0.0, 0.0
    return level - state.floor, statistics.median(first) - state.floor


def _level(state: State) -> float | None:
    last = state.recent[-WINDOW:]
    return statistics.fmean(last) if len(last) == WINDOW and all(map(usable, last)) else None


def _standard_error(losses: tuple[float, ...]) -> float:
    """Return that of their mean; from differences, so that a trend does not count as noise."""
    changes = [after - before for before, after in pairwise(losses)]
    return statistics.stdev(changes) / math.sqrt(2 * len(losses))
