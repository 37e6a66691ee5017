"""Forecasts of losses, on curves that are made up and on curves that were recorded."""

import json
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import UnivariateSpline

from topoloom.learning_rate.errors import InvalidObservation
from topoloom.learning_rate.forecasting.autolrs_fit import _smoothing_rounds, published_forecast
from topoloom.learning_rate.forecasting.forecast import forecast, last_value, without_outliers

WARMUP = 40  # steps of the recorded runs, in which the rate is not one
RECORDED = json.loads((Path(__file__).parent / "recorded_curves.json").read_text())


def curve(length, constant, noise=0.0, seed=0, a=2.0, c=1.0):
    times = np.arange(length)
    drawn = np.random.default_rng(seed).normal(size=length)
    return a * np.exp(-times / constant) + c + noise * drawn


@pytest.mark.parametrize("constant", [5, 10, 20, 40])
@pytest.mark.parametrize("length", [40, 100, 1000])
def test_an_exponential_that_has_come_far_enough_is_forecast(constant, length):
    seen = curve(length, constant)
    came = 2.0 * math.exp(-10 * length / constant) + 1.0
    found = forecast(seen, 10 * length)
    assert abs(found.mean - came) < max(0.05, 2 * (seen[-1] - 1.0))
    assert abs(found.mean - came) < abs(last_value(seen) - came) + 0.01


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("shift", [-10.0, 0.0, 10.0])
def test_units_of_the_loss_do_not_matter(scale, shift):
    seen = curve(60, 20, noise=0.1)
    plain, moved = forecast(seen, 300), forecast(scale * (seen + shift), 300)
    assert moved.mean == pytest.approx(scale * (plain.mean + shift), rel=1e-3, abs=1e-3 * scale)
    assert moved.deviation == pytest.approx(scale * plain.deviation, rel=1e-2)


def test_outliers_move_the_forecast_less_than_its_deviation():
    clean = curve(80, 25, noise=0.03)
    spoilt = clean.copy()
    spoilt[[7, 30, 55]] = [30.0, 80.0, -40.0]
    before, after = forecast(clean, 400), forecast(spoilt, 400)
    assert abs(before.mean - after.mean) < before.deviation + after.deviation


def test_what_is_not_finite_is_left_out():
    clean = curve(60, 20, noise=0.02)
    holes = list(clean)
    holes[3], holes[20], holes[41] = math.nan, math.inf, -math.inf
    assert forecast(holes, 300).mean == pytest.approx(forecast(clean, 300).mean, abs=0.05)


def test_outliers_are_taken_out_but_never_more_than_a_quarter():
    times, values = np.arange(40.0), np.zeros(40)
    values[5] = 100.0
    kept, _ = without_outliers(times, values + 0.01 * np.sin(times * 7))
    assert 5 not in kept
    wild = np.random.default_rng(0).standard_cauchy(40)
    assert len(without_outliers(times, wild)[0]) >= 29


def test_noise_makes_a_forecast_less_certain():
    deviations = [forecast(curve(80, 25, noise=noise), 400).deviation for noise in (0, 0.1, 0.5)]
    assert deviations == sorted(deviations)
    assert deviations[0] < deviations[2] / 3


def test_two_deviations_hold_most_of_what_comes():
    held = 0
    for seed in range(100):
        constant = 10 * 1.025**seed  # to one and a half times the curve
        came = 2.0 * math.exp(-400 / constant) + 1.0
        found = forecast(curve(80, constant, noise=0.1, seed=seed), 400)
        held += abs(found.mean - came) <= 2 * found.deviation
    assert held >= 75


@given(
    losses=st.lists(st.floats(width=64), min_size=1, max_size=60),
    beyond=st.integers(0, 10_000),
)
def test_whatever_is_seen_the_forecast_is_finite(losses, beyond):
    horizon = len(losses) - 1 + beyond
    if not any(abs(loss) <= 1e100 for loss in losses):
        with pytest.raises(InvalidObservation, match="finite"):
            forecast(losses, horizon)
        return
    found = forecast(losses, horizon)
    assert math.isfinite(found.mean)
    assert found.deviation >= 0
    assert math.isfinite(found.deviation)
    assert forecast(losses, horizon) == found


@given(losses=st.lists(st.floats(width=64), min_size=1, max_size=40))
def test_the_published_fit_ends_with_a_number_or_nan_for_nan(losses):
    usable = all(abs(loss) <= 1e100 for loss in losses)
    assert math.isfinite(published_forecast(losses, 400)) == usable
    assert published_forecast([1.0, math.nan] * 20, 400) != published_forecast([1.0] * 40, 400)


def test_bad_curves_are_refused():
    for losses, horizon, field in (
        ([], 1, "/losses"),
        ([math.nan] * 9, 99, "/losses"),
        ([1.0] * 9, 7, "/horizon"),
    ):
        with pytest.raises(InvalidObservation) as refused:
            forecast(losses, horizon)
        assert refused.value.field == field


def errors_on_recorded_curves(tau):
    """Return errors (last value, as published, ours), from a tenth of each stretch of tau."""
    errors = []
    for losses in RECORDED.values():
        for begin in range(WARMUP, len(losses) - tau + 1, tau // 2):
            seen = losses[begin : begin + tau // 10]
            came = statistics.fmean(losses[begin + tau - tau // 20 : begin + tau])
            predicted = (
                last_value(seen),
                published_forecast(seen, tau),
                forecast(seen, tau).mean,
            )
            errors.append([abs(value - came) for value in predicted])
    return [statistics.fmean(column) for column in zip(*errors, strict=True)]


@pytest.mark.parametrize("tau", [200, 250])
def test_on_recorded_curves_the_forecast_beats_the_published_fit_and_the_last_value(tau):
    last, published, ours = errors_on_recorded_curves(tau)
    assert ours < published / 2
    assert ours < last


@pytest.mark.parametrize("tau", [100, 150])
def test_on_curves_too_short_for_the_published_fit_the_forecast_beats_the_last_value(tau):
    # Of at most 16 losses the published rounds leave too few for a spline.
    last, published, ours = errors_on_recorded_curves(tau)
    assert published == last
    assert ours < last


def left_by_position(losses, validation):
    """Return what the published rounds leave, loss by loss."""
    left = list(enumerate(losses))
    middle = (len(losses) - 1) // 2
    for _ in range(1 if validation else 10):
        times, values = zip(*left, strict=True)
        smooth = UnivariateSpline(times, values, k=2)(times)
        order = sorted(range(len(left)), key=lambda place: abs(values[place] - smooth[place]))
        share = 1 if validation else round(0.03 * len(left))
        outliers = {place for place in order[-share:] if place < middle}
        left = [pair for place, pair in enumerate(left) if place not in outliers]
    return left


@pytest.mark.parametrize("validation", [False, True])
@pytest.mark.parametrize("length", [40, 100, 400])
@pytest.mark.parametrize("seed", range(3))
def test_outliers_of_the_published_fit_are_removed_by_position(length, seed, validation):
    losses = curve(length, length / 4, noise=0.5, seed=seed)
    times, values = _smoothing_rounds(np.arange(float(length)), losses, validation)
    assert list(zip(times, values, strict=True)) == left_by_position(losses, validation)
