"""A rate that a search has raised far: once more beside a rung below, both without a fall."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Toy, options, through_json, trained
from topoloom.learning_rate import overrun
from topoloom.learning_rate.state_machine.decayed_trials import STEP
from topoloom.learning_rate.state_machine.state import FLAT_END

LOOK = {"look_above": True}
RAISED = 0.01 * STEP**2.5  # half a rung below the fourth trial, above the middle of 1e-4 to 1


class Jumping(Toy):
    """A loss that falls faster at a larger rate, to a level that is higher the larger the rate."""

    def __init__(self, jumps=3.0, speed=1.3, limit=math.inf):
        super().__init__(limit=limit)
        self.jumps, self.speed = jumps, speed

    def one_step(self):
        loss = self.level + random.Random(self.position).gauss(0, 0.02)
        ends = 0.3 + self.jumps * self.lr
        self.level += (ends - self.level) * min(1.0, self.speed * self.lr)
        if self.lr > self.limit:
            self.level *= 2.0
        self.position += 1
        self.run += 1
        return loss


def slots(toy, do):
    return [action.slot for action in toy.actions if action.do == do]


def test_a_rung_below_is_kept_where_it_is_lower_without_a_fall():
    state, toy = trained(options(LOOK, 1000), Jumping())
    first = state.history[0]
    assert [one.status for one in first.attempts] == ["finished"] * 4
    assert first.rate == pytest.approx(RAISED / STEP) and state.peak == first.rate
    assert FLAT_END in slots(toy, "save") and FLAT_END not in slots(toy, "restore")
    assert toy.position == state.step == 1000 and state.spent == toy.run <= 1100


def test_the_raised_rate_is_kept_where_it_stays_lower():
    state, toy = trained(options(LOOK, 1000), Jumping(jumps=0.0, speed=0.3))
    assert state.history[0].rate == pytest.approx(RAISED)
    assert slots(toy, "restore")[-1] == FLAT_END
    assert toy.position == state.step == 1000 and state.spent == toy.run <= 1100


def test_a_rate_near_the_start_is_not_compared():
    _, toy = trained(options(LOOK, 1000), Jumping(limit=0.05))
    assert FLAT_END not in slots(toy, "save")


def test_a_budget_that_does_not_pay_for_two_trials_more_is_kept_for_rises():
    _, toy = trained(options(LOOK, 1000, candidates=5), Jumping(jumps=0.0, speed=0.1))
    assert FLAT_END not in slots(toy, "save")


def test_both_rates_see_the_same_batches():
    toy, seen = Jumping(), {}

    def watch(state):
        flat = state.flat
        if flat is not None and flat.lower is not None and state.phase == "exploit":
            places = seen.setdefault(flat.end is None, [])
            places += [toy.position, toy.position + state.action.steps]
        return state

    trained(options(LOOK, 1000), toy, between=watch)
    assert seen[True][0] == seen[False][0] and seen[True][-1] == seen[False][-1]


def test_an_explosion_at_the_lower_rate_returns_to_the_raised_one():
    toy = Jumping()

    def breaks(state):
        toy.limit = 0.0 if state.runs_other else math.inf
        return state

    state, _ = trained(options(LOOK, 1000), toy, between=breaks)
    assert state.history[0].rate == pytest.approx(RAISED)
    assert state.step == 1000 == toy.position


@pytest.mark.parametrize("jumps", [3.0, 0.0])
def test_through_json_at_every_point_the_comparison_is_the_same_bit_for_bit(jumps):
    state, toy = trained(options(LOOK, 1000), Jumping(jumps))
    written, again = trained(options(LOOK, 1000), Jumping(jumps), between=through_json)
    assert again.actions == toy.actions and written == state


@pytest.mark.parametrize("unasked", [5, 60])
def test_steps_before_the_save_belong_to_the_raised_rate(unasked):
    def late(state):
        if state.action.do == "save" and state.action.slot == FLAT_END:
            return overrun(state, [toy.one_step() for _ in range(unasked)])
        return state

    toy = Jumping()
    state, _ = trained(options(LOOK, 1000), toy, between=late)
    assert state.step == 1000 == toy.position
    assert state.history[0].rate == pytest.approx(RAISED / STEP)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    steps=st.integers(300, 3000),
    overhead=st.floats(0.02, 0.5),
    jumps=st.floats(0, 8),
    speed=st.floats(0.1, 4),
    warmup=st.sampled_from([None, 0, 40]),
)
def test_the_budget_holds_whichever_rate_is_kept(steps, overhead, jumps, speed, warmup):
    def within(state):
        assert state.discarded <= int(overhead * steps)
        return through_json(state)

    asked = options(LOOK, steps, max_overhead=overhead, warmup_steps=warmup)
    state, toy = trained(asked, Jumping(jumps, speed), between=within)
    assert state.spent == toy.run <= steps + int(overhead * steps)
    assert state.step == steps
