"""Trees with node ids of their topology, with shared tuples for repeated paths.

A forest of 4,096 trees has 17 million edges.  But images of a few trees use the same links within
boxes: on DGX and MI250 boxes, all edges that do not start at the root are among about ten thousand
paths.  Separate tuples took a gigabyte and most of the time.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from topoloom.schedules.model.schedule import Tree
from topoloom.schedules.trees.symmetry.path_trees import PathTree
from topoloom.synth.topology.topology import NodeId

_MOST_SHARED = 1 << 20
"""Maximum number of cached paths; further paths are not shared."""


class _Paths(dict[int, tuple[NodeId, ...]]):
    """Paths by number: nodes v, w, ... are the digits v + 1, w + 1, ..., lowest digit first."""

    def __init__(self, names: Sequence[NodeId]) -> None:
        super().__init__({0: ()})
        self._names = names
        self.base = len(names) + 1
        self.longest = int(63 / np.log2(self.base))

    def __missing__(self, number: int) -> tuple[NodeId, ...]:
        nodes, rest = list[NodeId](), number
        while rest:
            rest, digit = divmod(rest, self.base)
            nodes.append(self._names[digit - 1])
        path = tuple(nodes)
        if len(self) < _MOST_SHARED:
            self[number] = path
        return path


def named_trees(names: Sequence[NodeId], trees: Iterable[PathTree]) -> Iterator[Tree]:
    """Yield the trees with ``names[v]`` for node v.

    O(size of the trees).

    >>> drawn = PathTree(0, 2, np.array([0, 3, 1, 1, 2]), np.array([0, 3, 5]))
    >>> [(tree.root, tree.weight, tree.edges) for tree in named_trees("abcs", [drawn])]
    [('a', 2, (('a', 's', 'b'), ('b', 'c')))]
    """
    paths, by_place = _Paths(names), np.empty(len(names), dtype=object)
    by_place[:] = list(names)
    ends, powers, lengths = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
    for tree in trees:
        if tree.ends is not ends:
            ends, lengths = tree.ends, np.diff(tree.ends)
            steps = np.arange(ends[-1]) - np.repeat(ends[:-1], lengths)
            powers = paths.base ** np.minimum(steps, paths.longest)
        fresh = (tree.nodes[ends[:-1]] == tree.root) | (lengths > paths.longest)
        numbers = np.add.reduceat((tree.nodes + 1) * powers, ends[:-1])
        numbers[fresh] = 0
        edges = list(map(paths.__getitem__, numbers.tolist()))
        for length in np.unique(lengths[fresh]).tolist():
            places = np.flatnonzero(fresh & (lengths == length))
            nodes = [by_place[tree.nodes[ends[places] + step]].tolist() for step in range(length)]
            for place, path in zip(places.tolist(), zip(*nodes, strict=True), strict=True):
                edges[place] = path
        yield Tree(by_place[tree.root], tree.multiplicity, tuple(edges))
