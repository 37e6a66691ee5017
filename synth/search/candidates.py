"""Recipes with their costs, and the Pareto-optimal ones among them.

A `Candidate` carries the costs of its recipe on the graph and on its transpose, either exact by
a theorem or measured.  Upper bounds from theorems are too loose for a choice: line graphs of
one-way bases often cost less.

Profile (N = 4096, d = 4): measuring takes nearly all the time.  Hence only one destination of each
orbit (`synth.symmetry.orbits`) is measured, and `measured_unless_dominated` stops early: two dozen
destinations show that most candidates are dominated.  A graph rewired at a few nodes agrees nearly
everywhere with its original, so some hundreds of destinations are needed: at 10,000 nodes of 64
ports, 65 of 77 processor seconds measured two graphs that equal the first one.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.errors import ClaimBroken
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.measure import CostProbe
from topoloom.synth.families import FAMILIES
from topoloom.synth.recipes import build as recipes
from topoloom.synth.recipes.claims import claim, claim_transpose
from topoloom.synth.recipes.recipe import Base, Product, Recipe
from topoloom.synth.search import limits
from topoloom.synth.symmetry.orbits import representatives

# Knuth's multiplicative hashing: 2**32 over the golden ratio.
_STRIDE = 2_654_435_769
_FAMILY_ORDER = {family: index for index, family in enumerate(FAMILIES)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recipe with its cost on the graph and on its transpose.

    The schedule is breadth-first broadcast, or, if ``within`` is a number, a slack schedule of at
    most ``within`` steps (`synth.slack`).
    """

    recipe: Recipe
    cost: Cost
    transpose: Cost
    measured: bool = False
    within: int | None = None

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """The costs on the graph and on its transpose."""
        return self.cost, self.transpose

    @property
    def steps(self) -> int:
        """Steps in which both directions end; broadcasts of both take equally many."""
        return max(cost.steps for cost in self.costs)

    @property
    def bandwidth(self) -> Fraction:
        """Bandwidth cost of the worse direction."""
        return max(cost.bandwidth for cost in self.costs)

    @property
    def simplicity(self) -> tuple[int, int, int, str]:
        """Sort key of equally good recipes: fewest operators, first family, shortest text."""
        text = str(self.recipe)
        return *_operators_and_family(self.recipe), len(text), text


@lru_cache(maxsize=64)
def measured_candidate(recipe: Recipe) -> Candidate:
    """Return the recipe with measured costs.  Cached: large sizes need the same graphs twice.

    Raises:
        ClaimBroken: The graph does not cost what a theorem promises: a bug.
    """
    (found,) = measured_unless_dominated(recipe, ())
    return found


