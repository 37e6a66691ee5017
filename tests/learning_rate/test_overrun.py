"""Steps that nobody asked for: the run is still whole, counted and resumable."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Toy, through_json
from topoloom.learning_rate import Options, observe, overrun, start
from topoloom.learning_rate.errors import InvalidObservation
from topoloom.learning_rate.state_machine.offline_steps import MAX_OVERRUN

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

WAYS = {
    "topoloom": {"candidates": 3},
    "paper": {"method": "paper", "tau_min": 40, "tau_max": 80, "candidates": 3},
    "looking above": {"look_above": True, "max_overhead": 4.0, "tau_min": 80, "candidates": 3},
    "late validation": {
        "validation": "late",
        "max_overhead": 0.5,
        "candidates": 3,
        "look_above": False,
    },
}


def cut_off_training(options, cuts, toy=None, through=lambda state: state):
    """Train; before the action of each number in ``cuts`` so many steps run unasked.

    Return the last state, the trainer, and the phases in which it was cut off.
    """
    toy, state, number, phases = toy or Toy(), start(options), 0, []
    while state.action.do != "stop":
        count = cuts.get(number, 0) if toy.lr is not None else 0
        count = min(count, options.total_steps - toy.position)
        if count:
            phases.append(state.phase)
            state = through(overrun(state, [toy.one_step() for _ in range(count)]))
        else:
            state = through(observe(state, toy.carry_out(state.action)))
        number += 1
    return state, toy, phases


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    way=st.sampled_from(sorted(WAYS)),
    steps=st.integers(60, 400),
    seed=st.integers(0, 2**20),
    share=st.floats(0.01, 0.5),
    bad=st.integers(0, 3),
)
def test_wherever_the_trainer_is_cut_off_the_run_ends_whole_and_counted(
    way, steps, seed, share, bad
):
    chance = random.Random(seed)
    cuts = {n: chance.randint(1, 30) for n in range(2000) if chance.random() < share}
    toy, counted_as_run = Toy(bad_steps=chance.sample(range(steps), bad)), []

    def seen(state):
        if state.phase == "restore_safe" and state.step > state.safe_step:
            counted_as_run.append(state)
        return state

    asked = Options(1e-4, 1.0, steps, **WAYS[way])
    state, toy, _ = cut_off_training(asked, cuts, toy, seen)
    assert state.spent == toy.run
    if state.action.reason == "finished":
        assert state.step == steps
        assert counted_as_run or toy.position == steps


@pytest.mark.slow
@pytest.mark.parametrize("way", [WAYS["topoloom"], WAYS["paper"], WAYS["late validation"]])
def test_it_may_be_cut_off_before_any_action(way):
    options, seen = Options(1e-4, 1.0, 400, warmup_steps=4, **way), set()
    for number in range(50):
        state, toy, phases = cut_off_training(options, {number: 5})
        assert (state.step, toy.position, state.spent) == (400, 400, toy.run)
        seen |= set(phases)
    assert {"trial", "exploit", "restore_stage"} <= seen
    assert ("evaluate" in seen) == ("method" in way)


@pytest.mark.parametrize("number", [5, 6, 20, 60, 85, 86, 87, 120, 170])
def test_it_may_be_cut_off_while_a_rate_above_is_looked_at(number):
    options = Options(1e-4, 1.0, 400, warmup_steps=4, **WAYS["looking above"])
    state, toy, _ = cut_off_training(options, {number: 5}, Toy(limit=2.0))
    assert (state.step, toy.position, state.spent) == (400, 400, toy.run)
    assert len(state.history[0].attempts) > 2 and not state.looking


def test_the_state_in_between_is_resumable():
    options = Options(1e-4, 1.0, 400, candidates=3)
    cuts = {7: 3, 12: 9, 13: 2, 20: 40}
    plain = cut_off_training(options, cuts)[0]
    assert cut_off_training(options, cuts, through=through_json)[0].to_json() == plain.to_json()


def state_in(phase, **more):
    state, toy = start(Options(1e-4, 1.0, 600, **{"candidates": 4, **more})), Toy()
    while state.phase != phase:
        state = observe(state, toy.carry_out(state.action))
    return state


def test_on_the_kept_branch_they_are_progress():
    for phase in ("warm_up", "exploit", "save_stage"):
        state = state_in(phase)
        after = overrun(state, [2.0] * 7)
        assert (after.step, after.spent) == (state.step + 7, state.spent + 7)
    late = overrun(state_in("save_stage"), [2.0] * 7)
    assert late.action.do == "save" and late.stage_start == late.step


def test_before_a_restore_they_are_thrown_away():
    state = state_in("restore_stage")
    assert overrun(state, [2.0] * 7) == replace(state, spent=state.spent + 7)


def test_before_the_first_step_of_a_trial_the_checkpoint_is_restored_again():
    state = observe(state_in("restore_stage"))
    assert state.phase == "trial" and not state.attempts[-1].steps
    again = overrun(state, [2.0] * 7)
    assert (again.action.do, again.action.slot) == ("restore", state.stage_slot)
    assert observe(again).action == state.action


def test_steps_beyond_the_end_are_only_counted():
    state = state_in("exploit")
    end = overrun(state, [1.0] * 900)
    assert (end.step, end.spent, end.action.do) == (600, state.spent + 900, "stop")
    assert overrun(end, [1.0]).spent == end.spent + 1


@pytest.mark.parametrize("losses", [[], ["1"], [1.0] * (MAX_OVERRUN + 1), [True], "11"])
def test_what_is_no_list_of_losses_is_refused(losses):
    with pytest.raises(InvalidObservation, match="/losses"):
        overrun(state_in("exploit"), losses)


def test_a_divergence_unasked_is_a_divergence():
    state = state_in("exploit")
    while state.safe_slot is None:
        state = observe(state, [] if state.action.do == "save" else [2.0] * state.action.steps)
    assert overrun(state, [math.nan] * 3).action.do == "restore"
