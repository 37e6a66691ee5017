"""Enumeration of recipes for (nodes, degree): a recursion over bases and operators."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from topoloom.synth.algebra.primes import divisors
from topoloom.synth.discovery.short_search import sampled
from topoloom.synth.evaluation.cost import Cost, Links, optimal_bandwidth
from topoloom.synth.families import FAMILIES
from topoloom.synth.recipes import build as recipes
from topoloom.synth.recipes.recipe import (
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)
from topoloom.synth.search.candidates import (
    Candidate,
    affordable,
    by_families,
    exact_claims,
    has_few_orbits,
    is_quickly_known,
    measured_candidate,
    measured_unless_dominated,
    rival_families,
)
from topoloom.synth.symmetry.orbits import representatives


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on topologies.

    Attributes:
        bidirectional: Only graphs in which every link has a partner the other way.
        parallel_links: Also graphs with parallel links.
        vertex_transitive: Only graphs that are known to be vertex-transitive.
        families: Only recipes over these families.
        bases: Further bases, whatever the families.
    """

    bidirectional: bool = False
    parallel_links: bool = False
    vertex_transitive: bool = False
    families: frozenset[str] | None = None
    bases: tuple[Recipe, ...] = ()


class Catalog:
    """Candidates by (nodes, degree) within the constraints, each computed once.

    ``nodes`` and ``degree`` are the requested size, at which short searches are made.
    ``few_orbits`` leaves out one-way graphs of many node orbits that need a reverse link for every
    link: measuring them takes most of the time, and random two-way graphs are better.
    """

    def __init__(
        self,
        constraints: Constraints,
        nodes: int,
        degree: int,
        *,
        few_orbits: bool = False,
    ) -> None:
        self._constraints = constraints
        self._few_orbits = few_orbits
        self._nodes, self._degree = nodes, degree
        self._families = [
            family
            for family in FAMILIES
            if constraints.families is None or family.__name__ in constraints.families
        ]
        self._samples: dict[int, Future[tuple[Recipe, ...]]] = {}
        self._fronts: dict[tuple[int, int, bool], tuple[Candidate, ...]] = {}
        self._balanced: dict[tuple[int, int], Candidate | None] = {}

    def requested(self) -> tuple[Candidate, ...]:
        """Return the candidates of the requested size that no rival dominates."""
        # Sampling takes half a second at most sizes, so it runs beside the enumeration.
        with ThreadPoolExecutor(2) as pool:
            self._begin_sampling(pool)
            return self.front(self._nodes, self._degree)

    def has_base(self) -> bool:
        """Return whether a family has a member of the requested size; fast."""
        size = self._nodes, self._degree, self._constraints.parallel_links
        return any(self._fits(base, size) for base in self._bases(*size))

    def front(
        self, nodes: int, degree: int, *, parallel: bool | None = None
    ) -> tuple[Candidate, ...]:
        """Return the candidates of exactly this size that no rival dominates, see `by_families`.

        ``parallel`` allows parallel links; by default as in the constraints.
        """
        allowed = self._constraints.parallel_links if parallel is None else parallel
        key = (nodes, degree, allowed)
        if key not in self._fronts:
            offered = [*self._bases(*key), *self._line_graphs(nodes, degree)]
            offered += self._degree_expansions(*key)
            offered += self._bidirected(nodes, degree)
            offered += self._sampled(nodes, degree)
            fitting = [one for one in dict.fromkeys(offered) if self._fits(one, key)]
            if (nodes, degree) != (self._nodes, self._degree):
                fitting = [one for one in fitting if is_quickly_known(one)]
            if self._few_orbits and not self._constraints.bidirectional:
                fitting = [one for one in fitting if has_few_orbits(one)]
            self._fronts[key] = self._best(fitting, self._balance(nodes, degree))
        return self._fronts[key]

    def _best(self, offered: Iterable[Recipe], balanced: Candidate | None) -> tuple[Candidate, ...]:
        """Return the recipes that no rival dominates, measured where no theorem is exact."""
        found = [] if balanced is None else [balanced]
        unclaimed: list[Recipe] = []
        for recipe in offered:
            costs = exact_claims(recipe)
            if costs:
                found.append(Candidate(recipe, *costs))
            else:
                unclaimed.append(recipe)
        kept = by_families(found, self._nodes)
        # Vertex-transitive graphs are likely to be good.
        unclaimed.sort(key=lambda recipe: not recipes.traits(recipe).vertex_transitive)
        chosen = affordable(unclaimed)
        # Few orbits first: they are cheap to measure, and recipes that they dominate then take two
        # dozen destinations.  At 4,000 nodes of 4 two-way ports this saves a seventh of the links.
        for recipe in sorted(chosen, key=lambda recipe: len(representatives(recipe))):
            rivals = kept.setdefault(rival_families(recipe, self._nodes), [])
            rivals += measured_unless_dominated(recipe, rivals)
        left = by_families(chain(*kept.values()), self._nodes)
        return tuple(chain(*left.values()))

    def _fits(self, recipe: Recipe, size: tuple[int, int, bool]) -> bool:
        found = recipes.traits(recipe)
        nodes, degree, parallel = size
        return (
            (found.nodes, found.degree) == (nodes, degree)
            and (found.bidirectional or not self._constraints.bidirectional)
            and (parallel or not found.parallel)
            and (found.vertex_transitive or not self._constraints.vertex_transitive)
        )

    def _bases(self, nodes: int, degree: int, parallel: bool) -> Iterator[Recipe]:
        """Yield the members of the allowed families, and the given bases."""
        for family in self._families if nodes >= 2 and degree >= 1 else ():
            yield from family.matching(nodes, degree)
        yield from (
            base for base in self._constraints.bases if recipes.size(base) == (nodes, degree)
        )

    def _line_graphs(self, nodes: int, degree: int) -> Iterator[Recipe]:
        """Yield line graphs; they have no parallel links, and hardly ever two-way links."""
        times, small = 1, nodes // degree if degree >= 2 else 0
        if self._constraints.bidirectional:
            return
        if self._constraints.vertex_transitive and small >= 2 and small * degree == nodes:
            yield from (
                LineGraph(1, base)
                for base in self._bases(small, degree, True)
                if recipes.traits(base).arc_transitive
            )
            return
        while small >= 2 and small * degree**times == nodes:
            for base in self.front(small, degree, parallel=True):
                if recipes.traits(base.recipe).regular:
                    yield LineGraph.once_more(base.recipe, times)
            times, small = times + 1, small // degree

    def _degree_expansions(self, nodes: int, degree: int, parallel: bool) -> Iterator[Recipe]:
        """Yield degree expansions."""
        for factor in range(2, degree + 1):
            if degree % factor or nodes % factor or nodes == factor:
                continue
            for base in self.front(nodes // factor, degree // factor, parallel=parallel):
                yield DegreeExpansion(factor, base.recipe)

    def _begin_sampling(self, pool: Executor) -> None:
        """Start short searches, at the requested size and one line graph below."""
        constraints, degree = self._constraints, self._degree
        if constraints.families is None or "Cayley" in constraints.families:
            links = Links.BIDIRECTIONAL if constraints.bidirectional else Links.UNIDIRECTIONAL
            sizes = [self._nodes] if self._nodes % degree else [self._nodes, self._nodes // degree]
            for nodes in sizes:
                self._samples[nodes] = pool.submit(sampled, nodes, degree, links)
        if constraints.bidirectional and degree % 2 == 0:
            self._one_way._begin_sampling(pool)

    def _sampled(self, nodes: int, degree: int) -> Iterator[Recipe]:
        """Yield the graphs that the short searches find."""
        if degree == self._degree and nodes in self._samples:
            yield from self._samples[nodes].result()

    def _bidirected(self, nodes: int, degree: int) -> Iterator[Recipe]:
        """Yield one-way graphs of half the degree with a partner for every link."""
        if self._constraints.bidirectional and degree % 2 == 0:
            for base in self._one_way.front(nodes, degree // 2, parallel=False):
                if not recipes.traits(base.recipe).bidirectional:
                    yield Bidirected(base.recipe)

    @cached_property
    def _one_way(self) -> "Catalog":
        constraints = replace(self._constraints, bidirectional=False)
        return Catalog(
            constraints,
            self._nodes,
            self._degree // 2,
            few_orbits=self._few_orbits,
        )

    def _balance(self, nodes: int, degree: int) -> Candidate | None:
        """Return the candidate of optimal bandwidth with the fewest steps, by claims alone.

        Only simple graphs, for which the product theorem has no conditions.
        """
        key = (nodes, degree)
        if key not in self._balanced:
            self._balanced[key] = None
            found = [*self._balanced_bases(*key), *self._products(*key)]
            self._balanced[key] = min(found, key=_steps_and_simplicity, default=None)
        return self._balanced[key]

    def _balanced_bases(self, nodes: int, degree: int) -> Iterator[Candidate]:
        best = optimal_bandwidth(nodes)
        for family in self._families:
            for base in family.proved(nodes, degree):
                costs = exact_claims(base)
                optimal = costs is not None and all(cost.bandwidth == best for cost in costs)
                if costs and optimal and self._fits(base, (nodes, degree, False)):
                    yield Candidate(base, *costs)
        for own in self._constraints.bases:
            if self._fits(own, (nodes, degree, False)) and recipes.traits(own).regular:
                found = measured_candidate(own)
                if all(cost.bandwidth == best for cost in found.costs):
                    yield found

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


def _steps_and_simplicity(candidate: Candidate) -> tuple[int, tuple[int, int, int, str]]:
    return candidate.cost.steps + candidate.transpose.steps, candidate.simplicity


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
    recipe = Power(len(factors), factors[0]) if alike else Product(*factors)
    best = optimal_bandwidth(nodes)
    return Candidate(
        recipe,
        Cost(first.cost.steps + second.cost.steps, best),
        Cost(first.transpose.steps + second.transpose.steps, best),
    )
