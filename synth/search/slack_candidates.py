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
from topoloom.synth.search.candidates import Candidate, measured, undominated
from topoloom.synth.search.sampled_candidates import is_drawn
from topoloom.synth.slack import MAX_DEGREE, MAX_SEARCHED, MAX_SLACK, MAX_STEPS, GraphAndTranspose
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

__all__ = ["labelled", "optimal_within"]


def labelled(
    candidates: Iterable[Candidate],
    drawn: Iterable[Recipe],
    nodes: int,
    degree: int,
    most_cells: int = limits.MAX_SAMPLED_CELLS,
    most_steps: int = MAX_STEPS,
) -> tuple[Candidate, ...]:
    """Return the undominated ones among candidates, random graphs, and their slack schedules.

    Args:
        candidates: Measured, all of this size.
        drawn: `random_graphs` of this size, which get slack schedules whatever their symmetry.
        nodes, degree: The size.
        most_cells: Maximum number of cells of random graphs.
        most_steps: Maximum number of steps of slack schedules.

    O(cells * degree) for every graph and number of steps, and `synth.slack.default_moves`
    moves for the undominated graphs.  No slack schedules are made for graphs of more than 200,000
    cells, for random graphs of more than ``most_cells``, and for graphs of more than
    `synth.slack.MAX_DEGREE` links into a node.

    >>> from topoloom.synth.search.recipe_enumeration import Wanted
    >>> from topoloom.synth.search.sampled_candidates import random_graphs
    >>> drawn_alone = Wanted(families=frozenset({"RandomRegular"}))
    >>> for one in labelled((), random_graphs(drawn_alone, 61, 4), 61, 4):
    ...     print(one.recipe, one.within, one.cost.steps, one.cost.bandwidth)
    RandomRegular(61, 4, 1, 3, 10000) 4 4 60/61
    RandomRegular(61, 4, 1, 3, 10000) 5 4 60/61
    """
    eager, offered = list(candidates), frozenset(drawn)
    eager += map(measured, sorted(offered - {one.recipe for one in eager}, key=str))
    if degree > MAX_DEGREE:
        return undominated(eager)
    known = _known(nodes, degree)
    most = min(optimal_within(eager, nodes) - 1, most_steps)
    with ThreadPoolExecutor(limits.SLACK_WORKERS) as pool:
        graphs = [
            _Graph(one, most_cells if one.recipe in offered else limits.MAX_QUICK_CELLS)
            for one in eager
            if not _is_best(one.costs, nodes)
        ]
        told = [one for one in graphs if one.eager.recipe in known]
        claims = [claim for one in told for claim in known[one.eager.recipe]]
        claimed = [max(_within(claim) for claim in known[one.eager.recipe]) for one in told]
        points = partial(_Graph.points, moves=None)
        found = list(chain(*pool.map(points, told, (min(one, most_steps) for one in claimed))))
        others = [
            one
            for one in graphs
            if one.eager.recipe not in known and not _loses(one, claims, nodes)
        ]
        found += _searched(
            pool, others, [*eager, *claims], min(most, optimal_within(claims, nodes)), nodes
        )
    return undominated([*eager, *found])


def _known(nodes: int, degree: int) -> dict[Recipe, list[Candidate]]:
    """Return the graphs of the atlas on which slack schedules win, with their costs."""
    known: dict[Recipe, list[Candidate]] = {}
    for one in bundled_of(nodes, degree).of_size(nodes, degree, by_slack=True):
        recipe = parse(one.recipe)
        claim = Candidate(recipe, one.cost, one.transpose, measured=True, within=one.within)
        known.setdefault(recipe, []).append(claim)
    return known


def _loses(graph: "_Graph", claims: Iterable[Candidate], nodes: int) -> bool:
    """Return whether a claim is no worse than all slack schedules of a graph, and simpler.

    Both directions of a schedule take as many steps as the diameter, or more.
    """
    least = graph.diameter(), graph.eager.simplicity
    optimal = (one for one in claims if _is_best(one.costs, nodes))
    return any((_within(one), one.simplicity) < least for one in optimal)


def _within(one: Candidate) -> int:
    return one.within or one.steps


