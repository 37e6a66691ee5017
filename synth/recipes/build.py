"""Derive the properties of a recipe's topology, and build the topology."""

from functools import lru_cache

import numpy as np

from topoloom.synth.errors import ClaimBroken, InvalidRecipe
from topoloom.synth.families.family import Ends
from topoloom.synth.limits import require_size
from topoloom.synth.naming.short_names import short_name
from topoloom.synth.recipes.expansions import (
    bidirected,
    cartesian_product,
    degree_expansion,
    line_graph,
    node_insertion,
    node_removal,
    targeted_swaps,
)
from topoloom.synth.recipes.expansions.properties import Traits
from topoloom.synth.recipes.recipe import (
    Altered,
    Base,
    Bidirected,
    DegreeExpansion,
    Inserted,
    LineGraph,
    Power,
    Product,
    Recipe,
    Removed,
    Shortened,
)
from topoloom.synth.topology.topology import Topology


def build(recipe: Recipe) -> Topology:
    """Return the topology of a recipe: nodes 0..n-1, unit links, with its short name.

    Raises:
        InvalidRecipe: The value is no recipe.
        OutOfDomain: An operator is not defined on its operand, or the topology would exceed the
            limits of `synth.limits`.  Checked before construction.
        ClaimBroken: The graph contradicts its construction: a bug.

    Families and operators document the numbering of their nodes; the same recipe always gives the
    same topology.  O(links log links).

    >>> from topoloom.synth.families import UniRing
    >>> build(Product(UniRing(4), UniRing(8)))
    <Topology prod-uniring-uniring-32x2-2808: 32 compute, 64 links>
    """
    promised = traits(recipe)
    nodes, (sources, targets) = _construct(recipe)
    name = short_name(recipe, promised.nodes, promised.degree)
    topology = Topology.direct(nodes, sources, targets, name=name, recipe=recipe)
    _compare(recipe, "nodes", promised.nodes, topology.node_count)
    _compare(recipe, "degree", promised.degree, topology.degree)
    _compare(recipe, "regular", promised.regular, topology.is_regular)
    _compare(recipe, "parallel links", promised.parallel, topology.has_parallel_links)
    return topology


def size(recipe: Recipe) -> tuple[int, int]:
    """Return (nodes, degree) without construction; errors as `build`.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> size(parse("LineGraph(3, Circulant(16, 3, 4))"))
    (1024, 4)
    """
    known = traits(recipe)
    return known.nodes, known.degree


def traits(recipe: Recipe) -> Traits:
    """Return the properties of a topology without construction; errors as `build`.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> traits(parse("Kautz(2, 3)")).regular, traits(parse("UniRing(5, 2)")).bidirectional
    (True, False)
    """
    match recipe:
        case Base():
            return _base_traits(recipe)
        case LineGraph(times, of):
            result = line_graph.traits(traits(of), times)
        case DegreeExpansion(factor, of):
            result = degree_expansion.traits(traits(of), factor)
        case Power(times, of):
            result = cartesian_product.power_traits(traits(of), times)
        case Product(factors):
            result = cartesian_product.traits([traits(of) for of in factors])
        case Bidirected(of):
            below = traits(of)
            require_size(below.nodes, 2 * below.degree)
            result = bidirected.traits(below, _degrees(recipe))
        case Inserted(more, depth, _, of):
            result = node_insertion.traits(traits(of), more, depth)
        case Removed(fewer, depth, _, of):
            result = node_removal.traits(traits(of), fewer, depth)
        case Shortened(depth, exchanges, _, of):
            result = targeted_swaps.traits(traits(of), depth, exchanges)
        case _:
            raise InvalidRecipe("recipe", f"must be a recipe, not {type(recipe).__name__}")
    require_size(result.nodes, result.degree)
    return result


@lru_cache(maxsize=4096)
def _base_traits(member: Base) -> Traits:
    most_out, most_in = member.degrees()
    return Traits(
        member.nodes,
        most_out,
        most_in,
        bidirectional=member.bidirectional(),
        parallel=member.parallel(),
        regular=member.regular(),
        vertex_transitive=member.vertex_transitive(),
        arc_transitive=member.arc_transitive(),
    )


@lru_cache(maxsize=4096)
def _degrees(recipe: Bidirected) -> tuple[int, int]:
    """Return the least and the largest degree, which depend on links in both directions."""
    nodes, (sources, _) = _construct(recipe)
    degrees = np.bincount(sources, minlength=nodes)
    return int(degrees.min()), int(degrees.max())


def _construct(recipe: Recipe) -> tuple[int, Ends]:
    """Return nodes and links; every part is smaller than the whole, which fits the limits."""
    match recipe:
        case Base():
            return recipe.nodes, recipe.links()
        case LineGraph(times, of):
            return line_graph.links(*_construct(of), times)
        case DegreeExpansion(factor, of):
            return degree_expansion.links(*_construct(of), factor)
        case Power(times, of):
            return cartesian_product.links([_construct(of)] * times)
        case Product(factors):
            return cartesian_product.links([_construct(of) for of in factors])
        case Bidirected(of):
            return size(of)[0], _bidirected(recipe)
        case Altered():
            return size(recipe)[0], _altered(recipe)


def distant_pairs_before_swaps(recipe: Inserted) -> int:
    """Return the number of distant pairs after node insertion, before edge swaps.

    Takes part of the time of the construction; domain as `build`.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> distant_pairs_before_swaps(Inserted(2, 4, 1, parse("Kautz(3, 3)")))
    0
    """
    of = recipe.of
    return node_insertion.distant_pairs(
        *_construct(of), traits(of), recipe.more, recipe.depth, recipe.seed
    )


@lru_cache(maxsize=64)
def _bidirected(recipe: Bidirected) -> Ends:
    """Return the links, of which the traits take the degrees."""
    return _read_only(bidirected.links(*_construct(recipe.of)))


@lru_cache(maxsize=64)
def _altered(recipe: Inserted | Removed | Shortened) -> Ends:
    nodes, ends = _construct(recipe.of)
    *numbers, of = recipe.arguments
    return _read_only(_ALTERING[type(recipe)](nodes, ends, traits(of), *numbers))


def _read_only(ends: Ends) -> Ends:
    """Return arrays that callers may share."""
    for side in ends:
        side.setflags(write=False)
    return ends


_ALTERING = {
    Inserted: node_insertion.links,
    Removed: node_removal.links,
    Shortened: targeted_swaps.links,
}


def _compare(recipe: Recipe, what: str, promised: int, actual: int) -> None:
    if promised != actual:
        raise ClaimBroken(str(recipe), f"must have {what} = {promised}, but has {actual}")
