"""Search the Pareto frontier of latency and bandwidth for N hosts of degree d.

The search takes these steps. Steps 2 and 4 compare graphs of the same families up to
`limits.MAX_NODES_BY_FAMILIES` nodes; the other steps keep the undominated candidates only.

1. Refuse sizes for which no graph exists or none is known (`feasibility`).
2. Enumerate recipes: members of all families, and operators over members of divisors of N and d.
   Take costs from theorems, measure other recipes (`recipe_enumeration`, `candidates`).
3. Sample graphs of little symmetry, beside step 2: random graphs and resized graphs of near sizes,
   or the graphs of the atlas if the atlas build was at this size (`sampled_candidates`,
   `random_seeds`, `resized_candidates`).
4. Make slack schedules on the candidates of steps 2 and 3, greedy ones first (`slack_candidates`).
5. At large sizes, where step 3 does not apply: add resized graphs and a random graph, until an even
   candidate of few steps is known (`large_sizes`).
6. Add line graphs of smaller frontiers, unless a good candidate of few steps is known
   (`line_graph_candidates`).

With ``schedule="bfb"`` the search consists of steps 1 and 2. `limits` states every limit and
threshold, with the reason for its value. All costs of the result are measured.
"""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from topoloom.synth.errors import (
    BeyondSearch,
    ImpossibleRequest,
    InvalidRecipe,
    NoneKnown,
    Unreachable,
)
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.families import family
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search.candidates import Candidate, measured_candidate, undominated
from topoloom.synth.search.feasibility import none_known, require_feasible
from topoloom.synth.search.large_sizes import is_large, with_large_candidates
from topoloom.synth.search.line_graph_candidates import target_steps, with_line_graphs
from topoloom.synth.search.recipe_enumeration import Catalog, Constraints
from topoloom.synth.search.sampled_candidates import (
    few_step_graphs,
    is_built_size,
    sampled_graphs,
)
from topoloom.synth.search.slack_candidates import with_slack_schedules
from topoloom.synth.topology.notebook import html_table


@dataclass(frozen=True, slots=True)
class Point:
    """A topology of the frontier, how it is used, and the measured costs.

    ``transpose`` is the cost of the allgather on the transposed graph, that is, of the
    reduce-scatter on the graph itself.  ``within`` is None where both are breadth-first
    broadcasts; otherwise both are slack schedules of at most ``within`` steps, see `algorithm`.
    """

    recipe: Recipe
    cost: Cost
    transpose: Cost
    within: int | None = None

    @property
    def steps(self) -> int:
        """Number of steps in which both directions end; broadcasts of both take equally many."""
        return max(self.cost.steps, self.transpose.steps)

    @property
    def algorithm(self) -> Literal["bfb", "slack"]:
        """Algorithm whose schedules have these costs: breadth-first broadcast, or slack.

        ``schedules.generate.collectives.make(topology, collective, algorithm, steps=within)``
        generates such a schedule.
        """
        return "bfb" if self.within is None else "slack"

    def gap(self, bounds: Cost) -> Cost:
        """Return by how much the worse of both directions misses each bound.

        Steps as a number of steps, bandwidth as a share of its bound; 0 is optimal.
        """
        bandwidth = max(self.cost.bandwidth, self.transpose.bandwidth)
        return Cost(self.steps - bounds.steps, bandwidth / bounds.bandwidth - 1)

    def status(self, bounds: Cost) -> str:
        """Return which bounds are met on the graph and on its transpose.

        "optimal" for both, else "steps-optimal", "bandwidth-optimal" or "best-known".
        """
        match self.gap(bounds):
            case Cost(0, Fraction(numerator=0)):
                return "optimal"
            case Cost(0, _):
                return "steps-optimal"
            case Cost(_, Fraction(numerator=0)):
                return "bandwidth-optimal"
            case _:
                return "best-known"


