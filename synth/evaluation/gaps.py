"""Gaps between the points of a frontier and the bounds, by additional steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.evaluation.cost import Cost

MORE = 4
"""Numbers of additional steps reported: 0, 1, 2 and 3 above the bound."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """Relative gaps of T_B to its bound.

    ``within[k]`` is the least gap of any point at most k steps above the bound on steps, None
    without such a point.  ``optimal_at`` is the least number of additional steps with gap 0, None
    if no point has the optimal bandwidth.
    """

    within: tuple[Fraction | None, ...]
    optimal_at: int | None


def gaps_of(missed: Iterable[Cost]) -> Gaps:
    """Return the gaps of a frontier, from those of its points (`synth.search.frontier.Point.gap`).

    O(points).

    >>> from topoloom.synth.search.frontier import frontier
    >>> found = frontier(64, 4)
    >>> gaps = gaps_of(point.gap(found.bounds) for point in found.points)
    >>> [str(share) for share in gaps.within], gaps.optimal_at
    (['5/63', '0', '0', '0'], 1)
    """
    points = list(missed)
    within = (
        min((gap.bandwidth for gap in points if gap.steps <= more), default=None)
        for more in range(MORE)
    )
    optimal = (gap.steps for gap in points if gap.bandwidth == 0)
    return Gaps(tuple(within), min(optimal, default=None))
