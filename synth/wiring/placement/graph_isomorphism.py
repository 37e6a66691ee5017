"""Isomorphisms between directed multigraphs, by the canonical forms of bliss."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.symmetry.canonical_forms import connected_parts, order_by_parts

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Arcs:
    """A directed multigraph on nodes 0..size-1, with a count of parallel arcs."""

    size: int
    sources: Integers
    targets: Integers
    counts: Integers

    @classmethod
    def of(cls, size: int, sources: Integers, targets: Integers) -> "Arcs":
        """Return the graph of these arcs; parallel arcs are repeated."""
        keys, counts = np.unique(sources * size + targets, return_counts=True)
        return cls(size, keys // size, keys % size, counts.astype(np.int64))

    @property
    def keys(self) -> Integers:
        """The arcs as sorted numbers ``source * size + target``."""
        return self.sources * self.size + self.targets


def isomorphism(one: Arcs, other: Arcs) -> Integers | None:
    """Return for every node of one graph its image in the other, or None if there is none.

    The canonical form of each connected part is one of the graph, parts sorted by their forms.
    Planes of 114 to 162 nodes take 2 to 130 ms, 4,096 nodes of 8 two-way links 4 s.

    >>> path = Arcs.of(3, np.array([0, 1]), np.array([1, 2]))
    >>> isomorphism(path, Arcs.of(3, np.array([2, 0]), np.array([0, 1]))).tolist()
    [2, 0, 1]
    >>> isomorphism(path, Arcs.of(3, np.array([0, 0]), np.array([1, 2]))) is None
    True
    """
    if one.size != other.size or not np.array_equal(_degrees(one), _degrees(other)):
        return None
    image = np.empty(one.size, np.int64)
    image[_order(one)] = _order(other)
    keys = image[one.sources] * one.size + image[one.targets]
    order = np.argsort(keys)
    same = np.array_equal(keys[order], other.keys)
    return image if same and np.array_equal(one.counts[order], other.counts) else None


def _degrees(graph: Arcs) -> Integers:
    """Return the number of arcs and of neighbors of every node, out and in, in sorted order."""
    rows = [
        np.bincount(side, weights=weights, minlength=graph.size)
        for side in (graph.sources, graph.targets)
        for weights in (graph.counts, None)
    ]
    table = np.stack(rows).astype(np.int64)
    return table[:, np.lexsort(table)]


def _order(graph: Arcs) -> Integers:
    """Return the nodes in the order of the canonical form."""
    edges, colors = _colored_graph(graph)
    order = order_by_parts(edges, colors, connected_parts(edges, len(colors)))
    return order[order < graph.size]


def _colored_graph(graph: Arcs) -> tuple[Integers, Integers]:
    """Return the edges and vertex colors of an undirected graph with the same isomorphisms.

    A pair of opposite arcs of count 1 is an edge, of another count an edge with a vertex on it. Any
    other arc is an edge with two vertices on it. The color of these vertices states the count.
    """
    counts = dict(zip(graph.keys.tolist(), graph.counts.tolist(), strict=True))
    opposite = (graph.targets * graph.size + graph.sources).tolist()
    same = np.array([counts.get(key) for key in opposite]) == graph.counts
    two_way = same & (graph.sources < graph.targets)
    plain, marked, one_way = two_way & (graph.counts == 1), two_way & (graph.counts > 1), ~same
    edges = [np.stack([graph.sources[plain], graph.targets[plain]], axis=1)]
    colors = [np.zeros(graph.size, np.int64)]
    for arcs, length in ((marked, 1), (one_way, 2)):
        first = sum(map(len, colors)) + np.arange(int(arcs.sum()))
        path = [first + len(first) * k for k in range(length)]
        stops = [graph.sources[arcs], *path, graph.targets[arcs]]
        edges += [np.stack(pair, axis=1) for pair in pairwise(stops)]
        colors += [3 * graph.counts[arcs] + length + k for k in range(length)]
    return np.concatenate(edges), np.concatenate(colors)
