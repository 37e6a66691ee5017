"""Counting the steps that a trainer reports, and asking for the next ones."""

from dataclasses import replace

from topoloom.learning_rate.state_machine.candidate_selection import has_exploded
from topoloom.learning_rate.state_machine.divergence_detector import WINDOW
from topoloom.learning_rate.state_machine.stage_plan import (
    MAX_BATCH,
    evaluation_interval,
    next_change,
    rate_at,
    rate_in_use,
    safe_interval,
    validates,
)
from topoloom.learning_rate.state_machine.state import Action, FlatStart, State

BAD_IN_A_ROW = 3  # that say that training has diverged; one alone may be an odd batch
SHORT = 32  # steps of a comparison with the untrained model that may end halfway
FIRST, RECENT = 8, 64  # losses remembered of the run's begin and of its latest steps


def count_steps(state: State, losses: tuple[float, ...]) -> State:
    """Return the state with steps counted and losses remembered, on whatever branch."""
    # Trials of the range test begin with the first batch, and their next losses may explode.
    first = (state.first + losses)[: 1 if state.stage < 0 and state.phase == "trial" else FIRST]
    bad = state.bad
    for loss in losses:
        bad = bad + 1 if has_exploded(first, loss) else 0
    kept = state.recent if state.phase == "trial" else (state.recent + losses)[-RECENT:]
    count = len(losses)
    return replace(
        state, step=state.step + count, spent=state.spent + count, first=first, recent=kept, bad=bad
    )


def run(state: State) -> State:
    """Ask for steps: to the end of the segment, or to where a rate or a decision changes."""
    rate = state.attempts[-1].rate if state.phase == "trial" else rate_in_use(state)
    lr = rate_at(state, rate)
    stop = min(state.until, next_change(state), state.step + MAX_BATCH)
    if state.phase == "trial":
        stop = min(stop, _next_look(state))
    elif every := safe_interval(state):
        soon = 1 if state.bad else WINDOW  # a save that is due, but not of such a model
        stop = min(stop, max(last_saved(state) + every, state.step + soon), _next_model(state))
    do = "go_on" if lr == state.lr else "set_lr"
    action = Action(do, lr=lr, steps=stop - state.step, scales=state.scales_in_use)
    return replace(state, lr=lr, action=action)


def is_part(state: State, losses: tuple[float, ...]) -> bool:
    """Whether requested steps are still to come, and nothing forbids them.

    Decisions happen at the end of a segment, never within it, so partial reports lead to the
    same schedule.  Only a run of explosions ends a segment early.
    """
    return len(losses) < state.action.steps and count_steps(state, losses).bad < BAD_IN_A_ROW


def the_rest(state: State, steps: int) -> State:
    """Ask for what is still to come of a segment."""
    action = Action("go_on", lr=state.lr, steps=steps, scales=state.scales_in_use)
    return replace(state, action=action)


def _next_model(state: State) -> int:
    """Return the end of the steps of a model that is compared with another one."""
    flat, total = state.flat, state.settings.total_steps
    if flat is None or flat.start is None:
        return total
    if flat.lower is not None:
        end = flat.start + flat.steps if flat.end is None else flat.end
        return end if state.step < end else total
    begin, half = (flat.start, 0) if flat.end is None else (flat.end, halfway(flat))
    ends = [begin + steps for steps in (half, flat.steps) if state.step < begin + steps]
    return ends[0] if ends else total


def halfway(flat: FlatStart) -> int:
    """Return after how many steps a short comparison may end; 0 for a longer one."""
    return flat.steps // 2 if flat.steps <= SHORT else 0


def last_saved(state: State) -> int:
    """Return the step of the latest checkpoint of the kept branch."""
    return state.safe_step if state.new_slot is None else state.new_step


def _next_look(state: State) -> int:
    """Return the step at which a trial is evaluated next."""
    done = state.step - state.stage_start
    if validates(state.settings, state.stage):
        every = evaluation_interval(state.trial_steps)
    else:
        return state.until
    return state.stage_start + done - done % every + every
