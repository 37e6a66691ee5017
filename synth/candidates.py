"""Which recipes may be good for (nodes, degree): a recursion over bases and operators.

A `Candidate` carries what its recipe costs on the graph and on its transpose: measured,
or claimed by a theorem from the costs of its parts.  Only bases of which no theorem
speaks are measured here, and those only at sizes that a line graph or a degree expansion
can carry to the size asked for.

Profile (N = 4096, d = 4): nearly all time is the measuring of graphs that are not known
to be vertex-transitive.  Hence `measured_unless_dominated`: two dozen destinations are
enough to see that most of them cannot compete.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isqrt

from synth import build as recipes
from synth.bases import FAMILIES
from synth.cost import Claim, Cost, optimal_bandwidth
from synth.expansions import degree as degree_expansion
from synth.expansions import line_graph
from synth.expansions.traits import Traits
from synth.measure import at_least, measure_both
from synth.recipe import Base, DegreeExpansion, LineGraph, Power, Product, Recipe

__all__ = ["Candidate", "Catalogue", "measured_unless_dominated", "undominated"]

_PROBES = 24
_FAMILY_ORDER = {family.name: index for index, family in enumerate(FAMILIES)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recipe with its claim on the graph and on its transpose."""

    recipe: Recipe
    claim: Claim
    transpose: Claim
    measured: bool = False

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """The claimed costs, on the graph and on its transpose."""
        return self.claim.cost, self.transpose.cost

    @property
    def claims(self) -> tuple[Claim, Claim]:
        """The claims on the graph and on its transpose."""
        return self.claim, self.transpose

    @property
    def simplicity(self) -> tuple[int, int, int, str]:
        """Orders equally good recipes: fewest operators, first family, shortest text."""
        text = str(self.recipe)
        return *_operators_and_family(self.recipe), len(text), text


