"""The kept branch diverges: back to a model that is sound, at half the rate, or an end."""

import math

import pytest

from tests.learning_rate.trainers import Toy, options, trained
from topoloom.learning_rate import observe
from topoloom.learning_rate.errors import InvalidObservation

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.mark.slow
def test_divergence_of_the_kept_branch_goes_back_and_halves_the_rate():
    calm, _ = trained(options({}, 2000))
    state, toy = trained(options({}, 2000), Toy(bad_steps=range(1500, 1503)))
    assert state.action.reason == "finished"
    assert [a.slot for a in toy.actions if a.do == "restore"][-1].startswith("safe-")
    assert state.rate == calm.rate / 2
    assert state.spent <= 2200


@pytest.mark.parametrize("step", [1450, *range(1480, 1489), 1543, 1544, 1545, 1546])
@pytest.mark.one_in(3)
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


@pytest.mark.slow
def test_one_odd_batch_is_no_divergence():
    calm, _ = trained(options({}, 2000))
    state, _ = trained(options({}, 2000), Toy(bad_steps=[1500]))
    assert state.spent == calm.spent
