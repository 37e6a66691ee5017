"""The course of a stage: trials, the chosen rate, the published course."""

import math

import pytest

from tests.learning_rate.trainers import Toy, options, trained
from topoloom.learning_rate import Options, observe, start

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


def test_the_published_course_of_a_stage():
    asked = Options(1e-4, 1.0, 700, method="paper", tau_min=100, tau_max=200, candidates=4)
    state, toy = trained(asked, Toy(limit=2.0))
    kinds = [(a.do, a.steps or a.slot) for a in toy.actions]
    back = ("restore", "stage-0")
    trial = [back, ("set_lr", 10)]
    first = [("save", "stage-0"), ("set_lr", 10), *trial * 3, back, ("set_lr", 100)]
    assert kinds[: len(first)] == first
    assert [stage.tau for stage in state.history] == [100, 200, 200, 200]
    assert state.spent == 700 + 4 * (10 + 20 + 20 + 20)  # nothing of the search is kept
    evaluated = kinds.index(("evaluate", None))
    assert evaluated > kinds.index(("set_lr", 200)), "training loss early, validation later"


@pytest.mark.slow
def test_defaults_of_the_paper_are_the_published_ones():
    given_ = Options(1e-3, 0.1, 100_000, method="paper").settled()
    assert (given_.tau_min, given_.tau_max, given_.candidates) == (1000, 8000, 10)
    assert (given_.kappa, given_.trial_fraction) == (1000.0, 0.1)
    state, _ = trained(Options(1e-3, 0.04, 3000, method="paper"))  # no rate explodes
    assert state.spent == 6000, "the search costs as many steps as the training"


def test_warm_up_is_linear_and_nothing_is_searched_in_it():
    _, toy = trained(options({}, 1000, warmup_steps=64, warmup_lr=0.032))
    rates = []
    for action in toy.actions:
        if len(rates) >= 64:
            break
        if action.do in ("set_lr", "go_on"):
            rates += [action.lr] * action.steps
    assert len(rates) == 64
    assert rates == pytest.approx([0.001 * (step // 2 + 1) for step in range(64)])


def test_a_rate_that_explodes_is_never_used():
    state, _ = trained(options({}, 2000, candidates=8), Toy(limit=0.02))
    assert all(stage.rate <= 0.02 for stage in state.history)
    assert any(a.status == "diverged" for s in state.history for a in s.attempts)


def test_where_every_candidate_diverges_the_rate_goes_below_them_all():
    asked = Options(1e-5, 1.0, 2000, candidates=4, warmup_steps=0, look_above=False)
    state = start(asked)
    while state.phase != "exploit":
        steps = state.action.steps
        state = observe(state, [2.3, math.nan][:steps] if steps else [])
    assert {a.status for a in state.attempts} == {"diverged"}
    assert state.rate == max(1e-5, min(a.rate for a in state.attempts) / 2)
    assert state.step == 0
