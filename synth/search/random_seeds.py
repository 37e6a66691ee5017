"""Random regular graphs for a frontier: seeds, and edge swaps that improve them.

The neighborhood of every node decides the bandwidth of slack schedules (`synth.slack`).  Where
two short walks end at one node, fewer shards can arrive early, and the unused capacity is lost.
So edge swaps first enlarge the neighborhoods of a small radius.  Random graphs then mostly reach
the optimal bandwidth two steps above Moore's bound, often one step above.  Without edge swaps they
miss the optimum by several percent.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from math import exp
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
from topoloom.synth.search.resize import shorten

_Seed: TypeAlias = tuple[RandomGraph, NDArray[np.int64]]


@lru_cache(maxsize=4096)
def random_seeds(nodes: int, degree: int, links: Links) -> tuple[Recipe, ...]:
    """Return random regular graphs with large neighborhoods and few steps; deterministic.

    These are the shortest graph of `_with_large_neighborhoods` and, for each smaller number of
    steps that targeted swaps reach, one shortened graph.  Sorted by steps.  Takes about a quarter
    of a second.

    >>> random_seeds(61, 6, Links.UNIDIRECTIONAL)
    (RandomRegular(61, 6, 2, 2, 10000),)
    """
    two_way = links is Links.BIDIRECTIONAL
    fits = 2 + two_way <= degree <= min(limits.MAX_SEED_DEGREE, nodes - 2)
    if not fits or nodes > MAX_NODES or (two_way and nodes * degree % 2):
        return ()
    family = RandomRegularTwoWay if two_way else RandomRegular
    least = lower_bound(nodes, degree, links).steps
    wide = _with_large_neighborhoods(family, nodes, degree)
    found: list[Recipe] = []
    for depth in range(least, least + limits.SEED_STEPS + 1):
        if not may_reach_depth(nodes, degree, links, depth):
            continue
        best_of = _shortest if nodes <= limits.LARGE_SEED_NODES else _fullest
        late, member = best_of(wide, depth)
        if late == 0:
            found.append(member)
            break
        if late <= limits.MAX_LATE_SHARE * nodes:
            short = shorten(member, depth, 1, limits.SEED_SWAP_WORDS)
            found += [] if short is None else [short]
    return tuple(found)


def may_reach_depth(nodes: int, degree: int, links: Links, depth: int) -> bool:
    """Return whether swaps may bring all nodes of a random graph within a depth.

    Without collisions W walks of at most ``depth`` links leave a node.  In a random graph they miss
    a share exp(-W / nodes) of the nodes; swaps that widen a graph leave at least a third of that.

    >>> [may_reach_depth(4000, 4, Links.BIDIRECTIONAL, depth) for depth in (8, 9)]
    [False, True]
    """
    branches = degree - (links is Links.BIDIRECTIONAL)
    walks = sum(degree * branches**length for length in range(depth))
    return nodes * exp(-walks / nodes) <= limits.MAX_EXPECTED_LATE_SHARE


def _with_large_neighborhoods(family: type[RandomGraph], nodes: int, degree: int) -> list[_Seed]:
    """Return graphs whose neighborhoods edge swaps have enlarged; else one random graph.

    Let r be the radius at which a neighborhood holds about the square root of all nodes, where
    walks begin to meet by chance.  The radius is r + 1, or r where few edge swaps are affordable:
    at 60 random sizes the other choice left no fewer pairs late.  At few nodes, very many nodes,
    or degree 2 neither radius is always better, so both are tried.
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
    # Threads run in parallel: edge swaps spend nearly all time in kernels.
    with ThreadPoolExecutor(limits.SEEDS) as pool:
        return list(zip(made, pool.map(_head_array_of, made), strict=True))


def _shortest(seeds: list[_Seed], depth: int) -> tuple[int, RandomGraph]:
    """Return the graph with the fewest late pairs; ties go to the fewest pairs at ``depth``."""
    counted = ((distant_pairs(h, depth), distant_pairs(h, depth - 1), one) for one, h in seeds)
    late, _, best = min(counted, key=itemgetter(0, 1))
    return late, best


def _fullest(seeds: list[_Seed], depth: int) -> tuple[int, RandomGraph]:
    """Return the graph with the fewest late pairs; ties go to the largest minimum neighborhood.

    Where early walks to one node meet, no slack schedule is optimal, so the smallest neighborhood
    decides.  Example: three graphs of 4,000 nodes of 4 two-way ports.  The graph whose
    neighborhoods of radius 2 all hold 17 nodes was optimal in 10 steps; the graphs with some of 15
    nodes missed the optimum by 1.5 percent.
    """
    late = [distant_pairs(heads, depth) for _, heads in seeds]
    fewest = [one for one, count in zip(seeds, late, strict=True) if count == min(late)]
    if len(fewest) == 1:
        return min(late), fewest[0][0]
    best = max(fewest, key=lambda one: smallest_neighborhoods(one[1], limits.EARLY_RADIUS))
    return min(late), best[0]


def _head_array_of(member: RandomGraph) -> NDArray[np.int64]:
    return head_array(member.n, *member.links())
