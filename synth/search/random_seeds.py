"""Random regular graphs for a frontier: seeds, and exchanges that make them wide and short.

What labels (`synth.slack`) make of a graph is decided near every node: where two short walks end
at one node, fewer shards can arrive early than there is room for, and that room is lost for
good.  So exchanges first make the balls of a small radius as large as they can be.  Random
graphs treated so mostly reach the optimal bandwidth two steps above Moore's bound, often one,
where as they are drawn they miss it by several percent.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from operator import itemgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.edge_swaps.local_search import head_array, distant_pairs, smallest_neighborhoods
from topoloom.synth.edge_swaps.work_estimates import MAX_NODES, swap_words
from topoloom.synth.evaluation.cost import Links, lower_bound
from topoloom.synth.families.random_graphs import Randomly, RandomRegular, RandomRegularTwoWay
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search.resize import brought_near

__all__ = ["MAX_DEGREE", "drawn"]

MAX_DEGREE = 8
"""Labels, for whose sake the graphs are drawn, are for so many links into a node."""

_Drawn: TypeAlias = tuple[Randomly, NDArray[np.int64]]
# Steps above Moore's bound within which graphs are looked for.
_FARTHEST = 8
# Late pairs of a node, in the mean, where exchanges begin, and words that are read by them; more
# pairs are hardly ever brought near.
_HOPEFUL = 0.6
_EXCHANGED = 1 << 29
# Graphs that are widened for a radius, most exchanges of each, the fewest with which the larger
# radius serves alone and any at all, words for all graphs, and nodes up to which both radii serve,
# as above `_LARGE`.
_WIDENED = 3
_WIDENING, _MANY, _LEAST_WIDENING = 10_000, 2_500, 500
_WIDENING_WORDS = 1 << 28
_SMALL = 64
# Nodes above which the graph of the fullest balls is taken, and up to which radius they count.
_LARGE = 2048
_EARLY = 5


@lru_cache(maxsize=4096)
def drawn(nodes: int, degree: int, links: Links) -> tuple[Recipe, ...]:
    """Return random regular graphs of this size, wide and of few steps, the same every time.

    The shortest of those widened and, for each number of fewer steps for which that succeeds, one
    of them shortened by aimed exchanges.  Sorted by steps.  A quarter of a second or so.

    >>> drawn(61, 6, Links.UNIDIRECTIONAL)
    (RandomRegular(61, 6, 2, 2, 10000),)
    """
    two_way = links is Links.BIDIRECTIONAL
    fits = 2 + two_way <= degree <= min(MAX_DEGREE, nodes - 2)
    if not fits or nodes > MAX_NODES or (two_way and nodes * degree % 2):
        return ()
    family = RandomRegularTwoWay if two_way else RandomRegular
    least = lower_bound(nodes, degree, links).steps
    wide = _widened(family, nodes, degree)
    found: list[Recipe] = []
    for depth in range(least, least + _FARTHEST + 1):
        late, member = _shortest(wide, depth) if nodes <= _LARGE else _fullest(wide, depth)
        if late == 0:
            found.append(member)
            break
        if late <= _HOPEFUL * nodes:
            short = brought_near(member, depth, 1, _EXCHANGED)
            found += [] if short is None else [short]
    return tuple(found)


def _widened(family: type[Randomly], nodes: int, degree: int) -> list[_Drawn]:
    """Return graphs whose balls of some radius exchanges have made large; if none, one as drawn.

    The radius is one more than that at which a ball is about as large as the square root of all
    nodes, where walks begin to meet by chance; where few exchanges can be paid for it is that one:
    at 60 random sizes the other left more pairs late, or as many.  Of few nodes, of very many, or
    of two links at each, now one is better and now the other.
    """
    radius = 1
    while degree ** (2 * radius) < nodes:
        radius += 1
    both = degree == 2 or not _SMALL < nodes <= _LARGE
    made: list[Randomly] = []
    for depth, least in (
        (radius + 1, _LEAST_WIDENING if both else _MANY),
        (radius, _LEAST_WIDENING),
    ):
        most = min(_WIDENING, _WIDENING_WORDS // (_WIDENED * swap_words(nodes, degree, depth)))
        if most >= least and (both or not made):
            made += [family(nodes, degree, seed, depth, most) for seed in range(_WIDENED)]
    made = made or [family(nodes, degree, 0)]
    # Side by side: exchanges are nearly all in kernels.
    with ThreadPoolExecutor(_WIDENED) as pool:
        return list(zip(made, pool.map(_heads, made), strict=True))


def _shortest(graphs: list[_Drawn], depth: int) -> tuple[int, Randomly]:
    """Return the graph for which the fewest pairs are late, and of equals the fewest but just."""
    counted = ((distant_pairs(h, depth), distant_pairs(h, depth - 1), one) for one, h in graphs)
    late, _, best = min(counted, key=itemgetter(0, 1))
    return late, best


def _fullest(graphs: list[_Drawn], depth: int) -> tuple[int, Randomly]:
    """Return the graph for which no pair is late, if any, and of these the one of fullest balls.

    Where the early walks to one node meet no labels are even: of all balls the smallest decides.
    Of three graphs of 4,000 nodes of 4 two-way ports that whose balls of radius 2 all hold 17
    nodes was even in 10 steps, and those in which some held 15 missed that by 1.5 percent.
    """
    late = [distant_pairs(heads, depth) for _, heads in graphs]
    fewest = [one for one, count in zip(graphs, late, strict=True) if count == min(late)]
    best = max(fewest, key=lambda one: smallest_neighborhoods(one[1], _EARLY)) if fewest[1:] else fewest[0]
    return min(late), best[0]


def _heads(member: Randomly) -> NDArray[np.int64]:
    return head_array(member.n, *member.links())
