"""The range test: trials before the first step that find the interval, within the budget."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.test_decayed_trials import Still
from tests.learning_rate.trainers import Toy, require_same_from, through_json, trained
from topoloom.learning_rate import Options, observe, overrun, start
from topoloom.learning_rate.errors import InvalidOptions
from topoloom.learning_rate.state_machine.range_trials import (
    LEAST_TRIALS,
    LONGER,
    SHORTEST,
)

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")
OWN = 1e-3  # the optimizer's rate


def asked(steps=1000, **more):
    choices = {"min_lr": OWN / 1e5, "max_lr": OWN * 1e5, "range_test": True, **more}
    return Options(total_steps=steps, **choices)


def decades(state):
    return round(math.log10(state.settings.warmup_lr / OWN), 6)


@pytest.mark.parametrize(
    ("limit", "walked", "moved"),
    [(2.0, [0, 1, 2, 3, 4], 2), (0.5, [0, 1, 2, 3], 1), (0.05, [0, 1, 2], 0),
     (0.005, [0, 1, -1], 0), (5e-4, [0, -1, -2], -1), (5e-6, [0, -1, -2, -3, -4], -3)],
)  # fmt: skip
def test_the_middle_is_a_decade_below_the_best_rate_above_or_the_best_rate_below(
    limit, walked, moved
):
    state, _ = trained(asked(), Toy(limit=limit))
    assert [round(math.log10(attempt.rate / OWN)) for attempt in state.tested] == walked
    assert decades(state) == moved
    assert state.settings.max_lr / state.settings.min_lr == pytest.approx(1000)


def test_where_the_budget_ends_before_a_rate_is_worse_the_middle_is_the_last_rate():
    state, _ = trained(asked(400), Toy(limit=2.0))
    assert [round(math.log10(attempt.rate / OWN)) for attempt in state.tested] == [0, 1, 2, 3]
    assert decades(state) == 3


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    steps=st.integers(100, 800),
    limit=st.floats(-6, 2).map(lambda power: 10**power),
    overhead=st.floats(0.02, 0.4),
    look=st.booleans(),
    warmup=st.sampled_from([None, 0]),
    rises=st.booleans(),
)
def test_the_cost_is_within_the_budget_and_json_changes_nothing(
    steps, limit, overhead, look, warmup, rises
):
    options = asked(
        steps, max_overhead=overhead, look_above=look, warmup_steps=warmup, stop_rises=rises
    )
    state, toy = trained(options, Toy(limit=limit), through_json)
    again, _ = trained(options, Toy(limit=limit))
    assert (state.to_json(), toy.run) == (again.to_json(), state.spent)  # NaN equals NaN there
    assert state.spent <= steps + int(overhead * steps)
    assert state.step == steps or state.action.reason == "diverged"
    assert toy.position <= state.step  # trials leave no trace in the model; a recovery may


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), more=st.floats(0, 10))
def test_where_the_loss_is_noise_alone_the_middle_is_the_start(seed, more):
    """Also where a larger rate has a larger loss at once."""
    options, toy = asked(), Still(seed, more)
    state = start(options)
    while not state.tested:
        state = observe(state, toy.carry_out(state.action))
    assert decades(state) == 0


class Overshooting(Toy):
    """A loss that rises far in the first steps of a trial of too high a rate, and then comes back.

    Noise depends on the position in the data alone.  Below the limit the loss falls as in `Toy`.
    """

    def __init__(self, limit, height):
        super().__init__(limit=math.inf)
        self.too_high, self.height = limit, height

    def one_step(self):
        early = self.position in (1, 2) and self.lr > self.too_high
        return super().one_step() + (self.height if early else 0.0)


def ranged(toy, **more):
    """Return the state after the range test alone."""
    state = start(asked(**more))
    while not state.tested:
        state = observe(state, toy.carry_out(state.action))
    return state


@given(limit=st.floats(-6, -3.5), height=st.floats(5.0, 50.0))
@settings(max_examples=20, deadline=None)
def test_below_a_start_that_raises_the_loss_far_and_gains_less_lower_decades_are_tried(
    limit, height
):
    """Two losses that are far too high do not end a trial as an explosion does: three do."""
    state = ranged(Overshooting(10**limit, height))
    own = [attempt.rate for attempt in state.tested]
    assert own[:2] == pytest.approx([OWN, OWN / 1e5])
    fallen = 1 - 1.5 / SHORTEST  # of its rate, where the trial is too high
    assert decades(state) == math.floor(limit - math.log10(OWN * fallen))
    assert all(attempt.status == "finished" for attempt in state.tested)


def test_a_smaller_rise_does_not_lower_the_start():
    calm, risen = (ranged(Overshooting(1e-5, height)) for height in (0.0, 4.0))
    assert calm.settings == risen.settings


class LateExplosion(Toy):
    """A loss that falls in no trial by more than noise, and explodes a dozen steps after too high a
    rate began.  Noise is that of each step that is run."""

    def __init__(self, limit, seed):
        super().__init__(limit=limit)
        self.seed = seed

    def one_step(self):
        level = self.level
        super().one_step()
        if self.position <= 12:
            self.level = level
        return level + random.Random(f"{self.seed}/{self.run}").gauss(0, 0.2)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("limit", "moved"), [(2.0, 0), (OWN / 8, -1)])
def test_a_start_in_doubt_stays_unless_four_times_the_steps_make_it_explode(limit, moved, seed):
    state = ranged(LateExplosion(limit, seed))
    first, second = (one for one in state.tested if one.rate == pytest.approx(OWN))
    assert (first.status, first.steps) == ("finished", SHORTEST)
    assert second.status == ("diverged" if moved else "finished")
    assert moved or second.steps == LONGER * SHORTEST
    assert decades(state) == moved


class Hidden(Toy):
    """A loss whose fall is hidden by its batches, until the rate is so large that the loss curves.

    One batch has a lower loss the further the model has moved, the next a higher one.
    """

    def __init__(self, curves, sign=1):
        super().__init__(limit=math.inf)
        self.curves, self.sign, self.level = curves, sign, 0.0

    def one_step(self):
        slope = self.sign * (1.0 if self.position % 2 else -0.8)
        loss = 2.3 - slope * self.level + self.level**2 / self.curves
        self.level += self.lr
        self.position += 1
        self.run += 1
        return loss


@pytest.mark.parametrize(
    ("toy", "walked", "moved"),
    [(Hidden(0.1), [0, 1, -1, -5], 0), (Hidden(1.0), [0, 1, -1, 2], 1),
     (Hidden(10.0), [0, 1, -1, 2, 3], 2), (Hidden(10.0, sign=-1), [0, 1, -1, -5], 0)],
)  # fmt: skip
def test_while_losses_are_proportional_to_the_rate_and_not_higher_the_walk_goes_up(
    toy, walked, moved
):
    state = ranged(toy)
    tried = [round(math.log10(attempt.rate / OWN)) for attempt in state.tested]
    assert list(dict.fromkeys(tried)) == walked
    assert decades(state) == moved


def warm_up_of(toy):
    """Return the steps between the last return to the untrained model and the first stage."""
    end = next(n for n, action in enumerate(toy.actions) if action.slot == "stage-0")
    begin = max((n for n in range(end) if toy.actions[n].do == "restore"), default=-1)
    return [(action.lr, action.steps) for action in toy.actions[begin + 1 : end]]


def test_warm_up_after_it_is_that_of_a_run_with_the_interval_alone():
    """It begins with the untrained model and the first batch, and no loss of a trial is left."""
    still = {"stop_rises": False, "look_above": False, "candidates": 2}
    state, toy = trained(asked(**still), Toy(limit=0.05))
    found = state.settings
    interval = Options(found.min_lr, found.max_lr, 1000, warmup_lr=found.warmup_lr, **still)
    plain, other = trained(interval, Toy(limit=0.05))
    assert state.first == plain.first
    assert warm_up_of(toy) == warm_up_of(other)


def test_without_a_budget_for_three_trials_the_interval_is_around_the_start():
    fewest = LEAST_TRIALS * SHORTEST
    for steps in (100, 290, 310):
        state = start(asked(steps))
        pays = int(0.1 * steps) - int(0.2 * int(0.1 * steps)) >= fewest
        assert (state.stage < 0 and state.purse > 0) == pays
        if not pays:
            around = Options(OWN / 10**1.5, OWN * 10**1.5, steps, warmup_lr=OWN)
            assert trained(asked(steps))[1].actions == trained(around)[1].actions


def test_steps_that_nobody_asked_for_before_the_first_save_leave_the_test_out():
    state = overrun(start(asked()), [2.0] * 5)
    assert (state.step, state.spent, state.stage) == (5, 5, -1)
    assert state.settings.max_lr / state.settings.min_lr == pytest.approx(1000)
    assert not state.looking and state.action.do in ("save", "set_lr")


def test_a_state_of_before_range_tests_resumes():
    require_same_from(6, Options(1e-4, 1.0, 800), 20, "range_test", "tested")


def test_a_budget_without_limit_is_refused():
    with pytest.raises(InvalidOptions, match="/range_test: must be false where max_overhead"):
        start(asked(method="paper"))
