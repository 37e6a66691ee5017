"""Branch and bound on colors: a bound above the linear program's.

In the linear program a new edge, without a preferred color, has half of two colors and causes half
a conflict for each.  If each color of the edge is tried, every bound is higher, and so is the least
of them.  The branch of the least bound is split next (Land and Doig 1960): a new edge first, of
these the one whose color is least decided.  Every coloring is in one of the open branches, so their
least bound holds for all.
"""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.progress import single_stage
from topoloom.synth.wiring import limits
from topoloom.synth.wiring.coloring.prices import UNIT, Priced, good_prices_of_allowed
from topoloom.synth.wiring.coloring.problem import ColoringProblem


class _Branch(NamedTuple):
    """Colors that the edges may have, a bound of their cost, and prices, own ones or the parent's.

    Branches are sorted by bound, then by number.  ``searches`` is how often own prices were sought.
    """

    least: int
    number: int
    allowed: NDArray[np.bool_]
    prices: Priced
    searches: int


def most_kept(problem: ColoringProblem, prices: Priced, kept: int) -> int:
    """Return how many edges keep a preferred color at most, by branch and bound.

    Args:
        prices: The prices of the problem.
        kept: The edges that some coloring keeps: the search ends when no coloring keeps more.

    O(`limits.PRICE_RESTART` * edges * colors) for each of `limits.MAX_BRANCH_SEARCHES` searches for
    prices at most.  There are none where more than `limits.MAX_BRANCHED` edges are new: a few of
    many decided colors raise the bound little.

    Three edges of a path have three colors, and each prefers the first: one can have it, or two.

    >>> from topoloom.synth.wiring.coloring.prices import good_prices
    >>> path = np.array([0, 1, 2]), np.array([1, 2, 3])
    >>> likes = np.array([[True, False, False]] * 3)
    >>> problem = ColoringProblem(*path, np.ones((4, 3), np.int64), likes)
    >>> most_kept(problem, good_prices(problem, np.array([0, 1, 0]), 2), 2)
    2
    """
    edges, new = len(problem.first), problem.new_edges
    if new.sum() > limits.MAX_BRANCHED:
        return prices.most
    numbers, moved = count(), (edges - kept) * UNIT
    enough, searches = limits.SEARCHES_PER_BRANCH, limits.MAX_BRANCH_SEARCHES
    open_ = [_Branch(prices.least, next(numbers), problem.allowed, prices, enough)]
    for number in range(searches):
        while open_ and open_[0].searches == enough and open_[0].least <= moved - UNIT:
            branch = heapq.heappop(open_)
            edge = _least_decided(branch, new)
            if edge is None:
                if problem.is_proper(branch.allowed.argmax(axis=1)):
                    heapq.heappush(open_, branch)
                    return _most(edges, branch.least)
                continue
            for color in np.flatnonzero(branch.allowed[edge]).tolist():
                heapq.heappush(open_, _child(branch, next(numbers), edge, color))
        if not open_ or open_[0].least > moved - UNIT:
            return kept
        branch = heapq.heappop(open_)
        with single_stage("bounding moves", number, searches):
            found = good_prices_of_allowed(
                problem, branch.allowed, branch.prices, limits.PRICE_RESTART, kept
            )
        least = max(branch.least, found.least)
        searched = branch._replace(least=least, prices=found, searches=branch.searches + 1)
        heapq.heappush(open_, searched)
    return max(kept, _most(edges, open_[0].least))


def _child(branch: _Branch, number: int, edge: int, color: int) -> _Branch:
    """Return the part of a branch in which an edge has a color."""
    allowed = branch.allowed.copy()
    allowed[edge] = False
    allowed[edge, color] = True
    # A reduced cost is a multiple of 1/UNIT: a power of two, so the product is exact.
    least = branch.prices.least + int(branch.prices.reduced[edge, color] * UNIT)
    return _Branch(max(branch.least, least), number, allowed, branch.prices, 0)


def _least_decided(branch: _Branch, new: NDArray[np.bool_]) -> int | None:
    """Return an edge with several colors: a new one if there is, else None if there is none."""
    share = branch.prices.state[0].max(axis=1)
    several = branch.allowed.sum(axis=1) > 1
    for edges in (several & new, several):
        if edges.any():
            return int(np.where(edges, share, np.inf).argmin())
    return None


def _most(edges: int, least: int) -> int:
    return edges - max(0, -(-least // UNIT))
