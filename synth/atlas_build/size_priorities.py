"""Priorities of sizes: the value of a better topology, from the gaps of the known ones to bounds.

Goals for slack schedules: one-way with 3 or more ports, the optimal bandwidth within two steps
above the Moore bound and at most 1/50 more within one; two-way with 4 or more ports, the same one
step later; otherwise at most 1/10 more within three steps.
"""

from collections.abc import Iterable
from fractions import Fraction

from topoloom.synth.atlas.entries import Entry
from topoloom.synth.evaluation.cost import Cost, Links
from topoloom.synth.evaluation.gaps import gaps_of

# Probabilities of a target 0, 1, 2 and 3 steps above the Moore bound where all have gaps, and the
# additional weight of a missed goal.
_USUAL, _WANTED = (0.2, 0.5, 0.3, 0.0), 3.0
# The gap without any topology of so few steps: as with twice the bandwidth.
_NONE = Fraction(1)


def relative_gaps(known: Iterable[Entry], bounds: Cost) -> tuple[Fraction, ...]:
    """Return the relative gap of T_B to its bound within 0, 1, 2 and 3 steps above the Moore bound.

    Takes the worse direction of each entry; 1 without an entry within these steps.

    >>> from topoloom.synth.evaluation.cost import lower_bound
    >>> from topoloom.synth.atlas.bundled import bundled_of
    >>> known = bundled_of(32, 4).of_size(32, 4)
    >>> [str(share) for share in relative_gaps(known, lower_bound(32, 4))]
    ['0', '0', '0', '0']
    """
    gaps = gaps_of(
        Cost(
            one.worse_cost.steps - bounds.steps,
            one.worse_cost.bandwidth / bounds.bandwidth - 1,
        )
        for one in known
    )
    return tuple(_NONE if share is None else min(share, _NONE) for share in gaps.within)


def goals(degree: int, links: Links) -> dict[int, Fraction]:
    """Return the largest acceptable gaps, by steps above the Moore bound.

    >>> goals(4, Links.BIDIRECTIONAL)
    {2: Fraction(1, 50), 3: Fraction(0, 1)}
    """
    two_way = links is Links.BIDIRECTIONAL
    if degree < 3 + two_way:
        return {3: Fraction(1, 10)}
    return {1 + two_way: Fraction(1, 50), 2 + two_way: Fraction(0)}


def missed_goals(shares: tuple[Fraction, ...], degree: int, links: Links) -> int:
    """Return the number of goals that gaps, as from `relative_gaps`, do not meet."""
    return sum(shares[more] > most for more, most in goals(degree, links).items())


def priority(shares: tuple[Fraction, ...], degree: int, links: Links) -> Fraction:
    """Return the priority of a size, by the value of an improvement; 0 if none is possible.

    The sum of the gaps, plus 1 for every missed goal.

    >>> gaps = Fraction(1, 3), Fraction(1, 10), Fraction(0), Fraction(0)
    >>> priority(gaps, 4, Links.UNIDIRECTIONAL)
    Fraction(43, 30)
    """
    return sum(shares, Fraction(missed_goals(shares, degree, links)))


def chances(
    shares: tuple[Fraction, ...], degree: int, links: Links
) -> tuple[float, float, float, float]:
    """Return the probabilities of targets 0, 1, 2 and 3 steps above the Moore bound.

    A target without a gap has probability 0; targets with missed goals have the largest.

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
