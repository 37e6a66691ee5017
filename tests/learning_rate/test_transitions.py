"""The tuner as a state machine: its promises, for any losses whatever."""

import math
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import PAPER, Toy, options, through_json, trained
from topoloom.learning_rate import observe, start
from topoloom.learning_rate.state_machine.stage_plan import MAX_BATCH

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

WAYS = {
    "topoloom": {"look_above": True},
    "constant trials": {},
    "cosine": {"anchor": "cosine"},
    "free": {"anchor": "none"},
    "late decay": {"decay_share": 0.1},
    "late validation": {"validation": "late", "max_overhead": 0.5},
    "cold": {"warm_start": False},
    "looking above": {"look_above": True, "max_overhead": 4.0, "tau_min": 80, "tau_max": 160},
    "looking above, side by side": {"look_above": True, "side_by_side": 3, "max_overhead": 0.3},
    "unwatched": {"stop_rises": False},
    "side by side": {"side_by_side": 3},
    "unlimited": {"max_overhead": math.inf, "candidates": 3},
    "paper": PAPER,
    "paper with an allowance": PAPER | {"max_overhead": 0.3},
    "paper, warm": PAPER | {"warm_start": True},
}
ways = pytest.mark.parametrize("way", WAYS)


@cache
def undisturbed(name):
    return trained(options(WAYS[name]))


@ways
@pytest.mark.one_in(3)
def test_a_run_keeps_exactly_its_steps_and_its_rates_stay_in_the_interval(way):
    state, toy = undisturbed(way)
    assert state.action.reason == "finished"
    assert state.step == 600 == toy.position
    assert state.spent == toy.run
    assert all(0 < a.lr <= 1.0 for a in toy.actions if a.lr is not None)
    assert sum(stage.tau for stage in state.history) + state.settings.warmup_steps == 600


@pytest.mark.one_in(3)
@ways
def test_the_allowance_is_kept(way):
    state, toy = trained(options(WAYS[way], 1200), Toy(bad_steps=range(500, 503)))
    if state.settings.allowance is not None:
        assert toy.run - state.step <= state.settings.allowance
        assert toy.run <= state.settings.total_steps + state.settings.allowance


@ways
@pytest.mark.one_in(3)
def test_same_seed_and_losses_give_the_same_schedule(way):
    assert trained(options(WAYS[way]))[1].actions == undisturbed(way)[1].actions


@ways
@pytest.mark.one_in(3)
def test_before_a_restore_the_step_is_already_that_from_which_the_run_continues(way):
    def require(state):
        at_restore = state.action.do == "restore"
        assert not at_restore or observe(state).step == state.step
        return state

    trained(options(WAYS[way]), Toy(bad_steps=range(400, 403)), between=require)


def test_another_seed_begins_the_published_search_elsewhere():
    first = {trained(options(PAPER, 200, seed=seed), most=2)[1].actions[1].lr for seed in range(3)}
    assert len(first) == 3


@pytest.mark.one_in(3)
@ways
def test_through_json_at_every_point_the_run_is_the_same_bit_for_bit(way):
    state, toy = undisturbed(way)
    written, again = trained(options(WAYS[way]), between=through_json)
    assert again.actions == toy.actions
    assert written.to_json() == state.to_json()


@pytest.mark.one_in(3)
@ways
def test_only_kept_checkpoints_are_ever_restored(way):
    # Toy drops what `keep` does not name, and would fail at a restore of it.
    state, toy = trained(options(WAYS[way], 1000), Toy(bad_steps=range(700, 703)))
    assert {a.do for a in toy.actions} >= {"save", "restore", "set_lr"}
    assert all(a.slot in a.keep for a in toy.actions if a.slot)
    assert state.action.do == "stop"


any_loss = st.one_of(
    st.floats(width=64),
    st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -1e308, 1e308, 5e-324, 2.3]),
    st.floats(0.1, 3.0),
    st.integers(-(10**400), 10**400),
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    way=st.sampled_from(list(WAYS.values())),
    steps=st.integers(1, 160),
    warmup=st.integers(0, 20),
)
def test_no_sequence_of_losses_breaks_it(data, way, steps, warmup):
    asked = options(way, steps, warmup_steps=min(warmup, steps - 1))
    state = start(replace(asked, candidates=2))
    losses = data.draw(st.lists(any_loss, min_size=1, max_size=12))
    shift = data.draw(st.integers(0, 5))
    for turn in range(4000):
        action = state.action
        if action.do == "stop":
            break
        size = 0 if action.do in ("save", "restore") else 1
        if action.do in ("set_lr", "go_on"):
            assert 1 <= action.steps <= MAX_BATCH
            assert math.isfinite(action.lr) and action.lr > 0
            size = 1 + (turn + shift) % action.steps  # reports in parts are legal
        report = [losses[(turn + place) % len(losses)] for place in range(size)]
        state = observe(state, report)
        assert through_json(state).to_json() == state.to_json()
        allowance = state.settings.allowance
        assert allowance is None or state.discarded <= allowance
    assert state.action.do == "stop"
    assert state.action.reason == "diverged" or state.step == steps


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(parts=st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_reporting_in_parts_changes_nothing_but_who_talks_when(parts):
    # Nothing explodes here: where it does, an early report ends a trial early.
    whole, _ = trained(options({}), Toy(limit=2.0))
    toy, state, turn = Toy(limit=2.0), start(options({})), 0
    while state.action.do != "stop":
        pending = toy.carry_out(state.action)
        if not pending:
            state = observe(state)
        while pending:
            size = parts[turn % len(parts)]
            turn += 1
            state = observe(state, pending[:size])
            pending = pending[size:]
    assert [(s.rate, s.tau) for s in state.history] == [(s.rate, s.tau) for s in whole.history]
    assert (state.step, state.spent) == (whole.step, whole.spent)
