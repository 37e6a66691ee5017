"""Forecast the loss after more steps at the same rate, with its uncertainty.

AutoLRS models the loss of steps at one rate by

    L(t) = a exp(b t) + c,   b < 0,                                     (exponential model)

in which a and c follow from b by least squares (variable projection).  The published fit
takes the best b alone, which short, noisy curves hardly determine, and extrapolates with
it.  Here b runs over a grid of time constants -1/b from a fraction of the curve to twice
its length (what is slower than that is not told from a straight line); each gives a
least-squares fit with a weak prior on a, and its weight is its likelihood.  The answer is
the mixture's mean and deviation: where the curve fits
a fast and a slow decay alike, the deviation is large and the mean lies between.

Outliers are removed first: residuals to a smoothing spline beyond four of their own
(median-based) deviations, and whatever is not `usable`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.learning_rate.errors import InvalidObservation

MIN_POINTS = 6
LARGEST_LOSS = 1e100  # beyond this a loss counts as infinite, so that squares stay finite
OUTLIER_DEVIATIONS = 4.0
TIME_CONSTANTS = 32
MAX_POINTS = 256

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Forecast:
    """A predicted loss and the standard deviation of its error."""

    mean: float
    deviation: float


def usable(loss: float) -> bool:
    """Whether a loss is neither NaN nor Inf and at most 1e100 in magnitude.

    >>> usable(-2.5), usable(math.nan), usable(1e200)
    (True, False, False)
    """
    return abs(loss) <= LARGEST_LOSS


def forecast(losses: Sequence[float], horizon: int) -> Forecast:
    """Forecast the loss at index ``horizon`` from those at indices 0, 1, ....

    Args:
        losses: One per step, oldest first; NaN and Inf are ignored.  At least one is finite.
        horizon: An index of at least ``len(losses) - 1``.

    Raises:
        InvalidObservation: Nothing is finite, or the horizon lies inside the curve.

    The noise-free loss is forecast, not one batch's.  With fewer than `MIN_POINTS` values
    the mean of the later half is the answer.  Curves longer than `MAX_POINTS` are averaged
    in blocks first, so time is O(n) beside a bounded fit (some milliseconds).

    >>> curve = [2 * math.exp(-t / 20) + 1 for t in range(40)]
    >>> near = forecast(curve, 200)
    >>> abs(near.mean - 1.0) < 0.05
    True
    >>> spoilt = list(curve)
    >>> spoilt[10], spoilt[30] = math.nan, 50.0
    >>> abs(forecast(spoilt, 200).mean - 1.0) < 0.05
    True
    """
    values = np.asarray(losses, dtype=np.float64)
    known = np.abs(values) <= LARGEST_LOSS
    if values.ndim != 1 or not known.any():
        raise InvalidObservation("/losses", "must hold a finite value")
    if horizon < len(values) - 1:
        raise InvalidObservation("/horizon", "must not lie inside the curve")
    times = np.flatnonzero(known).astype(np.float64)
    values = values[known]
    centre, size = _centre_and_size(values)
    values = (values - centre) / size
    times, values = without_outliers(times, values)
    times, values = _in_blocks(times, values)
    if len(values) < MIN_POINTS:
        mean, deviation = _plain(values)
    else:
        mean, deviation = _mixture(times, values, float(horizon))
    return Forecast(centre + size * mean, abs(size * deviation))


def last_value(losses: Sequence[float]) -> float:
    """Return the naive forecast: the mean of the last tenth of the finite losses.

    >>> last_value([5.0] * 90 + [2.0] * 5 + [4.0] * 5)
    3.0
    """
    finite = [loss for loss in losses if usable(loss)]
    if not finite:
        raise InvalidObservation("/losses", "must hold a finite value")
    tail = finite[-max(1, len(finite) // 10) :]
    return sum(tail) / len(tail)


def without_outliers(times: Values, values: Values) -> tuple[Values, Values]:
    """Drop values far from a smoothing spline of their neighbors; at most a quarter.

    The spline is drawn through medians of windows of five, which one outlier in a window
    does not move.
    """
    if len(values) < 2 * MIN_POINTS:
        return times, values
    padded = np.pad(values, 2, mode="edge")
    medians = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5), axis=1)
    smooth = _smoothed(times, medians)
    residuals = np.abs(values - smooth)
    deviation = 1.4826 * float(np.median(residuals))  # of a normal law, from its median
    far = residuals > OUTLIER_DEVIATIONS * deviation + 1e-12
    most = len(values) // 4
    keep = ~far if far.sum() <= most else residuals <= np.sort(residuals)[-most - 1]
    return times[keep], values[keep]


def _smoothed(times: Values, values: Values) -> Values:
    # Lazy: loading takes half a second of processor time.
    from scipy.interpolate import make_smoothing_spline

    # Regularisation grows with the cube of the spacing over which detail is not wanted.
    window = max(2.0, len(values) / 8)
    return make_smoothing_spline(times, values, lam=window**3)(times)


def _centre_and_size(values: Values) -> tuple[float, float]:
    centre = float(np.median(values))
    away = np.abs(values - centre)
    size = float(np.median(away))
    if size <= 1e-9 * float(away.max()):
        size = float(away.max())
    return centre, size if size > 1e-200 else 1.0


def _in_blocks(times: Values, values: Values) -> tuple[Values, Values]:
    if len(values) <= MAX_POINTS:
        return times, values
    edges = np.linspace(0, len(values), MAX_POINTS + 1).astype(int)[:-1]
    sizes = np.diff(np.append(edges, len(values)))
    return np.add.reduceat(times, edges) / sizes, np.add.reduceat(values, edges) / sizes


def _plain(values: Values) -> tuple[float, float]:
    half = values[len(values) // 2 :]
    spread = float(np.std(half)) / math.sqrt(len(half))
    return float(np.mean(half)), spread + abs(float(half[-1] - values[0]))


def _mixture(times: Values, values: Values, horizon: float) -> tuple[float, float]:
    """Return mean and deviation of the forecast over all time constants."""
    length = times[-1] - times[0] + 1.0
    constants = np.geomspace(length / 16.0, 2.0 * length, TIME_CONSTANTS)
    rises = np.exp(-(times - times[0])[None, :] / constants[:, None])
    ahead = np.exp(-(horizon - times[0]) / constants)
    fits = [_fit(rise, values, end) for rise, end in zip(rises, ahead, strict=True)]
    errors = np.array([fit[0] for fit in fits])
    means = np.array([fit[1] for fit in fits])
    spreads = np.array([fit[2] for fit in fits])
    freedom = max(1.0, len(values) - 3.0)
    noise = max(float(errors.min()) / freedom, 1e-18)
    weights = np.exp(-(errors - errors.min()) / (2.0 * noise))
    weights /= weights.sum()
    mean = float(weights @ means)
    variance = float(weights @ (noise * spreads + (means - mean) ** 2))
    # Losses leave the model eventually: half of the extrapolation counts as deviation.
    tail = float(np.mean(values[-max(1, len(values) // 8) :]))
    variance += (0.5 * (mean - tail)) ** 2
    return mean, math.sqrt(max(0.0, variance))


def _fit(rise: Values, values: Values, end: float) -> tuple[float, float, float]:
    """Fit a * rise + c; return penalised squared error, forecast, its variance / noise.

    The prior on a has the deviation sqrt(2) times the change seen in the curve, and counts as
    one more observation: it holds back where the curve is too short to show how far it falls.
    """
    quarter = max(1, len(values) // 4)
    change = abs(float(np.mean(values[:quarter]) - np.mean(values[-quarter:])))
    noise = float(np.var(np.diff(values))) / 2.0 + 1e-12
    penalty = noise / (2.0 * (change**2 + noise))
    design = np.column_stack([rise, np.ones_like(rise)])
    normal = design.T @ design + np.diag([penalty, 1e-9])
    inverse = np.linalg.inv(normal)
    a, c = inverse @ (design.T @ values)
    error = float(np.sum((values - a * rise - c) ** 2) + penalty * a**2)
    point = np.array([end, 1.0])
    return error, float(a * end + c), float(point @ inverse @ point)
