"""Candidates that were chosen together, each as a run of its own.

A round is what `Options.side_by_side` chooses at once.  Its candidates start from the same
checkpoint and know nothing of each other, so that they may be run in any order or at the same
time: what each of them reports, told to the tuner one after the other, gives the same states.
"""

from dataclasses import replace

from topoloom.learning_rate.state_machine.stages import with_attempt
from topoloom.learning_rate.state_machine.state import State
from topoloom.learning_rate.state_machine.step_counting import run


def begins_round(state: State) -> bool:
    """Whether the next step is the first of a round of more than one candidate."""
    if state.phase != "trial" or not state.round:
        return False
    return len(state.attempts) == state.round_start + 1 and not state.attempts[-1].steps


def branches(state: State) -> list[State]:
    """Return, for each candidate of the round that begins, the state at its first step.

    >>> from topoloom.learning_rate import Options, observe, start
    >>> state = start(Options(1e-3, 0.1, 2000, warmup_steps=0, side_by_side=3))
    >>> state = observe(observe(state))
    >>> [round(branch.attempts[-1].rate, 4) for branch in branches(state)]
    [0.0316, 0.01, 0.1]
    """
    before = replace(state, attempts=state.attempts[: state.round_start])
    rates = (state.attempts[-1].rate, *state.round)
    return [run(replace(with_attempt(before, rate), lr=None)) for rate in rates]


def has_ended(state: State) -> bool:
    """Whether a branch's candidate has run its steps, or was given up."""
    return state.phase not in ("trial", "evaluate")
