"""Costs of recipes by theorems, without construction."""

from topoloom.synth.evaluation.cost import Claim
from topoloom.synth.families import Base
from topoloom.synth.limits import MAX_TIMES
from topoloom.synth.recipes.build import traits
from topoloom.synth.recipes.expansions import cartesian_product, degree_expansion, line_graph
from topoloom.synth.recipes.recipe import (
    Altered,
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)


def claim(recipe: Recipe) -> Claim | None:
    """Return the cost of a recipe's graph by theorems.

    None where no theorem applies, as for most generalized Kautz graphs; the cost must then be
    measured.

    Raises:
        InvalidRecipe, OutOfDomain: The recipe cannot be built.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> claim(parse("LineGraph(2, CompleteBipartite(4))"))
    Claim(steps=4, bandwidth=Fraction(33, 32), exact=True)
    >>> claim(parse("GeneralizedKautz(4, 1024)")) is None
    True
    """
    traits(recipe)
    return _claim(recipe, False)


def claim_transpose(recipe: Recipe) -> Claim | None:
    """Return the cost of the transposed graph by theorems; see `claim`.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> claim_transpose(parse("UniRing(4)"))
    Claim(steps=3, bandwidth=Fraction(3, 4), exact=True)
    """
    traits(recipe)
    return _claim(recipe, True)


def _claim(recipe: Recipe, transposed: bool) -> Claim | None:
    match recipe:
        case Base():
            return recipe.claim_transpose() if transposed else recipe.claim()
        case LineGraph(times, LineGraph(more, of)) if times + more <= MAX_TIMES:
            return _claim(LineGraph(times + more, of), transposed)
        case LineGraph(times, of):
            claimed = _claim(of, transposed)
            return claimed and line_graph.claim(claimed, traits(of), times)
        case DegreeExpansion(factor, of):
            claimed = _claim(of, transposed)
            return claimed and degree_expansion.claim(claimed, traits(of), factor)
        case Power(times, of):
            claimed = _claim(of, transposed)
            return claimed and cartesian_product.claim([claimed], [traits(of)] * times)
        case Product(factors):
            claims = [_claim(of, transposed) for of in factors]
            known = [claimed for claimed in claims if claimed is not None]
            if len(known) < len(claims):
                return None
            return cartesian_product.claim(known, [traits(of) for of in factors])
        case Altered() | Bidirected():
            return None
