"""A search for graphs on which labels reach more: for hours, over many sizes, the worst most often.

A frontier has a second, and tries labels on a few graphs.  A sweep begins with that frontier and
goes on: round by round it draws graphs (`synth.atlas_build.proposals`), makes greedy labels on them
and, where these promise something, labels by as many moves as a schedule takes; what is better
than all that is known is checked by `synth.slack.check_labels`, which knows nothing of the
search, and kept as a recipe and a number of steps.

A round is determined by the size, the kind of links, a seed and its number, and by what the atlas
held before: a sweep that is stopped goes on, and may be split by sizes over processes and machines.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache

from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.atlas.entries import Atlas, Entry, Search
from topoloom.synth.atlas_build.proposals import Round, proposers
from topoloom.synth.atlas_build.size_priorities import chances, missed, worth
from topoloom.synth.discovery.annealing_rounds import require_searchable, round_generator
from topoloom.synth.errors import ClaimBroken, ImpossibleRequest, SynthError
from topoloom.synth.evaluation.cost import Links, expand_line_graph, lower_bound
from topoloom.synth.evaluation.gaps import MORE
from topoloom.synth.recipes.build import build, is_bidirectional, is_regular
from topoloom.synth.recipes.recipe import LineGraph, Recipe, parse
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.frontier import frontier
from topoloom.synth.search.random_seeds import drawn
from topoloom.synth.search.recipe_enumeration import Catalogue, Wanted
from topoloom.synth.search.resized_candidates import resized
from topoloom.synth.slack import MAX_SLACK, MAX_STEPS, GraphAndTranspose, SchedulePair, check_labels
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology

__all__ = ["KNOWN", "Sweeper", "sweep", "sweeps"]

KNOWN = "known"
"""How what a frontier finds by itself is said to have been found: no sweep is needed for it."""

# Cells of labels on one graph, at most.
_MOST_CELLS = 1 << 22
_MOST_UNSWEPT = 2048
# How many times as far off the bound as what is known greedy labels may be to be improved by moves.
_PROMISING = 6


class Sweeper:
    """Searches for graphs of one size and puts what labels reach on them into an atlas.

    Parameters
    ----------
    search : Search
        Size, links and seed, ``by_labels``.
    atlas : Atlas
        What is known; better entries are added, rounds counted.

    Raises
    ------
    ImpossibleRequest
        The size is out of the range of the search, or no such graph exists.
    """

    def __init__(self, search: Search, atlas: Atlas) -> None:
        require_searchable(search)
        self.search, self.atlas = search, atlas
        self.bounds = lower_bound(search.nodes, search.degree, search.links)
        self._proposers = proposers(search)
        self._looked = False

    @property
    def rounds(self) -> int:
        """How many rounds are done."""
        return self.atlas.rounds.get(self.search, 0)

    @property
    def known(self) -> list[Entry]:
        """What is known of this size and kind of links, however used."""
        return self.atlas.known(self.search)

    @property
    def worth(self) -> Fraction:
        """Priority of the size (`atlas_build.size_priorities`); 0 where nothing can improve."""
        if self.rounds == 0:
            return Fraction(2 * MORE)
        if not self._proposers:
            return Fraction(0)
        return worth(self._missed, self.search.degree, self.search.links)

    @property
    def _missed(self) -> tuple[Fraction, ...]:
        return missed(self.known, self.bounds)

    def round(self) -> list[Entry]:
        """Run one more round; return the entries that it added.  The first is the frontier."""
        search, number = self.search, self.rounds
        self.atlas.rounds[search] = number + 1
        if number == 0 or not self._has_begun():
            added = [entry for entry in self._frontier() if self.atlas.add(entry)]
            added += self._added(self._unswept(), KNOWN)
            self._looked = True
            if number == 0:
                return added
        rng = round_generator(search, number)
        propose = self._proposers[(number - 1) % len(self._proposers)]
        wished = chances(self._missed, search.degree, search.links)
        proposed = propose(Round(search, self.other, wished, rng))
        return self._added(proposed, f"sweep {search.seed} round {number}")

    def _added(self, proposed: Iterable[Recipe], found: str) -> list[Entry]:
        """Put what labels reach on graphs into the atlas; return what is better than was known."""
        return [
            entry
            for recipe in proposed
            for entry in self._reached(recipe, found)
            if self._improves(entry) and self.atlas.add(entry)
        ]

    def _unswept(self) -> tuple[Recipe, ...]:
        """Return what a frontier would draw and make of sizes near if no sweep had been here."""
        search = self.search
        size = search.nodes, search.degree, search.links
        known = bundled_of(search.nodes, search.degree)
        if not known.searched(*size, by_labels=True) or search.nodes > _MOST_UNSWEPT:
            return ()
        return (*drawn(*size), *resized(*size, self.other))

    def _has_begun(self) -> bool:
        """Return whether the atlas holds what a frontier finds: one that was curated does not."""
        return self._looked or any(entry.found == KNOWN for entry in self.known)

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
        """Return what is known of another size: by the catalogue, by sweeps, and line graphs."""
        degree, two_way = self.search.degree, self.search.links is Links.BIDIRECTIONAL
        found = [*_catalogue(nodes, degree, two_way), *self._by_labels(nodes)]
        fewer, rest = divmod(nodes, degree)
        if not two_way and rest == 0 and fewer > degree:
            regular = (one for one in self.other(fewer) if is_regular(one.recipe))
            found += [_line_graph(one, fewer, degree) for one in regular]
        return list({(one.recipe, one.within): one for one in found}.values())

    def _by_labels(self, nodes: int) -> list[Candidate]:
        """Return what sweeps found of a size."""
        found: list[Candidate] = []
        for atlas in (self.atlas, bundled_of(nodes, self.search.degree)):
            for one in atlas.of_size(nodes, self.search.degree, by_labels=True):
                if one.links is self.search.links:
                    costs = one.cost, one.transpose
                    found.append(Candidate(parse(one.recipe), *costs, True, one.within))
        return found

    def _reached(self, recipe: Recipe, found: str) -> list[Entry]:
        """Return what labels reach on a graph, greedy ones or, if promising, by moves."""
        topology = build(recipe)
        images = semiregular_group(topology)
        cells = topology.node_count**2 // len(images)
        if cells > _MOST_CELLS or not is_regular(recipe) or topology.has_parallel_links:
            return []
        asked = GraphAndTranspose(topology, known=images)
        most = min(self.bounds.steps + MORE - 1, MAX_STEPS)
        try:
            points = asked.points(most, 0)
        except SynthError:
            # The diameter is larger.
            return []
        if self._promises(points):
            points = asked.points(most, None)
        size = self.search.nodes, self.search.degree
        links = Links.BIDIRECTIONAL if is_bidirectional(recipe) else self.search.links
        return [
            Entry(*size, links, *point.costs, str(recipe), found, point.steps)
            for point in points
            # A frontier looks at no more steps above the diameter, which the first point has.
            if point.steps <= points[0].steps + MAX_SLACK
            and self._gains(max(c.bandwidth for c in point.costs), point.steps)
            and _is_proved(topology, point)
        ]

    def _promises(self, points: tuple[SchedulePair, ...]) -> bool:
        """Return whether moves may make of greedy labels what is not known yet."""
        best = self.bounds.bandwidth
        for point in points:
            at_most = self._known_within(point.steps)
            mine = max(cost.bandwidth for cost in point.costs)
            if at_most is None or (mine - best) < _PROMISING * (at_most - best):
                return True
        return False

    def _gains(self, bandwidth: Fraction, steps: int) -> bool:
        known = self._known_within(steps)
        return known is None or bandwidth < known

    def _improves(self, entry: Entry) -> bool:
        worse = entry.worse
        return self._gains(worse.bandwidth, worse.steps)

    def _known_within(self, steps: int) -> Fraction | None:
        """Return the least bandwidth known, the worse way, in up to so many steps."""
        worst = (one.worse for one in self.known)
        return min((cost.bandwidth for cost in worst if cost.steps <= steps), default=None)


def _is_proved(topology: Topology, point: SchedulePair) -> bool:
    """Check both directions by the label theorem."""
    for graph, made, cost in (
        (topology, point.gather, point.costs[0]),
        (topology.transpose(), point.scatter, point.costs[1]),
    ):
        if check_labels(graph, made) != cost:
            raise ClaimBroken(topology.name, f"labels must cost {cost}")
    return True


def _line_graph(one: Candidate, nodes: int, degree: int) -> Candidate:
    """Return the line graph of a graph of so many nodes and what it costs at most, by labels."""
    there, back = (expand_line_graph(cost, nodes, degree) for cost in one.costs)
    return Candidate(LineGraph.once_more(one.recipe), there, back)


@lru_cache(maxsize=512)
def _catalogue(nodes: int, degree: int, two_way: bool) -> tuple[Candidate, ...]:
    if nodes <= degree:
        return ()
    return Catalogue(Wanted(two_way), nodes, degree, eager=False).front(nodes, degree)


def sweep(
    searches: Iterable[Search],
    atlas: Atlas,
    go_on: Callable[[], bool],
    report: Callable[[Entry], None] = lambda entry: None,
) -> int:
    """Run rounds while ``go_on()``, at the sizes that are worth most; return how many were run.

    Every size has its first round first.  Then the number of rounds that a size has had grows as
    what a find there is worth (`synth.atlas_build.size_priorities`).  A size at which both bounds
    are met has none.  Every new entry is given to ``report``.

    Raises
    ------
    ImpossibleRequest
        A size is out of the range of the search, or no such graph exists.

    Examples
    --------
    >>> atlas, rounds = Atlas(), iter(range(2))
    >>> asked = [Search(13, 3, Links.UNIDIRECTIONAL, 1, by_labels=True)]
    >>> sweep(asked, atlas, lambda: next(rounds, None) is not None)
    2
    >>> [(entry.cost.steps, str(entry.cost.bandwidth)) for entry in atlas]
    [(3, '12/13')]
    """
    sweepers, rounds = [Sweeper(search, atlas) for search in searches], 0
    worths = [one.worth for one in sweepers]
    while any(worths) and go_on():
        turns = [
            (one.rounds / float(worths[place]), place)
            for place, one in enumerate(sweepers)
            if worths[place]
        ]
        _, place = min(turns)
        for entry in sweepers[place].round():
            report(entry)
        worths[place] = sweepers[place].worth
        rounds += 1
    return rounds


def sweeps(searches: Iterable[Search]) -> list[Search]:
    """Return the same searches, for labels."""
    return [Search(one.nodes, one.degree, one.links, one.seed, True) for one in searches]
