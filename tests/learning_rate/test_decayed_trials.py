"""The search in trials that decay to zero: up a ladder, down after a fall, otherwise not at all."""

import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Toy, options, require_same_from, trained
from topoloom.learning_rate import Options, State
from topoloom.learning_rate.state_machine.state import UNTRAINED

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

BASE, STEP = 0.01, math.sqrt(10)  # the middle of 1e-4 to 1, and a rung
LOOK = {"look_above": True, "candidates": 8}


class Flat(Toy):
    """A loss that falls in warm-up, whatever the rate is, and then no more."""

    def one_step(self):
        loss = super().one_step()
        self.level = 2.0 + 0.3 * math.exp(-self.position / 50)
        return loss


class Still(Toy):
    """A loss that never falls and has the noise of its batch, and more the larger the rate is."""

    def __init__(self, seed=0, more=1.0):
        super().__init__()
        self.seed, self.more = seed, more

    def one_step(self):
        self.run += 1
        self.position += 1
        noise = random.Random(1000 * self.seed + self.position).gauss(0, 0.2)
        return 2.3 + noise + self.more * self.lr


def trials_of(toy):
    """Return the trials of the first stage, each as the rates of its steps."""
    begin = next(n for n, a in enumerate(toy.actions) if a.slot == "stage-0")
    trials = [[]]
    for action in toy.actions[begin + 1 :]:
        if action.do == "restore":
            trials.append([])
        elif action.do in ("set_lr", "go_on"):
            trials[-1] += [action.lr] * action.steps
        if action.do == "save":
            break
    return trials[:-1]


