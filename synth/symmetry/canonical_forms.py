"""Canonical forms of colored undirected graphs, by bliss as bundled with igraph.

References:
    Junttila and Kaski, "Engineering an efficient canonical labeling tool for large and sparse
    graphs", ALENEX 2007.
"""

import sys
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from igraph import Graph

Integers = NDArray[np.int64]


@cache
def graph_class() -> "type[Graph]":
    """Import igraph without matplotlib, whose import takes half a second to a second."""
    if "matplotlib" in sys.modules:
        from igraph import Graph
    else:
        sys.modules["matplotlib"] = None  # pyright: ignore[reportArgumentType]
        try:
            from igraph import Graph
        finally:
            del sys.modules["matplotlib"]
    return Graph


def canonical_vertices(edges: Integers, colors: Integers) -> Integers:
    """Return the vertices in an order independent of their numbering.

    Isomorphic graphs listed in this order are equal.

    Args:
        edges: Int array, shape (edges, 2).
        colors: The color of every vertex; an isomorphism preserves colors.

    Bliss takes milliseconds for most graphs. The time is cubic in the number of vertices with the
    same neighbors (1,000 isolated vertices: 1 s) and exponential for a few hard graphs.

    >>> paths = [np.array([[0, 1], [1, 2]]), np.array([[2, 0], [0, 1]])]
    >>> [int(canonical_vertices(path, np.zeros(3, np.int64))[2]) for path in paths]
    [1, 0]
    """
    graph = graph_class()(len(colors), edges.tolist(), vertex_attrs={"number": range(len(colors))})
    # The direction of igraph's permutations differs between versions; `permute_vertices` agrees.
    permutation = graph.canonical_permutation(color=colors.tolist())
    return np.array(graph.permute_vertices(permutation).vs["number"], np.int64)


def connected_parts(edges: Integers, vertices: int) -> Integers:
    """Return the number of the connected part of every vertex.

    >>> connected_parts(np.array([[0, 2]]), 3).tolist()
    [0, 1, 0]
    """
    parts = graph_class()(vertices, edges.tolist()).connected_components()
    return np.array(parts.membership, np.int64)


def order_by_parts(edges: Integers, colors: Integers, part: Integers) -> Integers:
    """Return the vertices part by part, parts sorted by their canonical forms.

    The time of bliss on a graph of many equal parts grows with each part; part by part the total
    time is linear.

    Args:
        edges, colors: The graph, as for `canonical_vertices`.
        part: The part of every vertex, from 0; vertices with -1 and their edges are excluded.
    """
    place = np.zeros(len(colors), np.int64)
    listed = []
    inside = edges[(part[edges] >= 0).all(axis=1)]
    edge_part = part[inside[:, 0]]
    for number in range(int(part.max(initial=-1)) + 1):
        members = np.flatnonzero(part == number)
        place[members] = np.arange(len(members))
        own = place[inside[edge_part == number]]
        order = canonical_vertices(own, np.unique(colors[members], return_inverse=True)[1])
        ends = np.sort(np.argsort(order)[own], axis=1)
        form = (colors[members][order].tolist(), sorted(ends.tolist()))
        listed.append((form, number, members[order]))
    ordered = [members for _, _, members in sorted(listed, key=lambda one: one[:2])]
    return np.concatenate(ordered) if ordered else np.zeros(0, np.int64)
