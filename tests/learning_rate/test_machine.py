"""The tuner as a state machine: its promises, for any losses whatever."""

import json
import math
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedules.learning_rate import Options, State, observe, start
from schedules.learning_rate.errors import InvalidObservation, InvalidOptions, InvalidState
from schedules.learning_rate.options import DEFAULTS
from schedules.learning_rate.plan import MAX_BATCH
from tests.learning_rate.trainers import Toy, through_json, trained

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

PAPER = {"method": "paper", "tau_min": 40, "tau_max": 80, "candidates": 3}
WAYS = {
    "topoloom": {},
    "cosine": {"anchor": "cosine"},
    "free": {"anchor": "none"},
    "late validation": {"validation": "late", "max_overhead": 0.5},
    "cold": {"warm_start": False},
    "retrained": {"continue_winner": False},
    "patient": {"stop_hopeless": False},
    "unlimited": {"max_overhead": math.inf, "candidates": 3},
    "paper": PAPER,
    "paper with an allowance": PAPER | {"max_overhead": 0.3},
    "paper, winner goes on": PAPER | {"continue_winner": True},
}
ways = pytest.mark.parametrize("way", WAYS)


def options(way, steps=600, **more):
    return Options(1e-4, 1.0, steps, **{"candidates": 4, **way, **more})


@cache
def undisturbed(name):
    return trained(options(WAYS[name]))


@ways
def test_a_run_keeps_exactly_its_steps_and_its_rates_stay_in_the_interval(way):
    state, toy = undisturbed(way)
    assert state.action.reason == "finished"
    assert state.step == 600 == toy.position
    assert state.spent == toy.run
    assert all(0 < a.lr <= 1.0 for a in toy.actions if a.lr is not None)
    assert sum(stage.tau for stage in state.history) + state.settings.warmup_steps == 600


@ways
def test_the_allowance_is_kept(way):
    state, toy = trained(options(WAYS[way], 1200), Toy(bad_steps=range(500, 503)))
    if state.settings.allowance is not None:
        assert toy.run - state.step <= state.settings.allowance
        assert toy.run <= state.settings.total_steps + state.settings.allowance


@ways
def test_same_seed_and_losses_give_the_same_schedule(way):
    assert trained(options(WAYS[way]))[1].actions == undisturbed(way)[1].actions


def test_another_seed_begins_the_published_search_elsewhere():
    first = {trained(options(PAPER, 200, seed=seed), most=2)[1].actions[1].lr for seed in range(3)}
    assert len(first) == 3


@ways
def test_through_json_at_every_point_the_run_is_the_same_bit_for_bit(way):
    state, toy = undisturbed(way)
    written, again = trained(options(WAYS[way]), between=through_json)
    assert again.actions == toy.actions
    assert written.to_json() == state.to_json()


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


def test_the_published_course_of_a_stage():
    asked = Options(1e-4, 1.0, 700, method="paper", tau_min=100, tau_max=200, candidates=4)
    state, toy = trained(asked, Toy(limit=2.0))
    kinds = [(a.do, a.steps or a.slot) for a in toy.actions]
    back = ("restore", "stage-0")
    trial = [back, ("set_lr", 10)]
    first = [("save", "stage-0"), ("set_lr", 10), *trial * 3, back, ("set_lr", 100)]
    assert kinds[: len(first)] == first
    assert [stage.tau for stage in state.history] == [100, 200, 200, 200]
    assert state.spent == 700 + 4 * (10 + 20 + 20 + 20)  # nothing of the search is kept
    evaluated = kinds.index(("evaluate", None))
    assert evaluated > kinds.index(("set_lr", 200)), "training loss early, validation later"


def test_defaults_of_the_paper_are_the_published_ones():
    given_ = Options(1e-3, 0.1, 100_000, method="paper").settled()
    assert (given_.tau_min, given_.tau_max, given_.candidates) == (1000, 8000, 10)
    assert (given_.kappa, given_.trial_fraction) == (1000.0, 0.1)
    state, _ = trained(Options(1e-3, 0.04, 3000, method="paper"))  # no rate explodes
    assert state.spent == 6000, "the search costs as many steps as the training"


