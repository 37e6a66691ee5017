"""The interval that a sweep of rates proposes."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.learning_rate.errors import InvalidObservation, InvalidOptions
from topoloom.learning_rate.range_test import propose_interval, range_test, sweep

torch = pytest.importorskip("torch", reason="the extra `execute` is not installed")


@given(
    low=st.floats(1e-9, 1e-3), decades=st.floats(1, 9), steps=st.integers(20, 300),
    limit=st.floats(0.3, 1.0), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_interval_lies_in_the_sweep_below_where_training_explodes(
    low, decades, steps, limit, seed
):
    rates = sweep(low, low * 10**decades, steps)
    assert all(a < b for a, b in itertools.pairwise(rates))
    explodes = int(limit * steps)
    level, losses = 2.0, []
    for place, _ in enumerate(rates):
        losses.append(level + 0.001 * math.sin(seed + place))
        level = level * 10 if place >= explodes else level * 0.98
    if explodes < 20:
        return
    found = propose_interval(rates, losses)
    assert 0 < found.min_lr <= found.max_lr / 10
    assert found.max_lr <= rates[min(explodes + 3, steps - 1)]


def test_a_loss_that_never_falls_and_one_that_explodes_at_once_are_refused():
    rates = sweep(1e-6, 1.0, 40)
    with pytest.raises(InvalidObservation, match="no rate of the sweep trains"):
        propose_interval(rates, [1.0 + 0.01 * step for step in range(40)])
    for spoilt in ([1.0] * 5 + [math.nan] * 35, [1.0] * 5 + [1e9] * 35, []):
        with pytest.raises(InvalidObservation, match="begin lower"):
            propose_interval(rates, spoilt)


@pytest.mark.parametrize(("low", "high", "steps"), [(0, 1, 50), (1, 1, 50), (1, math.inf, 50)])
def test_what_is_no_sweep_is_refused(low, high, steps):
    with pytest.raises(InvalidOptions, match="/low"):
        sweep(low, high, steps)
    with pytest.raises(InvalidOptions, match="/steps"):
        sweep(1e-3, 1.0, 19)


def test_everything_is_as_before_and_the_interval_trains():
    torch.manual_seed(0)
    model = torch.nn.Linear(8, 1)
    inputs = torch.randn(64, 8)
    targets = inputs @ torch.arange(8.0)[:, None]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.rand(1)
        return loss.item()

    before = [value.clone() for value in model.parameters()]
    random = torch.get_rng_state()
    found = range_test(step, model, optimizer, low=1e-6, high=100.0)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert torch.equal(random, torch.get_rng_state())
    assert optimizer.param_groups[0]["lr"] == 0.1
    # Gradient descent on a quadratic is stable up to 2 / (its largest curvature).
    curvature = torch.linalg.eigvalsh(2 * inputs.T @ inputs / 64).max().item()
    assert 0.1 / curvature < found.max_lr < 20 / curvature
    assert found.min_lr <= found.max_lr / 10
