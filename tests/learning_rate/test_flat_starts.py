"""A loss that never falls: the untrained model at a tenth of the rate, on the same batches."""

import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Toy, options, through_json, trained
from topoloom.learning_rate import Options, State, observe, overrun
from topoloom.learning_rate.callbacks.checkpoints import Checkpoints
from topoloom.learning_rate.state_machine.state import UNTRAINED

BASE = 0.01  # the middle of 1e-4 to 1
LOOK = {"look_above": True}


class Dying(Toy):
    """A network that answers the same for ever once its rate was above a limit."""

    def __init__(self, bears=0.0015, speed=40.0):
        super().__init__(limit=math.inf)
        self.level, self.bears, self.speed = (2.3, False), bears, speed

    def carry_out(self, action):
        place, losses = self.position, super().carry_out(action)
        if action.do == "restore" and action.slot == UNTRAINED:
            self.position = place  # as `Checkpoints` restores it
        return losses

    def one_step(self):
        left, dead = self.level
        loss = (2.3 if dead else left) + random.Random(self.position).gauss(0, 0.05)
        dead = dead or self.lr > self.bears
        self.level = left if dead else left * (1 - self.speed * self.lr / 10), dead
        self.position += 1
        self.run += 1
        return loss


class Plateau(Toy):
    """A loss that falls once the rates of all steps add up, with more noise at larger rates."""

    def __init__(self, after=4.0, jitter=2.0):
        super().__init__(limit=math.inf)
        self.level, self.after, self.jitter = (2.3, 0.0), after, jitter

    def one_step(self):
        left, done = self.level
        noise = random.Random(self.position)
        loss = left + noise.gauss(0, 0.05) + self.jitter * self.lr * noise.random()
        left = left - 0.3 * self.lr * left if done > self.after else left
        self.level = left, done + self.lr
        self.position += 1
        self.run += 1
        return loss


@pytest.fixture(params=[500, 1000], ids=["short", "long"])
def steps(request):
    """Steps of a run; the comparison of the shorter one has 32 steps."""
    return request.param


def slots(toy, do="restore"):
    return [action.slot for action in toy.actions if action.do == do]


def test_a_dead_network_is_replaced_by_the_untrained_one_at_a_tenth_of_the_rate(steps):
    state, toy = trained(options(LOOK, steps), Dying())
    assert state.begun > 0 and state.flat is None and "flat-end" not in slots(toy)
    assert state.history[2].rate == pytest.approx(BASE / 10)
    assert toy.level[0] < (1.5 if steps == 1000 else 1.9) and not toy.level[1]
    assert state.step == steps and state.spent == toy.run <= 1.1 * steps


def test_both_models_see_the_same_batches(steps):
    toy, seen = Dying(), {}

    def watch(state):
        if state.flat is not None and state.flat.start is not None and state.phase == "exploit":
            places = seen.setdefault(state.flat.end is None, [])
            places += [toy.position, toy.position + state.action.steps]
        return state

    trained(options(LOOK, steps), toy, between=watch)
    assert seen[True][0] == seen[False][0] and seen[True][-1] == seen[False][-1]


def test_a_plateau_is_waited_for_at_the_rate_it_has():
    state, toy = trained(options(LOOK, 1000), Plateau())
    assert slots(toy)[-3:] == ["flat-start", UNTRAINED, "flat-end"]
    assert state.begun == 0 and state.flat is None
    assert state.history[-1].rate == pytest.approx(BASE)
    assert toy.level[0] < 1.0
    assert state.spent == toy.run <= 1100


def test_a_loss_that_has_fallen_is_not_compared(steps):
    state, toy = trained(options(LOOK, steps))
    assert "flat-start" not in slots(toy, "save") and state.flat is None


