"""Random regular graphs for a frontier: a few seeds, and exchanges that make them short."""

from functools import lru_cache
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from synth.bases.random_graphs import MAX_WORDS, Randomly, RandomRegular, RandomRegularTwoWay
from synth.cost import Links, lower_bound
from synth.drawable import MAX_NODES, words
from synth.exchanges import exchange, heads_of, late_pairs

__all__ = ["MAX_DEGREE", "drawn"]

MAX_DEGREE = 8
"""Labels, for whose sake the graphs are drawn, are for so many links into a node."""

_SEEDS = 12
# Steps above Moore's bound within which graphs are looked for.
_FARTHEST = 8
# Words of 64 bits that are read at most to count late pairs of seeds, and by exchanges.
_COUNTED = 1 << 25
_EXCHANGED = 1 << 28
# Of all pairs, how many may be late where exchanges begin; more are hardly ever brought near.
_HOPEFUL = 0.06


@lru_cache(maxsize=4096)
def drawn(nodes: int, degree: int, links: Links) -> tuple[Randomly, ...]:
    """Return random regular graphs of this size of few steps, the same every time.

    The best of some seeds as it was drawn, and one shortened by exchanges for each number of steps
    below that for which they succeed.  Sorted by steps.  A quarter of a second or so.

    >>> drawn(61, 6, Links.UNIDIRECTIONAL)
    (RandomRegular(61, 6, 9, 3, 107), RandomRegular(61, 6, 9))
    """
    two_way = links is Links.BIDIRECTIONAL
    fits = 2 + two_way <= degree <= min(MAX_DEGREE, nodes - 2)
    if not fits or nodes > MAX_NODES or (two_way and nodes * degree % 2):
        return ()
    family = RandomRegularTwoWay if two_way else RandomRegular
    least = lower_bound(nodes, degree, links).steps
    found: list[Randomly] = []
    for depth in range(least, least + _FARTHEST + 1):
        late, member = _shortest(family, nodes, degree, depth)
        if late == 0:
            found.append(member)
            break
        shortened = _shortened(member, depth, late)
        if shortened is not None:
            found.append(shortened)
    return tuple(found)


def _shortest(family: type[Randomly], nodes: int, degree: int, depth: int) -> tuple[int, Randomly]:
    """Return the seed for which the fewest pairs are late, and of equals the fewest but just."""
    count = min(_SEEDS, 1 + _COUNTED // words(nodes, degree, depth))
    seeds = (family(nodes, degree, seed) for seed in range(count))
    members = ((one, _heads(one)) for one in seeds)
    counted = ((late_pairs(h, depth), late_pairs(h, depth - 1), one) for one, h in members)
    late, _, best = min(counted, key=itemgetter(0, 1))
    return late, best


def _shortened(member: Randomly, depth: int, late: int) -> Randomly | None:
    """Return the graph after exchanges that leave no pair late, or None if they do not."""
    nodes, degree = member.size()
    most = min(_EXCHANGED, MAX_WORDS) // words(nodes, degree, depth)
    if late > _HOPEFUL * nodes * nodes or most < 1:
        return None
    late, looked = exchange(
        _heads(member), depth, most, member.two_way, member.exchange_state(depth)
    )
    return None if late else type(member)(nodes, degree, member.seed, depth, looked)


def _heads(member: Randomly) -> NDArray[np.int64]:
    return heads_of(member.n, *member.links())
