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
from topoloom.schedules.trees.symmetry.automorphisms import Ints, coloured_graph
from topoloom.synth.symmetry.canonical_forms import (
    canonical_vertices,
    connected_parts,
    order_by_parts,
)

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
    part = _parts(edges, single)
    if part.max(initial=-1) < _MANY_PARTS:
        order = canonical_vertices(edges, painted)
    else:
        alone = np.flatnonzero(single)
        rest = order_by_parts(edges, label, part)
        order = np.concatenate([alone[np.argsort(label[alone])], rest])
    return order[order < network.node_count]


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


def _parts(edges: Ints, single: NDArray[np.bool_]) -> Ints:
    """Return the connected part of every vertex that is not single; -1 of single vertices."""
    place = np.cumsum(~single) - 1
    kept = place[edges[~single[edges].any(axis=1)]]
    part = np.full(len(single), -1, np.int64)
    part[~single] = connected_parts(kept, int((~single).sum()))
    return part
