"""Resize a graph to N nodes with diameter at most D."""

from typing import NamedTuple

from topoloom.synth.edge_swaps.local_search import apply_targeted_swaps, distant_pairs, head_array
from topoloom.synth.edge_swaps.work_estimates import targeted_swap_words
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.kernels.splitmix import seeded
from topoloom.synth.recipes.build import build, distant_pairs_before_swaps, size, traits
from topoloom.synth.recipes.expansions.targeted_swaps import cache_swaps
from topoloom.synth.recipes.recipe import Inserted, Recipe, Removed, Shortened
from topoloom.synth.search import limits


def resized_to_diameter(
    of: Recipe, nodes: int, depth: int, seed: int, most_words: int
) -> Recipe | None:
    """Return a recipe of ``nodes`` nodes with diameter at most ``depth``, or None.

    `insert_or_remove` resizes the graph, and `shorten_resized` swaps links if a few pairs are late.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> resized_to_diameter(parse("Kautz(3, 3)"), 31, 4, 1, 10**8)
    Removed(5, 4, 1, Kautz(3, 3))
    >>> resized_to_diameter(parse("Kautz(3, 3)"), 35, 3, 1, 10**8) is None
    True
    """
    changed = insert_or_remove(of, nodes, depth, seed)
    return None if changed is None else shorten_resized(changed, depth, seed, most_words)


class Resized(NamedTuple):
    """A graph with inserted or removed nodes, and its number of late pairs.

    Of inserted nodes the pairs are counted before edge swaps.
    """

    recipe: Inserted | Removed
    late: int


def insert_or_remove(of: Recipe, nodes: int, depth: int, seed: int) -> Resized | None:
    """Return a graph with nodes inserted or removed; None if too many pairs are late.

    Args:
        of: A graph of another number of nodes.
        depth: Pairs more than ``depth`` links apart are late.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> insert_or_remove(parse("Kautz(3, 3)"), 38, 4, 1)
    Resized(recipe=Inserted(2, 4, 1, Kautz(3, 3)), late=0)
    """
    there = size(of)[0]
    kind, change = (Inserted, nodes - there) if nodes > there else (Removed, there - nodes)
    recipe = kind(change, depth, seed, of)
    try:
        traits(recipe)
        inserted = isinstance(recipe, Inserted)
        late = distant_pairs_before_swaps(recipe) if inserted else _late(recipe, depth)
    except OutOfDomain:
        return None
    hopeful = late <= limits.MAX_LATE_SHARE_OF[kind.__name__] * nodes
    return Resized(recipe, late) if hopeful else None


def shorten_resized(some: Resized, depth: int, seed: int, most_words: int) -> Recipe | None:
    """Return a resized graph without late pairs, shortened if necessary; None if that fails."""
    late = some.late
    if late and isinstance(some.recipe, Inserted):
        late = _late(some.recipe, depth)
    if late == 0:
        return some.recipe
    if late > limits.MAX_LATE_SHARE_OF["Removed"] * size(some.recipe)[0]:
        return None
    return shorten(some.recipe, depth, seed, most_words)


def _late(recipe: Recipe, depth: int) -> int:
    graph = build(recipe)
    return distant_pairs(head_array(graph.node_count, graph.sources, graph.targets), depth)


def shorten(of: Recipe, depth: int, seed: int, most_words: int) -> Shortened | None:
    """Return a graph after edge swaps that leave no pair late; None if that fails.

    Args:
        most_words: Budget, in words read (`synth.edge_swaps.work_estimates.targeted_swap_words`),
            a third of a nanosecond each.  The search ends earlier where swaps do not help.

    >>> from topoloom.synth.recipes.recipe import parse
    >>> shorten(parse("RandomRegular(80, 3, 1)"), 5, 1, 10**7)
    Shortened(5, 101, 1, RandomRegular(80, 3, 1))
    """
    graph = build(of)
    nodes, degree = graph.node_count, graph.degree
    most = max(1, most_words // targeted_swap_words(nodes, degree, depth))
    try:
        two_way = traits(Shortened(depth, most, seed, of)).bidirectional
    except OutOfDomain:
        return None
    heads = head_array(nodes, graph.sources, graph.targets)
    state = seeded(seed, nodes, degree, depth)
    shortened = heads.copy()
    late, looked = apply_targeted_swaps(
        shortened, depth, most, two_way, state, limits.SWAP_PATIENCE
    )
    if late:
        return None
    cache_swaps(heads, shortened, depth, looked, seed, two_way)
    return Shortened(depth, looked, seed, of)
