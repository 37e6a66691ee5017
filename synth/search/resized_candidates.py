"""Graphs resized from good graphs of nearby sizes.

Primes, and most numbers near them, have no structured graphs as good as those of nearby sizes.
Inserting or removing a few nodes (`synth.search.resize`) mostly preserves the diameter, and slack
schedules balance the links.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.atlas.bundled import bundled_of
from topoloom.synth.atlas.entries import Entry
from topoloom.synth.discovery.short_search import sampled
from topoloom.synth.edge_swaps.insert_nodes import insertion_words
from topoloom.synth.edge_swaps.work_estimates import count_words
from topoloom.synth.evaluation.cost import Links, expand_line_graph, lower_bound
from topoloom.synth.recipes.recipe import LineGraph, Recipe, parse
from topoloom.synth.search import limits
from topoloom.synth.search.candidates import Candidate, measured_candidate
from topoloom.synth.search.resize import Resized, insert_or_remove, shorten_resized
from topoloom.synth.slack import MAX_STEPS

Front = Callable[[int], Sequence[Candidate]]
"""Map a number of nodes to measured candidates of one degree and one kind of links."""


class _NearbyGraph(NamedTuple):
    """A graph of another number of nodes, and an approximate upper bound of its cost."""

    bandwidth: Fraction
    steps: int
    nodes: int
    degree: int
    recipe: Recipe


def resized_graphs(
    nodes: int, degree: int, links: Links, front: Front, fewer_than: int = MAX_STEPS
) -> tuple[Recipe, ...]:
    """Return graphs resized from nearby sizes, at most two for every number of steps.

    Args:
        front: Measured candidates of other sizes.
        fewer_than: Exclusive maximum number of steps: good graphs of this many are known.

    Nearby sizes are the next smaller multiple of the degree, as line graphs of good bases are
    good, and all sizes at most 1/32 away whose graphs, or whose line graph bases, are in the atlas.
    Takes about half a second.
    """
    if nodes < limits.MIN_RESIZED_NODES or degree < 2 + (links is Links.BIDIRECTIONAL):
        return ()
    least = lower_bound(nodes, degree, links).steps
    few = degree == 2 or links is Links.BIDIRECTIONAL
    more = limits.RESIZED_STEPS_OF_FEW_LINKS if few else limits.RESIZED_STEPS
    most = min(least + more, fewer_than - 1)
    if most < least:
        return ()
    near = sorted(
        set(_nearby_graphs(nodes, degree, links, most, front)), key=lambda one: _order(one, nodes)
    )
    made = (one for depth in range(least, most + 1) for one in _made(near, nodes, depth))
    return tuple(dict.fromkeys(made))


def _nearby_graphs(
    nodes: int, degree: int, links: Links, most: int, front: Front
) -> Iterator[_NearbyGraph]:
    """Yield graphs of nearby sizes and at most ``most`` steps."""
    changed = nodes // limits.NODES_PER_NEW_NODE
    kept = [
        one
        for other in range(nodes - changed, nodes + changed + 1)
        if other != nodes
        for one in _atlas_graphs(other, degree, links)
    ]
    yield from (one for one in kept if one.steps <= most)
    if links is Links.BIDIRECTIONAL:
        return
    fewer = nodes - (nodes % degree or degree)
    known = list(front(fewer))
    if not kept:
        known += _line_graphs(fewer, degree)
    for one in known:
        if one.steps <= most:
            yield _NearbyGraph(one.bandwidth, one.steps, fewer, degree, one.recipe)


def _atlas_graphs(nodes: int, degree: int, links: Links) -> Iterator[_NearbyGraph]:
    """Yield the graphs of a size in the atlas, and line graphs of its smaller graphs."""
    times, smaller = 0, nodes
    while smaller > degree:
        for entry in bundled_of(smaller, degree).of_size(smaller, degree):
            if entry.links is links:
                yield _line_graph_of(entry, times, degree)
        if links is Links.BIDIRECTIONAL or smaller % degree:
            return
        times, smaller = times + 1, smaller // degree


def _line_graph_of(entry: Entry, times: int, degree: int) -> _NearbyGraph:
    """Return the ``times``-fold line graph of an entry, and the upper bound of its cost."""
    cost, size = entry.mean_cost, entry.nodes * degree**times
    recipe = parse(entry.recipe)
    if times:
        cost = expand_line_graph(cost, entry.nodes, degree, times)
        recipe = LineGraph(times, recipe)
    return _NearbyGraph(cost.bandwidth, cost.steps, size, degree, recipe)


def _line_graphs(nodes: int, degree: int) -> list[Candidate]:
    """Return line graphs of the graphs that a short search finds."""
    bases = sampled(nodes // degree, degree, Links.UNIDIRECTIONAL)
    return [measured_candidate(LineGraph(1, base)) for base in bases]


def _made(near: Sequence[_NearbyGraph], nodes: int, depth: int) -> Iterator[Recipe]:
    """Yield graphs of ``nodes`` nodes with diameter at most ``depth``.

    Graphs of fewer steps and graphs of ``depth`` steps are resized: with slack schedules either
    may win.
    """
    quick = [one for one in near if _is_quick(one, nodes, depth)]
    yield from _fitting([one.recipe for one in quick if one.steps < depth], nodes, depth)
    yield from _fitting([one.recipe for one in quick if one.steps == depth], nodes, depth)


def _is_quick(one: _NearbyGraph, nodes: int, depth: int) -> bool:
    if nodes > one.nodes:
        return insertion_words(nodes, one.degree, depth, nodes - one.nodes) <= limits.RESIZE_WORDS
    return (one.nodes - nodes) * count_words(nodes, one.degree, depth) <= limits.RESIZE_WORDS


def _fitting(bases: Sequence[Recipe], nodes: int, depth: int) -> Iterator[Recipe]:
    """Yield the first graph that fits at once, and a better graph that fits by edge swaps."""
    with_late_pairs: list[Resized] = []
    for base in bases[: limits.RESIZED_GRAPHS]:
        made = insert_or_remove(base, nodes, depth, 1)
        if made is not None and made.late == 0:
            yield made.recipe
            break
        if made is not None:
            with_late_pairs.append(made)
    for made in sorted(with_late_pairs, key=lambda one: one.late)[: limits.SHORTENED_GRAPHS]:
        short = shorten_resized(made, depth, 1, limits.RESIZED_SWAP_WORDS)
        if short is not None:
            yield short
            break


def _order(one: _NearbyGraph, nodes: int) -> tuple[Fraction, int, int, str]:
    """Return the sort key: estimated bandwidth after the change of size, then simplicity.

    Every changed node costs about 1 / N of bandwidth, and more in iterated line graphs, where many
    nodes have the same neighbors.
    """
    times = one.recipe.times if isinstance(one.recipe, LineGraph) else 1
    changed = abs(nodes - one.nodes) * one.degree ** (times - 1)
    text = str(one.recipe)
    return one.bandwidth + Fraction(changed, nodes), one.steps, len(text), text
