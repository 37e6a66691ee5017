"""Ratios between the rates of groups: searched after the rate, kept unless clearly beaten."""

import json
import math
import random
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Groups, trained
from topoloom.learning_rate import Options, State, observe, overrun, start
from topoloom.learning_rate.state_machine.extension import extend_run
from topoloom.learning_rate.state_machine.state import UNTRAINED

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

STEP = math.sqrt(10)
GROUPS = ("embedding", "matrices")


class Indifferent(Groups):
    """A loss that falls the same at any rate."""

    def one_step(self):
        loss = super().one_step()
        self.level = (math.exp(-self.position / 200),) * 2
        return loss


class Flat(Groups):
    """A loss that does not fall at all."""

    def one_step(self):
        loss = super().one_step()
        self.level = (1.0, 1.0)
        return loss


def asked(steps=2000, groups=GROUPS, **more):
    return Options(1e-3, 0.1, steps, group_ratios=groups, **more)


@cache
def undisturbed():
    return trained(asked(), Groups((0.5, 0.05)))


@given(
    low=st.floats(0.02, 0.08),
    apart=st.floats(0.0, 1.8),
    first=st.booleans(),
    steps=st.integers(1200, 4000),
)
@settings(max_examples=10, deadline=None)
def test_the_ratio_at_which_every_group_trains_fastest_is_found(low, apart, first, steps):
    high = low * 10**apart
    state, _ = trained(asked(steps), Groups((high, low) if first else (low, high)))
    scale, other = state.scales if first else state.scales[::-1]
    assert other == 1.0 and scale >= 1.0
    # Rungs of half a decade; a trial that decays bears a rate a little beyond the limit.
    assert abs(math.log10(scale) - apart) <= 0.65


@pytest.mark.parametrize("named", [1, 2])
def test_a_group_whose_rate_is_too_large_is_lowered_or_the_other_one_raised(named):
    class Curved(Groups):
        """The first part of the loss falls fastest at 0.002, and rises beyond 0.004."""

        def one_step(self):
            before, rate = self.level[0], self.lr * self.scales[0]
            loss = super().one_step()
            falls = 0.3 * rate * (1 - rate / 0.004)
            self.level = (before * math.exp(-falls), self.level[1])
            return loss

    options = Options(5e-3, 0.02, 2000, group_ratios=GROUPS[:named])  # holds no other rung
    state, toy = trained(options, Curved((9.0, 0.02), noise=0.01))
    assert toy.scales[0] / toy.scales[1] == pytest.approx(1 / STEP)
    assert len(state.scales) == named


@pytest.mark.parametrize("kind", [Indifferent, Flat])
@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_where_no_ratio_matters_the_ratio_stays(kind, noise, seed):
    state, _ = trained(asked(), kind((9.0, 9.0), noise, seed=seed))
    assert all(stage.scales == (1.0, 1.0) for stage in state.history)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1000, 4000])
def test_noise_of_every_trial_of_its_own_changes_few_ratios(steps):
    ends = [
        trained(asked(steps), Indifferent((9.0, 9.0), 0.1, own=True, seed=seed))[0].scales
        for seed in range(30)
    ]
    assert sum(scales != (1.0, 1.0) for scales in ends) <= 3


def test_trials_of_ratios_follow_those_of_the_rate_and_differ_in_one_scale():
    state, _ = undisturbed()
    tried = state.history[0].attempts
    scaled = [one for one in tried if one.scales != (1.0, 1.0)]
    assert tried[-len(scaled) :] == tuple(scaled)
    best = min((one for one in tried if one.scales == (1.0, 1.0)), key=lambda one: one.forecast)
    assert {one.rate for one in scaled} == {best.rate}
    assert [round(one.scales[0], 2) for one in scaled][:3] == [3.16, 10.0, 31.62]
    assert len({one.steps for one in tried if one.status == "finished"}) == 1


