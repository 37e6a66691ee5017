"""A graph of a few nodes more or less made to have just so many, and as short as is wished."""

from typing import NamedTuple

from synth.build import build, size, traits
from synth.drawable import walks_over
from synth.errors import OutOfDomain
from synth.exchanges import heads_of, late_pairs
from synth.recipe import Inserted, Recipe, Removed, Shortened
from synth.shortening import shorten
from synth.splitmix import seeded

__all__ = ["Resized", "brought_near", "fitted", "resized_to"]

# Exchanges after which some part of the late pairs must be gone, or it is given up.
_PATIENCE = 500
_LEFT = 0.9
# Late pairs of a node, in the mean, of which there is hope.
_HOPEFUL = 0.25


def fitted(of: Recipe, nodes: int, depth: int, seed: int, walks: int) -> Recipe | None:
    """Return a recipe of so many nodes, no two of them more than ``depth`` links apart, or None.

    It is `resized_to` it and, if that leaves a few pairs late, `brought_near`.

    Examples
    --------
    >>> from synth.recipe import parse
    >>> fitted(parse("Kautz(3, 3)"), 31, 4, 1, 10**7)
    Removed(5, 4, 1, Kautz(3, 3))
    >>> fitted(parse("Kautz(3, 3)"), 35, 3, 1, 10**7) is None
    True
    """
    changed = resized_to(of, nodes, depth, seed)
    if changed is None:
        return None
    return changed.recipe if changed.late == 0 else brought_near(changed, depth, seed, walks)


class Resized(NamedTuple):
    """A graph of which nodes were inserted or removed, and its pairs that are too far apart."""

    recipe: Inserted | Removed
    late: int


def resized_to(of: Recipe, nodes: int, depth: int, seed: int) -> Resized | None:
    """Return a graph with nodes inserted or removed; None if there is none or it is hopeless.

    Parameters
    ----------
    of : Recipe
        Of any other number of nodes.
    depth : int
        Pairs more than so many links apart are late.

    Examples
    --------
    >>> from synth.recipe import parse
    >>> resized_to(parse("Kautz(3, 3)"), 38, 4, 1)
    Resized(recipe=Inserted(2, 4, 1, Kautz(3, 3)), late=0)
    """
    there = size(of)[0]
    kind, change = (Inserted, nodes - there) if nodes > there else (Removed, there - nodes)
    recipe = kind(change, depth, seed, of)
    try:
        traits(recipe)
        graph = build(recipe)
    except OutOfDomain:
        return None
    late = late_pairs(heads_of(nodes, graph.sources, graph.targets), depth)
    return Resized(recipe, late) if late <= _HOPEFUL * nodes else None


def brought_near(some: Resized, depth: int, seed: int, walks: int) -> Shortened | None:
    """Return the graph with links exchanged so that no pair is late; None if that fails.

    Parameters
    ----------
    walks : int
        Most walks over links that are counted for it (`synth.drawable.walks_over`): some 10
        nanoseconds each.  It is given up earlier where exchanges do not help.
    """
    graph, late, looked = build(some.recipe), some.late, 0
    nodes, degree = graph.node_count, graph.degree
    most = max(1, walks // (4 * walks_over(degree, depth, walks)))
    try:
        two_way = traits(Shortened(depth, most, seed, some.recipe)).bidirectional
    except OutOfDomain:
        return None
    heads = heads_of(nodes, graph.sources, graph.targets)
    state = seeded(seed, nodes, degree, depth)
    while 0 < late and looked < most:
        before = late
        late, more = shorten(heads, depth, min(_PATIENCE, most - looked), two_way, state)
        looked += more
        if late > _LEFT * before:
            break
    return Shortened(depth, looked, seed, some.recipe) if late == 0 else None
