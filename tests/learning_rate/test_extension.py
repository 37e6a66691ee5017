"""`extend` and `decay`: another length of a run, chosen during the run."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Toy, trained
from topoloom.learning_rate import InProcess, Options, observe, start
from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.rate_shape import shape
from topoloom.learning_rate.state_machine.extension import extend_run, shortest
from topoloom.learning_rate.state_machine.stage_plan import rate_at
from topoloom.learning_rate.state_machine.state import State

ASKED = Options(1e-4, 1.0, 1000)


def held(options, step):
    """Return a state at or after a step of the kept branch, before the decay, and its trainer."""
    toy, state = Toy(), start(options)
    while state.phase != "exploit" or state.step < step:
        state = observe(state, toy.carry_out(state.action))
    return state, toy


def finished(state, toy):
    while state.action.do != "stop":
        state = observe(state, toy.carry_out(state.action))
    return state


@pytest.mark.slow
@settings(max_examples=10)
@given(step=st.integers(50, 700), total=st.integers(1001, 5000))
def test_a_longer_run_holds_its_rate_until_the_decay_of_the_new_length(step, total):
    state, toy = held(ASKED, step)
    peak = state.rate
    longer = extend_run(state, total)
    assert longer.action == state.action
    end = finished(longer, toy)
    assert (end.step, end.action.reason) == (total, "finished")
    assert end.spent - end.step <= end.settings.allowance
    decay = total - 0.2 * (total - 50)
    for at in range(state.step, int(decay)):
        assert rate_at(replace(longer, step=at), peak) == peak
    assert toy.lr < peak / 4


@settings(max_examples=10)
@given(step=st.integers(50, 700))
def test_the_least_length_is_that_whose_decay_begins_at_once(step):
    state, toy = held(ASKED, step)
    least = shortest(state)
    decays = least > state.step + state.action.steps
    if decays:
        assert shape("wsd", state.step, 50, least, 0.2) == 1.0
        assert shape("wsd", state.step, 50, least - 1, 0.2) < 1.0
    end = finished(extend_run(state, least), toy)
    assert end.step == least < 1000
    assert not decays or toy.lr < state.rate
    with pytest.raises(InvalidOptions, match=f"/total_steps: must be {least} to "):
        extend_run(state, least - 1)


def test_the_same_length_again_changes_nothing_even_in_the_decay():
    state, _ = held(ASKED, 900)
    assert extend_run(state, 1000) is state
    with pytest.raises(InvalidOptions, match="after the decay has begun"):
        extend_run(state, 2000)
    ended, _ = trained(ASKED)
    with pytest.raises(InvalidOptions, match="after the end of the run"):
        extend_run(ended, 2000)


@pytest.mark.parametrize("anchor", ["cosine", "wsd"])
def test_a_schedule_that_falls_from_its_first_step_keeps_its_length(anchor):
    state, _ = held(Options(1e-4, 1.0, 1000, anchor=anchor, decay_share=1.0), 400)
    with pytest.raises(InvalidOptions, match="after the decay has begun"):
        extend_run(state, 2000)


def test_without_an_anchor_a_run_ends_where_it_is_told_to():
    state, toy = held(Options(1e-4, 1.0, 1000, anchor="none"), 400)
    assert shortest(state) == state.step + state.action.steps
    assert finished(extend_run(state, 600), toy).step == max(600, shortest(state))


def test_during_a_search_a_run_becomes_longer_only():
    toy, state = Toy(), start(ASKED)
    while state.phase != "trial":
        state = observe(state, toy.carry_out(state.action))
    with pytest.raises(InvalidOptions, match="must be 1000 to "):
        extend_run(state, 999)
    assert finished(extend_run(state, 1500), toy).step == 1500


@pytest.mark.parametrize("total", [0, 10**9, 1500.0, True])
def test_a_length_outside_the_domain_is_refused(total):
    state, _ = held(ASKED, 100)
    with pytest.raises(InvalidOptions, match="/total_steps: must be "):
        extend_run(state, total)


def test_an_extended_state_is_read_back_and_goes_on_alike():
    state, _ = held(ASKED, 300)
    longer = extend_run(state, 1700)
    text = longer.to_json()
    assert State.from_json(text).to_json() == text
    tuner = InProcess(ASKED)
    tuner.load_state_dict(state.document())
    assert tuner.extend(1700) == 1700
    assert tuner.state.to_json() == text
    assert tuner.extend() == shortest(longer) < 1000
