"""Propose the next rate: Bayesian optimization over the logarithm of the rate.

A Gaussian process with a Matern 5/2 kernel and white noise is fitted to (log rate, forecast
loss); the next rate minimizes the lower confidence bound

    mu(x) - kappa * sigma(x)                                            (LCB)

over a grid of the interval.  Rates already tried are never proposed again, and a forecast
that is not finite counts as a bit worse than the worst finite one: a penalty on the
scale of the others, where a huge number would flatten all differences between them.

scikit-learn (the extra ``tune``) is imported at the first proposal.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.learning_rate.errors import MissingExtra
from topoloom.learning_rate.forecasting.forecast import usable

GRID = 257

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trial:
    """The forecast loss of a rate; NaN or Inf where the candidate diverged."""

    rate: float
    loss: float
    deviation: float


def penalize_unusable(losses: Sequence[float]) -> list[float]:
    """Replace unusable losses by the worst usable loss plus half of the usable range.

    >>> penalize_unusable([1.0, 3.0, math.nan])
    [1.0, 3.0, 4.0]
    >>> penalize_unusable([math.inf, 2.0]), penalize_unusable([math.nan])
    ([3.0, 2.0], [0.0])
    """
    finite = [loss for loss in losses if usable(loss)]
    if not finite:
        return [0.0] * len(losses)
    worst = max(finite)
    penalty = worst + ((worst / 2 - min(finite) / 2) or 1.0)
    return [loss if usable(loss) else penalty for loss in losses]


def propose(
    trials: Sequence[Trial], low: float, high: float, *, kappa: float, distance: float = 1 / 64
) -> float | None:
    """Return the next rate to try in [low, high], or None if no untried rate is left.

    Args:
        trials: At least one.  Rates outside the interval inform the fit too.
        low, high: 0 < low < high.
        kappa: Large: explore; 0: minimise the mean.
        distance: Least distance from every rate tried, as a share of the interval's logarithm.

    Raises:
        MissingExtra: scikit-learn is not installed.

    >>> tried = [Trial(10.0 ** -k, (k - 3) ** 2, 0.1) for k in (1, 2, 2.5, 3.5, 4)]
    >>> 3e-4 < propose(tried, 1e-4, 1e-1, kappa=0.1) < 3e-3
    True
    """
    log_low, log_high = math.log(low), math.log(high)
    grid = np.linspace(0.0, 1.0, GRID)
    tried = np.array([(math.log(t.rate) - log_low) / (log_high - log_low) for t in trials])
    free = np.abs(grid[:, None] - tried[None, :]).min(axis=1) >= distance
    if not free.any():
        return None
    mean, deviation = _posterior(tried, trials, grid[free])
    best = grid[free][int(np.argmin(mean - kappa * deviation))]
    return min(high, max(low, math.exp(log_low + float(best) * (log_high - log_low))))


def _posterior(tried: Values, trials: Sequence[Trial], at: Values) -> tuple[Values, Values]:
    """Return mean and deviation of the Gaussian process, in units of the losses' spread."""
    losses = np.array(penalize_unusable([trial.loss for trial in trials]))
    centre = float(np.mean(losses))
    spread = float(np.std(losses)) or 1.0
    known = [t.deviation if usable(t.deviation) else spread for t in trials]
    with np.errstate(over="ignore"):
        noise = np.clip(np.abs(known) / spread, 1e-4, 10.0) ** 2
    process, threadpool_limits = _process(noise)
    # One thread: these matrices are tiny, and sums come out the same on any number of cores.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # a length or a noise at its bound is no fault here
        process.fit(tried[:, None], (losses - centre) / spread)
        return process.predict(at[:, None], return_std=True)


def _process(noise: Values) -> tuple[Any, Any]:
    try:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise MissingExtra(
            "/scikit-learn", "is not installed: pip install 'topoloom[tune]'"
        ) from None
    kernel = ConstantKernel(1.0, (0.05, 20.0)) * Matern(0.3, (0.05, 3.0), nu=2.5)
    kernel += WhiteKernel(1e-2, (1e-6, 1.0))
    regressor: Any = GaussianProcessRegressor
    return regressor(kernel, alpha=noise, random_state=0), threadpool_limits
