"""What labels make of candidates: points of fewer steps or less bandwidth on the same graphs.

A candidate comes with its cost by breadth-first broadcast.  Labels (`synth.labels`) mostly cost
less on the same graph, and on random graphs, which no catalogue need hold, they come close
to the bounds at every number of nodes.  So the frontier is one of (recipe, steps).

First greedy labels alone, which are quick; then, on the graphs that these leave undominated, as
long a search as a schedule within so many steps makes, so that both find the same.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, groupby
from os import cpu_count

from synth.bases.random_graphs import Randomly
from synth.build import build
from synth.candidates import Candidate, measured_unless_dominated, undominated
from synth.catalogue import Catalogue, Wanted
from synth.cost import Cost, Links, optimal_bandwidth
from synth.discovery.drawn import drawn
from synth.discovery.enlarged import enlarged
from synth.labels import MAX_DEGREE, MAX_SEARCHED, MAX_SLACK, MAX_STEPS, BothWays
from synth.recipe import Inserted, Recipe
from synth.translations import translations

__all__ = ["MAX_CELLS", "labelled", "labels_serve", "random_graphs"]

MAX_CELLS = 1 << 22
"""Most cells of a random graph for which labels are made here: N nodes have N^2."""

_WORKERS = min(4, cpu_count() or 1)
# How many times as near the bound of bandwidth a graph is beside which others are not searched.
_BY_FAR = 8


def labels_serve(nodes: int, degree: int) -> bool:
    """Return whether labels are made on random graphs of a size.

    >>> labels_serve(1009, 4), labels_serve(1009, 9), labels_serve(4096, 4)
    (True, False, False)
    """
    return degree <= MAX_DEGREE and nodes**2 <= MAX_CELLS


def labelled(
    candidates: Iterable[Candidate], drawn: Iterable[Recipe], nodes: int, degree: int
) -> tuple[Candidate, ...]:
    """Return the undominated ones among candidates, random graphs, and labels of all of them.

    Parameters
    ----------
    candidates : iterable of Candidate
        Measured, all of this size.
    drawn : iterable of Recipe
        `random_graphs` of this size.
    nodes, degree : int
        The size.

    Notes
    -----
    O(cells * degree) for every graph and number of steps, and `synth.labels.default_moves`
    moves for those that stay.  Left as they are: graphs of more than `synth.labels.MAX_SEARCHED`
    cells, random ones of more than `MAX_CELLS`, and all of more than `synth.labels.MAX_DEGREE`
    links into a node.

    Examples
    --------
    >>> drawn_alone = Wanted(families=frozenset({"RandomRegular"}))
    >>> for one in labelled((), random_graphs(drawn_alone, 61, 4), 61, 4):
    ...     print(one.recipe, one.within, one.cost.steps, one.cost.bandwidth)
    RandomRegular(61, 4, 1, 3, 10000) 4 4 60/61
    RandomRegular(61, 4, 1, 3, 10000) 5 4 60/61
    """
    eager = list(candidates)
    for recipe in drawn:
        eager += measured_unless_dominated(recipe, ())
    if degree > MAX_DEGREE:
        return undominated(eager)
    most = _enough(eager, nodes) - 1
    with ThreadPoolExecutor(_WORKERS) as pool:
        improvable = (one for one in eager if not _is_best(one.costs, nodes))
        graphs = [one for one in pool.map(_Graph.of, improvable) if one is not None]
        greedy = _greedily(pool, graphs, most, nodes)
        kept = {one.recipe for one in undominated([*eager, *greedy])}
        stay = [one for one in graphs if one.is_searched and one.eager.recipe in kept]
        most = min(most, _enough(greedy, nodes))
        there = [*eager, *greedy]
        limits = [min(most, _hopeful(one.eager.recipe, there, nodes)) for one in stay]
        searched = chain(*pool.map(partial(_Graph.points, moves=None), stay, limits))
        again = {one.eager.recipe for one in graphs if one.is_searched}
        found = [*searched, *(one for one in greedy if one.recipe not in again)]
    return undominated([*eager, *found])


def _greedily(pool: Executor, graphs: Iterable["_Graph"], most: int, nodes: int) -> list[Candidate]:
    """Return what greedy labels reach, on graphs of the least diameter first.

    Within more steps than are known to be enough for the bound nothing is left to be won.
    """
    found: list[Candidate] = []
    for _, alike in groupby(sorted(graphs, key=_Graph.diameter), _Graph.diameter):
        found += chain(*pool.map(partial(_Graph.points, most=most, moves=0), alike))
        most = min(most, _enough(found, nodes))
    return found


@dataclass(frozen=True, slots=True)
class _Graph:
    """A candidate, and what is asked of labels on its graph."""

    eager: Candidate
    asked: BothWays

    @staticmethod
    def of(eager: Candidate) -> "_Graph | None":
        """Return the graph of a candidate; None where labels are not worth a try.

        Greedy ones alone win on random graphs only.
        """
        topology = build(eager.recipe)
        images = translations(topology)
        cells = topology.node_count**2 // len(images)
        worth = isinstance(eager.recipe, Randomly | Inserted) and cells <= MAX_CELLS
        if not (worth or cells <= MAX_SEARCHED):
            return None
        return _Graph(eager, BothWays(topology, known=images))

    @property
    def is_searched(self) -> bool:
        return self.asked.cells <= MAX_SEARCHED

    def diameter(self) -> int:
        return max(cost.steps for cost in self.eager.costs)

    def points(self, most: int, moves: int | None) -> list[Candidate]:
        """Return what labels reach within so many steps, where it is not what was there."""
        most = min(self.diameter() + MAX_SLACK, most, MAX_STEPS)
        if self.diameter() > most:
            return []
        return [
            Candidate(self.eager.recipe, *point.costs, measured=True, within=point.steps)
            for point in self.asked.points(most, moves)
            if point.costs != self.eager.costs
        ]


def random_graphs(wanted: Wanted, nodes: int, degree: int) -> Sequence[Recipe]:
    """Return graphs of no symmetry that fit what is wanted, where labels can be made on them.

    Random ones, and smaller ones enlarged.

    >>> [type(one).__name__ for one in random_graphs(Wanted(), 61, 6)]
    ['RandomRegular', 'Inserted', 'Inserted']
    >>> random_graphs(Wanted(vertex_transitive=True), 61, 6)
    []
    """
    if wanted.vertex_transitive or not labels_serve(nodes, degree):
        return []
    links = Links.BIDIRECTIONAL if wanted.bidirectional else Links.UNIDIRECTIONAL
    found: list[Recipe] = [
        one
        for one in drawn(nodes, degree, links)
        if wanted.families is None or type(one).__name__ in wanted.families
    ]
    if wanted.families is None:
        smaller = replace(wanted, parallel_links=False, bases=())
        found += enlarged(nodes, degree, links, partial(_smaller, smaller, degree))
    return found


@lru_cache(maxsize=256)
def _smaller(wanted: Wanted, degree: int, nodes: int) -> tuple[Candidate, ...]:
    """Return what is known of a size without any search."""
    return Catalogue(wanted, nodes, degree, eager=False).front(nodes, degree)


def _hopeful(recipe: Recipe, found: Sequence[Candidate], nodes: int) -> int:
    """Return up to how many steps moves on a graph are worth a try.

    Not where another graph is nearer the bound by far than greedy labels on this one in any
    number of steps: moves hardly ever make up for that.
    """
    mine = min(_missed(one, nodes) for one in found if one.recipe == recipe)
    better = (one.steps for one in found if _missed(one, nodes) * _BY_FAR < mine)
    return min(better, default=MAX_STEPS + 1) - 1


def _missed(one: Candidate, nodes: int) -> Fraction:
    return max(cost.bandwidth for cost in one.costs) - optimal_bandwidth(nodes)


def _is_best(costs: tuple[Cost, Cost], nodes: int) -> bool:
    return all(cost.bandwidth == optimal_bandwidth(nodes) for cost in costs)


def _enough(found: Iterable[Candidate], nodes: int) -> int:
    """Return the fewest steps in which both directions are known to be optimal."""
    best = (one.costs for one in found if _is_best(one.costs, nodes))
    return min((max(cost.steps for cost in costs) for costs in best), default=MAX_STEPS)
