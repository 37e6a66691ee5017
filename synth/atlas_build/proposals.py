"""Graphs for labels to be tried on: random, resized, line graphs, and annealed lifts.

What a round proposes follows from its random numbers and from what is known of other sizes.  All
that a proposal says can be built again from its recipe in about half a second.
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
from topoloom.synth.families.random_graphs import Randomly, RandomRegular, RandomRegularTwoWay
from topoloom.synth.recipes.build import is_regular
from topoloom.synth.recipes.recipe import LineGraph, Recipe, parse
from topoloom.synth.search.candidates import Candidate
from topoloom.synth.search.resize import brought_near, fitted

__all__ = ["PROPOSERS", "Known", "Proposer", "Round", "beside", "proposers"]

Known = Callable[[int], Sequence[Candidate]]
"""From a number of nodes to what is known of it, for the same degree and links."""


class Round(NamedTuple):
    """What a round searches, what it may begin with, and what decides it.

    ``chances[k]`` is how likely graphs are wished of k steps more than Moore's bound
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

    def wished(self) -> int:
        """Draw a number of steps."""
        search = self.search
        least = lower_bound(search.nodes, search.degree, search.links).steps
        return least + int(self.rng.choice(len(self.chances), p=self.chances))

    def of_fewer(self, seed: int) -> "Round":
        """Return the round at the size of which this one's line graphs are."""
        search = self.search
        smaller = Search(search.nodes // search.degree, search.degree, search.links, seed)
        return self._replace(search=smaller)


Proposer = Callable[[Round], Iterator[Recipe]]

# Random graphs are of at most so many nodes: more have too many labels.
_MOST_RANDOM = 2048
# Words of 64 bits that the exchanges of one recipe may read, and aimed ones.
_WORDS = 1 << 30
_AIMED_WORDS = 1 << 31
# Late pairs of a node, in the mean, of which there is hope.
_HOPEFUL = 1
_EXCHANGES = (3_000, 10_000, 30_000, 100_000)
# Of so many nodes one may be new or gone.
_NODES_A_NEW = 16
# Graphs of one kind that a round proposes, and how often it tries to make one.
_MOST, _SEEDS = 3, 6
# Times the bandwidth of the best of a size that others may have to be altered, too.
_NEAR_BEST = Fraction(11, 10)
_LIFT_MICROSECONDS = 150_000
_LONGEST_TEXT = 1_500


def proposers(search: Search) -> tuple[Proposer, ...]:
    """Return what may be proposed at a size; rounds take turns.

    >>> [one.__name__ for one in proposers(Search(997, 4, Links.UNIDIRECTIONAL, 0))]
    ['beside', 'beside', 'wide', 'beside', 'beside', 'resized', 'beside', 'beside', 'short']
    """
    two_way = search.links is Links.BIDIRECTIONAL
    found: list[Proposer] = []
    if search.nodes <= _MOST_RANDOM and search.degree >= 2 + two_way:
        found += [beside, beside, wide, beside, beside, resized]
        if search.degree > 2 or not two_way:
            found += [beside, beside, short]
    if not two_way and search.degree >= 2 and search.nodes % search.degree == 0:
        found.append(line)
    if not is_prime(search.nodes) or search.nodes <= 64:
        found.append(lift)
    return tuple(found)


def wide(asked: Round) -> Iterator[Recipe]:
    """Yield random graphs whose balls of a small radius exchanges have made large."""
    yield from _wide(asked.search, asked.rng)


def _wide(search: Search, rng: Generator) -> Iterator[Randomly]:
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


def short(asked: Round) -> Iterator[Recipe]:
    """Yield a wide graph shortened to a few steps more than the bound, if that succeeds."""
    search, rng, depth = asked.search, asked.rng, asked.wished()
    counted = [(distant_pairs(_heads(one), depth), one) for one in _wide(search, rng)]
    late, best = min(counted, key=lambda pair: pair[0])
    if late == 0:
        yield from (one for late, one in counted if late == 0)
    elif _exchangeable(search) and late <= _HOPEFUL * search.nodes:
        shortened = brought_near(best, depth, _seed(rng), _AIMED_WORDS)
        if shortened is not None:
            yield shortened


def resized(asked: Round) -> Iterator[Recipe]:
    """Yield known graphs of a few nodes more or less, made to fit, none too far from another."""
    nodes, degree, rng = asked.search.nodes, asked.search.degree, asked.rng
    depth = asked.wished()
    most = max(degree, nodes // _NODES_A_NEW)
    near = [one for one in range(max(2 * degree, nodes - most), nodes + most + 1) if one != nodes]
    structured = [one for one in near if one % degree == 0] or near
    chosen = structured if rng.random() < 0.5 else near
    if not chosen:
        return
    base = int(rng.choice(chosen))
    for one in _bases(asked, base, depth):
        recipe = fitted(one, nodes, depth, _seed(rng), _AIMED_WORDS)
        if recipe is not None:
            yield recipe


def beside(asked: Round) -> Iterator[Recipe]:
    """Yield known graphs of one of the next sizes made to fit by several seeds.

    Where nodes are inserted, or which are removed, decides how even the last steps are: of ten
    seeds to make 1009 nodes of 1008 with 3 links three leave 7 steps, at 1.003, 1.003 and 1.013
    times the bound.
    """
    nodes, degree, rng = asked.search.nodes, asked.search.degree, asked.rng
    depth, away = asked.wished(), np.arange(1, 2 * degree + 1)
    more = int(rng.choice(away, p=away**-2.0 / sum(away**-2.0))) * int(rng.choice((-1, 1)))
    bases = _short_enough(asked, nodes + more, depth) if nodes + more > 2 * degree else []
    made = 0
    for _ in range(_SEEDS if bases else 0):
        base = bases[int(rng.integers(len(bases)))]
        recipe = fitted(base, nodes, depth, _seed(rng), _WORDS)
        if recipe is not None:
            made += 1
            yield recipe
        if made == _MOST:
            return


def _bases(asked: Round, nodes: int, depth: int) -> Iterator[Recipe]:
    """Yield good graphs of a size: what is known, or line graphs of lifts annealed for it."""
    near = asked._replace(search=replace(asked.search, nodes=nodes))
    fewer = near.of_fewer(0)
    lifted = not asked.two_way and nodes % near.search.degree == 0
    if lifted and fewer.search.nodes > fewer.search.degree and asked.rng.random() < 0.5:
        yield from (LineGraph(1, one) for one in lift(fewer))
        return
    yield from _short_enough(asked, nodes, depth)


def _short_enough(asked: Round, nodes: int, depth: int) -> list[Recipe]:
    """Return the best that is known of a size and at most so many steps, none far from the best."""
    some = (one for one in asked.known(nodes) if one.steps <= depth)
    best = sorted(some, key=lambda one: one.bandwidth)
    near = (one for one in best if one.bandwidth <= best[0].bandwidth * _NEAR_BEST)
    return list(dict.fromkeys(one.recipe for one in near))[:_MOST]


def line(asked: Round) -> Iterator[Recipe]:
    """Yield line graphs of what is known of so many nodes less, or of random graphs."""
    fewer, rng = asked.of_fewer(asked.search.seed), asked.rng
    if fewer.search.nodes <= fewer.search.degree:
        return
    if rng.random() < 0.5:
        found = list(dict.fromkeys(one.recipe for one in asked.known(fewer.search.nodes)))
        order = rng.permutation(len(found))[:2]
        bases = [found[place] for place in order]
    else:
        bases = list((wide if rng.random() < 0.5 else short)(fewer))[:2]
    yield from (LineGraph.once_more(base) for base in bases if is_regular(base))


def lift(asked: Round) -> Iterator[Recipe]:
    """Yield lifts over a random group, annealed for few steps and for even loads."""
    scratch = Atlas()
    search = replace(asked.search, seed=_seed(asked.rng), by_labels=False)
    explorer = Explorer(search, scratch, microseconds=_LIFT_MICROSECONDS)
    for _ in range(2):
        explorer.round()
    yield from (parse(one.recipe) for one in scratch if len(one.recipe) <= _LONGEST_TEXT)


PROPOSERS: tuple[Proposer, ...] = (wide, short, resized, beside, line, lift)


def _exchangeable(search: Search) -> bool:
    least = 3 if search.links is Links.BIDIRECTIONAL else 2
    return least <= search.degree <= (search.nodes - 1) // 2


def _family(search: Search) -> type[Randomly]:
    return RandomRegularTwoWay if search.links is Links.BIDIRECTIONAL else RandomRegular


def _seed(rng: Generator) -> int:
    return int(rng.integers(1, 2**31))


def _heads(member: Randomly) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return head_array(member.n, *member.links())