def test_a_short_comparison_ends_halfway_if_the_untrained_model_is_not_lower():
    """The rest of the budget pays for these steps, so the model makes all of its own."""
    toy, lengths = Dying(bears=math.inf, speed=0.0), {}

    def count(state):
        if state.flat is not None and state.flat.end is not None and state.phase == "exploit":
            lengths[state.step - state.flat.end] = state.action.steps
        return state

    state, _ = trained(options(LOOK, 500), toy, between=count)
    assert max(done + more for done, more in lengths.items()) == 16
    assert slots(toy)[-3:] == ["flat-start", UNTRAINED, "flat-end"]
    assert toy.position == 500 and state.spent == toy.run <= 550


def test_the_shortest_runs_are_not_compared():
    _, toy = trained(options(LOOK, 12 * 32 - 1), Dying())
    assert "flat-start" not in slots(toy, "save")


@pytest.mark.parametrize("kind", [Dying, Plateau])
def test_through_json_at_every_point_the_comparison_is_the_same_bit_for_bit(kind, steps):
    state, toy = trained(options(LOOK, steps), kind())
    written, again = trained(options(LOOK, steps), kind(), between=through_json)
    assert again.actions == toy.actions and written == state


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    steps=st.integers(300, 3000),
    overhead=st.floats(0.02, 0.5),
    toy=st.one_of(st.builds(Dying, st.floats(1e-4, 0.01)), st.builds(Plateau, st.floats(0, 20))),
    warmup=st.sampled_from([None, 0, 40]),
    unasked=st.integers(0, 100),
)
def test_the_budget_holds_whatever_the_loss_waits_for(steps, overhead, toy, warmup, unasked):
    asked = Options(1e-4, 1.0, steps, max_overhead=overhead, warmup_steps=warmup)

    def within(state):
        assert state.discarded <= int(overhead * steps) + unasked
        return through_json(state)

    state, toy = trained(asked, toy, between=within)
    assert state.spent == toy.run <= steps + int(overhead * steps)
    assert state.step == steps


@pytest.mark.parametrize("slot", ["flat-start", "flat-end"])
def test_steps_before_a_requested_save_belong_to_the_model_that_is_saved(slot, steps):
    def late(state):
        if state.action.do == "save" and state.action.slot == slot:
            toy.lr = toy.lr or 0.01
            return overrun(state, [toy.one_step() for _ in range(5)])
        return state

    toy = Dying()
    state, _ = trained(options(LOOK, steps), toy, between=late)
    assert state.begun > 0 and state.step == steps


@pytest.mark.parametrize("unasked", [20, 200, 400])
def test_no_stage_ends_in_a_comparison_that_steps_without_a_request_made_longer(unasked):
    """A model that is kept continues where it was, so it makes all of its steps."""

    def late(state):
        if state.action.do == "save" and state.action.slot == "flat-end":
            return overrun(state, [toy.one_step() for _ in range(unasked)])
        return state

    toy = Dying(bears=math.inf, speed=0.0)
    asked = Options(1e-4, 1.0, 500, max_overhead=1.0, **LOOK)
    state, _ = trained(asked, toy, between=late)
    assert state.step == 500
    if unasked < 400:
        assert "flat-end" in slots(toy) and toy.position == 500
    else:  # no step is left to compare
        assert UNTRAINED not in slots(toy)


def test_a_run_of_version_10_continues_without_a_comparison():
    half, toy = trained(options(LOOK, 1000), Dying(), most=40)
    document = json.loads(half.to_json())
    del document["flat"]
    old = State.from_document(document | {"version": 10})
    assert half.flat is not None and old.flat is None
    while old.action.do != "stop":
        old = observe(old, toy.carry_out(old.action))
    assert old.begun == 0 and "flat-start" not in slots(toy, "save")


def test_the_untrained_model_meets_the_random_numbers_of_the_batches_that_come_next():
    torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")
    checkpoints = Checkpoints({"model": torch.nn.Linear(2, 1)}, None)
    checkpoints.save(UNTRAINED)
    torch.rand(3)
    checkpoints.save("flat-start")
    expected = torch.rand(3)
    checkpoints.restore("flat-start")
    checkpoints.restore(UNTRAINED)
    assert torch.equal(torch.rand(3), expected)