@dataclass(frozen=True, slots=True)
class Frontier:
    """The undominated topologies found for a size, by increasing steps, and the bounds."""

    nodes: int
    degree: int
    links: Links
    bounds: Cost
    points: tuple[Point, ...]

    def _repr_html_(self) -> str:
        """Return the points as a table for notebooks."""
        rows = (
            (point.recipe, point.steps, point.cost.bandwidth, point.status(self.bounds))
            for point in self.points
        )
        caption = (
            f"{self.nodes} hosts of degree {self.degree}: at least {self.bounds.steps} steps and "
            f"T_B {self.bounds.bandwidth}"
        )
        return html_table(caption, ("recipe", "steps", "T_B", "status"), rows)


def frontier(
    nodes: int,
    degree: int,
    links: Links = Links.UNIDIRECTIONAL,
    *,
    parallel_links: bool = False,
    vertex_transitive: bool = False,
    families: Collection[str] | None = None,
    max_steps: int | None = None,
    schedule: Literal["bfb", "best"] = "best",
    bases: Sequence[Recipe] = (),
) -> Frontier:
    """Return the Pareto frontier of latency and bandwidth that the catalogue reaches.

    Args:
        nodes: N, from 2 to `limits.MAX_NODES`.
        degree: d, ports of each host, from 1 to `synth.evaluation.measure.MAX_DEGREE`.  Every
            topology returned has this degree; where it has loops or odd sizes to spare, a node may
            leave a port unused.
        links: Whether every link must have a partner the other way.
        parallel_links: Allow several links from one node to the same other node.
        vertex_transitive: Only topologies that are known to look the same from every node.
        families: Only recipes over bases of these families.
        max_steps: Maximum number of steps, on the graph and on its transpose.
        schedule: "best" judges a topology by breadth-first broadcast and by slack schedules
            (`synth.slack`), "bfb" by breadth-first broadcast alone, as the paper does.
        bases: Further graphs, used as they are and expanded, beside the members of the families:
            own graphs (`synth.families.Base.of`), or any recipes.

    Returns:
        Never empty.  No point is dominated: another no worse in steps and bandwidth, on
        the graph and on its transpose, and better in one.  All costs are measured.

    Raises:
        ImpossibleRequest: No such graph exists, none is known within the limits, or the size is
            beyond them; the error names nearby sizes (`synth.search.feasibility`), or the least
            number of steps.  Or one of ``bases`` cannot be expanded to this size, or is not
            strongly connected.
        InvalidRecipe: A family is unknown.
        ClaimBroken: A graph measures other than its theorem says: a bug.

    A recursion over divisors of N and d (`synth.search.recipe_enumeration`) compares exact costs,
    by theorem or measured; `synth.search.slack_candidates` adds slack schedules.  The frontier is
    that of the catalog, not of all graphs: `Point.gap` bounds the distance of a point from the
    optimum.

    References:
        Zhao et al., arXiv:2202.03356, topology finder.

    >>> for point in frontier(12, 4).points:
    ...     print(point.recipe, point.cost.steps, point.cost.bandwidth)
    Circulant(12, 2, 3) 2 11/12
    """
    require_feasible(nodes, degree, links, parallel_links)
    bounds = lower_bound(nodes, degree, links)
    chosen = None if families is None else _known_families(families)
    two_way = links is Links.BIDIRECTIONAL
    own = _expandable(bases, nodes, degree)
    constraints = Constraints(two_way, parallel_links, vertex_transitive, chosen, own)
    found = _Search(constraints, degree, schedule).found(nodes)
    if not found:
        raise none_known(constraints, nodes, degree)
    points = tuple(Point(one.recipe, *one.costs, one.within) for one in found)
    if max_steps is not None:
        _require_reached(max_steps, min(point.steps for point in points), bounds.steps)
        points = tuple(point for point in points if point.steps <= max_steps)
    return Frontier(nodes, degree, links, bounds, points)


