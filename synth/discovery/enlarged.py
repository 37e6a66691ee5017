"""Good graphs of a few nodes less, enlarged: for numbers of nodes of which nothing is known.

Primes, and most numbers near them, have no structured graphs as good as their neighbours have.
A few nodes inserted into links (`synth.expansions.insertion`) mostly leave the diameter as it is,
and labels even out the rest.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from synth.build import build, size, traits
from synth.candidates import Candidate, measured_unless_dominated
from synth.cost import Links, lower_bound
from synth.discovery.atlas import bundled
from synth.discovery.sampled import sampled
from synth.errors import OutOfDomain
from synth.exchanges import heads_of, late_pairs
from synth.recipe import Inserted, LineGraph, Recipe

__all__ = ["Front", "enlarged"]

Front = Callable[[int], Sequence[Candidate]]
"""From a number of nodes to measured candidates, all of one degree and kind of links."""

_FEWEST = 24
# Steps above Moore's bound for which graphs are enlarged: for more, random ones are as good.  With
# two links out of a node, or two-way ones, these need more steps.
_FARTHEST, _FARTHEST_OF_FEW = 1, 3
# Of so many nodes one may be new, and always as many as line graphs need.
_NODES_A_NEW = 32
# Graphs that are enlarged to see which stays short, the best first.
_TRIED = 2


def enlarged(nodes: int, degree: int, links: Links, front: Front) -> tuple[Inserted, ...]:
    """Return enlarged graphs of this size, at most two for every number of steps near the least.

    Parameters
    ----------
    front : function
        What is known of smaller sizes.

    Notes
    -----
    Smaller sizes are the next that the degree divides, as line graphs of good bases are good, and
    the next that the atlas holds.  Half a second or so, most of it for a short search of bases.
    """
    if nodes < _FEWEST or degree < 2 + (links is Links.BIDIRECTIONAL):
        return ()
    least = lower_bound(nodes, degree, links).steps
    near = _near(nodes, degree, links)
    known = [one for fewer in near for one in front(fewer)]
    known += [one for fewer in near for one in _line_graphs(fewer, degree, links)]
    few = degree == 2 or links is Links.BIDIRECTIONAL
    most = least + (_FARTHEST_OF_FEW if few else _FARTHEST)
    made = (one for depth in range(least, most + 1) for one in _enlarged(known, nodes, depth))
    return tuple(dict.fromkeys(made))


def _near(nodes: int, degree: int, links: Links) -> list[int]:
    """Return smaller numbers of nodes of which more is known, the nearest first."""
    near = set()
    if links is Links.UNIDIRECTIONAL:
        near.add(nodes - (nodes % degree or degree))
    entries = bundled()
    for fewer in range(nodes - 1, nodes - max(1, nodes // _NODES_A_NEW) - 1, -1):
        if any(one.links is links for one in entries.of_size(fewer, degree)):
            near.add(fewer)
            break
    return sorted(near, reverse=True)


def _line_graphs(nodes: int, degree: int, links: Links) -> Iterator[Candidate]:
    """Yield line graphs of what a short search finds, where the atlas has nothing."""
    if links is Links.UNIDIRECTIONAL and nodes % degree == 0:
        for base in sampled(nodes // degree, degree, Links.UNIDIRECTIONAL, eager=False):
            yield from measured_unless_dominated(LineGraph(1, base), ())


def _enlarged(known: Sequence[Candidate], nodes: int, depth: int) -> Iterator[Inserted]:
    """Yield enlarged graphs in which no two nodes are more than ``depth`` links apart.

    One of the best graphs of fewer steps, and one of just as many: with labels either may win.
    """
    fitting = [one for one in known if _can_be(one.recipe, nodes, depth)]
    for some in (
        [one for one in fitting if one.steps < depth],
        [one for one in fitting if one.steps == depth],
    ):
        for one in sorted(some, key=lambda one: _promise(one, nodes))[:_TRIED]:
            recipe = _insertion(one.recipe, nodes, depth)
            graph = build(recipe)
            if late_pairs(heads_of(nodes, graph.sources, graph.targets), depth) == 0:
                yield recipe
                break


def _can_be(recipe: Recipe, nodes: int, depth: int) -> bool:
    try:
        traits(_insertion(recipe, nodes, depth))
    except OutOfDomain:
        return False
    return True


def _insertion(recipe: Recipe, nodes: int, depth: int) -> Inserted:
    return Inserted(nodes - size(recipe)[0], depth, 1, recipe)


def _promise(one: Candidate, nodes: int) -> tuple[Fraction, int]:
    """Order by bandwidth, of which every new node costs about a share of its own."""
    bandwidth = max(one.cost.bandwidth, one.transpose.bandwidth)
    return bandwidth + Fraction(nodes - size(one.recipe)[0], nodes), one.steps
