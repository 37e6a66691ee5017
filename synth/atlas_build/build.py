"""Build the atlas: search many sizes for graphs with better slack schedules, the worst sizes first.

A frontier runs for a second and tries slack schedules on a few graphs.  An atlas build starts with
that frontier.  Each round then proposes graphs (`synth.atlas_build.proposals`), makes greedy
schedules on them and, where these are promising, improves them with `default_moves`.
`synth.slack.check_slack_schedule` verifies every improvement independently; the atlas stores
the recipe and the number of steps.

The size, the kind of links, a seed, the number of the round and the state of the atlas determine a
round.  So a build can be resumed, and split by sizes over processes and machines.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache

from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.atlas.entries import Atlas, Entry, Search
from topoloom.synth.atlas_build.proposals import Round, proposers
from topoloom.synth.atlas_build.size_priorities import chances, priority, relative_gaps
from topoloom.synth.discovery.annealing_rounds import require_searchable, round_generator
from topoloom.synth.errors import ClaimBroken, ImpossibleRequest, SynthError
from topoloom.synth.evaluation.cost import Links, expand_line_graph, lower_bound
from topoloom.synth.evaluation.gaps import MORE
from topoloom.synth.recipes.build import build, traits
from topoloom.synth.recipes.recipe import LineGraph, Recipe, parse
from topoloom.synth.search.candidates import Candidate, undominated
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.random_seeds import random_seeds
from topoloom.synth.search.recipe_enumeration import Catalog, Constraints
from topoloom.synth.search.resized_candidates import resized_graphs
from topoloom.synth.slack import (
    MAX_SLACK,
    MAX_STEPS,
    GraphAndTranspose,
    SchedulePair,
    check_slack_schedule,
)
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

KNOWN = "known"
"""Origin of the entries that a frontier finds by itself, without an atlas build."""

# Most cells of the slack schedules of one graph.
_MOST_CELLS = 1 << 22
_MOST_SAMPLED = 2048
# Greedy schedules are improved by moves up to this multiple of the known distance to the bound.
_PROMISING = 6


class AtlasBuilder:
    """Search for graphs of one size with better slack schedules; add them to an atlas.

    Args:
        search: Size, links and seed, ``by_slack``.
        atlas: Known entries; the build adds better entries and counts rounds.

    Raises:
        ImpossibleRequest: The size is out of the range of the search, or no such graph exists.
    """

    def __init__(self, search: Search, atlas: Atlas) -> None:
        require_searchable(search)
        self.search, self.atlas = search, atlas
        self.bounds = lower_bound(search.nodes, search.degree, search.links)
        self._proposers = proposers(search)
        self._frontier_added = False

    @property
    def rounds(self) -> int:
        """Number of finished rounds."""
        return self.atlas.rounds.get(self.search, 0)

    @property
    def known(self) -> list[Entry]:
        """Known entries of this size and kind of links, of both kinds of schedules."""
        return self.atlas.known(self.search)

    @property
    def priority(self) -> Fraction:
        """Priority of the size (`atlas_build.size_priorities`); 0 if nothing can improve."""
        if self.rounds == 0:
            return Fraction(2 * MORE)
        if not self._proposers:
            return Fraction(0)
        return priority(self._missed, self.search.degree, self.search.links)

    @property
    def _missed(self) -> tuple[Fraction, ...]:
        return relative_gaps(self.known, self.bounds)

    def round(self) -> list[Entry]:
        """Run the next round; return the entries that it added.  Round 0 is the frontier."""
        search, number = self.search, self.rounds
        self.atlas.rounds[search] = number + 1
        if number == 0 or not self._has_begun():
            added = [entry for entry in self._frontier() if self.atlas.add(entry)]
            added += self._added(self._frontier_samples(), KNOWN)
            self._frontier_added = True
            if number == 0:
                return added
        rng = round_generator(search, number)
        propose = self._proposers[(number - 1) % len(self._proposers)]
        weights = chances(self._missed, search.degree, search.links)
        proposed = propose(Round(search, self.other, weights, rng))
        return self._added(proposed, f"sweep {search.seed} round {number}")

    def _added(self, proposed: Iterable[Recipe], origin: str) -> list[Entry]:
        """Add improvements on proposed graphs to the atlas; return these entries."""
        return [
            entry
            for recipe in proposed
            for entry in self._slack_entries(recipe, origin)
            if self._improves(entry) and self.atlas.add(entry)
        ]

    def _frontier_samples(self) -> tuple[Recipe, ...]:
        """Return the graphs that a frontier would sample or resize without an atlas build."""
        search = self.search
        size = search.nodes, search.degree, search.links
        known = bundled_of(search.nodes, search.degree)
        if not known.searched(*size, by_slack=True) or search.nodes > _MOST_SAMPLED:
            return ()
        return (*random_seeds(*size), *resized_graphs(*size, self.other))

    def _has_begun(self) -> bool:
        """Return whether the atlas includes the frontier; a merged atlas omits it."""
        return self._frontier_added or any(entry.found == KNOWN for entry in self.known)

    def _frontier(self) -> list[Entry]:
        search = self.search
        try:
            points = frontier(search.nodes, search.degree, search.links).points
        except ImpossibleRequest:
            return []
        size = search.nodes, search.degree, search.links
        return [
            Entry(*size, one.cost, one.transpose, str(one.recipe), KNOWN, one.within)
            for one in points
        ]

    def other(self, nodes: int) -> list[Candidate]:
        """Return the known candidates of another size: catalog, atlas builds, line graphs."""
        degree, two_way = self.search.degree, self.search.links is Links.BIDIRECTIONAL
        candidates = [*_catalogue(nodes, degree, two_way), *self._by_slack(nodes)]
        fewer, rest = divmod(nodes, degree)
        if not two_way and rest == 0 and fewer > degree:
            regular = (c for c in self.other(fewer) if traits(c.recipe).regular)
            candidates += [_line_graph(c, fewer, degree) for c in regular]
        return list({(c.recipe, c.within): c for c in candidates}.values())

    def _by_slack(self, nodes: int) -> list[Candidate]:
        """Return the candidates that atlas builds found at a size."""
        candidates: list[Candidate] = []
        for atlas in (self.atlas, bundled_of(nodes, self.search.degree)):
            for entry in atlas.of_size(nodes, self.search.degree, by_slack=True):
                if entry.links is self.search.links:
                    costs = entry.cost, entry.transpose
                    candidates.append(Candidate(parse(entry.recipe), *costs, True, entry.within))
        return candidates

    def _slack_entries(self, recipe: Recipe, origin: str) -> list[Entry]:
        """Return entries with greedy slack schedules of a graph, or improved ones if promising."""
        topology = build(recipe)
        images = semiregular_group(topology)
        cells = topology.node_count**2 // len(images)
        if cells > _MOST_CELLS or not traits(recipe).regular or topology.has_parallel_links:
            return []
        solvers = GraphAndTranspose(topology, known=images)
        most = min(self.bounds.steps + MORE - 1, MAX_STEPS)
        try:
            points = solvers.points(most, 0)
        except SynthError:
            # The diameter is larger.
            return []
        if self._is_promising(points):
            points = solvers.points(most, None)
        size = self.search.nodes, self.search.degree
        links = Links.BIDIRECTIONAL if traits(recipe).bidirectional else self.search.links
        return [
            Entry(*size, links, *point.costs, str(recipe), origin, point.steps)
            for point in points
            # A frontier tries at most `MAX_SLACK` steps beyond the diameter.
            if point.steps <= points[0].steps + MAX_SLACK
            and self._improves_bandwidth(max(c.bandwidth for c in point.costs), point.steps)
            and _is_proved(topology, point)
        ]

    def _is_promising(self, points: tuple[SchedulePair, ...]) -> bool:
        """Return whether moves may improve greedy schedules beyond the known entries."""
        best = self.bounds.bandwidth
        for point in points:
            at_most = self._known_within(point.steps)
            mine = max(cost.bandwidth for cost in point.costs)
            if at_most is None or (mine - best) < _PROMISING * (at_most - best):
                return True
        return False

    def _improves_bandwidth(self, bandwidth: Fraction, steps: int) -> bool:
        known = self._known_within(steps)
        return known is None or bandwidth < known

    def _improves(self, entry: Entry) -> bool:
        worse = entry.worse_cost
        return self._improves_bandwidth(worse.bandwidth, worse.steps)

    def _known_within(self, steps: int) -> Fraction | None:
        """Return the least known bandwidth of the worse direction within ``steps``."""
        worst = (one.worse_cost for one in self.known)
        return min((cost.bandwidth for cost in worst if cost.steps <= steps), default=None)


def _is_proved(topology: Topology, point: SchedulePair) -> bool:
    """Check both directions; raise if a schedule does not prove its cost."""
    for graph, schedule, cost in (
        (topology, point.gather, point.costs[0]),
        (topology.transpose(), point.scatter, point.costs[1]),
    ):
        if check_slack_schedule(graph, schedule) != cost:
            raise ClaimBroken(topology.name, f"slack schedule must cost {cost}")
    return True


def _line_graph(one: Candidate, nodes: int, degree: int) -> Candidate:
    """Return the line graph of a graph of ``nodes`` nodes with a bound on its cost."""
    there, back = (expand_line_graph(cost, nodes, degree) for cost in one.costs)
    return Candidate(LineGraph.once_more(one.recipe), there, back)


@lru_cache(maxsize=512)
def _catalogue(nodes: int, degree: int, two_way: bool) -> tuple[Candidate, ...]:
    if nodes <= degree:
        return ()
    catalog = Catalog(Constraints(two_way), nodes, degree)
    return undominated(catalog.front(nodes, degree))


def build_atlas(
    searches: Iterable[Search],
    atlas: Atlas,
    go_on: Callable[[], bool],
    report: Callable[[Entry], None] = lambda entry: None,
) -> int:
    """Run rounds while ``go_on()``, at the sizes of highest priority; return their number.

    Every size runs its first round first.  Further rounds are proportional to the priorities
    (`synth.atlas_build.size_priorities`); sizes that meet both bounds get none.  ``report``
    receives every new entry.

    Raises:
        ImpossibleRequest: A size is out of the range of the search, or no such graph exists.

    >>> atlas, rounds = Atlas(), iter(range(2))
    >>> searches = [Search(13, 3, Links.UNIDIRECTIONAL, 1, by_slack=True)]
    >>> build_atlas(searches, atlas, lambda: next(rounds, None) is not None)
    2
    >>> [(entry.cost.steps, str(entry.cost.bandwidth)) for entry in atlas]
    [(3, '12/13')]
    """
    builders, rounds = [AtlasBuilder(search, atlas) for search in searches], 0
    priorities = [one.priority for one in builders]
    while any(priorities) and go_on():
        turns = [
            (one.rounds / float(priorities[place]), place)
            for place, one in enumerate(builders)
            if priorities[place]
        ]
        _, place = min(turns)
        for entry in builders[place].round():
            report(entry)
        priorities[place] = builders[place].priority
        rounds += 1
    return rounds


def slack_searches(searches: Iterable[Search]) -> list[Search]:
    """Return the same searches, for slack schedules."""
    return [Search(one.nodes, one.degree, one.links, one.seed, True) for one in searches]
