"""The budget for measuring recipes.

Every small graph is measured.  At thousands of nodes measuring takes nearly all the time of a
search, most of it for graphs without symmetry, which are measured at all nodes.
"""

from collections import Counter
from collections.abc import Sequence

from topoloom.synth.recipes.build import size
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import exact_claims
from topoloom.synth.symmetry.orbits import representatives


def affordable(offered: Sequence[Recipe]) -> list[Recipe]:
    """Return the recipes of one size to measure, taken from the families in turn.

    Only large graphs are limited in number.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> [str(one) for one in affordable([parse("Cayley(5, 4, 2, 1, 5)"), parse("Hypercube(3)")])]
    ['Cayley(5, 4, 2, 1, 5)', 'Hypercube(3)']
    """
    if not offered:
        return []
    nodes, degree = size(offered[0])
    place: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for number, recipe in enumerate(offered):
        family = type(recipe).__name__
        ranked.append((place[family], number))
        place[family] += 1
    most = max(limits.MIN_MEASURED_GRAPHS, limits.MAX_MEASURED_LINKS // (nodes * degree))
    return [offered[number] for _, number in sorted(ranked)][:most]


def is_quickly_known(recipe: Recipe) -> bool:
    """Return whether theorems give the cost of a recipe, or measuring it takes little work.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> [is_quickly_known(parse(one)) for one in ("Torus(100, 100)", "RandomRegular(9000, 4, 1)")]
    [True, False]
    """
    nodes, degree = size(recipe)
    if nodes * nodes * degree <= limits.MAX_OPERAND_WORK or exact_claims(recipe):
        return True
    return nodes * degree * len(representatives(recipe)) <= limits.MAX_OPERAND_WORK


def has_few_kinds(recipe: Recipe) -> bool:
    """Return whether theorems give the cost of a recipe, or few destinations determine it.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> has_few_kinds(parse("Torus(9, 9)")), has_few_kinds(parse("RandomRegular(81, 4, 1)"))
    (True, False)
    """
    nodes, _ = size(recipe)
    few = len(representatives(recipe)) * limits.MIN_NODES_PER_ORBIT <= nodes
    return few or exact_claims(recipe) is not None