@pytest.mark.slow
@given(st.integers(300, 5000), st.floats(0.02, 1.0), st.floats(0.02, 1.0), st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_budget_holds_with_ratios_and_the_kept_run_has_its_steps(steps, one, other, ranged):
    state, toy = trained(asked(steps, range_test=ranged), Groups((one, other)))
    assert state.action.reason == "finished" and state.step == steps
    # Steps of the untrained model that the budget does not pay for count as run.
    compared = any(one.do == "restore" and one.slot == UNTRAINED for one in toy.actions)
    lost = steps - toy.position
    assert lost == 0 or (compared and 0 < lost <= state.settings.warmup_steps + 48)
    assert toy.run == state.spent <= 1.1 * steps


def test_without_names_there_are_no_scales_and_the_run_is_that_of_before():
    state, toy = trained(Options(1e-3, 0.1, 2000))
    assert state.scales == () and not any(action.scales for action in toy.actions)
    assert not any(one.scales for stage in state.history for one in stage.attempts)


def test_every_rate_of_the_run_comes_with_its_scales_and_the_last_ones_are_those_chosen():
    state, toy = undisturbed()
    rates = [action for action in toy.actions if action.do in ("set_lr", "go_on")]
    assert all(len(action.scales) == 2 for action in rates)
    assert rates[-1].scales == state.scales == state.history[-1].scales
    assert state.scales == pytest.approx((10.0, 1.0))


def test_the_run_through_json_and_in_partial_reports_is_the_same_bit_for_bit():
    state, toy = undisturbed()
    again, other = trained(
        asked(), Groups((0.5, 0.05)), between=lambda one: State.from_json(one.to_json())
    )
    assert (again.to_json(), other.actions) == (state.to_json(), toy.actions)
    now, part, draw = start(asked()), Groups((0.5, 0.05)), random.Random(3)
    while now.action.do != "stop":
        steps = draw.randint(1, max(1, now.action.steps))
        few = replace(now.action, steps=min(steps, now.action.steps))
        now = observe(now, part.carry_out(few))
    assert now.to_json() == state.to_json()


def test_ratios_stay_after_divergence_and_after_another_length():
    state, toy = trained(asked(), Groups((0.5, 0.05), poisoned=1500))
    assert any(a.do == "restore" and a.slot.startswith("safe") for a in toy.actions)
    assert state.scales == pytest.approx((10.0, 1.0))
    longer, toy = start(asked()), Groups((0.5, 0.05))
    while longer.action.do != "stop":
        if longer.spent > 500:
            longer = extend_run(longer, 3000)
        longer = observe(longer, toy.carry_out(longer.action))
    assert longer.step == 3000 and longer.scales == pytest.approx((10.0, 1.0))


@pytest.mark.slow
@given(st.integers(0, 60), st.integers(1, 40))
@settings(max_examples=15, deadline=None)
def test_steps_that_ran_unasked_leave_the_search_sound(place, extra):
    state, toy = start(asked()), Groups((0.5, 0.05))
    for number in range(10**6):
        if state.action.do == "stop":
            break
        if number == place and toy.lr is not None:
            state = overrun(state, [toy.one_step() for _ in range(extra)])
        else:
            state = observe(state, toy.carry_out(state.action))
    assert state.step == 2000 and all(0.09 < scale < 101 for scale in state.scales)


def test_a_flat_beginning_leaves_the_ratios_for_a_later_stage():
    class Late(Groups):
        def one_step(self):
            loss = super().one_step()
            if self.position < 140:
                self.level = (1.0, 1.0)
            return loss

    state, _ = trained(asked(), Late((0.5, 0.05)))
    assert {one.scales for one in state.history[0].attempts} == {(1.0, 1.0)}
    assert state.scales[0] > 1.0


def test_a_state_of_version_7_continues_without_ratios():
    options = Options(1e-3, 0.1, 2000)
    state, toy = trained(options)
    half, begun = trained(options, most=len(toy.actions) - 20)
    document = json.loads(half.to_json())
    for name in ("scales", "base"):
        del document[name]
    del document["settings"]["group_ratios"]
    for record in (document["action"], *document["attempts"], *document["history"]):
        del record["scales"]
        for attempt in record.get("attempts", ()):
            del attempt["scales"]
    old = State.from_document(document | {"version": 7})
    assert old.to_json() == half.to_json() and half.history[0].attempts
    while old.action.do != "stop":
        old = observe(old, begun.carry_out(old.action))
    assert begun.actions == toy.actions and old.to_json() == state.to_json()
