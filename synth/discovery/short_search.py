"""A short search for a frontier at sizes that the atlas does not have."""

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


@lru_cache(maxsize=4096)
def sampled(nodes: int, degree: int, links: Links) -> tuple[Recipe, ...]:
    """Return some good Cayley digraphs and lifts of this size; deterministic.

    Empty at sizes that were searched for the atlas: the atlas includes the results of these moves
    (`synth.atlas_build.audit`).  The number of moves is fixed and takes about a quarter of a
    second.

    >>> sampled(16, 4, Links.UNIDIRECTIONAL)
    ()
    """
    if bundled_of(nodes, degree).searched(nodes, degree, links):
        return ()
    return tuple(parse(entry.recipe) for entry in short_search(nodes, degree, links))


def short_search(nodes: int, degree: int, links: Links) -> Atlas:
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
        if explorer.done:
            break
        explorer.round()
    return explorer.atlas
