"""Trees in arrays: a forest of a thousand GPUs takes a tenth of the memory and of the time.

A `TreeTable` is a sequence of `Tree`.  Code that must be fast for a thousand GPUs reads its arrays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.model.array_sequence import ArraySequence
from topoloom.schedules.model.schedule import Tree
from topoloom.synth.topology.topology import NodeId

BLOCK = 1 << 18
"""Edges per block where memory use matters."""


@dataclass(frozen=True, eq=False, slots=True)
class TreeTable(ArraySequence[Tree]):
    """Trees over the nodes ``names``: tree i has root ``roots[i]`` and weight ``weights[i]``.

    Its edges are those from ``firsts[i]`` to ``firsts[i + 1]``; edge j visits the nodes
    ``nodes[starts[j]:starts[j + 1]]``.

    >>> table = tree_table((Tree("a", 2, (("a", "s", "b"), ("b", "c"))),), ("a", "b", "c", "s"))
    >>> table.nodes.tolist(), table.starts.tolist(), table.firsts.tolist()
    ([0, 3, 1, 1, 2], [0, 3, 5], [0, 2])
    >>> table[0]
    Tree(root='a', weight=2, edges=(('a', 's', 'b'), ('b', 'c')))
    """

    names: tuple[NodeId, ...]
    roots: NDArray[Any]
    weights: NDArray[Any]
    firsts: NDArray[np.int64]
    starts: NDArray[np.int64]
    nodes: NDArray[Any]

    def blocks(self) -> Iterator[slice]:
        """Yield ranges of trees with about `BLOCK` edges each, or one tree with more."""
        low = 0
        while low < len(self):
            past = int(np.searchsorted(self.firsts, self.firsts[low] + BLOCK, side="right")) - 1
            past = min(max(past, low + 1), len(self))
            yield slice(low, past)
            low = past

    def reversed_edges(self) -> "TreeTable":
        """Return the same trees with every edge in the other direction.

        >>> tree_table((Tree(0, 1, ((0, 1), (1, 2))),), (0, 1, 2)).reversed_edges()[0].edges
        ((1, 0), (2, 1))
        """
        nodes = np.empty_like(self.nodes)
        for low in range(0, len(self.starts) - 1, BLOCK):
            starts = self.starts[low : low + BLOCK + 1]
            ends = np.repeat(starts[:-1] + starts[1:] - 1, np.diff(starts))
            nodes[starts[0] : starts[-1]] = self.nodes[ends - np.arange(starts[0], starts[-1])]
        return replace(self, nodes=nodes)

    def __len__(self) -> int:
        return len(self.roots)

    def item(self, at: int) -> Tree:
        """Return tree ``at``."""
        return next(self._trees(slice(at, at + 1)))

    def __iter__(self) -> Iterator[Tree]:
        for block in self.blocks():
            yield from self._trees(block)

    def _trees(self, block: slice) -> Iterator[Tree]:
        firsts = self.firsts[block.start : block.stop + 1]
        edges = self._edges(int(firsts[0]), int(firsts[-1]))
        ends = (firsts - firsts[0]).tolist()
        own = zip(self.roots[block].tolist(), self.weights[block].tolist(), strict=True)
        for at, (root, weight) in enumerate(own):
            yield Tree(self.names[root], weight, tuple(edges[ends[at] : ends[at + 1]]))

    def _edges(self, low: int, past: int) -> list[tuple[NodeId, ...]]:
        """Return the edges of a range, made column by column for each length."""
        named = np.empty(len(self.names), object)
        named[:] = self.names
        starts = self.starts[low : past + 1]
        lengths, found = np.diff(starts), np.empty(past - low, object)
        for length in np.unique(lengths).tolist():
            places = np.flatnonzero(lengths == length)
            columns = [named[self.nodes[starts[places] + at]].tolist() for at in range(length)]
            paths = zip(*columns, strict=True) if length else repeat((), len(places))
            found[places] = np.fromiter(paths, object, len(places))
        return found.tolist()

    def __repr__(self) -> str:
        return f"<{len(self)} trees>"


def tree_table(trees: Sequence[Tree], names: tuple[NodeId, ...] | None = None) -> TreeTable:
    """Return trees as a table over the nodes ``names``; other nodes have the index -1.

    By default the names are those of the table, or of all nodes of the trees.
    O(hops); O(1) for a table with the same names.
    """
    if isinstance(trees, TreeTable):
        if names is None or trees.names == names:
            return trees
        place = {name: at for at, name in enumerate(names)}
        moved = np.array([place.get(name, -1) for name in trees.names], np.int32)
        return replace(trees, names=names, roots=moved[trees.roots], nodes=moved[trees.nodes])
    edges = [edge for tree in trees for edge in tree.edges]
    roots = [tree.root for tree in trees]
    known = names or tuple(dict.fromkeys(chain(roots, chain.from_iterable(edges))))
    place = {name: at for at, name in enumerate(known)}
    weights = [tree.weight for tree in trees]
    small = max(map(abs, weights), default=0) < 1 << 62
    return TreeTable(
        known,
        np.array([place.get(root, -1) for root in roots], np.int32),
        np.array(weights, np.int64 if small else object),
        np.cumsum([0, *(len(tree.edges) for tree in trees)]),
        np.cumsum([0, *map(len, edges)]),
        np.array([place.get(node, -1) for node in chain.from_iterable(edges)], np.int32),
    )
