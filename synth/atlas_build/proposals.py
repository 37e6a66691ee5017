"""Graphs proposed for slack schedules: random, resized, line graphs and annealed lifts.

The random numbers of a round and the known graphs of other sizes determine its proposals.  Every
recipe builds in about half a second.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from topoloom.synth.algebra.primes import is_prime
from topoloom.synth.atlas.entries import Atlas, Search
from topoloom.synth.discovery.annealing_rounds import Explorer
from topoloom.synth.edge_swaps.local_search import distant_pairs, head_array
from topoloom.synth.edge_swaps.work_estimates import swap_words
from topoloom.synth.evaluation.cost import Links, lower_bound
from topoloom.synth.families.random_graphs import RandomGraph, RandomRegular, RandomRegularTwoWay
from topoloom.synth.recipes.build import traits
from topoloom.synth.recipes.recipe import LineGraph, Recipe, parse
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.resize import resized_to_diameter, shorten

Known = Callable[[int], Sequence[Candidate]]
"""Map a number of nodes to the known candidates of the same degree and links."""


class Round(NamedTuple):
    """The search of a round, the known candidates, and the random generator.

    ``chances[k]`` is the probability of proposing graphs of k steps above the Moore bound
    (`synth.atlas_build.size_priorities.chances`).
    """

    search: Search
    known: Known
    chances: tuple[float, ...]
    rng: Generator

    @property
    def two_way(self) -> bool:
        """Whether every link has a partner the other way."""
        return self.search.links is Links.BIDIRECTIONAL

    def target_steps(self) -> int:
        """Draw a target number of steps."""
        search = self.search
        least = lower_bound(search.nodes, search.degree, search.links).steps
        return least + int(self.rng.choice(len(self.chances), p=self.chances))

    def of_root_size(self, seed: int) -> "Round":
        """Return the round at the size whose line graphs have this round's size."""
        search = self.search
        smaller = Search(search.nodes // search.degree, search.degree, search.links, seed)
        return self._replace(search=smaller)


Proposer = Callable[[Round], Iterator[Recipe]]

# Random graphs have at most this number of nodes; larger ones have too many cells.
_MOST_RANDOM = 2048
# Words of 64 bits read by the random swaps of one recipe, and by its targeted swaps.
_WORDS = 1 << 30
_TARGETED_WORDS = 1 << 31
# Most distant pairs a node, on average, that targeted swaps can remove.
_HOPEFUL = 1
_EXCHANGES = (3_000, 10_000, 30_000, 100_000)
# Nodes per inserted or removed node.
_NODES_A_NEW = 16
# Graphs of one kind in a round, and tries to make one.
_MOST, _SEEDS = 3, 6
# Largest ratio to the best bandwidth of a size for a base to be resized.
_NEAR_BEST = Fraction(11, 10)
_LIFT_MICROSECONDS = 150_000
_LONGEST_TEXT = 1_500


def proposers(search: Search) -> tuple[Proposer, ...]:
    """Return the proposers of a size; rounds take turns.

    >>> [one.__name__ for one in proposers(Search(997, 4, Links.UNIDIRECTIONAL, 0))]
    ['beside', 'beside', 'wide', 'beside', 'beside', 'resized', 'beside', 'beside', 'short']
    """
    two_way = search.links is Links.BIDIRECTIONAL
    proposals: list[Proposer] = []
    if search.nodes <= _MOST_RANDOM and search.degree >= 2 + two_way:
        proposals += [beside, beside, wide, beside, beside, resized]
        if search.degree > 2 or not two_way:
            proposals += [beside, beside, short]
    if not two_way and search.degree >= 2 and search.nodes % search.degree == 0:
        proposals.append(line)
    if not is_prime(search.nodes) or search.nodes <= 64:
        proposals.append(lift)
    return tuple(proposals)


def wide(current: Round) -> Iterator[Recipe]:
    """Yield random graphs whose small neighborhoods random swaps have enlarged."""
    yield from _wide(current.search, current.rng)


def _wide(search: Search, rng: Generator) -> Iterator[RandomGraph]:
    nodes, degree = search.nodes, search.degree
    radius = 1
    while degree ** (2 * radius) < nodes:
        radius += 1
    depth = radius + int(rng.integers(-1, 2))
    if not _exchangeable(search) or depth < 1:
        yield _family(search)(nodes, degree, _seed(rng))
        return
    most = min(int(rng.choice(_EXCHANGES)), _WORDS // swap_words(nodes, degree, depth))
    for _ in range(_MOST):
        yield _family(search)(nodes, degree, _seed(rng), depth, most)


def short(current: Round) -> Iterator[Recipe]:
    """Yield a wide graph shortened to a few steps above the bound, if this succeeds."""
    search, rng, depth = current.search, current.rng, current.target_steps()
    counted = [(distant_pairs(_heads(graph), depth), graph) for graph in _wide(search, rng)]
    late, best = min(counted, key=lambda pair: pair[0])
    if late == 0:
        yield from (graph for late, graph in counted if late == 0)
    elif _exchangeable(search) and late <= _HOPEFUL * search.nodes:
        shortened = shorten(best, depth, _seed(rng), _TARGETED_WORDS)
        if shortened is not None:
            yield shortened


def resized(current: Round) -> Iterator[Recipe]:
    """Yield known graphs of similar size, resized, with a limited diameter."""
    nodes, degree, rng = current.search.nodes, current.search.degree, current.rng
    depth = current.target_steps()
    most = max(degree, nodes // _NODES_A_NEW)
    near = [
        size for size in range(max(2 * degree, nodes - most), nodes + most + 1) if size != nodes
    ]
    structured = [size for size in near if size % degree == 0] or near
    chosen = structured if rng.random() < 0.5 else near
    if not chosen:
        return
    base = int(rng.choice(chosen))
    for one in _bases(current, base, depth):
        recipe = resized_to_diameter(one, nodes, depth, _seed(rng), _TARGETED_WORDS)
        if recipe is not None:
            yield recipe


def beside(current: Round) -> Iterator[Recipe]:
    """Yield known graphs of an adjacent size, resized with several seeds.

    The choice of inserted or removed nodes decides how even the last steps are.  Of ten seeds
    that extend 1008 nodes of 3 links to 1009, three keep 7 steps, at 1.003, 1.003 and 1.013 times
    the bound.
    """
    nodes, degree, rng = current.search.nodes, current.search.degree, current.rng
    depth, away = current.target_steps(), np.arange(1, 2 * degree + 1)
    more = int(rng.choice(away, p=away**-2.0 / sum(away**-2.0))) * int(rng.choice((-1, 1)))
    bases = _short_enough(current, nodes + more, depth) if nodes + more > 2 * degree else []
    count = 0
    for _ in range(_SEEDS if bases else 0):
        base = bases[int(rng.integers(len(bases)))]
        recipe = resized_to_diameter(base, nodes, depth, _seed(rng), _WORDS)
        if recipe is not None:
            count += 1
            yield recipe
        if count == _MOST:
            return


def _bases(current: Round, nodes: int, depth: int) -> Iterator[Recipe]:
    """Yield good graphs of a size: known candidates, or line graphs of annealed lifts."""
    near = current._replace(search=replace(current.search, nodes=nodes))
    fewer = near.of_root_size(0)
    lifted = not current.two_way and nodes % near.search.degree == 0
    if lifted and fewer.search.nodes > fewer.search.degree and current.rng.random() < 0.5:
        yield from (LineGraph(1, one) for one in lift(fewer))
        return
    yield from _short_enough(current, nodes, depth)


def _short_enough(current: Round, nodes: int, depth: int) -> list[Recipe]:
    """Return the best known candidates of a size with at most ``depth`` steps."""
    some = (candidate for candidate in current.known(nodes) if candidate.steps <= depth)
    best = sorted(some, key=lambda candidate: candidate.bandwidth)
    near = (
        candidate for candidate in best if candidate.bandwidth <= best[0].bandwidth * _NEAR_BEST
    )
    return list(dict.fromkeys(candidate.recipe for candidate in near))[:_MOST]


def line(current: Round) -> Iterator[Recipe]:
    """Yield line graphs of known candidates of the root size, or of random graphs."""
    fewer, rng = current.of_root_size(current.search.seed), current.rng
    if fewer.search.nodes <= fewer.search.degree:
        return
    if rng.random() < 0.5:
        recipes = list(
            dict.fromkeys(candidate.recipe for candidate in current.known(fewer.search.nodes))
        )
        order = rng.permutation(len(recipes))[:2]
        bases = [recipes[place] for place in order]
    else:
        bases = list((wide if rng.random() < 0.5 else short)(fewer))[:2]
    yield from (LineGraph.once_more(base) for base in bases if traits(base).regular)


def lift(current: Round) -> Iterator[Recipe]:
    """Yield lifts over a random group, annealed for few steps and even loads."""
    scratch = Atlas()
    search = replace(current.search, seed=_seed(current.rng), by_slack=False)
    explorer = Explorer(search, scratch, microseconds=_LIFT_MICROSECONDS)
    for _ in range(2):
        explorer.round()
    yield from (parse(entry.recipe) for entry in scratch if len(entry.recipe) <= _LONGEST_TEXT)


def _exchangeable(search: Search) -> bool:
    least = 3 if search.links is Links.BIDIRECTIONAL else 2
    return least <= search.degree <= (search.nodes - 1) // 2


def _family(search: Search) -> type[RandomGraph]:
    return RandomRegularTwoWay if search.links is Links.BIDIRECTIONAL else RandomRegular


def _seed(rng: Generator) -> int:
    return int(rng.integers(1, 2**31))


def _heads(member: RandomGraph) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return head_array(member.n, *member.links())
