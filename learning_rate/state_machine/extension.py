"""Another length of a run, chosen during the run: a later decay, or a decay that begins now."""

import math
from dataclasses import replace

from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.options import MAX_STEPS
from topoloom.learning_rate.rate_shape import shape
from topoloom.learning_rate.state_machine.state import State

FIELD = "/total_steps"
KEPT = ("exploit", "save_safe")  # phases in which every step is one of the kept branch


def extend_run(state: State, total_steps: int) -> State:
    """Return the state of a run that has ``total_steps`` steps in all, more or fewer than before.

    The rate stays as it is until the decay of the new length begins; the next action stays, too.
    A longer run may discard more steps, in proportion.  The steps that a shortened run has
    discarded already may exceed ``max_overhead`` of the new length.

    Raises:
        InvalidOptions: The run has ended, its decay has begun, or the decay of the new length would
            have begun before the present step.  During a search the run only becomes longer.

    >>> from topoloom.learning_rate import Options, start
    >>> longer = extend_run(start(Options(0.001, 0.1, 1000)), 4000)
    >>> longer.settings.total_steps, longer.settings.allowance, longer.settings.warmup_steps
    (4000, 400, 50)
    """
    if total_steps == state.settings.total_steps:
        return state
    if state.phase == "done":
        raise InvalidOptions(FIELD, "cannot change after the end of the run: resume an older save")
    if state.step > 0 and _factor(state, state.settings.total_steps) < 1.0:
        raise InvalidOptions(
            FIELD, "cannot change after the decay has begun: resume a save of before the decay"
        )
    least = shortest(state)
    if type(total_steps) is not int or not least <= total_steps <= MAX_STEPS:
        raise InvalidOptions(FIELD, f"must be {least} to {MAX_STEPS} at step {state.step}")
    settings = replace(state.settings, total_steps=total_steps)
    until, tau = state.until, state.tau
    if state.phase in KEPT:
        until, tau = min(until, total_steps), min(tau, total_steps - state.stage_start)
    first = state.first_length or state.settings.total_steps
    return replace(state, settings=settings, until=until, tau=tau, first_length=first)


def shortest(state: State) -> int:
    """Return the least length that a run can be given now: the one whose decay begins now.

    The present length where the decay has begun, and during a search.
    """
    settings = state.settings
    if state.phase not in KEPT or _factor(state, settings.total_steps) < 1.0:
        return settings.total_steps
    held = state.step - settings.warmup_steps + 0.5
    holds = {"none": 1.0, "wsd": 1.0 - settings.decay_share}.get(settings.anchor, 0.0)
    if holds <= 0.0:
        return settings.total_steps
    least = max(
        settings.warmup_steps + max(1, math.ceil(held / holds)), state.step + state.action.steps
    )
    while _factor(state, least) < 1.0:  # rounding
        least += 1
    return least


def _factor(state: State, total_steps: int) -> float:
    settings = state.settings
    return shape(
        settings.anchor, state.step, settings.warmup_steps, total_steps, settings.decay_share
    )
