"""Checkpoints of the kept branch: when to save, which to keep, and restores."""

from dataclasses import replace

from topoloom.learning_rate.state_machine.divergence_detector import WINDOW, has_risen, low
from topoloom.learning_rate.state_machine.stage_plan import safe_interval
from topoloom.learning_rate.state_machine.state import (
    FLAT_END,
    FLAT_START,
    UNTRAINED,
    Action,
    FlatStart,
    State,
)
from topoloom.learning_rate.state_machine.step_counting import BAD_IN_A_ROW, last_saved

AGAIN = 0.4  # of the run, in which a rise leads back to the untrained model
AGAIN_STEPS = 1000  # after warm-up: a network bears a rate for some hundred steps, or for good

MOST_CLEARED = 2  # rises that the data have caused, before rises are no longer watched


def save(state: State, phase: str, slot: str) -> State:
    """Request a checkpoint."""
    state = replace(state, phase=phase)
    return replace(state, action=Action("save", slot=slot, keep=_kept(state, slot)))


def restore(state: State, phase: str, slot: str) -> State:
    """Request the restore of a checkpoint."""
    state = replace(state, phase=phase, lr=None)
    return replace(state, action=Action("restore", slot=slot, keep=_kept(state, slot)))


def _kept(state: State, slot: str) -> tuple[str, ...]:
    """Return the checkpoints that may still be restored, ``slot`` included."""
    kept = {slot}
    if may_begin_again(state):
        kept |= {UNTRAINED}
    if state.flat is not None and state.flat.start is not None:
        before = {UNTRAINED, FLAT_START} if state.flat.lower is None else {state.stage_slot}
        kept |= before | {FLAT_END}
    if safe_interval(state):
        kept |= {other for other in (state.safe_slot, state.new_slot) if other is not None}
    if state.phase == "restore_stage":
        kept |= {state.stage_slot}
    return tuple(sorted(kept))


def fresh(state: State, slot: str) -> State:
    """Record a new checkpoint of the kept branch; a model that never made a step is safe."""
    if not state.step:
        flat = FlatStart() if slot == UNTRAINED and state.settings.stop_rises else state.flat
        untrained = state.untrained or slot == UNTRAINED
        return replace(state, safe_slot=slot, safe_step=0, untrained=untrained, flat=flat)
    return replace(state, new_slot=slot, new_step=state.step)


def going_wrong(state: State) -> bool:
    """Whether the kept branch has diverged, or its loss rises where that is watched."""
    watched = state.settings.stop_rises and state.times_cleared < MOST_CLEARED
    return state.bad >= BAD_IN_A_ROW or (watched and has_risen(state))


def save_is_due(state: State) -> bool:
    """Whether a checkpoint to fall back on is made now; never of a model that gets worse."""
    every = safe_interval(state)
    first = not state.step and state.safe_slot is None
    due = first or state.step >= last_saved(state) + every
    return every > 0 and due and _sound(state)


def _sound(state: State) -> bool:
    sound = low(state) or not state.settings.stop_rises
    return sound and not state.bad and state.check is None and not state.runs_other


def with_proven_slot(state: State) -> State:
    """Take the latest checkpoint for safe once losses after it say so.

    A loss tells of the model before its step, so that a model may be saved that has just
    diverged: a checkpoint counts as safe once `BAD_IN_A_ROW` steps later losses are good.  After
    warm-up they are a whole window, with which a check compares (`rate_checks`).
    """
    steps = BAD_IN_A_ROW if state.stage < 0 else WINDOW
    proven = _sound(state) and state.step >= state.new_step + steps
    if state.new_slot is None or not proven:
        return state
    return replace(state, safe_slot=state.new_slot, safe_step=state.new_step, new_slot=None)


def affordable(state: State) -> bool:
    """Whether steps are left for going back to the latest safe checkpoint."""
    paid = state.spent - state.safe_step <= (state.settings.allowance or 0)
    return state.safe_slot is not None and paid


def to_safe(state: State) -> State:
    """Go back to the latest safe checkpoint.

    Where its steps cannot be paid for they count as run: the model has fewer steps in the end.
    """
    step = state.safe_step if affordable(state) else state.step
    return restore(replace(state, step=step, new_slot=None), "restore_safe", state.safe_slot or "")


def may_begin_again(state: State) -> bool:
    """Whether a rise leads back to the untrained model: once, and early in the run."""
    early = state.step <= last_step_to_begin_again(state)
    return state.untrained and state.settings.stop_rises and early


def last_step_to_begin_again(state: State) -> float:
    """Return the end of the part of the run in which training may begin again."""
    settings = state.settings
    return min(AGAIN * settings.total_steps, settings.warmup_steps + AGAIN_STEPS)


def to_untrained(state: State) -> State:
    """Go back to the untrained model for another warm-up; the steps so far count as run."""
    state = replace(state, begun=state.step, untrained=False, new_slot=None)
    return restore(
        replace(state, safe_slot=UNTRAINED, safe_step=state.step), "restore_safe", UNTRAINED
    )
