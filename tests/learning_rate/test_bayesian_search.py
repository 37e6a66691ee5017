"""The search for the next rate."""

import itertools
import math
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from topoloom.learning_rate.errors import MissingExtra
from topoloom.learning_rate.forecasting.bayesian_search import Trial, penalize_unusable, propose

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


def bowl(rate):
    return (math.log10(rate) + 2.5) ** 2


def test_it_finds_the_bottom_of_a_bowl_in_few_trials():
    trials = [Trial(0.1, bowl(0.1), 0.01)]
    for _ in range(8):
        rate = propose(trials, 1e-5, 1.0, kappa=1.0)
        trials.append(Trial(rate, bowl(rate), 0.01))
    assert min(trial.loss for trial in trials) < 0.05


def test_a_large_kappa_fills_the_interval():
    trials = [Trial(1e-3, bowl(1e-3), 0.01)]
    for _ in range(8):
        rate = propose(trials, 1e-5, 1e-1, kappa=1e6)
        trials.append(Trial(rate, bowl(rate), 0.01))
    places = sorted(math.log10(trial.rate) for trial in trials)
    assert max(b - a for a, b in itertools.pairwise(places)) < 1.2


def test_no_rate_is_proposed_twice_and_the_end_is_none():
    trials = [Trial(1e-3, 1.0, 0.0)]
    while (rate := propose(trials, 1e-4, 1e-2, kappa=2.0, distance=0.15)) is not None:
        assert all(abs(math.log(rate / t.rate)) >= 0.149 * math.log(100) for t in trials)
        trials.append(Trial(rate, 1.0, 0.0))
    assert 3 <= len(trials) <= 8


any_float = st.floats(width=64)


@settings(max_examples=30, deadline=None)
@given(
    losses=st.lists(st.tuples(st.floats(1e-4, 1.0), any_float, any_float), min_size=1, max_size=6)
)
@example(losses=[(0.1, 1e308, 1.0), (0.01, 1e308, -1e308), (0.2, 5e-324, math.nan)])
@example(losses=[(0.1, 1e100, 0.0), (0.01, -1e100, 1e100)])
@pytest.mark.slow
def test_any_losses_give_a_rate_in_the_interval(losses):
    trials = [Trial(*values) for values in losses]
    rate = propose(trials, 1e-4, 1.0, kappa=2.0)
    assert 1e-4 <= rate <= 1.0
    assert propose(trials, 1e-4, 1.0, kappa=2.0) == rate


@given(losses=st.lists(any_float, min_size=1, max_size=9))
def test_a_penalty_is_the_worst_and_on_the_scale_of_the_others(losses):
    told = penalize_unusable(losses)
    finite = [loss for loss in losses if abs(loss) <= 1e100]
    assert [a for a, b in zip(told, losses, strict=True) if abs(b) <= 1e100] == finite
    if finite:
        for value, loss in zip(told, losses, strict=True):
            assert abs(loss) <= 1e100 or value >= max(finite)


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.gaussian_process", None)
    with pytest.raises(MissingExtra, match="topoloom\\[tune\\]"):
        propose([Trial(0.1, 1.0, 0.1)], 1e-3, 1.0, kappa=1.0)
