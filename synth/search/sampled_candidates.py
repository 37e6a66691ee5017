"""Graphs of little symmetry as candidates for slack schedules, at every number of nodes.

These are random graphs, and good graphs resized from nearby sizes.  With slack schedules they come
close to the bounds where the catalog has no good graph (`synth.search.slack_candidates`).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial

from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.families.random_graphs import RandomGraph
from topoloom.synth.recipes.build import traits
from topoloom.synth.recipes.recipe import Recipe, Shortened, parse
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import Candidate, undominated
from topoloom.synth.search.random_seeds import random_seeds
from topoloom.synth.search.recipe_enumeration import Catalog, Constraints
from topoloom.synth.search.resized_candidates import resized_graphs
from topoloom.synth.slack import MAX_DEGREE


def is_sampled_size(nodes: int, degree: int) -> bool:
    """Return whether slack schedules are made on random graphs of a size.

    >>> is_sampled_size(1009, 4), is_sampled_size(1009, 9), is_sampled_size(4096, 4)
    (True, False, False)
    """
    return degree <= MAX_DEGREE and nodes**2 <= limits.MAX_SAMPLED_CELLS


def sampled_graphs(constraints: Constraints, nodes: int, degree: int) -> Sequence[Recipe]:
    """Return graphs of little symmetry within the constraints, for slack schedules.

    These are random and resized graphs, or the graphs of an atlas build (`synth.atlas_build.build`)
    at sizes that a build has covered.

    >>> [type(one).__name__ for one in sampled_graphs(Constraints(), 1301, 8)]
    ['RandomRegular', 'Removed', 'Removed']
    >>> sampled_graphs(Constraints(vertex_transitive=True), 61, 6)
    []
    """
    links = _links(constraints)
    if is_built_size(constraints, nodes, degree):
        return _atlas_graphs(constraints, nodes, degree, links)
    if constraints.vertex_transitive or not is_sampled_size(nodes, degree):
        return []
    # In parallel: sampling spends nearly all time in kernels, beside the look-up of nearby sizes.
    with ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(random_seeds_for, constraints, nodes, degree, links)
        short = few_step_graphs(constraints, nodes, degree)
        return drawing.result() + short


def few_step_graphs(constraints: Constraints, nodes: int, degree: int) -> list[Recipe]:
    """Return graphs of few steps: resized graphs, or the graphs of an atlas build.

    >>> [type(one).__name__ for one in few_step_graphs(Constraints(), 1153, 6)]
    ['Inserted', 'Inserted']
    """
    links = _links(constraints)
    if is_built_size(constraints, nodes, degree):
        return _atlas_graphs(constraints, nodes, degree, links)
    if constraints.families is not None:
        return []
    unexpanded = replace(constraints, parallel_links=False, bases=())
    return [*resized_graphs(nodes, degree, links, partial(_catalog_front, unexpanded, degree))]


def _links(constraints: Constraints) -> Links:
    return Links.BIDIRECTIONAL if constraints.bidirectional else Links.UNIDIRECTIONAL


def is_built_size(constraints: Constraints, nodes: int, degree: int) -> bool:
    """Return whether an atlas build covers a size, so that its graphs replace random graphs.

    >>> is_built_size(Constraints(), 1009, 4)
    True
    >>> is_built_size(Constraints(families=frozenset({"Kautz"})), 1009, 4)
    False
    """
    known = bundled_of(nodes, degree)
    return constraints.families is None and known.searched(
        nodes, degree, _links(constraints), by_slack=True
    )


def random_seeds_for(
    constraints: Constraints, nodes: int, degree: int, links: Links
) -> list[Recipe]:
    """Return the random seeds of the allowed families."""
    return [
        one
        for one in random_seeds(nodes, degree, links)
        if constraints.families is None or type(_before_swaps(one)).__name__ in constraints.families
    ]


def is_random(recipe: Recipe) -> bool:
    """Return whether a recipe is a random graph, shortened or not.

    >>> is_random(parse("Shortened(5, 49, 1, RandomRegular(80, 3, 1))"))
    True
    >>> is_random(parse("Circulant(12, 2, 3)"))
    False
    """
    return isinstance(_before_swaps(recipe), RandomGraph)


def _before_swaps(recipe: Recipe) -> Recipe:
    return recipe.of if isinstance(recipe, Shortened) else recipe


def atlas_slack_graphs(nodes: int, degree: int, links: Links) -> list[Recipe]:
    """Return the graphs of a size whose slack schedules an atlas build found undominated.

    >>> [str(one) for one in atlas_slack_graphs(2503, 6, Links.UNIDIRECTIONAL)]
    ['RandomRegular(2503, 6, 1, 3, 7394)']
    """
    entries = bundled_of(nodes, degree).of_size(nodes, degree, by_slack=True)
    return list(dict.fromkeys(parse(one.recipe) for one in entries if one.links is links))


def _atlas_graphs(constraints: Constraints, nodes: int, degree: int, links: Links) -> list[Recipe]:
    """Return the atlas graphs with undominated slack schedules, and the random atlas graphs."""
    alike = [one for one in bundled_of(nodes, degree).of_size(nodes, degree) if one.links is links]
    random = [parse(one.recipe) for one in alike if one.is_random]
    found = dict.fromkeys((*atlas_slack_graphs(nodes, degree, links), *random))
    return [
        one for one in found if not constraints.vertex_transitive or traits(one).vertex_transitive
    ]


@lru_cache(maxsize=256)
def _catalog_front(constraints: Constraints, degree: int, nodes: int) -> tuple[Candidate, ...]:
    """Return the undominated recipes of a size, without random graphs."""
    return undominated(Catalog(constraints, nodes, degree).front(nodes, degree))
