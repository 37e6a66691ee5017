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
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.random_seeds import drawn
from topoloom.synth.search.recipe_enumeration import Catalogue, Wanted
from topoloom.synth.search.resized_candidates import resized
from topoloom.synth.slack import MAX_DEGREE


def labels_serve(nodes: int, degree: int) -> bool:
    """Return whether labels are made on random graphs of a size.

    >>> labels_serve(1009, 4), labels_serve(1009, 9), labels_serve(4096, 4)
    (True, False, False)
    """
    return degree <= MAX_DEGREE and nodes**2 <= limits.MAX_SAMPLED_CELLS


def random_graphs(wanted: Wanted, nodes: int, degree: int) -> Sequence[Recipe]:
    """Return graphs of little symmetry within the constraints, for slack schedules.

    These are random and resized graphs, or the graphs of an atlas build (`synth.atlas_build.build`)
    at sizes that a build has covered.

    >>> [type(one).__name__ for one in random_graphs(Wanted(), 1301, 8)]
    ['RandomRegular', 'Removed', 'Removed']
    >>> random_graphs(Wanted(vertex_transitive=True), 61, 6)
    []
    """
    links = _links(wanted)
    if was_swept(wanted, nodes, degree):
        return _swept(wanted, nodes, degree, links)
    if wanted.vertex_transitive or not labels_serve(nodes, degree):
        return []
    # In parallel: sampling spends nearly all time in kernels, beside the look-up of nearby sizes.
    with ThreadPoolExecutor(1) as beside:
        drawing = beside.submit(drawn_for, wanted, nodes, degree, links)
        short = short_graphs(wanted, nodes, degree)
        return drawing.result() + short


def short_graphs(wanted: Wanted, nodes: int, degree: int) -> list[Recipe]:
    """Return graphs of few steps: resized graphs, or the graphs of an atlas build.

    >>> [type(one).__name__ for one in short_graphs(Wanted(), 1153, 6)]
    ['Inserted', 'Inserted']
    """
    links = _links(wanted)
    if was_swept(wanted, nodes, degree):
        return _swept(wanted, nodes, degree, links)
    if wanted.families is not None:
        return []
    unexpanded = replace(wanted, parallel_links=False, bases=())
    return [*resized(nodes, degree, links, partial(_other, unexpanded, degree))]


def _links(wanted: Wanted) -> Links:
    return Links.BIDIRECTIONAL if wanted.bidirectional else Links.UNIDIRECTIONAL


def was_swept(wanted: Wanted, nodes: int, degree: int) -> bool:
    """Return whether an atlas build covers a size, so that its graphs replace random graphs.

    >>> was_swept(Wanted(), 1009, 4), was_swept(Wanted(families=frozenset({"Kautz"})), 1009, 4)
    (True, False)
    """
    known = bundled_of(nodes, degree)
    return wanted.families is None and known.searched(nodes, degree, _links(wanted), by_slack=True)


def drawn_for(wanted: Wanted, nodes: int, degree: int, links: Links) -> list[Recipe]:
    """Return random graphs, where their families are wanted."""
    return [
        one
        for one in drawn(nodes, degree, links)
        if wanted.families is None or type(_unshortened(one)).__name__ in wanted.families
    ]


def is_drawn(recipe: Recipe) -> bool:
    """Return whether a graph is drawn at random, shortened or not.

    >>> is_drawn(parse("Shortened(5, 49, 1, RandomRegular(80, 3, 1))"))
    True
    >>> is_drawn(parse("Circulant(12, 2, 3)"))
    False
    """
    return isinstance(_unshortened(recipe), RandomGraph)


def _unshortened(recipe: Recipe) -> Recipe:
    return recipe.of if isinstance(recipe, Shortened) else recipe


def swept_graphs(nodes: int, degree: int, links: Links) -> list[Recipe]:
    """Return the graphs of a size on which a sweep found labels to reach most, if there was one.

    >>> [str(one) for one in swept_graphs(2503, 6, Links.UNIDIRECTIONAL)]
    ['RandomRegular(2503, 6, 1, 3, 7394)']
    """
    entries = bundled_of(nodes, degree).of_size(nodes, degree, by_slack=True)
    return list(dict.fromkeys(parse(one.recipe) for one in entries if one.links is links))


def _swept(wanted: Wanted, nodes: int, degree: int, links: Links) -> list[Recipe]:
    """Return the graphs of the atlas on which labels reach most, and the random ones beside."""
    alike = [one for one in bundled_of(nodes, degree).of_size(nodes, degree) if one.links is links]
    random = [parse(one.recipe) for one in alike if one.is_random]
    found = dict.fromkeys((*swept_graphs(nodes, degree, links), *random))
    return [one for one in found if not wanted.vertex_transitive or traits(one).vertex_transitive]


@lru_cache(maxsize=256)
def _other(wanted: Wanted, degree: int, nodes: int) -> tuple[Candidate, ...]:
    """Return the known graphs of a size, without any search."""
    return Catalogue(wanted, nodes, degree, eager=False).front(nodes, degree)