class Catalogue:
    """Candidates by (nodes, degree), computed once each.

    Parameters
    ----------
    bidirectional : bool
        Only graphs in which every link has a partner the other way.
    parallel_links : bool
        Also graphs with parallel links.
    """

    def __init__(self, *, bidirectional: bool, parallel_links: bool) -> None:
        self._bidirectional = bidirectional
        self._parallel_links = parallel_links
        self._fronts: dict[tuple[int, int, bool], tuple[Candidate, ...]] = {}
        self._balanced: dict[tuple[int, int], Candidate | None] = {}

    def front(
        self, nodes: int, degree: int, *, parallel: bool | None = None
    ) -> tuple[Candidate, ...]:
        """Return the undominated candidates of exactly this size.

        ``parallel`` says whether parallel links are allowed; by default as asked for.
        """
        allowed = self._parallel_links if parallel is None else parallel
        key = (nodes, degree, allowed)
        if key not in self._fronts:
            claimed, unclaimed = self._bases(nodes, degree, allowed)
            claimed += self._line_graphs(nodes, degree)
            claimed += self._degree_expansions(nodes, degree, allowed)
            balanced = self._balance(nodes, degree)
            if balanced is not None:
                claimed.append(balanced)
            found = list(undominated(claimed))
            for base in unclaimed:
                found += measured_unless_dominated(base, found)
            self._fronts[key] = undominated(found)
        return self._fronts[key]

    def _fits(self, found: Traits, parallel: bool) -> bool:
        return (found.bidirectional or not self._bidirectional) and (parallel or not found.parallel)

    def _bases(
        self, nodes: int, degree: int, parallel: bool
    ) -> tuple[list[Candidate], list[Recipe]]:
        """Return the members of all families: those with exact claims, and the others."""
        claimed: list[Candidate] = []
        unclaimed: list[Recipe] = []
        for family in FAMILIES if nodes >= 2 and degree >= 1 else ():
            for base in family.matching(nodes, degree):
                if not self._fits(recipes.traits(base), parallel):
                    continue
                claim = family.claim(base.arguments)
                turned = family.claim_transpose(base.arguments)
                if claim and turned and claim.exact and turned.exact:
                    claimed.append(Candidate(base, claim, turned))
                else:
                    unclaimed.append(base)
        # All nodes alike: cheap to measure, and likely to rule out the rest.
        unclaimed.sort(key=lambda base: not recipes.is_vertex_transitive(base))
        return claimed, unclaimed

    def _line_graphs(self, nodes: int, degree: int) -> list[Candidate]:
        """Line graphs never have parallel links, and hardly ever two-way ones."""
        found: list[Candidate] = []
        times, small = 1, nodes // degree if degree >= 2 else 0
        while not self._bidirectional and small >= 2 and small * degree**times == nodes:
            for base in self.front(small, degree, parallel=True):
                traits = recipes.traits(base.recipe)
                if traits.regular and not isinstance(base.recipe, LineGraph):
                    claim, turned = (line_graph.claim(of, traits, times) for of in base.claims)
                    found.append(Candidate(LineGraph(times, base.recipe), claim, turned))
            times, small = times + 1, small // degree
        return found

    def _degree_expansions(self, nodes: int, degree: int, parallel: bool) -> list[Candidate]:
        found: list[Candidate] = []
        for factor in range(2, degree + 1):
            if degree % factor or nodes % factor or nodes == factor:
                continue
            for base in self.front(nodes // factor, degree // factor, parallel=parallel):
                traits = recipes.traits(base.recipe)
                claim, turned = (degree_expansion.claim(of, traits, factor) for of in base.claims)
                if claim and turned:
                    found.append(Candidate(DegreeExpansion(factor, base.recipe), claim, turned))
        return found

    def _balance(self, nodes: int, degree: int) -> Candidate | None:
        """Return the candidate of optimal bandwidth with the fewest steps, by claims alone.

        Only simple graphs, of which the product theorem speaks without conditions.
        """
        key = (nodes, degree)
        if key not in self._balanced:
            self._balanced[key] = None
            found = [*self._balanced_bases(*key), *self._products(*key)]
            self._balanced[key] = min(found, key=_by_steps, default=None)
        return self._balanced[key]

    def _balanced_bases(self, nodes: int, degree: int) -> Iterator[Candidate]:
        best = optimal_bandwidth(nodes)
        for family in FAMILIES:
            for base in family.matching(nodes, degree):
                claim = family.claim(base.arguments)
                turned = family.claim_transpose(base.arguments)
                if claim is None or turned is None or not (claim.exact and turned.exact):
                    continue
                optimal = claim.bandwidth == turned.bandwidth == best
                if optimal and self._fits(recipes.traits(base), parallel=False):
                    yield Candidate(base, claim, turned)

    def _products(self, nodes: int, degree: int) -> Iterator[Candidate]:
        """Yield the best pair of balanced factors for each split of nodes and degree."""
        for left in divisors(nodes):
            if left * left > nodes:
                return
            for ports in range(1, degree):
                first = self._balance(left, ports)
                second = first and self._balance(nodes // left, degree - ports)
                if first and second:
                    yield _product(first, second, nodes)


def measured_unless_dominated(recipe: Recipe, others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the recipe with measured costs, or nothing if others make it needless.

    A cost over some destinations is a lower bound of the cost over all, and claims are
    upper bounds, so what is left out here is dominated, or equal and no simpler.
    """
    topology = recipes.build(recipe)
    if recipes.is_vertex_transitive(recipe):
        costs = measure_both(topology, vertex_transitive=True)
    else:
        least = at_least(topology, _PROBES), at_least(topology.transpose(), _PROBES)
        rivals = [other for other in others if _no_worse(other.costs, least)]
        mine = _operators_and_family(recipe)
        if any(r.costs != least or _operators_and_family(r.recipe) <= mine for r in rivals):
            return ()
        costs = measure_both(topology)
    claim, turned = (Claim(cost.steps, cost.bandwidth, exact=True) for cost in costs)
    return (Candidate(recipe, claim, turned, measured=True),)


def undominated(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return those candidates that no other one dominates, the simplest of equals.

    One dominates another if it is no worse in steps and bandwidth, on the graph and on
    its transpose, and better in one.  Sorted by steps.  O(candidates * result).
    """
    kept: list[Candidate] = []
    # Whatever dominates a candidate, or equals it and is simpler, sorts before it.
    for one in sorted(candidates, key=lambda c: (*c.costs, c.simplicity)):
        if not any(_no_worse(other.costs, one.costs) for other in kept):
            kept.append(one)
    return tuple(kept)


def divisors(number: int) -> list[int]:
    """Return the divisors from 2 to number / 2, increasing.

    >>> divisors(12)
    [2, 3, 4, 6]
    """
    low = [d for d in range(2, isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})


def _operators_and_family(recipe: Recipe) -> tuple[int, int]:
    """Return how many operators there are, and where the first family stands in the list."""
    match recipe:
        case Base(name):
            return 0, _FAMILY_ORDER[name]
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


def _by_steps(candidate: Candidate) -> tuple[int, tuple[int, int, int, str]]:
    return candidate.claim.steps + candidate.transpose.steps, candidate.simplicity


def _product(first: Candidate, second: Candidate, nodes: int) -> Candidate:
    """Return the Cartesian product of balanced candidates, its factors flat and sorted."""
    factors: list[Recipe] = []
    for part in (first.recipe, second.recipe):
        if isinstance(part, Product):
            factors.extend(part.factors)
        elif isinstance(part, Power):
            factors.extend([part.of] * part.times)
        else:
            factors.append(part)
    factors.sort(key=lambda recipe: (len(str(recipe)), str(recipe)))
    alike = all(factor == factors[0] for factor in factors)
    recipe = Power(len(factors), factors[0]) if alike else Product(tuple(factors))
    best = optimal_bandwidth(nodes)
    return Candidate(
        recipe,
        Claim(first.claim.steps + second.claim.steps, best, exact=True),
        Claim(first.transpose.steps + second.transpose.steps, best, exact=True),
    )
