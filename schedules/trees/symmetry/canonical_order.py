"""An order of the nodes of a network that their numbers have no part in: a canonical form.

Bliss finds one.  On many boxes that are alike, joined by a few nodes that nothing else is like,
it takes longer with each box (0.004 s on 8 boxes of NDv2, 6 s on 16, minutes on 32): there the
nodes of a kind of their own are taken away, and what is left is put in order part by part.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import Ints, coloured_graph, graph_class

__all__ = ["canonical_order"]

_MANY_PARTS = 8
"""So many parts bliss puts in order at once in milliseconds."""


def canonical_order(network: Network, colours: Sequence[Hashable]) -> Ints:
    """Return the nodes in an order that their numbers have no part in.

    Whichever way a network is numbered, its nodes are listed alike, but for automorphisms.

    Parameters
    ----------
    network, colours
        As of `automorphisms.generators`; of colours their texts count.

    Notes
    -----
    A vertex that refinement of colours gives a colour of its own stays in place under all
    automorphisms, and what others have to do with it their colours say.  So a canonical form
    of each part of the rest is one of all, parts sorted by their forms.

    Examples
    --------
    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> for chain in ("abc", "bca"):
    ...     links = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("a", "c")]
    ...     order = canonical_order(network_of(Topology(chain, links)), [0, 0, 0])
    ...     print([chain[node] for node in order])
    ['c', 'b', 'a']
    ['c', 'b', 'a']
    """
    pairs, numbered = coloured_graph(network, colours)
    edges, painted = np.array(pairs, np.int64).reshape(-1, 2), np.array(numbered, np.int64)
    label = _refined(edges, painted)
    single = np.bincount(label)[label] == 1
    part, parts = _parts(edges, single)
    if parts <= _MANY_PARTS:
        order = _order(edges, painted)
    else:
        alone = np.flatnonzero(single)
        rest = _by_parts(edges, label, part, parts)
        order = np.concatenate([alone[np.argsort(label[alone])], rest])
    return order[order < network.node_count]


def _order(edges: Ints, colours: Ints) -> Ints:
    """Return the vertices of a coloured graph in the order of the canonical form of bliss."""
    graph = graph_class()(
        len(colours), edges.tolist(), vertex_attrs={"number": range(len(colours))}
    )
    # Versions of igraph differ in which way its permutations are meant, but not from each other.
    permutation = graph.canonical_permutation(color=colours.tolist())
    return np.array(graph.permute_vertices(permutation).vs["number"], np.int64)


def _refined(edges: Ints, colours: Ints) -> Ints:
    """Return colours by which vertices differ that have neighbours of other colours.

    Numbered by what they mean, not by which vertex comes first.  O(edges log) for every round.
    """
    near, far = np.concatenate([edges, edges[:, ::-1]]).T
    label, classes = colours, 0
    while len(found := np.unique(label)) > classes:
        classes = len(found)
        order = np.lexsort((label[far], near))
        rows = label[far[order]].tolist()
        bounds = [0, *np.cumsum(np.bincount(near, minlength=len(label))).tolist()]
        spans = zip(label.tolist(), pairwise(bounds), strict=True)
        keys = [(own, *rows[low:high]) for own, (low, high) in spans]
        number = {key: place for place, key in enumerate(sorted(set(keys)))}
        label = np.array([number[key] for key in keys], np.int64)
    return label


def _parts(edges: Ints, single: NDArray[np.bool_]) -> tuple[Ints, int]:
    """Return the part of every vertex that is not single, -1 of others, and how many there are."""
    place = np.cumsum(~single) - 1
    kept = place[edges[~single[edges].any(axis=1)]]
    found = graph_class()(int((~single).sum()), kept.tolist()).connected_components()
    part = np.full(len(single), -1, np.int64)
    part[~single] = found.membership
    return part, len(found)


def _by_parts(edges: Ints, label: Ints, part: Ints, parts: int) -> Ints:
    """Return the vertices of all parts, part by part in the order of their canonical forms."""
    place = np.zeros(len(label), np.int64)
    listed = []
    inside = edges[(part[edges] >= 0).all(axis=1)]
    for number in range(parts):
        members = np.flatnonzero(part == number)
        place[members] = np.arange(len(members))
        own = place[inside[part[inside[:, 0]] == number]]
        order = _order(own, np.unique(label[members], return_inverse=True)[1])
        ends = np.sort(np.argsort(order)[own], axis=1)
        form = (label[members][order].tolist(), sorted(ends.tolist()))
        listed.append((form, number, members[order]))
    return np.concatenate([members for _, _, members in sorted(listed, key=lambda one: one[:2])])
