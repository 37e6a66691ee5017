"""States of version 11: with options that are gone, and with a trial that is saved."""

import json
from dataclasses import replace

import pytest

from tests.learning_rate.trainers import Toy, options, trained
from topoloom.learning_rate import State, observe, overrun, start
from topoloom.learning_rate.state_machine.former_states import REMOVED

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


def of_version_11(state, **more):
    document = json.loads(state.to_json())
    settings = document["settings"] | dict.fromkeys(REMOVED, True)
    return State.from_document(document | {"settings": settings, "version": 11} | more)


def ended_trial():
    """Return the state after the first trial, and the one of version 11, which saves its end."""
    before = state = start(options({"candidates": 4}))
    toy = Toy(limit=2.0)
    while state.phase != "restore_stage":
        before, state = state, observe(state, toy.carry_out(state.action))
    ended, step = json.loads(state.to_json())["attempts"][0], before.step + before.action.steps
    save = before.action.document() | {"do": "save", "slot": "trial-0", "lr": None, "steps": 0}
    more = {"phase": "save_trial", "action": save, "attempts": [ended], "step": step}
    former = of_version_11(state, **more, until=before.until, round=[], round_start=0)
    return state, replace(former, lr=state.lr)


def test_a_state_with_options_that_are_gone_is_that_without_them():
    state, _ = trained(options({}), most=40)
    assert of_version_11(state) == state


def test_a_saved_trial_is_one_that_has_ended():
    state, former = ended_trial()
    assert observe(former) == state


def test_a_saved_trial_becomes_longer_by_steps_that_nobody_asked_for():
    state, former = ended_trial()
    longer = overrun(former, [former.attempts[-1].losses[-1]] * 3)
    assert longer.phase == "restore_stage"
    assert longer.attempts[0].steps == former.attempts[0].steps + 3
    assert longer.spent == state.spent + 3
