"""Options, reports and documents outside their domain are named, and harm nothing."""

import json
import math
from dataclasses import replace
from functools import cache

import pytest

from tests.cases import for_every
from tests.learning_rate.trainers import PAPER, Toy, options, trained
from topoloom.learning_rate import State, observe, start
from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions, InvalidState
from topoloom.learning_rate.options import DEFAULTS

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.mark.one_in(4)
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
    "no decay": ({"decay_share": 0.0}, "/decay_share", "greater than 0"),
    "more than a whole decay": ({"decay_share": 1.5}, "/decay_share", "at most 1"),
    "look": ({"look_above": 1}, "/look_above", "true or false"),
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


@for_every(("wrong", "field", "rule"), OPTIONS.values())
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
    state = observe(start(options({})))
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
    "version": (spoilt(version=13), "/version", "must be 1 to 12"),
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
