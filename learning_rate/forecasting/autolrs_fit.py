"""The fit that AutoLRS publishes, for the method "paper" and for comparison.

L(t) = a exp(b t) + c with b = -exp(beta), beta by Nelder-Mead, a and c by least squares.  The
fitted curve is a spline through the losses that some rounds of spline smoothing leave.  For
training loss ten rounds drop the three per cent of largest residuals, and for validation loss one
round drops the largest.  A round drops only losses of the first half: their position in the list
that the rounds before have thinned is below the time at the middle of the whole curve.  A share
that rounds to no loss drops the whole first half, as a slice from zero does in that program.

The method "paper" deviates from the authors' program in these points:

- A curve that no spline fits is forecast by its last value; the program ends with an error.
- A loss that is not finite ends its candidate, which counts as slightly worse than the worst other
  one; the program runs the candidate to its end and counts a NaN as a loss of 1e6.
- Every step of a candidate runs at the rate of the candidate; the program runs the first step at
  the rate before, and the loss of that step enters the fit.
- The search is a Gaussian process of scikit-learn on a grid of rates, with kappa 1000; the program
  uses scikit-optimize with kappa 1e6.
- Candidates restore the data and the random generators too, so all see the same batches.
"""

import math
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from topoloom.learning_rate.forecasting.forecast import last_value, usable

DEGREE = 2
ROUNDS = 10
DROPPED_SHARE = 0.03
TOLERANCE = 1e-5

Values = NDArray[np.float64]


def published_forecast(losses: Sequence[float], horizon: int, *, validation: bool = False) -> float:
    """Return the published forecast of the loss at index ``horizon``.

    NaN anywhere gives NaN, which the search penalises.  The spline's smoothing is absolute (a
    sum of squares of one per step), so that the answer depends on the unit of the loss.

    >>> curve = [2 * math.exp(-t / 20) + 1 for t in range(100)]
    >>> f"{published_forecast(curve, 1000):.2f}"
    '0.90'
    >>> f"{published_forecast([1000 * loss for loss in curve], 1000):.0f}"
    '997'
    """
    values = np.asarray(losses, dtype=np.float64)
    if not all(usable(loss) for loss in losses):
        return math.nan
    times = np.arange(len(values), dtype=np.float64)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            kept_times, kept = _smoothing_rounds(times, values, validation)
            smooth = _spline(kept_times, kept, times)
            answer = _exponential(times, smooth, horizon)
    except (ValueError, np.linalg.LinAlgError):
        return last_value(losses)
    return answer if math.isfinite(answer) else last_value(losses)


def _spline(times: Values, values: Values, at: Values) -> Values:
    if len(times) <= DEGREE + 1:
        raise ValueError("too few points for a spline")
    # Loaded where it is used, as in `learning_rate.forecasting.forecast`.
    from scipy.interpolate import UnivariateSpline

    return np.asarray(UnivariateSpline(times, values, k=DEGREE)(at), dtype=np.float64)


def _smoothing_rounds(times: Values, values: Values, validation: bool) -> tuple[Values, Values]:
    first_half = times[(len(times) - 1) // 2]
    for _ in range(1 if validation else ROUNDS):
        residuals = np.abs(values - _spline(times, values, times))
        dropped = 1 if validation else round(len(values) * DROPPED_SHARE)
        largest = np.argsort(residuals, kind="stable")[-dropped:]
        keep = np.ones(len(values), dtype=bool)
        keep[largest] = largest >= first_half
        times, values = times[keep], values[keep]
    return times, values


def _exponential(times: Values, values: Values, horizon: int) -> float:
    """Return a exp(b * horizon) + c of the best b (variable projection)."""
    from scipy.optimize import minimize

    def fitted(beta: float) -> tuple[float, Values, float]:
        b = -math.exp(min(beta, 50.0))
        design = np.column_stack([np.exp(b * times), np.ones(len(times))])
        solution = np.linalg.lstsq(design, values, rcond=None)[0].astype(np.float64)
        return float(np.sum((design @ solution - values) ** 2)), solution, b

    best = minimize(
        lambda x: fitted(float(x[0]))[0],
        np.zeros(1),
        method="Nelder-Mead",
        options={"xatol": TOLERANCE, "fatol": TOLERANCE},
    )
    _, (a, c), b = fitted(float(best.x[0]))
    return float(a * math.exp(b * horizon) + c)
