"""A short search for a frontier at sizes that the atlas does not have."""

from fractions import Fraction
from functools import lru_cache

from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.atlas.entries import Atlas, Search
from topoloom.synth.discovery.annealing_rounds import MAX_NODES, Explorer
from topoloom.synth.discovery.lift_cost import MAX_DEGREE
from topoloom.synth.errors import ImpossibleRequest
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.recipe import Recipe, parse

_LEAST_NODES = 24
_ROUNDS = 5
_MICROSECONDS = 50_000
_MOST_VERTICES = 8
# Steps above the Moore bound, one-way and two-way, and ratio to the bandwidth bound at which slack
# schedules close the gap.
_NEAR_STEPS = {Links.UNIDIRECTIONAL: 1, Links.BIDIRECTIONAL: 0}
_NEAR_BANDWIDTH = Fraction(203, 200)


@lru_cache(maxsize=4096)
def sampled(
    nodes: int, degree: int, links: Links, *, exhaustive: bool = True
) -> tuple[Recipe, ...]:
    """Return some good Cayley digraphs and lifts of this size; deterministic.

    Empty at sizes that were searched for the atlas: the atlas includes the results of these moves
    (`synth.atlas_build.audit`).  The number of moves is fixed and takes about a quarter of a
    second.  Unless ``exhaustive``, the first lift close enough for slack schedules ends the search.

    >>> sampled(16, 4, Links.UNIDIRECTIONAL)
    ()
    """
    if bundled_of(nodes, degree).searched(nodes, degree, links):
        return ()
    return tuple(
        parse(entry.recipe) for entry in short_search(nodes, degree, links, exhaustive=exhaustive)
    )


def short_search(nodes: int, degree: int, links: Links, *, exhaustive: bool = True) -> Atlas:
    """Return the result of `sampled` regardless of the atlas; empty out of range.

    >>> [len(short_search(nodes, 3, Links.BIDIRECTIONAL)) > 0 for nodes in (16, 26)]
    [False, True]
    """
    two_way = links is Links.BIDIRECTIONAL
    if not _LEAST_NODES <= nodes <= MAX_NODES or not 2 + two_way <= degree <= MAX_DEGREE:
        return Atlas()
    try:
        explorer = Explorer(
            Search(nodes, degree, links, 0),
            Atlas(),
            microseconds=_MICROSECONDS,
            most_vertices=_MOST_VERTICES,
        )
    except ImpossibleRequest:
        return Atlas()
    for _ in range(_ROUNDS):
        if explorer.done or (not exhaustive and _is_near(explorer)):
            break
        explorer.round()
    return explorer.atlas


def _is_near(explorer: Explorer) -> bool:
    bounds = explorer.bounds
    most = bounds.steps + _NEAR_STEPS[explorer.search.links]
    return any(
        entry.mean_cost.steps <= most
        and entry.mean_cost.bandwidth <= bounds.bandwidth * _NEAR_BANDWIDTH
        for entry in explorer.known
    )
