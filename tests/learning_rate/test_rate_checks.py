"""A run that goes wrong tells rates from data: the same batches again, at the lowest rate."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import (
    Mortal,
    Toy,
    options,
    require_same_from,
    returns,
    through_json,
    trained,
)
from topoloom.learning_rate import InProcess, Options
from topoloom.learning_rate.callbacks import TuningCallback
from topoloom.learning_rate.state_machine.checkpoints import MOST_CLEARED


class Harder(Toy):
    """Data that become harder at some steps: all later losses are higher, at every rate."""

    def __init__(self, by, *places, limit=0.05):
        super().__init__(limit=limit)
        self.by, self.places = by, places

    def one_step(self):
        harder = sum(self.position >= place for place in self.places)
        return super().one_step() + self.by * harder


def restored(toy):
    return [action.slot for action in toy.actions if action.do == "restore"]


@pytest.mark.slow
@pytest.mark.parametrize("place", [300, 1200])
@pytest.mark.parametrize("by", [1.5, 30.0])
def test_harder_data_leave_the_rate_as_it_was(place, by):
    calm, _ = trained(options({}, 2000))
    state, toy = trained(options({}, 2000), Harder(by, place))
    assert state.times_cleared == 1 and state.action.reason == "finished"
    assert [stage.rate for stage in state.history] == [stage.rate for stage in calm.history]
    assert state.ceiling is None and returns(toy) == 0
    assert state.spent <= 2200 and toy.level < 0.4


def test_the_check_sees_the_same_batches_at_the_lowest_rate_up_to_where_the_loss_rose():
    rates = []

    def seen(state):
        if state.check is not None and state.action.do in ("set_lr", "go_on"):
            rates.append((state.step, state.action.lr, state.check))
        return state

    trained(options({}, 2000), Harder(1.5, 300), between=seen)
    (first, _, check), (last, _, _) = rates[0], rates[-1]
    assert {lr for _, lr, _ in rates} == {1e-4}
    assert first == check.start < 300 < last
    assert last < check.start + check.steps <= last + 8


def test_losses_that_exploded_become_those_that_later_ones_are_compared_with():
    state, _ = trained(options({}, 2000), Harder(30.0, 900))
    assert min(state.first) > 30.0
    twice, _ = trained(options({}, 2000), Harder(30.0, 600, 1200))
    assert twice.action.reason == "finished" and twice.times_cleared == 2


def test_rises_are_no_longer_watched_where_the_data_have_caused_two():
    state, toy = trained(options({}, 2000), Harder(1.2, 400, 800, 1200))
    assert state.times_cleared == MOST_CLEARED == 2
    assert sum(slot.startswith("safe-") for slot in restored(toy)) == 2


def test_losses_that_are_not_numbers_are_never_the_data():
    state, _ = trained(options({}, 2000), Harder(math.nan, 900))
    assert state.action.reason == "diverged" and state.times_cleared == 0


def test_in_a_narrow_interval_the_rate_counts_as_the_cause():
    asked = Options(5e-3, 2e-2, 2000, candidates=4, look_above=False)
    state, _ = trained(asked, Harder(1.5, 900))
    assert state.times_cleared == 0 and state.ceiling is not None


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    steps=st.integers(300, 3000),
    by=st.floats(0.5, 100.0),
    places=st.lists(st.integers(0, 3000), max_size=3),
    bears=st.floats(1e-3, 0.3),
    look=st.booleans(),
)
def test_the_budget_holds_whatever_is_the_cause(steps, by, places, bears, look):
    class Both(Mortal):
        def one_step(self):
            return super().one_step() + by * sum(self.position > place for place in places)

    def within(state):
        assert state.discarded <= steps // 10
        assert state.check is None or state.phase in ("exploit", "restore_safe")
        return through_json(state)

    asked = options({}, steps, look_above=look)
    state, toy = trained(asked, Both(bears), between=within)
    assert state.spent == toy.run <= steps + steps // 10
    assert state.step == steps or state.action.reason == "diverged"


@pytest.mark.parametrize("most", [3, 40])
def test_a_run_that_version_9_saved_continues_bit_for_bit(most):
    require_same_from(9, options({}), most, "check", "times_cleared")


@pytest.mark.slow
def test_the_log_says_that_the_rate_stays(caplog):
    torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")

    class Position:
        def __init__(self):
            self.position = 0

        def state_dict(self):
            return {"position": self.position}

        def load_state_dict(self, state):
            self.position = state["position"]

    data = Position()
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    callback = TuningCallback(InProcess(options({}, 1000)), model, optimizer, data=data)
    while callback.running:
        noise = random.Random(data.position).gauss(0, 0.05)
        callback.step(0.3 + 2 * math.exp(-data.position / 60) + noise + (data.position > 300))
        data.position += 1
    told = [record.getMessage() for record in caplog.records]
    assert told[0].startswith("the loss rises: back to checkpoint safe-")
    assert told[1:] == ["the loss is as high at the lowest rate: the rate stays as it was"]
