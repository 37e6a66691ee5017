"""Recipes with what they cost, and which of them no other one dominates.

A `Candidate` carries what its recipe costs on the graph and on its transpose: claimed exactly
by a theorem, or measured.  Bounds from theorems are not good enough to choose by: line graphs
of one-way bases often cost less.

Profile (N = 4096, d = 4): nearly all time is measuring.  Hence one destination of each
orbit (`synth.orbits`), and for the rest `measured_unless_dominated`: two dozen destinations are
enough to see that most cannot compete.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from synth import build as recipes
from synth.bases import FAMILIES
from synth.claims import claim, claim_transpose
from synth.cost import Cost
from synth.errors import ClaimBroken
from synth.measure import at_least, measure_both
from synth.orbits import representatives
from synth.recipe import (
    Base,
    Product,
    Recipe,
)

__all__ = ["Candidate", "exact_claims", "measured_unless_dominated", "undominated"]

_PROBES = 24
_FAMILY_ORDER = {family: index for index, family in enumerate(FAMILIES)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recipe with its cost on the graph and on its transpose.

    By breadth-first broadcast, or, if ``within`` is a number, by labels within so many steps
    (`synth.labels`).
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
        """Within how many steps both directions are done; by broadcast they are the same."""
        return max(cost.steps for cost in self.costs)

    @property
    def simplicity(self) -> tuple[int, int, int, str]:
        """Orders equally good recipes: fewest operators, first family, shortest text."""
        text = str(self.recipe)
        return *_operators_and_family(self.recipe), len(text), text


def measured_unless_dominated(recipe: Recipe, others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the recipe with measured costs, or nothing if others make it needless.

    A cost over some destinations is a lower bound of the cost over all, so what is left
    out here is dominated, or equal and no simpler.

    Raises
    ------
    ClaimBroken
        The graph does not cost what a theorem promises: a bug.
    """
    topology, destinations = recipes.build(recipe), representatives(recipe)
    rivals = list(others)
    if len(destinations) > _PROBES and rivals:
        least = at_least(topology, _PROBES), at_least(topology.transpose(), _PROBES)
        rivals = [other for other in rivals if _no_worse(other.costs, least)]
        mine = _operators_and_family(recipe)
        if any(r.costs != least or _operators_and_family(r.recipe) <= mine for r in rivals):
            return ()
    costs = measure_both(topology, destinations)
    for cost, transposed in zip(costs, (False, True), strict=True):
        claimed = claim_transpose(recipe) if transposed else claim(recipe)
        if claimed and not claimed.covers(cost):
            raise ClaimBroken(str(recipe), f"must cost {claimed}, but costs {cost}")
    return (Candidate(recipe, *costs, measured=True),)


def exact_claims(recipe: Recipe) -> tuple[Cost, Cost] | None:
    """Return the costs on the graph and on its transpose if theorems say them exactly."""
    claims = [claim(recipe), claim_transpose(recipe)]
    found = [claimed.cost for claimed in claims if claimed and claimed.exact]
    return (found[0], found[1]) if len(found) == 2 else None


def undominated(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return those candidates that no other one dominates, the simplest of equals.

    One dominates another if it is no worse in steps and bandwidth, on the graph and on
    its transpose, and better in one; of equals, breadth-first broadcast is simpler than labels.
    Labels count as taking the steps within which both directions are done.  Sorted by
    steps.  O(candidates * result).
    """
    kept: list[Candidate] = []
    # Whatever dominates a candidate, or equals it and is simpler, sorts before it.
    for one in sorted(candidates, key=_order):
        if not any(_no_worse(other.costs, _within(one)) for other in kept):
            kept.append(one)
    return tuple(kept)


def _order(one: Candidate) -> tuple[Any, ...]:
    bandwidths = (cost.bandwidth for cost in one.costs)
    return one.steps, *bandwidths, *one.costs, one.within or 0, one.simplicity


def _within(one: Candidate) -> tuple[Cost, Cost]:
    return Cost(one.steps, one.cost.bandwidth), Cost(one.steps, one.transpose.bandwidth)


def _operators_and_family(recipe: Recipe) -> tuple[int, int]:
    """Return how many operators there are, and where the first family stands in the list."""
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
