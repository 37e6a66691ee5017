"""How much a better topology of a size would be worth: by how much the known ones miss the bounds.

What is wanted of every size with labels: one-way, of three ports or more, the optimal bandwidth
within two steps above Moore's bound and at most a fiftieth more within one; two-way, of four or
more, the same a step later; else at most a tenth more within three steps.
"""

from collections.abc import Iterable
from fractions import Fraction

from synth.cost import Cost, Links
from synth.discovery.atlas import Entry
from synth.gaps import gaps_of

__all__ = ["goals_missed", "missed", "worth"]

# Without any topology of so few steps: as if it took twice the bandwidth.
_NONE = Fraction(1)


def missed(known: Iterable[Entry], bounds: Cost) -> tuple[Fraction, ...]:
    """Return by what share T_B misses its bound in up to 0, 1, 2 and 3 steps above Moore's bound.

    Of entries of the size of the bounds, each by the worse of both directions, and 1 without any of
    so few steps.

    >>> from synth.cost import lower_bound
    >>> from synth.discovery.bundled import bundled_of
    >>> [str(share) for share in missed(bundled_of(32, 4).of_size(32, 4), lower_bound(32, 4))]
    ['0', '0', '0', '0']
    """
    gaps = gaps_of(
        Cost(
            one.worse.steps - bounds.steps,
            one.worse.bandwidth / bounds.bandwidth - 1,
        )
        for one in known
    )
    return tuple(_NONE if share is None else min(share, _NONE) for share in gaps.within)


def goals(degree: int, links: Links) -> dict[int, Fraction]:
    """Return what shares are wanted at most, by steps above Moore's bound.

    >>> goals(4, Links.BIDIRECTIONAL)
    {2: Fraction(1, 50), 3: Fraction(0, 1)}
    """
    two_way = links is Links.BIDIRECTIONAL
    if degree < 3 + two_way:
        return {3: Fraction(1, 10)}
    return {1 + two_way: Fraction(1, 50), 2 + two_way: Fraction(0)}


def goals_missed(shares: tuple[Fraction, ...], degree: int, links: Links) -> int:
    """Return how many goals shares, as `missed` tells them, do not meet."""
    return sum(shares[more] > most for more, most in goals(degree, links).items())


def worth(shares: tuple[Fraction, ...], degree: int, links: Links) -> Fraction:
    """Return a number that orders sizes by how much a find there would be worth; 0 is nothing.

    The shares summed up, and one for every goal that is missed.

    >>> worth((Fraction(1, 3), Fraction(1, 10), Fraction(0), Fraction(0)), 4, Links.UNIDIRECTIONAL)
    Fraction(43, 30)
    """
    return sum(shares, Fraction(goals_missed(shares, degree, links)))
