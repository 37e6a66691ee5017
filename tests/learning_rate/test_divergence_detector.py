"""A loss of the kept branch that rises again: warm-up ends, rates are halved, the budget holds."""

import json
import math
import random
from dataclasses import replace

import pytest

from tests.learning_rate.trainers import Toy, options, trained
from topoloom.learning_rate import State, start
from topoloom.learning_rate.state_machine.divergence_detector import (
    LASTING,
    WINDOW,
    has_risen,
    with_least_level,
)
from topoloom.learning_rate.state_machine.step_counting import RECENT

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


class Tender(Toy):
    """A loss that drifts back to where it began at rates above ``bears``, and never explodes."""

    def __init__(self, bears, from_step=0):
        super().__init__(limit=math.inf)
        self.bears, self.from_step = bears, from_step

    def one_step(self):
        level = self.level
        loss = super().one_step()
        if self.lr > self.bears and self.position > self.from_step:
            self.level = 2.3 - 0.93 * (2.3 - level)
        return loss


def without_rises(**more):
    return options({}, 2000, stop_rises=False, **more)


def test_a_warm_up_that_hurts_ends_where_it_begins_to():
    asked = options({}, 2000, warmup_steps=200, warmup_lr=0.2)
    state, _ = trained(asked, Tender(bears=0.08))
    assert 0 < state.warm_until < 200
    assert state.history[0].start == state.warm_until
    assert 0.08 < state.ceiling < 0.2
    assert all(a.rate <= state.ceiling for stage in state.history for a in stage.attempts)
    assert state.spent <= 2200
    hurt = trained(replace(asked, stop_rises=False), Tender(bears=0.08))[0]
    assert hurt.warm_until is None
    assert hurt.history[0].start == 200


def test_an_exploding_warm_up_ends_too_and_training_goes_on():
    state, toy = trained(options({}, 2000, warmup_steps=200, warmup_lr=0.2), Toy(limit=0.08))
    assert state.action.reason == "finished"
    assert state.warm_until < 200
    assert toy.level < 1.0


def test_a_rate_that_is_borne_for_a_while_only_is_halved_from_before_the_rise():
    state, toy = trained(options({}, 2000), Tender(bears=1e-4, from_step=900))
    back = [action.slot for action in toy.actions if action.do == "restore"]
    safe = [int(slot.removeprefix("safe-")) for slot in back if slot.startswith("safe-")]
    assert 850 < safe[0] < 1000
    rates = [stage.rate for stage in state.history]
    assert rates[-1] <= rates[0] / 2
    assert state.spent <= 2200
    unwatched = trained(without_rises(), Tender(1e-4, 900))[1]
    assert not any(a.do == "restore" and a.slot.startswith("safe-") for a in unwatched.actions)


def test_where_going_back_cannot_be_paid_for_the_lost_steps_count_as_run():
    poor, toy = trained(options({}, 2000, max_overhead=0.04), Tender(1e-4, 900))
    assert poor.action.reason == "finished"
    assert poor.step == 2000 > toy.position
    assert poor.spent == toy.run <= 2080
    assert poor.history[-1].rate <= poor.history[0].rate / 2


def course(losses, every=1):
    """Return whether a rise is seen anywhere along a kept branch of such losses."""
    state, seen = replace(start(options({})), stage=0), False
    for place in range(0, len(losses), every):
        last = tuple(losses[max(0, place - RECENT + 1) : place + 1])
        state = with_least_level(replace(state, first=tuple(losses[:8]), recent=last))
        seen |= has_risen(state)
    return seen


@pytest.mark.parametrize("seed", range(5))
def test_noise_of_a_fifth_of_the_fall_is_no_rise(seed):
    draw = random.Random(seed)
    losses = [3.1 + 0.8 * math.exp(-step / 12) + draw.gauss(0, 0.16) for step in range(500)]
    assert not course(losses)


@pytest.mark.parametrize("seed", range(5))
def test_noise_and_one_odd_batch_are_no_rise(seed):
    draw = random.Random(seed)
    losses = [0.5 + 2 * math.exp(-step / 100) + draw.gauss(0, 0.1) for step in range(500)]
    assert not course(losses)
    losses[300] = 3.0
    assert not course(losses)
    rise = [1.8 + draw.gauss(0, 0.1) for _ in range(LASTING * WINDOW)]
    assert course([*losses, *rise])
    assert not course([*losses, *rise[:-WINDOW]])


@pytest.mark.slow
def test_noise_of_a_flat_run_is_hardly_ever_a_rise():
    seen = 0
    for seed in range(60):
        draw = random.Random(seed)
        seen += course([2.3 + draw.gauss(0, 0.1) for _ in range(1000)], every=WINDOW)
    assert seen <= 3


def test_a_flat_or_short_course_has_no_rise():
    assert not course([1.0] * 100)
    assert not course([2.0, 1.0, 2.0])
    assert not course([math.nan] * 50)


def test_a_run_begun_before_rises_were_watched_goes_on_without():
    asked = without_rises(decay_share=0.2, look_above=False)
    _, toy = trained(asked)
    half, begun = trained(asked, most=40)
    document = json.loads(half.to_json())
    for name in ("floor", "warm_until", "ceiling", "looking"):
        del document[name]
    for name in ("stop_rises", "decay_share", "look_above"):
        del document["settings"][name]
    old = State.from_document(document | {"version": 1})
    assert old.settings.stop_rises is False
    assert replace(old, floor=half.floor) == half
    assert toy.actions[:40] == begun.actions
