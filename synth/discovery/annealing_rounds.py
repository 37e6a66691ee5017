"""Rounds of annealing over random groups; results go into an atlas.

The size, the kind of links, a seed, the number of the round and the state of the atlas determine a
round.  So a stopped search can resume.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topoloom.synth.algebra.groups import Group
from topoloom.synth.atlas.entries import Atlas, Entry, Search
from topoloom.synth.discovery.anneal import anneal
from topoloom.synth.discovery.initial_lift import start
from topoloom.synth.discovery.lift_cost import MAX_DEGREE, MAX_STEPS, UNIT, memory
from topoloom.synth.discovery.random_groups import random_group
from topoloom.synth.discovery.selected_elements import Selection, select
from topoloom.synth.errors import BeyondSearch, ImpossibleRequest
from topoloom.synth.evaluation.cost import Cost, Links, lower_bound
from topoloom.synth.evaluation.measure import measure_both
from topoloom.synth.families.lifts import voltage_member
from topoloom.synth.families.voltage import VoltageGraph
from topoloom.synth.recipes.build import build
from topoloom.synth.symmetry.orbits import representatives

MAX_NODES = 16_384
_MAX_ARCS = 400


class Explorer:
    """Search for bases of one size; add the results to an atlas.

    Args:
        search: Size, links and seed.
        atlas: Known entries; the search adds better entries and counts rounds.
        microseconds: Approximate time of a round; determines the number of moves.
        most_vertices: Upper limit on the vertices of lifts.
        solvable: Whether Cayley digraphs may use any solvable group; see `random_group`.

    Raises:
        ImpossibleRequest: The size is out of the range of the search, or no such graph exists.
    """

    def __init__(
        self,
        search: Search,
        atlas: Atlas,
        *,
        microseconds: int = 400_000,
        most_vertices: int = MAX_NODES,
        solvable: bool = False,
    ) -> None:
        require_searchable(search)
        self.search = search
        self.atlas = atlas
        self._microseconds = microseconds
        self._most_vertices = most_vertices
        self._solvable = solvable
        self.bounds = lower_bound(search.nodes, search.degree, search.links)

    @property
    def known(self) -> list[Entry]:
        """Entries of this size and kind of links."""
        return self.atlas.known(self.search)

    @property
    def done(self) -> bool:
        """Whether an entry meets both bounds in both directions."""
        return any(entry.mean_cost == self.bounds for entry in self.known)

    def round(self) -> list[Entry]:
        """Run the next round; return the entries that it added."""
        search, number = self.search, self.atlas.rounds.get(self.search, 0)
        rng = round_generator(search, number)
        self.atlas.rounds[search] = number + 1
        vertices = self._vertices(rng)
        order, plain = search.nodes // vertices, vertices > 1
        group = random_group(order, rng, plain=plain, solvable=self._solvable)
        selection = select(group, rng)
        two_way = search.links is Links.BIDIRECTIONAL
        begun = start(vertices, search.degree, two_way, selection, rng)
        if begun is None:
            return []
        entries = []
        for least, graph in self._annealed(group, selection, vertices, begun, rng):
            if not self._improves(least):
                continue
            entry = self._measured(graph, f"seed {search.seed} round {number}")
            if self._improves(entry.mean_cost) and self.atlas.add(entry):
                entries.append(entry)
        return entries

    def _vertices(self, rng: Generator) -> int:
        """Choose the number of vertices: a Cayley digraph half of the time."""
        nodes, degree = self.search.nodes, self.search.degree
        most = min(nodes, _MAX_ARCS // degree, self._most_vertices)
        several = [n for n in range(2, most + 1) if nodes % n == 0]
        if not several or rng.random() < 0.5:
            return 1
        weights = np.array([n**-0.5 for n in several])
        return int(rng.choice(several, p=weights / weights.sum()))

    def _annealed(
        self,
        group: Group,
        selection: Selection,
        vertices: int,
        begun: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
        rng: Generator,
    ) -> list[tuple[Cost, VoltageGraph]]:
        """Return the lifts that may improve the atlas, with lower bounds on their costs.

        The worse direction costs at least the mean of both.
        """
        arcs = vertices * self.search.degree
        head, shift, partner = begun
        best_load = self._loads_to_beat()
        before = best_load.copy()
        best_head, best_shift = np.zeros((2, MAX_STEPS, arcs), np.int64)
        anneal(
            head, shift, partner, selection.involutions, selection.product, selection.inverse,
            self._target_steps(rng), self._tries(vertices), float(rng.choice([0.25, 1.0, 3.0])),
            int(rng.integers(2**31)), memory(self.search.nodes, vertices, self.search.degree),
            best_load, best_head, best_shift,
        )  # fmt: skip
        both = 2 * self.search.nodes * UNIT
        return [
            (
                Cost(steps, Fraction(int(best_load[steps]) * self.search.degree, both)),
                VoltageGraph(
                    group,
                    vertices,
                    tuple(best_head[steps].tolist()),
                    tuple(selection.elements[best_shift[steps]].tolist()),
                ),
            )
            for steps in np.flatnonzero(best_load < before).tolist()
        ]

    def _target_steps(self, rng: Generator) -> int:
        """Choose a number of steps below the least known number with optimal bandwidth."""
        balanced = [
            entry.mean_cost.steps
            for entry in self.known
            if entry.mean_cost.bandwidth == self.bounds.bandwidth
        ]
        most = min(balanced, default=self.bounds.steps + 4)
        return int(rng.integers(self.bounds.steps, max(most, self.bounds.steps + 1)))

    def _loads_to_beat(self) -> NDArray[np.int64]:
        """Return the known sum of loads of both directions, by steps."""
        loads = np.full(MAX_STEPS, 2**62)
        for entry in self.known:
            mean_cost = entry.mean_cost
            load = 2 * mean_cost.bandwidth * self.search.nodes * UNIT / self.search.degree
            loads[mean_cost.steps :] = np.minimum(loads[mean_cost.steps :], int(load))
        return loads

    def _tries(self, vertices: int) -> int:
        """Return the number of moves of a round, from the time of one evaluation."""
        nodes, degree = self.search.nodes, self.search.degree
        directions = 1 if self.search.links is Links.BIDIRECTIONAL else 2
        tables = (self.bounds.steps + 2) * (degree << degree) * 7e-4
        microseconds = directions * vertices * (nodes * degree * 3.5e-3 + tables) + 0.2
        return int(np.clip(self._microseconds / microseconds, 200, 300_000))

    def _measured(self, graph: VoltageGraph, origin: str) -> Entry:
        """Return the entry of a lift, with its costs measured at a node over each vertex."""
        recipe = voltage_member(graph)
        cost, transpose = measure_both(build(recipe), representatives(recipe))
        links = Links.BIDIRECTIONAL if graph.bidirectional else Links.UNIDIRECTIONAL
        size = (self.search.nodes, self.search.degree, links)
        return Entry(*size, cost, transpose, str(recipe), origin)

    def _improves(self, mine: Cost) -> bool:
        """Return whether no known entry is at least as good in its worse direction."""
        return not any(
            other.mean_cost.steps <= mine.steps and other.mean_cost.bandwidth <= mine.bandwidth
            for other in self.known
        )


def explore(
    searches: Iterable[Search],
    atlas: Atlas,
    go_on: Callable[[], bool],
    report: Callable[[Entry], None] = lambda entry: None,
) -> int:
    """Run rounds of all searches in turn while ``go_on()``; return the number of rounds.

    A search ends once an entry meets both bounds.  ``report`` receives every new entry.

    Raises:
        ImpossibleRequest: A size is out of the range of the search, or no such graph exists.

    >>> atlas = Atlas()
    >>> rounds = explore([Search(8, 2, Links.UNIDIRECTIONAL, 1)], atlas, lambda: True)
    >>> [(entry.cost.steps, str(entry.cost.bandwidth)) for entry in atlas]
    [(3, '7/8')]
    """
    explorers, rounds = [Explorer(search, atlas, solvable=True) for search in searches], 0
    while explorers := [explorer for explorer in explorers if not explorer.done]:
        for explorer in explorers:
            if not go_on():
                return rounds
            for entry in explorer.round():
                report(entry)
            rounds += 1
    return rounds


def round_generator(search: Search, number: int) -> Generator:
    """Return the random generator of a round."""
    two_way = search.links is Links.BIDIRECTIONAL
    return np.random.default_rng([search.seed, search.nodes, search.degree, two_way, number])


def sizes(nodes: Iterable[int], degrees: Iterable[int], links: Links, seed: int) -> list[Search]:
    """Return the searches of all sizes of a grid that have graphs.

    >>> [(search.nodes, search.degree) for search in sizes([4, 5], [3], Links.BIDIRECTIONAL, 1)]
    [(4, 3)]

    Raises:
        ImpossibleRequest: No size has graphs.
    """
    searches, refused = [], None
    for node_count, degree in product(nodes, degrees):
        search = Search(node_count, degree, links, seed)
        try:
            require_searchable(search)
            searches.append(search)
        except ImpossibleRequest as impossible:
            refused = impossible
    if not searches:
        raise refused or BeyondSearch("nodes", "must name at least one size")
    return searches


def require_searchable(search: Search) -> None:
    """Raise `ImpossibleRequest` unless the size is in range and graphs of the size exist."""
    nodes, degree = search.nodes, search.degree
    if not 2 <= nodes <= MAX_NODES:
        raise BeyondSearch("nodes", f"must be from 2 to {MAX_NODES}")
    if not 1 <= degree <= MAX_DEGREE:
        raise BeyondSearch("degree", f"must be from 1 to {MAX_DEGREE}")
    if degree >= nodes:
        raise ImpossibleRequest("degree", "must be below the number of nodes")
    if search.links is Links.BIDIRECTIONAL and (nodes * degree % 2 or (degree < 2 < nodes)):
        raise ImpossibleRequest(
            "degree", "must be at least 2, and even if the number of nodes is odd"
        )
