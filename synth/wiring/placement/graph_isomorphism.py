"""Which node plays which: isomorphisms between directed multigraphs, by refinement.

Colours of nodes are refined until nodes of one colour have equally many links from and to
every colour (one-dimensional Weisfeiler-Leman).  Where a colour has several nodes one of them
is singled out and refinement goes on; the other graph follows with every candidate of the same
colour until both stay alike to the end.  On graphs with many automorphisms nearly every
candidate is right, on others few are left: both kinds need few steps.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.progress import tell

__all__ = ["Arcs", "isomorphism"]

Integers = NDArray[np.int64]

MOST_REFINEMENTS = 20_000
"""Refinements after which the search gives up."""

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Arcs:
    """A directed multigraph on nodes 0..size-1: parallel arcs counted."""

    size: int
    sources: Integers
    targets: Integers
    counts: Integers

    @classmethod
    def of(cls, size: int, sources: Integers, targets: Integers) -> "Arcs":
        """Return the graph of these arcs, parallel ones repeated."""
        keys, counts = np.unique(sources * size + targets, return_counts=True)
        return cls(size, keys // size, keys % size, counts.astype(np.int64))

    @property
    def keys(self) -> Integers:
        """The arcs as sorted numbers ``source * size + target``."""
        return self.sources * self.size + self.targets


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _refined(graph: Arcs, colours: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return colours as hashes that depend on nothing but the graph and the first colours.

    Equal hashes of unequal nodes are possible, if improbable: an isomorphism is checked.
    """
    kinds = len(np.unique(colours))
    counts = graph.counts.astype(np.uint64)
    while True:
        ahead, back = np.zeros((2, graph.size), np.uint64)
        np.add.at(ahead, graph.sources, _mixed(colours[graph.targets] * _ODD + counts))
        np.add.at(back, graph.targets, _mixed(colours[graph.sources] + counts * _ODD))
        fresh = _mixed(_mixed(colours + ahead * _ODD) + back)
        found = len(np.unique(fresh))
        if found == kinds:
            return fresh
        colours, kinds = fresh, found


def isomorphism(one: Arcs, other: Arcs) -> Integers | None:
    """Return for every node of one graph the node of the other that it corresponds to.

    None if there is no isomorphism, or none was found in `MOST_REFINEMENTS` refinements.

    >>> path = Arcs.of(3, np.array([0, 1]), np.array([1, 2]))
    >>> isomorphism(path, Arcs.of(3, np.array([2, 0]), np.array([0, 1]))).tolist()
    [2, 0, 1]
    >>> isomorphism(path, Arcs.of(3, np.array([0, 0]), np.array([1, 2]))) is None
    True
    """
    if one.size != other.size or len(one.keys) != len(other.keys):
        return None
    if not np.array_equal(np.sort(one.counts), np.sort(other.counts)):
        return None
    start = np.ones(one.size, np.uint64)
    return _Search(one, other).run(_refined(one, start), _refined(other, start), 0)


class _Search:
    def __init__(self, one: Arcs, other: Arcs) -> None:
        self.one, self.other = one, other
        self.left = MOST_REFINEMENTS
        self._path: list[tuple[int, NDArray[np.uint64]]] = []

    def run(
        self, mine: NDArray[np.uint64], theirs: NDArray[np.uint64], depth: int
    ) -> Integers | None:
        """Go on from two colourings; every depth singles out one node more."""
        if not np.array_equal(np.sort(mine), np.sort(theirs)):
            return None
        colours, counts = np.unique(mine, return_counts=True)
        if len(colours) == self.one.size:
            return self._checked(mine, theirs)
        # The smallest colour that has several nodes has the fewest candidates.
        colour = colours[np.flatnonzero(counts > 1)[np.argmin(counts[counts > 1])]]
        if depth == len(self._path):
            node = int(np.flatnonzero(mine == colour)[0])
            self._path.append((node, self._single(self.one, mine, node, depth)))
        fixed = self._path[depth][1]
        for candidate in np.flatnonzero(theirs == colour).tolist():
            if self.left <= 0:
                return None
            self.left -= 1
            tell("looking for today's topology", depth, self.one.size)
            found = self.run(fixed, self._single(self.other, theirs, candidate, depth), depth + 1)
            if found is not None:
                return found
        return None

    @staticmethod
    def _single(
        graph: Arcs, colours: NDArray[np.uint64], node: int, depth: int
    ) -> NDArray[np.uint64]:
        fresh = colours.copy()
        fresh[node] = _mixed(np.array([depth + 1], np.uint64) * _ODD + fresh[node : node + 1])[0]
        return _refined(graph, fresh)

    def _checked(self, mine: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> Integers | None:
        image = np.empty(self.one.size, np.int64)
        image[np.argsort(mine)] = np.argsort(theirs)
        keys = image[self.one.sources] * self.one.size + image[self.one.targets]
        order = np.argsort(keys)
        same = np.array_equal(keys[order], self.other.keys)
        return image if same and np.array_equal(self.one.counts[order], self.other.counts) else None
