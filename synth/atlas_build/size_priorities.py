"""How much a better topology of a size would be worth: by how much the known ones miss the bounds.

What is wanted of every size with labels: one-way, of three ports or more, the optimal bandwidth
within two steps above Moore's bound and at most a fiftieth more within one; two-way, of four or
more, the same a step later; else at most a tenth more within three steps.
"""

from collections.abc import Iterable
from fractions import Fraction

from topoloom.synth.atlas.entries import Entry
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.evaluation.gaps import gaps_of

# How likely a graph shall have as few steps as Moore's bound, one more, two and three, where all of
# them miss something; and how much more likely where a goal is missed.
_USUAL, _WANTED = (0.2, 0.5, 0.3, 0.0), 3.0
# Without any topology of so few steps: as if it took twice the bandwidth.
_NONE = Fraction(1)


def missed(known: Iterable[Entry], bounds: Cost) -> tuple[Fraction, ...]:
    """Return by what share T_B misses its bound in up to 0, 1, 2 and 3 steps above Moore's bound.

    Of entries of the size of the bounds, each by the worse of both directions, and 1 without any of
    so few steps.

    >>> from topoloom.synth.evaluation.cost import lower_bound
    >>> from topoloom.synth.atlas.bundled import bundled_of
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


def chances(
    shares: tuple[Fraction, ...], degree: int, links: Links
) -> tuple[float, float, float, float]:
    """Return how likely to wish for graphs of 0, 1, 2 and 3 steps more than Moore's bound.

    Where the bound is reached nothing can be won, and where a goal is missed most.

    >>> known = Fraction(1, 2), Fraction(1, 4), Fraction(0), Fraction(0)
    >>> [round(one, 2) for one in chances(known, 4, Links.UNIDIRECTIONAL)]
    [0.05, 0.95, 0.0, 0.0]
    """
    wanted = goals(degree, links)
    weights = [
        0.0 if share == 0 else usual + _WANTED * (share > wanted.get(more, 1))
        for more, (usual, share) in enumerate(zip(_USUAL, shares, strict=True))
    ]
    zero, one, two, three = weights if any(weights) else _USUAL
    total = zero + one + two + three
    return zero / total, one / total, two / total, three / total