def test_trials_decay_linearly_to_zero():
    _, toy = trained(options(LOOK, 4000), Toy(limit=2.0))
    for rate, rates in zip((STEP * BASE, BASE), trials_of(toy), strict=False):
        assert len(rates) == 64
        assert rates == pytest.approx([rate * (1 - (n // 2 * 2 + 1) / 64) for n in range(64)])


def test_a_rate_half_a_rung_below_the_best_is_chosen_as_long_as_rungs_end_lower():
    state, toy = trained(options(LOOK, 4000), Toy(limit=2.0))
    tried = [attempt.rate for attempt in state.history[0].attempts]
    assert tried == pytest.approx([BASE * STEP**rung for rung in (1, 0, 2, 3, 4)])
    assert state.history[0].rate == pytest.approx(BASE * STEP**3.5)
    assert not any(stage.attempts for stage in state.history[1:])
    assert state.history[0].start == 200 and toy.position == 4000


def test_where_nothing_is_clear_the_rate_stays_and_is_searched_again_later():
    state, _ = trained(options(LOOK, 4000), Flat(limit=2.0))
    assert [a.rate for a in state.history[0].attempts[:2]] == pytest.approx([STEP * BASE, BASE])
    assert {stage.rate for stage in state.history} == {state.history[0].attempts[1].rate}
    assert state.history[1].attempts


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("more", [0.0, 1.0])
def test_before_the_loss_has_fallen_the_rate_stays(seed, more):
    state, toy = trained(options(LOOK, 1000), Still(seed, more))
    assert all(stage.rate == pytest.approx(BASE) for stage in state.history)
    assert min(a.rate for stage in state.history for a in stage.attempts) == pytest.approx(BASE)
    returns = [a.slot for a in toy.actions if a.do == "restore" and a.slot.startswith("safe")]
    assert returns in ([], [UNTRAINED]) and not state.begun  # compared, and not kept


@pytest.mark.slow
def test_a_rise_that_noise_makes_in_warm_up_costs_at_most_three_quarters_of_the_start():
    lowered = []
    for seed in range(30):
        state, _ = trained(options(LOOK, 200, warmup_steps=40), Still(seed, more=0.0))
        lowered.append(state.history[-1].rate / BASE)
    assert min(lowered) >= 0.25
    assert sum(rate < 0.99 for rate in lowered) <= 2


def test_below_a_rate_that_explodes_the_start_stays():
    state, _ = trained(options(LOOK, 4000), Toy(limit=0.02))
    first = state.history[0]
    assert [a.status for a in first.attempts] == ["diverged", "finished", "finished"]
    assert first.attempts[0].steps < 64
    assert first.rate == pytest.approx(BASE)


def test_below_a_start_that_explodes_lower_rungs_are_tried():
    state, toy = trained(options(LOOK, 4000, warmup_lr=0.004), Toy(limit=0.005))
    tried = {round(a.rate, 4): a.status for a in state.history[0].attempts}
    assert (tried[0.01], tried[0.0032]) == ("diverged", "finished")
    assert state.history[0].rate == pytest.approx(BASE / STEP)
    assert state.action.reason == "finished" and toy.level < 2.3


@pytest.mark.parametrize("highest", [10.0, 1000.0, 1e6])
def test_an_interval_that_reaches_far_too_high_begins_again_below(highest):
    asked = Options(0.01, highest, 1000)
    state, toy = trained(asked, Toy(limit=0.05))
    assert state.action.reason == "finished"
    assert state.ceiling < highest
    assert 0.01 <= state.history[-1].rate <= 0.05
    assert toy.level < 0.35 and toy.position == 1000
    assert state.spent <= 1100


def test_nothing_above_a_rate_that_exploded_in_warm_up_is_tried():
    state, _ = trained(options(LOOK, 4000), Toy(limit=0.005))
    rates = [a.rate for stage in state.history for a in stage.attempts]
    assert max(rates) <= state.ceiling < BASE


@pytest.mark.parametrize("more", [{"max_overhead": math.inf}, {"method": "paper"}])
def test_without_a_limit_of_steps_trials_have_one_rate(more):
    runs = [trained(options({"look_above": look, **more}, 1000))[1] for look in (True, False)]
    assert runs[0].actions == runs[1].actions


def test_without_steps_for_two_trials_the_start_is_kept():
    state, toy = trained(options(LOOK, 200), Toy(limit=2.0))
    assert {stage.rate for stage in state.history} == {BASE}
    assert toy.run == 200


def test_no_trial_is_continued():
    _, toy = trained(options(LOOK, 4000), Toy(limit=2.0))
    assert not any(a.slot.startswith("trial") for a in toy.actions if a.slot)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    steps=st.integers(200, 3000),
    overhead=st.floats(0.05, 2.0),
    limit=st.floats(0.003, 2.0),
    tau=st.integers(60, 400),
    at_once=st.integers(1, 3),
    bad=st.sets(st.integers(0, 3000), max_size=4),
)
def test_the_allowance_is_kept_whatever_is_seen(steps, overhead, limit, tau, at_once, bad):
    asked = Options(
        1e-4, 1.0, steps, max_overhead=overhead, tau_min=tau, candidates=4, look_above=True,
        side_by_side=at_once,
    )  # fmt: skip
    most, counted_as_run = int(overhead * steps), []

    def within(state):
        assert state.discarded <= most
        assert 0 < (state.action.lr or 1.0) <= 1.0
        if state.phase == "restore_safe" and state.step > state.safe_step:
            counted_as_run.append(state)
        return state

    state, toy = trained(asked, Toy(limit=limit, bad_steps=bad), between=within)
    assert state.spent == toy.run <= steps + most
    if state.action.reason == "finished":
        assert state.step == steps
        assert counted_as_run or toy.position == steps


@pytest.mark.slow
def test_a_run_begun_before_trials_decayed_goes_on_without():
    asked = options({"look_above": False}, 4000)
    require_same_from(3, asked, 30, "look_above", "looking")


@pytest.mark.parametrize("most", [5, 120])
def test_a_run_begun_when_only_the_first_stage_had_such_trials_goes_on_with_them(most):
    half, _ = trained(options(LOOK, 4000), Toy(limit=2.0), most=most)
    assert half.looking == (most > 5)
    old = {**json.loads(half.to_json()), "version": 4, "looked": []}
    assert State.from_document(old) == half
