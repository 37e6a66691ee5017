"""The peak is held until the decay begins, whose share of the run is an option."""

import pytest

from tests.learning_rate.trainers import Toy, options, require_same_from, trained

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


@pytest.mark.parametrize("share", [0.1, 0.4, 1.0])
def test_the_peak_is_held_until_the_decay_begins(share):
    state, toy = trained(options({}, 2000, decay_share=share, warmup_steps=0), Toy(limit=2.0))
    peak, rates = state.history[-1].rate, []
    for action in toy.actions:
        if action.do in ("set_lr", "go_on"):
            rates += [action.lr] * action.steps
    kept = rates[-(2000 - state.history[-1].start) :]
    begin = (1 - share) * 2000 - (2000 - len(kept))
    for step, lr in enumerate(kept):
        if step < begin - 10:
            assert lr == peak
        elif step > begin + 10:
            expected = peak * (len(kept) - step) / (share * 2000)
            assert lr == pytest.approx(expected, abs=peak * 10 / (share * 2000))


def test_a_run_begun_when_decays_took_a_fifth_goes_on_so():
    asked = options({}, decay_share=0.2, look_above=False)
    later = ("decay_share", "look_above", "looking")
    require_same_from(2, asked, 40, *later)
