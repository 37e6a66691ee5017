"""What short trials cannot tell: rates that promise about the same, and how long a decay is."""

import pytest

from tests.learning_rate.trainers import Toy, options, require_same_from, trained

pytest.importorskip("sklearn", reason="the extra `tune` is not installed")


class Plateau(Toy):
    """A loss that has fallen in warm-up, and is then higher the larger the rate is."""

    def __init__(self, noise):
        super().__init__(limit=2.0)
        self.noise = noise

    def one_step(self):
        self.run += 1
        self.position += 1
        return 4.0 - min(1.0, self.position / 40) + self.noise * self.lr**0.5


def first_choice(noise, **more):
    asked = options({}, 1000, warmup_steps=50, candidates=8, **more)
    state, _ = trained(asked, Plateau(noise))
    return state.history[0]


def test_a_smaller_rate_is_not_taken_for_the_noise_that_it_saves():
    middle = 0.01  # of 1e-4 to 1
    held, free = first_choice(0.2), first_choice(0.2, hold_rate=False)
    assert held.rate == pytest.approx(middle)
    assert free.rate < middle


def test_a_smaller_rate_is_taken_where_it_promises_clearly_more():
    stage = first_choice(3.0)
    assert stage.rate < 0.01
    assert stage == first_choice(3.0, hold_rate=False)


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
    asked = options({}, decay_share=0.2, hold_rate=False, look_above=False)
    later = ("decay_share", "hold_rate", "look_above", "looking")
    require_same_from(2, asked, 40, *later)
