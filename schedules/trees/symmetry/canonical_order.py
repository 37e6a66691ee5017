"""A canonical order of the nodes of a network, independent of their numbers.

Bliss computes one.  On many equivalent boxes, joined by a few nodes unlike any other, its time
grows with every box (0.004 s for 8 boxes of NDv2, 6 s for 16, minutes for 32).  There the nodes of
unique color are removed, and the connected parts of the rest are ordered one by one.
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import Network
from topoloom.schedules.trees.symmetry.automorphisms import Ints, colored_graph
from topoloom.synth.symmetry.canonical_forms import (
    canonical_vertices,
    connected_parts,
    order_by_parts,
)


def canonical_order(network: Network, colors: Sequence[Hashable]) -> Ints:
    """Return the nodes in an order independent of their numbers.

    For any numbering of a network the order is the same up to automorphisms.

    Args:
        network, colors: As for `automorphisms.generators`; colors are compared as text.

    A vertex with a unique color after refinement is fixed by all automorphisms, and the colors of
    other vertices reflect their adjacency to it.  Canonical forms of the remaining parts, sorted,
    are therefore a canonical form of the whole.

    >>> from topoloom.schedules.trees.flow.network import network_of
    >>> from topoloom.synth.topology.topology import Topology
    >>> for chain in ("abc", "bca"):
    ...     links = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("a", "c")]
    ...     order = canonical_order(network_of(Topology(chain, links)), [0, 0, 0])
    ...     print([chain[node] for node in order])
    ['c', 'b', 'a']
    ['c', 'b', 'a']
    """
    pairs, numbered = colored_graph(network, colors)
    edges, painted = np.array(pairs, np.int64).reshape(-1, 2), np.array(numbered, np.int64)
    label = _refined(edges, painted)
    single = np.bincount(label)[label] == 1
    part = _parts(edges, single)
    if part.max(initial=-1) < limits.MAX_PARTS_AT_ONCE:
        order = canonical_vertices(edges, painted)
    else:
        alone = np.flatnonzero(single)
        rest = order_by_parts(edges, label, part)
        order = np.concatenate([alone[np.argsort(label[alone])], rest])
    return order[order < network.node_count]


def _refined(edges: Ints, colors: Ints) -> Ints:
    """Return colors that distinguish vertices with neighbors of different colors.

    Numbered by value, not by first occurrence.  O(edges log) per round.
    """
    near, far = np.concatenate([edges, edges[:, ::-1]]).T
    label, classes = colors, 0
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
    """Return the connected part of every vertex that is not single; -1 for single vertices."""
    place = np.cumsum(~single) - 1
    kept = place[edges[~single[edges].any(axis=1)]]
    part = np.full(len(single), -1, np.int64)
    part[~single] = connected_parts(kept, int((~single).sum()))
    return part
