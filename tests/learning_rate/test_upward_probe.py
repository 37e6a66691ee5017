"""A rate above warm-up's last, looked at before the first search in trials that fall to zero."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning_rate.trainers import Toy, options, require_same_from, trained
from topoloom.learning_rate import Options

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")

BASE, ABOVE = 0.01, 0.01 * math.sqrt(10)  # the middle of 1e-4 to 1
LOOK = {"look_above": True, "candidates": 8}


class Flat(Toy):
    """A loss that falls in warm-up, whatever the rate is, and then no more."""

    def one_step(self):
        loss = super().one_step()
        self.level = 2.0 + 0.3 * math.exp(-self.position / 50)
        return loss


def looked_at(toy):
    """Return the trials that the look made, each as the rates of its steps."""
    begin = next(n for n, a in enumerate(toy.actions) if a.slot == "stage-0")
    trials = [[]]
    for action in toy.actions[begin + 1 :]:
        if action.do == "restore":
            trials.append([])
        elif action.do in ("set_lr", "go_on"):
            trials[-1] += [action.lr] * action.steps
        if action.do == "save" or len(trials) > 2:
            break
    return trials[:2]


def test_both_trials_fall_linearly_to_zero():
    _, toy = trained(options(LOOK, 4000), Toy(limit=2.0))
    above, base = looked_at(toy)
    for rate, rates in ((ABOVE, above), (BASE, base)):
        assert len(rates) == 64
        assert rates == pytest.approx([rate * (1 - (n // 2 * 2 + 1) / 64) for n in range(64)])


def test_the_larger_rate_is_used_where_it_ends_clearly_lower():
    state, toy = trained(options(LOOK, 4000), Toy(limit=2.0))
    assert state.history[0].rate == pytest.approx(ABOVE)
    assert not state.history[0].attempts, "nothing else is searched in that stage"
    assert [a.rate for a in state.looked] == pytest.approx([ABOVE, BASE])
    assert state.looked[0].forecast < state.looked[1].forecast
    assert state.history[0].start == 200 and toy.position == 4000


def test_where_nothing_is_clear_the_search_goes_on_as_without():
    state, _ = trained(options(LOOK, 4000), Flat(limit=2.0))
    assert len(state.looked) == 2
    first = state.history[0].attempts[0]
    assert first.rate == pytest.approx(BASE) and first.status == "finished"
    assert len(state.history[0].attempts) > 2


def test_a_rate_above_that_explodes_costs_no_second_trial():
    state, _ = trained(options(LOOK, 4000), Toy(limit=0.02))
    assert [a.status for a in state.looked] == ["diverged"]
    assert state.looked[0].steps < 64
    assert all(stage.rate <= 0.02 for stage in state.history)


def test_nothing_above_where_warm_up_ended_early_is_looked_at():
    # A warm-up that explodes ends; what lies above its rate is not searched.
    state, _ = trained(options(LOOK, 4000), Toy(limit=0.005))
    assert state.ceiling is not None and not state.looked


@pytest.mark.parametrize("more", [{}, {"max_overhead": math.inf}, {"method": "paper"}])
def test_without_steps_for_it_a_run_is_as_without(more):
    runs = [trained(options({"look_above": look, **more}, 1000))[1] for look in (True, False)]
    assert runs[0].actions == runs[1].actions


def test_no_branch_of_the_look_is_kept_or_gone_on_from():
    _, toy = trained(options(LOOK, 4000), Toy(limit=2.0))
    saved = [a.slot for a in toy.actions if a.do == "save"]
    assert saved.index("stage-0") == [s.startswith("safe") for s in saved].index(False)
    restored = [a.slot for a in toy.actions if a.do == "restore"]
    assert restored[:2] == ["stage-0", "stage-0"]


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
    most = int(overhead * steps)

    def within(state):
        assert state.discarded <= most
        assert 0 < (state.action.lr or 1.0) <= 1.0
        return state

    state, toy = trained(asked, Toy(limit=limit, bad_steps=bad), between=within)
    assert state.spent == toy.run <= steps + most
    if state.action.reason == "finished":
        assert state.step == steps == toy.position


def test_a_run_begun_before_rates_above_were_looked_at_goes_on_without():
    asked = options({"look_above": False}, 4000)
    require_same_from(3, asked, 60, "look_above", "looking", "looked")
