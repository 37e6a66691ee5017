"""Prices of ports: a lower bound on the edges that change their color, and reduced costs.

The linear program of a coloring has a variable x(e, c) in [0, 1] for each edge e and color c: every
edge has one color, and every node one edge of a color at most.  An edge costs 1 unless its color is
preferred.  Let every pair of a node and a color have a price p.  For all prices,

    sum of p(v, c)  +  sum over edges e = uv of the least of  cost(e, c) - p(u, c) - p(v, c)

is a lower bound of the cost (weak duality).  Where a node has fewer edges than ports, its prices
must not be positive.  Prices are rounded to integers before the bound is computed, so the bound is
exact, whatever the search for good prices does in floating point.

Good prices: the primal-dual hybrid gradient method of Chambolle and Pock (2011).  Every step is
reflected and drawn back to the last restart, as in Halpern's iteration (Lu and Yang 2024).  Each
step takes O(edges * colors).
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.synth.progress import report_progress
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.problem import ColoringProblem, Integers

UNIT = 1 << 20
"""Cost of an edge without a preferred color, in the unit of rounded prices."""

FORBIDDEN = 1e9
"""Reduced cost of a color that an edge must not have."""

STEP_PRODUCT, STEP_RATIO = 0.9, 83.0
"""Product of both step sizes times the squared norm of the program, and their ratio.  Measured on
1,024 and 4,096 hosts: ratios of 8 and 800 need up to twice the steps."""

Real = np.float32
"""Numbers of a search: they take half of the memory of exact ones, and need not be exact."""

Reals = NDArray[np.float32]

State = tuple[Reals, Reals, Reals]
"""Where a search stands: x(e, c), prices p(v, c), and the price of the one color of each edge."""


class Priced(NamedTuple):
    """A bound of the cost in units of `UNIT`, the reduced costs of all colors, and the state.

    The reduced costs of an edge are at least 0, and one is 0.
    """

    least: int
    reduced: NDArray[np.float64]
    state: State

    @property
    def most(self) -> int:
        """How many edges keep a preferred color at most."""
        return len(self.reduced) - max(0, -(-self.least // UNIT))


@njit(cache=True, nogil=True)
def _descend(first, second, room, allowed, cost, loose, x, price, worth, steps, primal, dual):
    """Make primal-dual steps, in place; the last one is neither reflected nor drawn back."""
    start_x, start_price, start_worth = x.copy(), price.copy(), worth.copy()
    excess = np.empty_like(price)
    for step in range(steps):
        last, back = step == steps - 1, Real(1 / (step + 2))
        on = Real(1) - back
        excess[:] = room
        for e in range(len(first)):
            u, v, missing, now = first[e], second[e], Real(1), worth[e]
            for c in range(cost.shape[1]):
                if not allowed[e, c]:
                    continue
                old = x[e, c]
                rate = cost[e, c] - price[u, c] - price[v, c] - now
                new = max(old - primal * rate, Real(0))
                ahead = new + new - old
                missing -= ahead
                excess[u, c] -= ahead
                excess[v, c] -= ahead
                x[e, c] = new if last else on * ahead + back * start_x[e, c]
            new = now + dual * missing
            worth[e] = new if last else on * (new + new - now) + back * start_worth[e]
        for v in range(len(price)):
            for c in range(cost.shape[1]):
                new = price[v, c] + dual * excess[v, c]
                if loose[v] and new > 0:
                    new = Real(0)
                if not last:
                    new = on * (new + new - price[v, c]) + back * start_price[v, c]
                price[v, c] = new


def good_prices(problem: ColoringProblem, colors: Integers, enough: int) -> Priced:
    """Return good prices of a problem, as a bound and reduced costs.

    Args:
        colors: A proper coloring.
        enough: The search ends when the bound says that no coloring keeps more edges than this.

    `limits.MAX_PRICE_STEPS` steps at most, fewer on large problems.

    A square whose edges all prefer the first color: two of four edges can have it.

    >>> square = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    >>> likes = np.array([[True, False]] * 4)
    >>> problem = ColoringProblem(*square, np.ones((4, 2), np.int64), likes)
    >>> good_prices(problem, np.array([0, 1, 1, 0]), 2).most
    2
    """
    edges, count = problem.likes.shape
    x, prices = np.zeros((edges, count), Real), np.zeros(problem.room.shape, Real)
    x[np.arange(edges), colors] = 1
    start = _bounded(problem, problem.allowed, (x, prices, np.zeros(edges, Real)))
    steps = min(limits.MAX_PRICE_STEPS, limits.MAX_PRICED_OPTIONS // (edges * count) + 1)
    return good_prices_of_allowed(problem, problem.allowed, start, steps, enough)


def good_prices_of_allowed(
    problem: ColoringProblem, allowed: NDArray[np.bool_], start: Priced, steps: int, enough: int
) -> Priced:
    """Return good prices for edges that have an allowed color, searched from the state of others.

    Args:
        allowed (bool array, shape (edges, colors)): At least one color of every edge, and none that
            `problem` does not allow.
        steps, enough: The search ends after these steps, in multiples of `limits.PRICE_RESTART`, or
            as `good_prices`.

    If the second edge of the square must have the second color, so must the third, and the bound
    is the same.

    >>> square = np.array([0, 0, 1, 1]), np.array([2, 3, 2, 3])
    >>> likes = np.array([[True, False]] * 4)
    >>> problem = ColoringProblem(*square, np.ones((4, 2), np.int64), likes)
    >>> start = good_prices(problem, np.array([0, 1, 1, 0]), 2)
    >>> allowed = np.array([[True, True], [False, True], [True, True], [True, True]])
    >>> good_prices_of_allowed(problem, allowed, start, 1000, 2).most
    2
    """
    cost = (1 - problem.likes).astype(Real)
    loose = problem.degrees < problem.room.sum(axis=1)
    widest = max(cost.shape[1], int(problem.degrees.max()))
    primal = (STEP_PRODUCT / (3 * widest * STEP_RATIO)) ** 0.5
    sizes, room = (Real(primal), Real(STEP_RATIO * primal)), problem.room.astype(Real)
    x, prices, worths = (part.copy() for part in start.state)
    x[~allowed] = 0
    state = x, prices, worths
    best = _bounded(problem, allowed, state)
    rounds = -(-steps // limits.PRICE_RESTART)
    for number in range(rounds):
        if best.most <= enough:
            break
        report_progress("bounding moves", number, rounds)
        _descend(
            problem.first, problem.second, room, allowed, cost, loose, *state,
            limits.PRICE_RESTART, *sizes,
        )  # fmt: skip
        best = max(best, _bounded(problem, allowed, state), key=lambda found: found.least)
    return best._replace(state=state)


def _bounded(problem: ColoringProblem, allowed: NDArray[np.bool_], state: State) -> Priced:
    """Return the exact bound that the prices prove after they are rounded, and reduced costs."""
    rounded = np.rint(state[1] * UNIT).astype(np.int64)
    loose = problem.degrees < problem.room.sum(axis=1)
    rounded[loose] = np.minimum(rounded[loose], 0)
    cost = UNIT * (1 - problem.likes.astype(np.int64))
    cost -= rounded[problem.first] + rounded[problem.second]
    least = np.where(allowed, cost, np.iinfo(np.int64).max).min(axis=1)
    total = int((rounded * problem.room).sum()) + int(least.sum())
    reduced = np.where(allowed, (cost - least[:, None]) / UNIT, FORBIDDEN)
    return Priced(total, reduced, state)
