"""The interval that a ladder of short trials proposes."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.learning_rate.callbacks import ResumableBatches
from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions
from topoloom.learning_rate.range_test import MIN_STEPS, ladder, propose_interval, range_test

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")


@given(low=st.floats(1e-9, 1e-3), decades=st.floats(0.5, 9))
def test_a_ladder_climbs_by_half_decades_up_to_the_highest_rate(low, decades):
    high = low * 10**decades
    rates = ladder(low, high)
    assert all(b / a == pytest.approx(math.sqrt(10)) for a, b in itertools.pairwise(rates))
    assert rates[0] == low and high / 3.2 < rates[-1] < high * 1.0001


@given(best=st.integers(1, 8), seed=st.integers(0, 99))
def test_the_interval_is_around_the_rate_whose_trial_ends_lowest(best, seed):
    """Noise is that of the batches, so all trials have the same noise."""
    rates = ladder(1e-7, 1e-2)
    noise = [math.sin(1 + seed * step) for step in range(12)]
    falls = [0.1 * 3.0 ** -abs(rung - best) for rung in range(len(rates))]
    falls[0] = 0.0
    trials = [[2 - fall * step + noise[step] for step in range(12)] for fall in falls]
    found = propose_interval(rates, trials)
    assert found.max_lr / found.min_lr == pytest.approx(1000)
    assert math.sqrt(found.min_lr * found.max_lr) == pytest.approx(rates[best] / 10**0.75)


def test_where_no_rate_is_clearly_better_than_the_lowest_nothing_is_proposed():
    rates = ladder(1e-6, 1e-3)
    chance = torch.Generator().manual_seed(0)
    noise = torch.randn(len(rates), 12, generator=chance)
    flat = (2.0 + 1e-9 * noise).tolist()
    exploding = [[2.0] * 12, *([2.0, math.inf],) * (len(rates) - 1)]
    for trials in ([[2.0] * 12] * len(rates), [flat[0]] * len(rates), exploding):
        with pytest.raises(InvalidObservation, match="must fall clearly at some rate"):
            propose_interval(rates, trials)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (1, 1), (1, math.inf)])
def test_what_is_no_ladder_is_refused(low, high):
    with pytest.raises(InvalidOptions, match="/low"):
        ladder(low, high)


def regression():
    """Return a model, its optimizer, its batches, a training step and the largest curvature."""
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    inputs = torch.randn(64, 8)
    targets = inputs @ torch.arange(8.0)[:, None]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = ResumableBatches(64, 16)

    def step():
        batch = next(batches)
        loss = torch.nn.functional.mse_loss(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.rand(1)
        return loss.item()

    curvature = torch.linalg.eigvalsh(2 * inputs.T @ inputs / 64).max().item()
    return model, optimizer, batches, step, curvature


def test_everything_is_as_before_and_the_interval_trains():
    model, optimizer, batches, step, curvature = regression()
    before = [value.clone() for value in model.parameters()]
    random, position = torch.get_rng_state(), batches.state_dict()
    found = range_test(step, model, optimizer, others={"data": batches})
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert torch.equal(random, torch.get_rng_state())
    assert batches.state_dict() == position
    assert optimizer.param_groups[0]["lr"] == 0.1
    # Gradient descent on a quadratic is stable up to 2 / (its largest curvature).
    middle = math.sqrt(found.min_lr * found.max_lr)
    assert 0.01 / curvature < middle < 1 / curvature


def test_too_few_steps_for_the_ladder_are_refused():
    model, optimizer, _, step, _ = regression()
    with pytest.raises(InvalidOptions, match=f"/steps: must be at least {5 * MIN_STEPS}"):
        range_test(step, model, optimizer, low=1e-3, high=0.1, steps=5 * MIN_STEPS - 1)
