"""Slack schedules of candidates: points of fewer steps or less bandwidth on the same graphs.

A candidate has a cost by breadth-first broadcast.  Slack schedules (`synth.slack`) mostly cost
less on the same graph.  On random graphs they come close to the bounds at every number of nodes.
So the frontier consists of pairs (recipe, steps).

The first pass makes greedy slack schedules, which are quick.  The second pass improves those of
undominated graphs by local search, with the same effort as a schedule request of that many steps,
so that both find the same schedule.  For graphs of the atlas the winning number of steps is known.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import chain

from topoloom.synth.algebra.permutation_groups import Images
from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.evaluation.cost import Cost, optimal_bandwidth
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import Recipe, parse
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import (
    Candidate,
    by_families,
    measured_candidate,
    undominated,
)
from topoloom.synth.search.sampled_candidates import is_random
from topoloom.synth.slack import MAX_DEGREE, MAX_SEARCHED, MAX_SLACK, MAX_STEPS, GraphAndTranspose
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology


def with_slack_schedules(
    candidates: Iterable[Candidate],
    sampled: Iterable[Recipe],
    nodes: int,
    degree: int,
    most_cells: int = limits.MAX_SAMPLED_CELLS,
    most_steps: int = MAX_STEPS,
) -> tuple[Candidate, ...]:
    """Return undominated candidates: the given ones, further graphs, and slack schedules on both.

    Args:
        candidates: Measured, all of this size.
        sampled: `sampled_graphs` of this size; they get slack schedules of up to ``most_cells``.
        nodes, degree: The size.
        most_cells: Maximum number of cells of a sampled graph.
        most_steps: Maximum number of steps of slack schedules.

    O(cells * degree) for every graph and number of steps, and `synth.slack.default_moves` moves for
    the undominated graphs.  Candidates of more than `limits.MAX_QUICK_CELLS` cells, sampled graphs
    of more than ``most_cells``, and graphs of more than `synth.slack.MAX_DEGREE` ports get no slack
    schedules.

    >>> from topoloom.synth.search.recipe_enumeration import Constraints
    >>> from topoloom.synth.search.sampled_candidates import sampled_graphs
    >>> random_only = Constraints(families=frozenset({"RandomRegular"}))
    >>> for one in with_slack_schedules((), sampled_graphs(random_only, 61, 4), 61, 4):
    ...     print(one.recipe, one.within, one.cost.steps, one.cost.bandwidth)
    RandomRegular(61, 4, 1, 3, 10000) 4 4 60/61
    RandomRegular(61, 4, 1, 3, 10000) 5 4 60/61
    """
    broadcasts, further = list(candidates), frozenset(sampled)
    broadcasts += map(
        measured_candidate, sorted(further - {one.recipe for one in broadcasts}, key=str)
    )
    if degree > MAX_DEGREE:
        return undominated(broadcasts)
    in_atlas = _slack_schedules_of_atlas(nodes, degree)
    most = min(optimal_steps(broadcasts, nodes) - 1, most_steps)
    with ThreadPoolExecutor(limits.SLACK_WORKERS) as pool:
        graphs = [
            _Graph(one, most_cells if one.recipe in further else limits.MAX_QUICK_CELLS)
            for one in broadcasts
            if not _is_bandwidth_optimal(one.costs, nodes)
        ]
        known = [one for one in graphs if one.recipe in in_atlas]
        claims = [claim for one in known for claim in in_atlas[one.recipe]]
        steps = [max(_steps(claim) for claim in in_atlas[one.recipe]) for one in known]
        improved = partial(_Graph.slack_schedules, moves=None)
        found = list(chain(*pool.map(improved, known, (min(one, most_steps) for one in steps))))
        others = [
            one
            for one in graphs
            if one.recipe not in in_atlas and not _is_beaten(one, claims, nodes)
        ]
        most = min(most, optimal_steps(claims, nodes))
        found += _locally_searched(pool, others, [*broadcasts, *claims], most, nodes)
    return undominated([*broadcasts, *found])


def _slack_schedules_of_atlas(nodes: int, degree: int) -> dict[Recipe, list[Candidate]]:
    """Return the undominated slack schedules in the atlas, by graph."""
    known: dict[Recipe, list[Candidate]] = {}
    for one in bundled_of(nodes, degree).of_size(nodes, degree, by_slack=True):
        recipe = parse(one.recipe)
        claim = Candidate(recipe, one.cost, one.transpose, measured=True, within=one.within)
        known.setdefault(recipe, []).append(claim)
    return known


def _is_beaten(graph: "_Graph", claims: Iterable[Candidate], nodes: int) -> bool:
    """Return whether an optimal claim is no worse than all slack schedules of a graph, and simpler.

    Both directions of a schedule take as many steps as the diameter, or more.
    """
    least = graph.diameter(), graph.broadcast.simplicity
    optimal = (one for one in claims if _is_bandwidth_optimal(one.costs, nodes))
    return any((_steps(one), one.simplicity) < least for one in optimal)


def _steps(one: Candidate) -> int:
    """Return the steps of the schedule, for a slack schedule those it may take."""
    return one.within or one.steps


def _locally_searched(
    pool: Executor, graphs: Sequence["_Graph"], rivals: Sequence[Candidate], most: int, nodes: int
) -> list[Candidate]:
    """Return the slack schedules of graphs: greedy ones, improved where they are undominated.

    ``rivals`` are the other known candidates.
    """
    greedy = _greedy_schedules(pool, graphs, most, nodes)
    most = min(most, optimal_steps(greedy, nodes))
    rivals = [*rivals, *greedy]
    kept = {one.recipe for one in chain(*by_families(rivals, nodes).values())}
    stay = [one for one in graphs if one.recipe in kept and one.fits_local_search(most)]
    bounds = [min(most, _most_steps_to_search(one.recipe, rivals, nodes)) for one in stay]
    searched = chain(*pool.map(partial(_Graph.slack_schedules, moves=None), stay, bounds))
    # A schedule request improves greedy schedules of these graphs, so it would not find the same.
    tried = {one.recipe for one in greedy}
    improvable = {one.recipe for one in graphs if one.recipe in tried and one.fits_local_search()}
    return [*searched, *(one for one in greedy if one.recipe not in improvable)]


def _greedy_schedules(
    pool: Executor, graphs: Sequence["_Graph"], most: int, nodes: int
) -> list[Candidate]:
    """Return the greedy slack schedules, those of few steps first.

    Steps beyond a number that is known to reach the bound gain nothing.  On smaller graphs greedy
    schedules of all numbers of steps are made at once: they are quick, and their costs decide
    whether local search is worth a try.
    """
    found: dict[Recipe, list[Candidate]] = {}
    steps = min((one.diameter() for one in graphs), default=MAX_STEPS)
    last = max((one.diameter() for one in graphs), default=0) + MAX_SLACK
    while steps <= min(most, last):
        near = [one for one in graphs if 0 <= steps - one.diameter() <= MAX_SLACK]
        # Random graphs mostly reach the bound first; then the others need not be tried.
        for random in (True, False):
            if optimal_steps(chain(*found.values()), nodes) <= steps:
                break
            alike = [one for one in near if one.is_random is random]
            made = pool.map(partial(_Graph.greedy_schedules, steps=steps, most=most), alike)
            reached = zip((one.recipe for one in alike), made, strict=True)
            found |= {recipe: points for recipe, points in reached if points is not None}
        most = min(most, optimal_steps(chain(*found.values()), nodes))
        steps += 1
    return list(chain(*found.values()))


@dataclass(frozen=True)
class _Graph:
    """A candidate, and the slack problem of its graph, computed when needed.

    Where another graph is optimal in fewer steps than the diameter of this graph, the problem is
    never computed, which saves the search for symmetry and distances.
    """

    broadcast: Candidate
    most_cells: int

    @property
    def recipe(self) -> Recipe:
        return self.broadcast.recipe

    @cached_property
    def problem(self) -> GraphAndTranspose | None:
        """The slack problem; None where slack schedules are not worth a try.

        Greedy schedules alone win only on random and similar graphs.
        """
        topology, images = _symmetric(self.recipe)
        cells = topology.node_count**2 // len(images)
        return GraphAndTranspose(topology, known=images) if cells <= self.most_cells else None

    def fits_local_search(self, most: int = MAX_STEPS) -> bool:
        """Return whether local search improves slack schedules of at most ``most`` steps."""
        return (
            self.diameter() <= most
            and self.problem is not None
            and self.problem.cells <= MAX_SEARCHED
        )

    def greedy_schedules(self, steps: int, most: int) -> list[Candidate] | None:
        """Return the greedy slack schedules of ``steps`` steps; None if returned before."""
        if self.problem is None or self.problem.cells > limits.MAX_QUICK_CELLS:
            return self.slack_schedules(steps, moves=0)
        return self.slack_schedules(most, moves=0) if steps == self.diameter() else None

    @property
    def is_random(self) -> bool:
        return is_random(self.recipe)

    def diameter(self) -> int:
        return max(cost.steps for cost in self.broadcast.costs)

    def slack_schedules(self, most: int, moves: int | None) -> list[Candidate]:
        """Return the slack schedules of at most ``most`` steps that differ from the broadcast."""
        most = min(self.diameter() + MAX_SLACK, most, MAX_STEPS)
        if self.diameter() > most or self.problem is None:
            return []
        return [
            Candidate(self.recipe, *point.costs, measured=True, within=point.steps)
            for point in self.problem.points(most, moves, whole=False)
            if point.costs != self.broadcast.costs
        ]


@lru_cache(maxsize=4)
def _symmetric(recipe: Recipe) -> tuple[Topology, Images]:
    """Return a topology with its semiregular group; large sizes need the same graphs twice."""
    topology = build(recipe)
    return topology, semiregular_group(topology)


def _most_steps_to_search(recipe: Recipe, found: Sequence[Candidate], nodes: int) -> int:
    """Return the most steps for which local search on a graph is worth a try.

    The limit excludes steps in which another graph is far nearer to the bound in both directions
    than any greedy schedule of this graph: local search hardly ever makes up for that.
    """
    alike = (one for one in found if one.recipe == recipe)
    greedy = zip(*(_excess_bandwidths(one, nodes) for one in alike), strict=True)
    mine = tuple(map(min, greedy))
    better = (one.steps for one in found if _is_far_nearer(_excess_bandwidths(one, nodes), mine))
    return min(better, default=MAX_STEPS + 1) - 1


def _excess_bandwidths(one: Candidate, nodes: int) -> tuple[Fraction, ...]:
    return tuple(cost.bandwidth - optimal_bandwidth(nodes) for cost in one.costs)


def _is_far_nearer(other: tuple[Fraction, ...], mine: tuple[Fraction, ...]) -> bool:
    return all(its * limits.FAR_BEHIND < own for its, own in zip(other, mine, strict=True))


def _is_bandwidth_optimal(costs: tuple[Cost, Cost], nodes: int) -> bool:
    return all(cost.bandwidth == optimal_bandwidth(nodes) for cost in costs)


def optimal_steps(found: Iterable[Candidate], nodes: int) -> int:
    """Return the fewest steps within which both directions are known to be optimal.

    A schedule found within that many steps may take fewer; a search within fewer steps may miss it.
    """
    best = (one for one in found if _is_bandwidth_optimal(one.costs, nodes))
    return min((_steps(one) for one in best), default=MAX_STEPS)
