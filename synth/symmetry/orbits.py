"""Orbit representatives: one destination per orbit suffices to measure a topology."""

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.recipes.build import size, traits
from topoloom.synth.recipes.recipe import (
    Altered,
    Base,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)


def representatives(recipe: Recipe) -> NDArray[np.int64]:
    """Return positions of nodes that together represent every orbit of automorphisms.

    Uses proven automorphisms only; without any, returns all nodes.  The transpose has the same
    automorphisms and so the same representatives.

    An automorphism of a graph acts on its links, the nodes of its line graph; on the copies in a
    degree expansion, which may also be permuted; and on one coordinate of a product.  In a line
    graph the links out of node v are nodes v d to v d + d - 1.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> representatives(parse("LineGraph(2, Cayley(8, 3, 2, 1, 9))"))
    array([0, 1, 2, 3])
    """
    match recipe:
        case LineGraph() if traits(recipe).vertex_transitive:
            return np.zeros(1, np.int64)
        case Base():
            found = recipe.representatives()
            return np.arange(recipe.nodes) if found is None else np.asarray(found)
        case LineGraph(times, of):
            found, degree = representatives(of), traits(of).degree
            for _ in range(times):
                found = (found[:, None] * degree + np.arange(degree)).ravel()
            return found
        case DegreeExpansion(_, of) | Bidirected(of):
            return representatives(of)
        case Altered():
            return np.arange(size(recipe)[0])
        case Power(times, of):
            return _together([of] * times)
        case Product(factors):
            return _together(list(factors))


def _together(factors: list[Recipe]) -> NDArray[np.int64]:
    """Combine the representatives of the factors, the first the most significant."""
    found = np.zeros(1, np.int64)
    for factor in factors:
        found = (found[:, None] * size(factor)[0] + representatives(factor)).ravel()
    return found