def _searched(
    pool: Executor, graphs: Sequence["_Graph"], there: Sequence[Candidate], most: int, nodes: int
) -> list[Candidate]:
    """Return the slack schedules of graphs: greedy ones, improved where they are undominated.

    ``there`` are the other known candidates.
    """
    greedy = _greedily(pool, graphs, most, nodes)
    most = min(most, optimal_within(greedy, nodes))
    there = [*there, *greedy]
    kept = {one.recipe for one in undominated(there)}
    stay = [one for one in graphs if one.eager.recipe in kept and one.is_searched(most)]
    bounds = [min(most, _hopeful(one.eager.recipe, there, nodes)) for one in stay]
    searched = chain(*pool.map(partial(_Graph.points, moves=None), stay, bounds))
    tried = {one.recipe for one in greedy}
    again = {one.eager.recipe for one in graphs if one.eager.recipe in tried and one.is_searched()}
    return [*searched, *(one for one in greedy if one.recipe not in again)]


def _greedily(pool: Executor, graphs: Sequence["_Graph"], most: int, nodes: int) -> list[Candidate]:
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
        # Mostly random graphs are even first, and then the others need not be tried.
        for drawn_at_random in (True, False):
            if optimal_within(chain(*found.values()), nodes) <= steps:
                break
            alike = [one for one in near if one.is_random is drawn_at_random]
            made = pool.map(partial(_Graph.greedily, steps=steps, most=most), alike)
            reached = zip((one.eager.recipe for one in alike), made, strict=True)
            found |= {recipe: points for recipe, points in reached if points is not None}
        most = min(most, optimal_within(chain(*found.values()), nodes))
        steps += 1
    return list(chain(*found.values()))


@dataclass(frozen=True)
class _Graph:
    """A candidate, and the slack problem of its graph, computed when needed.

    Where another graph is optimal in fewer steps than the diameter of this graph, the problem is
    never computed, which saves the search for symmetry and distances.
    """

    eager: Candidate
    most_cells: int

    @cached_property
    def asked(self) -> GraphAndTranspose | None:
        """The slack problem; None where slack schedules are not worth a try.

        Greedy schedules alone win only on random and similar graphs.
        """
        topology, images = _symmetric(self.eager.recipe)
        cells = topology.node_count**2 // len(images)
        return GraphAndTranspose(topology, known=images) if cells <= self.most_cells else None

    def is_searched(self, most: int = MAX_STEPS) -> bool:
        """Return whether local search improves slack schedules of at most ``most`` steps."""
        return (
            self.diameter() <= most and self.asked is not None and self.asked.cells <= MAX_SEARCHED
        )

    def greedily(self, steps: int, most: int) -> list[Candidate] | None:
        """Return the greedy slack schedules of ``steps`` steps; None if returned before."""
        if self.asked is None or self.asked.cells > limits.MAX_QUICK_CELLS:
            return self.points(steps, moves=0)
        return self.points(most, moves=0) if steps == self.diameter() else None

    @property
    def is_random(self) -> bool:
        return is_drawn(self.eager.recipe)

    def diameter(self) -> int:
        return max(cost.steps for cost in self.eager.costs)

    def points(self, most: int, moves: int | None) -> list[Candidate]:
        """Return the slack schedules of at most ``most`` steps that differ from the broadcast."""
        most = min(self.diameter() + MAX_SLACK, most, MAX_STEPS)
        if self.diameter() > most or self.asked is None:
            return []
        return [
            Candidate(self.eager.recipe, *point.costs, measured=True, within=point.steps)
            for point in self.asked.points(most, moves, whole=False)
            if point.costs != self.eager.costs
        ]


@lru_cache(maxsize=4)
def _symmetric(recipe: Recipe) -> tuple[Topology, Images]:
    """Return a topology with its group; a large size asks for the same graphs twice."""
    topology = build(recipe)
    return topology, semiregular_group(topology)


def _hopeful(recipe: Recipe, found: Sequence[Candidate], nodes: int) -> int:
    """Return up to how many steps moves on a graph are worth a try.

    The limit excludes steps in which another graph is far nearer to the bound than any greedy
    schedule of this graph: local search hardly ever makes up for that.
    """
    mine = min(_missed(one, nodes) for one in found if one.recipe == recipe)
    better = (one.steps for one in found if _missed(one, nodes) * limits.FAR_BEHIND < mine)
    return min(better, default=MAX_STEPS + 1) - 1


def _missed(one: Candidate, nodes: int) -> Fraction:
    return one.bandwidth - optimal_bandwidth(nodes)


def _is_best(costs: tuple[Cost, Cost], nodes: int) -> bool:
    return all(cost.bandwidth == optimal_bandwidth(nodes) for cost in costs)


def optimal_within(found: Iterable[Candidate], nodes: int) -> int:
    """Return the fewest steps within which both directions are known to be optimal.

    A schedule found within that many steps may take fewer; a search within fewer steps may miss it.
    """
    best = (one for one in found if _is_best(one.costs, nodes))
    return min((_within(one) for one in best), default=MAX_STEPS)
