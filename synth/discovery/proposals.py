"""Graphs for labels to be tried on: random, resized, line graphs, and annealed lifts.

What a round proposes follows from its random numbers and from what is known of other sizes.  All
that a proposal says can be built again from its recipe in about half a second.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import Generator

from synth.bases.random_graphs import Randomly, RandomRegular, RandomRegularTwoWay
from synth.candidates import Candidate
from synth.cost import Links, lower_bound
from synth.discovery.atlas import Atlas, Search
from synth.discovery.explore import Explorer
from synth.discovery.fitted import brought_near, fitted
from synth.drawable import work
from synth.exchanges import heads_of, late_pairs
from synth.primes import is_prime
from synth.recipe import LineGraph, Recipe, parse

__all__ = ["Known", "Proposer", "proposers"]

Known = Callable[[int], Sequence[Candidate]]
"""From a number of nodes to what is known of it, for the same degree and links."""

Proposer = Callable[[Search, Known, Generator], Iterator[Recipe]]

# Random graphs are of at most so many nodes: more have too many labels.
_MOST_RANDOM = 2048
# Words of 64 bits that the exchanges of one recipe may read, and aimed ones.
_WORDS = 1 << 30
_AIMED_WORDS = 1 << 31
# Late pairs of a node, in the mean, of which there is hope.
_HOPEFUL = 1
# How likely a graph shall have as few steps as Moore's bound, one more and two more.
_WISHED = (0.2, 0.5, 0.3)
_EXCHANGES = (3_000, 10_000, 30_000, 100_000)
# Of so many nodes one may be new or gone.
_NODES_A_NEW = 16
# Graphs of one kind that a round proposes.
_MOST = 3
_LIFT_MICROSECONDS = 150_000
_LONGEST_TEXT = 1_500


def proposers(search: Search) -> tuple[Proposer, ...]:
    """Return what may be proposed at a size; rounds take turns.

    >>> [one.__name__ for one in proposers(Search(997, 4, Links.UNIDIRECTIONAL, 0))]
    ['wide', 'resized', 'short', 'resized']
    """
    two_way = search.links is Links.BIDIRECTIONAL
    found: list[Proposer] = []
    if search.nodes <= _MOST_RANDOM and search.degree >= 2 + two_way:
        found += [wide, resized]
        if search.degree > 2 or not two_way:
            found += [short, resized]
    if not two_way and search.degree >= 2 and search.nodes % search.degree == 0:
        found.append(line)
    if not is_prime(search.nodes) or search.nodes <= 64:
        found.append(lift)
    return tuple(found)


def wide(search: Search, known: Known, rng: Generator) -> Iterator[Recipe]:
    """Yield random graphs whose balls of a small radius exchanges have made large."""
    yield from _wide(search, rng)


def _wide(search: Search, rng: Generator) -> Iterator[Randomly]:
    nodes, degree = search.nodes, search.degree
    radius = 1
    while degree ** (2 * radius) < nodes:
        radius += 1
    depth = radius + int(rng.integers(-1, 2))
    if not _exchangeable(search) or depth < 1:
        yield _family(search)(nodes, degree, _seed(rng))
        return
    most = min(int(rng.choice(_EXCHANGES)), _WORDS // work(nodes, degree, depth))
    for _ in range(_MOST):
        yield _family(search)(nodes, degree, _seed(rng), depth, most)


def short(search: Search, known: Known, rng: Generator) -> Iterator[Recipe]:
    """Yield a wide graph shortened to a few steps more than the bound, if that succeeds."""
    depth = _wished(search, rng)
    counted = [(late_pairs(_heads(one), depth), one) for one in _wide(search, rng)]
    late, best = min(counted, key=lambda pair: pair[0])
    if late == 0:
        yield from (one for late, one in counted if late == 0)
    elif _exchangeable(search) and late <= _HOPEFUL * search.nodes:
        shortened = brought_near(best, depth, _seed(rng), _AIMED_WORDS)
        if shortened is not None:
            yield shortened


def resized(search: Search, known: Known, rng: Generator) -> Iterator[Recipe]:
    """Yield known graphs of a few nodes more or less, made to fit, none too far from another."""
    nodes, degree = search.nodes, search.degree
    depth = _wished(search, rng)
    most = max(degree, nodes // _NODES_A_NEW)
    near = [one for one in range(max(2 * degree, nodes - most), nodes + most + 1) if one != nodes]
    structured = [one for one in near if one % degree == 0] or near
    chosen = structured if rng.random() < 0.5 else near
    if not chosen:
        return
    base = int(rng.choice(chosen))
    for one in _bases(search, base, depth, known, rng):
        recipe = fitted(one, nodes, depth, _seed(rng), _AIMED_WORDS)
        if recipe is not None:
            yield recipe


def _bases(
    search: Search, nodes: int, depth: int, known: Known, rng: Generator
) -> Iterator[Recipe]:
    """Yield good graphs of a size: what is known, or line graphs of lifts annealed for it."""
    smaller = nodes // search.degree
    lifted = search.links is Links.UNIDIRECTIONAL and smaller * search.degree == nodes
    if lifted and smaller > search.degree and rng.random() < 0.5:
        base = Search(smaller, search.degree, search.links, 0)
        yield from (LineGraph(1, one) for one in lift(base, known, rng))
        return
    short_enough = sorted(
        (one for one in known(nodes) if one.steps <= depth),
        key=lambda one: max(cost.bandwidth for cost in one.costs),
    )
    yield from (one.recipe for one in short_enough[:_MOST])


def line(search: Search, known: Known, rng: Generator) -> Iterator[Recipe]:
    """Yield line graphs of what is known of so many nodes less, or of random graphs."""
    smaller = Search(search.nodes // search.degree, search.degree, search.links, search.seed)
    if smaller.nodes <= smaller.degree:
        return
    if rng.random() < 0.5:
        found = [one.recipe for one in known(smaller.nodes)]
        order = rng.permutation(len(found))[:2]
        bases = [found[place] for place in order]
    else:
        bases = list((wide if rng.random() < 0.5 else short)(smaller, known, rng))[:2]
    for base in bases:
        if isinstance(base, LineGraph):
            yield LineGraph(1 + base.times, base.of)
        else:
            yield LineGraph(1, base)


def lift(search: Search, known: Known, rng: Generator) -> Iterator[Recipe]:
    """Yield lifts over a random group, annealed for few steps and for even loads."""
    scratch = Atlas()
    asked = Search(search.nodes, search.degree, search.links, _seed(rng))
    explorer = Explorer(asked, scratch, microseconds=_LIFT_MICROSECONDS)
    for _ in range(2):
        explorer.round()
    yield from (parse(one.recipe) for one in scratch if len(one.recipe) <= _LONGEST_TEXT)


def _wished(search: Search, rng: Generator) -> int:
    """Return a number of steps, of the bound or little more."""
    least = lower_bound(search.nodes, search.degree, search.links).steps
    return least + int(rng.choice(len(_WISHED), p=_WISHED))


def _exchangeable(search: Search) -> bool:
    least = 3 if search.links is Links.BIDIRECTIONAL else 2
    return least <= search.degree <= (search.nodes - 1) // 2


def _family(search: Search) -> type[Randomly]:
    return RandomRegularTwoWay if search.links is Links.BIDIRECTIONAL else RandomRegular


def _seed(rng: Generator) -> int:
    return int(rng.integers(1, 2**31))


def _heads(member: Randomly) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return heads_of(member.n, *member.links())
