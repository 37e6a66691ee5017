"""How far the points of a frontier are from the bounds, by how many steps more are allowed."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from topoloom.synth.evaluation.cost import Cost

MORE = 4
"""As many numbers of steps are told of: the bound on steps, and one, two and three more."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """By what share T_B misses its bound, and when it does not.

    ``within[k]`` is the least share of any point of at most k steps more than the bound on steps,
    None without such a point; ``optimal_at`` the fewest steps more at which it is 0, None if
    no point has the optimal bandwidth.
    """

    within: tuple[Fraction | None, ...]
    optimal_at: int | None


def gaps_of(missed: Iterable[Cost]) -> Gaps:
    """Return the gaps to the bounds, from the gaps of points (`synth.search.frontier.Point.gap`).

    O(points).

    Examples
    --------
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