def measured_unless_dominated(recipe: Recipe, others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the recipe with measured costs, or nothing if other candidates dominate it.

    A cost over some destinations is a lower bound of the cost over all, so every omitted recipe
    is dominated, or equal and no simpler.

    Raises:
        ClaimBroken: The graph does not cost what a theorem promises: a bug.
    """
    costs = _probed_costs(recipe, list(others))
    if costs is None:
        return ()
    for cost, transposed in zip(costs, (False, True), strict=True):
        claimed = claim_transpose(recipe) if transposed else claim(recipe)
        if claimed and not claimed.covers(cost):
            raise ClaimBroken(str(recipe), f"must cost {claimed}, but costs {cost}")
    return (Candidate(recipe, *costs, measured=True),)


def _probed_costs(recipe: Recipe, rivals: Sequence[Candidate]) -> tuple[Cost, Cost] | None:
    """Return the costs in both directions; None as soon as a rival dominates the recipe."""
    topology, destinations = recipes.build(recipe), representatives(recipe)
    turned = topology.transpose()
    gather = CostProbe(topology)
    scatter = gather if turned == topology else CostProbe(turned)
    # In an order that no structure follows.
    order = np.argsort(np.arange(len(destinations)) * _STRIDE % 2**32, kind="stable")

    def costs_with(more: NDArray[np.int64]) -> tuple[Cost, Cost]:
        cost = gather.measure(destinations[more])
        return cost, cost if scatter is gather else scatter.measure(destinations[more])

    seen = 0
    for count in (some for some in limits.PROBED_DESTINATIONS if some < len(order)):
        least, seen = costs_with(order[seen:count]), count
        if any(_dominates_bound(one, recipe, least) for one in rivals):
            return None
    return costs_with(order[seen:])


def _dominates_bound(rival: Candidate, recipe: Recipe, least: tuple[Cost, Cost]) -> bool:
    """Return whether a rival is no worse than least costs of a recipe, and better or simpler."""
    return _no_worse(rival.costs, least) and (
        rival.costs != least or _operators_and_family(rival.recipe) <= _operators_and_family(recipe)
    )


def exact_claims(recipe: Recipe) -> tuple[Cost, Cost] | None:
    """Return the costs on the graph and on its transpose if theorems state them exactly."""
    claims = [claim(recipe), claim_transpose(recipe)]
    found = [claimed.cost for claimed in claims if claimed and claimed.exact]
    return (found[0], found[1]) if len(found) == 2 else None


def undominated(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that no other dominates, sorted by steps; the simplest of equals.

    A candidate dominates another if it is no worse in steps and bandwidth, on the graph and on its
    transpose, and better in one.  Of equals, broadcast is simpler than a slack schedule.  Both
    directions of a candidate count with its larger number of steps.  O(candidates * result).
    """
    kept: list[Candidate] = []
    # A candidate that dominates another, or is equal and simpler, sorts before the other.
    for one in sorted(candidates, key=_order):
        if not any(_no_worse(other.costs, _with_equal_steps(one)) for other in kept):
            kept.append(one)
    return tuple(kept)


def by_families(
    candidates: Iterable[Candidate], nodes: int
) -> dict[frozenset[type[Base]], list[Candidate]]:
    """Return the candidates that no rival dominates, by `rival_families`.

    ``nodes`` is the requested size.
    """
    alike: dict[frozenset[type[Base]], list[Candidate]] = {}
    for one in candidates:
        alike.setdefault(rival_families(one.recipe, nodes), []).append(one)
    return {families: list(undominated(some)) for families, some in alike.items()}


def rival_families(recipe: Recipe, nodes: int) -> frozenset[type[Base]]:
    """Return the base families of the graphs that displace a recipe before slack schedules.

    These are its own families, so that a request finds what requests for some of the families find:
    a graph that broadcasts worse than another may be better with slack schedules or as an operand.
    At large sizes all graphs are rivals, and the set is empty.
    """
    return base_families(recipe) if nodes <= limits.MAX_NODES_BY_FAMILIES else frozenset()


def base_families(recipe: Recipe) -> frozenset[type[Base]]:
    """Return the families of the base graphs of a recipe.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> sorted(one.__name__ for one in base_families(parse("LineGraph(1, Kautz(3, 3))")))
    ['Kautz']
    """
    match recipe:
        case Base():
            return frozenset({type(recipe)})
        case Product(factors):
            return frozenset[type[Base]]().union(*map(base_families, factors))
        case _:
            return base_families(recipe.of)


def _order(one: Candidate) -> tuple[Any, ...]:
    bandwidths = (cost.bandwidth for cost in one.costs)
    return one.steps, *bandwidths, *one.costs, one.within or 0, one.simplicity


def _with_equal_steps(one: Candidate) -> tuple[Cost, Cost]:
    return Cost(one.steps, one.cost.bandwidth), Cost(one.steps, one.transpose.bandwidth)


def _operators_and_family(recipe: Recipe) -> tuple[int, int]:
    """Return the number of operators, and the least index of a family in `FAMILIES`."""
    match recipe:
        case Base():
            return 0, _FAMILY_ORDER[type(recipe)]
        case Product(factors):
            below = [_operators_and_family(of) for of in factors]
            return 1 + sum(count for count, _ in below), min(order for _, order in below)
        case _:
            count, order = _operators_and_family(recipe.of)
            return 1 + count, order


def _no_worse(one: tuple[Cost, Cost], other: tuple[Cost, Cost]) -> bool:
    return all(
        mine.steps <= theirs.steps and mine.bandwidth <= theirs.bandwidth
        for mine, theirs in zip(one, other, strict=True)
    )


def affordable(recipes_of_size: Sequence[Recipe]) -> list[Recipe]:
    """Return the recipes of one size to measure, taken from the families in turn.

    Every small graph is measured; only large graphs are limited in number.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> [str(one) for one in affordable([parse("Cayley(5, 4, 2, 1, 5)"), parse("Hypercube(3)")])]
    ['Cayley(5, 4, 2, 1, 5)', 'Hypercube(3)']
    """
    if not recipes_of_size:
        return []
    nodes, degree = recipes.size(recipes_of_size[0])
    seen: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for number, recipe in enumerate(recipes_of_size):
        family = type(recipe).__name__
        ranked.append((seen[family], number))
        seen[family] += 1
    most = max(limits.MIN_MEASURED_GRAPHS, limits.MAX_MEASURED_LINKS // (nodes * degree))
    return [recipes_of_size[number] for _, number in sorted(ranked)][:most]


def is_quickly_known(recipe: Recipe) -> bool:
    """Return whether theorems give the cost of a recipe, or measuring is quick.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> [is_quickly_known(parse(one)) for one in ("Torus(100, 100)", "RandomRegular(9000, 4, 1)")]
    [True, False]
    """
    nodes, degree = recipes.size(recipe)
    if nodes * nodes * degree <= limits.MAX_OPERAND_WORK or exact_claims(recipe):
        return True
    return nodes * degree * len(representatives(recipe)) <= limits.MAX_OPERAND_WORK


def has_few_orbits(recipe: Recipe) -> bool:
    """Return whether theorems give the cost of a recipe, or few destinations determine it.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> has_few_orbits(parse("Torus(9, 9)")), has_few_orbits(parse("RandomRegular(81, 4, 1)"))
    (True, False)
    """
    nodes, _ = recipes.size(recipe)
    few = len(representatives(recipe)) * limits.MIN_NODES_PER_ORBIT <= nodes
    return few or exact_claims(recipe) is not None