class _Search:
    """A search for undominated candidates of one degree, with its cache of smaller sizes."""

    def __init__(
        self, constraints: Constraints, degree: int, schedule: Literal["bfb", "best"]
    ) -> None:
        self._constraints, self._degree, self._schedule = constraints, degree, schedule
        self._few_step: dict[tuple[int, int], tuple[Candidate, ...]] = {}

    def found(self, nodes: int) -> tuple[Candidate, ...]:
        """Return the candidates of this number of nodes: steps 2 to 6."""
        constraints, degree = self._constraints, self._degree
        catalog = self._catalog(nodes)
        if self._schedule == "bfb":
            found = tuple(map(_measured, undominated(catalog.requested())))
        else:
            # Sampling takes up to a second, in kernels.
            with ThreadPoolExecutor(1) as pool:
                sampling = pool.submit(sampled_graphs, constraints, nodes, degree)
                found = with_slack_schedules(_enumerated(catalog), sampling.result(), nodes, degree)
            found = with_large_candidates(found, constraints, nodes, degree)
            found = self._with_line_graphs(found, constraints, nodes, target_steps(nodes, degree))
        return found

    def _catalog(self, nodes: int) -> Catalog:
        """Return the enumeration of recipes, narrowed where slack schedules serve better."""
        constraints, degree, best = self._constraints, self._degree, self._schedule == "best"
        two_way_alone = constraints.bidirectional and constraints.families is None
        few_orbits = best and is_large(constraints, nodes, degree) and two_way_alone
        return Catalog(constraints, nodes, degree, few_orbits=few_orbits)

    def few_step_candidates(self, nodes: int, most: int) -> tuple[Candidate, ...]:
        """Return candidates of at most ``most`` steps, as operands of line graphs: steps 2 to 6.

        Random graphs have more steps, and given bases have the size of the request.
        """
        if (nodes, most) not in self._few_step:
            constraints, degree = Constraints(), self._degree
            found = undominated(_enumerated(Catalog(constraints, nodes, degree)))
            few = [one for one in found if one.steps <= most]
            sampled = few_step_graphs(constraints, nodes, degree)
            found = with_slack_schedules(few, sampled, nodes, degree, most_steps=most)
            found = self._with_line_graphs(found, constraints, nodes, most)
            self._few_step[nodes, most] = tuple(one for one in found if one.steps <= most)
        return self._few_step[nodes, most]

    def _with_line_graphs(
        self, found: tuple[Candidate, ...], constraints: Constraints, nodes: int, most: int
    ) -> tuple[Candidate, ...]:
        """Return undominated candidates with line graphs; the atlas build had these already."""
        if is_built_size(constraints, nodes, self._degree):
            return found
        return with_line_graphs(
            found, constraints, nodes, self._degree, most, self.few_step_candidates
        )


def _enumerated(catalog: Catalog) -> list[Candidate]:
    """Return the recipes of the catalogue with measured costs."""
    return [_measured(candidate) for candidate in catalog.requested()]


def _require_reached(max_steps: int, least: int, bound: int) -> None:
    """Raise if the topology of the fewest steps, ``least``, takes more than ``max_steps``."""
    if max_steps >= least:
        return
    # Only the bound proves that there is none; the search just finds none.
    known = "there is none" if least == bound else "none is known"
    kind = ImpossibleRequest if max_steps < bound else NoneKnown
    rule = f"must be at least {least}: of fewer steps {known}; the bound is {bound}"
    raise kind("max_steps", rule)


def _known_families(families: Collection[str]) -> frozenset[str]:
    for name in families:
        try:
            family(name)
        except InvalidRecipe as error:
            raise InvalidRecipe("families", error.rule) from None
    return frozenset(families)


def _expandable(bases: Sequence[Recipe], nodes: int, degree: int) -> tuple[Recipe, ...]:
    """Return the bases without repetition; raise unless each can be expanded to this size."""
    for index, base in enumerate(bases):
        has, ports = size(base)
        if nodes % has or ports > degree:
            raise BeyondSearch(
                f"bases/{index}",
                f"must have a number of nodes that divides {nodes} and at most {degree} ports; "
                f"it has {has} nodes of {ports}",
            )
        try:
            build(base).require_connected()
        except Unreachable as cut:
            raise BeyondSearch(f"bases/{index}", f"cannot be a base: {cut.rule}") from None
    return tuple(dict.fromkeys(bases))


def _measured(candidate: Candidate) -> Candidate:
    """Return the candidate with costs measured on the built graph."""
    return candidate if candidate.measured else measured_candidate(candidate.recipe)
