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

from topoloom.synth.edge_swaps.local_search import distant_pairs, head_array, smallest_neighborhoods
from topoloom.synth.edge_swaps.work_estimates import MAX_NODES, swap_words
from topoloom.synth.evaluation.cost import Links, lower_bound
from topoloom.synth.families.random_graphs import RandomGraph, RandomRegular, RandomRegularTwoWay
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search import limits
from topoloom.synth.search.resize import brought_near

_Drawn: TypeAlias = tuple[RandomGraph, NDArray[np.int64]]


@lru_cache(maxsize=4096)
def drawn(nodes: int, degree: int, links: Links) -> tuple[Recipe, ...]:
    """Return random regular graphs of this size, wide and of few steps, the same every time.

    The shortest of those widened and, for each number of fewer steps for which that succeeds, one
    of them shortened by aimed exchanges.  Sorted by steps.  A quarter of a second or so.

    >>> drawn(61, 6, Links.UNIDIRECTIONAL)
    (RandomRegular(61, 6, 2, 2, 10000),)
    """
    two_way = links is Links.BIDIRECTIONAL
    fits = 2 + two_way <= degree <= min(limits.MAX_SEED_DEGREE, nodes - 2)
    if not fits or nodes > MAX_NODES or (two_way and nodes * degree % 2):
        return ()
    family = RandomRegularTwoWay if two_way else RandomRegular
    least = lower_bound(nodes, degree, links).steps
    wide = _widened(family, nodes, degree)
    found: list[Recipe] = []
    for depth in range(least, least + limits.SEED_STEPS + 1):
        choose = _shortest if nodes <= limits.LARGE_SEED_NODES else _fullest
        late, member = choose(wide, depth)
        if late == 0:
            found.append(member)
            break
        if late <= limits.MAX_LATE_SHARE * nodes:
            short = brought_near(member, depth, 1, limits.SEED_SWAP_WORDS)
            found += [] if short is None else [short]
    return tuple(found)


def _widened(family: type[RandomGraph], nodes: int, degree: int) -> list[_Drawn]:
    """Return graphs whose balls of some radius exchanges have made large; if none, one as drawn.

    The radius is one more than that at which a ball is about as large as the square root of all
    nodes, where walks begin to meet by chance; where few exchanges can be paid for it is that one:
    at 60 random sizes the other left more pairs late, or as many.  Of few nodes, of very many, or
    of two links at each, now one is better and now the other.
    """
    radius = 1
    while degree ** (2 * radius) < nodes:
        radius += 1
    both = degree == 2 or not limits.SMALL_SEED_NODES < nodes <= limits.LARGE_SEED_NODES
    made: list[RandomGraph] = []
    for depth, least in (
        (radius + 1, limits.MIN_SEED_SWAPS if both else limits.MIN_SEED_SWAPS_OF_LARGER_RADIUS),
        (radius, limits.MIN_SEED_SWAPS),
    ):
        words = limits.SEEDS * swap_words(nodes, degree, depth)
        most = min(limits.SEED_SWAPS, limits.SEED_WIDENING_WORDS // words)
        if most >= least and (both or not made):
            made += [family(nodes, degree, seed, depth, most) for seed in range(limits.SEEDS)]
    made = made or [family(nodes, degree, 0)]
    # Side by side: exchanges are nearly all in kernels.
    with ThreadPoolExecutor(limits.SEEDS) as pool:
        return list(zip(made, pool.map(_heads, made), strict=True))


def _shortest(graphs: list[_Drawn], depth: int) -> tuple[int, RandomGraph]:
    """Return the graph for which the fewest pairs are late, and of equals the fewest but just."""
    counted = ((distant_pairs(h, depth), distant_pairs(h, depth - 1), one) for one, h in graphs)
    late, _, best = min(counted, key=itemgetter(0, 1))
    return late, best


def _fullest(graphs: list[_Drawn], depth: int) -> tuple[int, RandomGraph]:
    """Return the graph for which no pair is late, if any, and of these the one of fullest balls.

    Where the early walks to one node meet no labels are even: of all balls the smallest decides.
    Of three graphs of 4,000 nodes of 4 two-way ports that whose balls of radius 2 all hold 17
    nodes was even in 10 steps, and those in which some held 15 missed that by 1.5 percent.
    """
    late = [distant_pairs(heads, depth) for _, heads in graphs]
    fewest = [one for one, count in zip(graphs, late, strict=True) if count == min(late)]
    if len(fewest) == 1:
        return min(late), fewest[0][0]
    best = max(fewest, key=lambda one: smallest_neighborhoods(one[1], limits.EARLY_RADIUS))
    return min(late), best[0]


def _heads(member: RandomGraph) -> NDArray[np.int64]:
    return head_array(member.n, *member.links())