def test_warm_up_is_linear_and_nothing_is_searched_in_it():
    _, toy = trained(options({}, 1000, warmup_steps=64, warmup_lr=0.032))
    rates = []
    for action in toy.actions:
        if action.do not in ("set_lr", "go_on") or len(rates) >= 64:
            break
        rates += [action.lr] * action.steps
    assert len(rates) == 64
    assert rates == pytest.approx([0.001 * (step // 2 + 1) for step in range(64)])


def test_the_winners_branch_goes_on_where_its_trial_ended():
    state, toy = trained(options({}, 2000))
    first = state.history[0]
    best = next(a for a in first.attempts if a.rate == first.rate)
    assert best.steps > 0
    tried = sum(a.steps for stage in state.history for a in stage.attempts)
    won = sum(next((a.steps for a in s.attempts if a.rate == s.rate), 0) for s in state.history)
    assert toy.run == 2000 + tried - won


def test_a_rate_that_explodes_is_never_used():
    state, _ = trained(options({}, 2000, candidates=8), Toy(limit=0.02))
    assert all(stage.rate <= 0.02 for stage in state.history)
    assert any(a.status in ("diverged", "hopeless") for s in state.history for a in s.attempts)


def test_a_candidate_that_is_behind_is_given_up_before_its_end():
    state, _ = trained(options({}, 4000, candidates=8, warmup_steps=0), Toy(limit=2.0))
    given_up = [a for s in state.history for a in s.attempts if a.status == "hopeless"]
    assert given_up
    assert min(a.steps for a in given_up) < max(a.steps for a in state.history[0].attempts)


def test_where_every_candidate_diverges_the_rate_goes_below_them_all():
    state = start(Options(1e-5, 1.0, 2000, candidates=4, warmup_steps=0))
    while state.phase != "exploit":
        steps = state.action.steps
        state = observe(state, [2.3, math.nan][:steps] if steps else [])
    assert {a.status for a in state.attempts} == {"diverged"}
    assert state.rate == max(1e-5, min(a.rate for a in state.attempts) / 2)
    assert state.step == 0


def test_divergence_of_the_kept_branch_goes_back_and_halves_the_rate():
    calm, _ = trained(options({}, 2000))
    state, toy = trained(options({}, 2000), Toy(bad_steps=range(1500, 1503)))
    assert state.action.reason == "finished"
    assert [a.slot for a in toy.actions if a.do == "restore"][-1].startswith("safe-")
    assert state.rate == calm.rate / 2
    assert state.spent <= 2200


@pytest.mark.parametrize("step", [1450, *range(1480, 1489), 1543, 1544, 1545, 1546])
def test_no_diverged_model_is_ever_gone_back_to(step):
    state, toy = trained(options({}, 2000, candidates=2), Toy(poisoned=step))
    assert state.action.reason == "finished"
    assert math.isfinite(toy.level)
    assert state.spent <= 2200


def test_divergence_without_steps_left_ends_the_run():
    state, _ = trained(options({}, 2000), Toy(bad_steps=range(400, 10**6)))
    assert state.action.reason == "diverged"
    with pytest.raises(InvalidObservation, match="the run has ended"):
        observe(state, [1.0])


def test_one_odd_batch_is_no_divergence():
    calm, _ = trained(options({}, 2000))
    state, _ = trained(options({}, 2000), Toy(bad_steps=[1500]))
    assert state.spent == calm.spent


@pytest.mark.parametrize("name", sorted(set(DEFAULTS["paper"])))
def test_every_improvement_and_default_of_a_method_can_be_set_alone(name):
    value = DEFAULTS["topoloom"][name]
    if name in ("warmup_steps", "tau_min", "tau_max"):
        value = 50
    mixed = replace(options(PAPER), **{name: value}).settled()
    assert getattr(mixed, name) == value
    assert trained(replace(options(PAPER), **{name: value}))[0].action.do == "stop"


OPTIONS = {
    "min_lr above max_lr": ({"min_lr": 2.0}, "/min_lr", "less than max_lr"),
    "equal": ({"min_lr": 1.0}, "/min_lr", "less than max_lr"),
    "zero": ({"min_lr": 0.0}, "/min_lr", "greater than 0"),
    "text": ({"max_lr": "0.1"}, "/max_lr", "finite number"),
    "nan": ({"max_lr": math.nan}, "/max_lr", "finite number"),
    "inf": ({"max_lr": math.inf}, "/max_lr", "finite number"),
    "true": ({"min_lr": True}, "/min_lr", "finite number"),
    "no steps": ({"total_steps": 0}, "/total_steps", "whole number"),
    "half a step": ({"total_steps": 1.5}, "/total_steps", "whole number"),
    "too many steps": ({"total_steps": 10**9}, "/total_steps", "whole number"),
    "method": ({"method": "magic"}, "/method", "one of"),
    "anchor": ({"anchor": "sine"}, "/anchor", "one of"),
    "validation": ({"validation": "often"}, "/validation", "one of"),
    "warm-up is all": ({"warmup_steps": 600}, "/warmup_steps", "0 to 599"),
    "tau": ({"tau_min": 9, "tau_max": 8}, "/tau_max", "9 to"),
    "candidates": ({"candidates": 1}, "/candidates", "2 to"),
    "many candidates": ({"candidates": 65}, "/candidates", "2 to"),
    "kappa": ({"kappa": -1.0}, "/kappa", "negative"),
    "eps": ({"eps": 1.0}, "/eps", "less than 1"),
    "fraction": ({"trial_fraction": 1.5}, "/trial_fraction", "at most 1"),
    "overhead": ({"max_overhead": -0.1}, "/max_overhead", "negative"),
    "overhead nan": ({"max_overhead": math.nan}, "/max_overhead", "finite"),
    "flag": ({"warm_start": 1}, "/warm_start", "true or false"),
    "seed": ({"seed": -1}, "/seed", "whole number"),
}


@pytest.mark.parametrize(("wrong", "field", "rule"), OPTIONS.values(), ids=OPTIONS)
def test_an_option_outside_its_domain_is_named(wrong, field, rule):
    with pytest.raises(InvalidOptions, match=rule) as refused:
        start(replace(options({}), **wrong))
    assert refused.value.field == field


REPORTS = {
    "text": ("abc", "/losses", "list of numbers"),
    "a text in it": ([1.0, "2.0"], "/losses/1", "a number"),
    "none": ([None], "/losses/0", "a number"),
    "true": ([True], "/losses/0", "a number"),
    "complex": ([1j], "/losses/0", "a number"),
    "a number": (1.0, "/losses", "list of numbers"),
    "nothing": ([], "/losses", "1 to"),
    "too many": ([1.0] * 10_000, "/losses", "1 to"),
}


@pytest.mark.parametrize(("losses", "field", "rule"), REPORTS.values(), ids=REPORTS)
def test_a_wrong_report_is_refused_and_the_state_is_unharmed(losses, field, rule):
    state = start(options({}))
    before = state.to_json()
    with pytest.raises(InvalidObservation, match=rule) as refused:
        observe(state, losses)
    assert refused.value.field == field
    assert state.to_json() == before


def test_losses_after_save_or_many_after_evaluate_are_refused():
    state = start(options(PAPER))
    assert state.action.do == "save"
    with pytest.raises(InvalidObservation, match="empty after save"):
        observe(state, [1.0])
    toy = Toy()
    while state.action.do != "evaluate":
        state = observe(state, toy.carry_out(state.action))
    with pytest.raises(InvalidObservation, match="one validation loss"):
        observe(state, [1.0, 1.0])


@cache
def middle_of_a_run():
    return trained(options({}), most=60)[0].to_json()


def spoilt(**changes):
    return json.loads(middle_of_a_run()) | changes


STATES = {
    "no object": ([], "", "object"),
    "version": (spoilt(version=2), "/version", "must be 1"),
    "unknown": (spoilt(more=1), "/more", "not known"),
    "phase": (spoilt(phase="lunch"), "/phase", "one of"),
    "step": (spoilt(step="7"), "/step", "int"),
    "backwards": (spoilt(step=10**6), "/step", "at most"),
    "rate": (spoilt(rate="fast"), "/rate", "float or null"),
    "losses": (spoilt(recent=[1.0, None]), "/recent/1", "float"),
    "settings": (spoilt(settings={}), "/settings/anchor", "missing"),
    "attempts": (spoilt(attempts=[{}]), "/attempts/0/deviation", "missing"),
}


@pytest.mark.parametrize(("document", "field", "rule"), STATES.values(), ids=STATES)
def test_a_document_that_is_no_state_is_refused(document, field, rule):
    with pytest.raises(InvalidState, match=rule) as refused:
        State.from_document(document)
    assert refused.value.field == field


def test_settings_inside_a_state_are_checked():
    document = spoilt()
    document["settings"]["min_lr"] = 5.0
    with pytest.raises(InvalidState, match="less than max_lr") as refused:
        State.from_document(document)
    assert refused.value.field == "/settings/min_lr"


def test_a_text_that_is_no_json_is_refused():
    for text in ("", "{", "[" * 100_000):
        with pytest.raises(InvalidState, match="must be JSON"):
            State.from_json(text)
