"""Isomorphisms between finite groups, all or one, and invariants of their elements.

Groups are given by tables: ``table[x, g]`` is x g, 0 the identity.  Exact: invariants and orders
exclude non-isomorphisms only, and every result is checked on all products with generators.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from topoloom.synth.algebra.groups import Elements, Group
from topoloom.synth.kernels.splitmix import mixed

_DRAWS = 20
_CELLS = 1 << 21
"""Images that are processed together."""

Hashes = NDArray[np.uint64]


class GroupTable:
    """A group by its table, with the invariants that searches for isomorphisms use.

    Args:
        table ((order, order) integers): ``table[x, g]`` is x g.
    """

    def __init__(self, table: Elements) -> None:
        self.table = np.ascontiguousarray(table, np.int64)
        self.order = len(table)

    @classmethod
    def from_group(cls, group: Group) -> Self:
        """Return a group with its table."""
        return cls(np.stack([group.right(element) for element in range(group.order)], axis=1))

    @cached_property
    def colors(self) -> Hashes:
        """Isomorphism invariants of the elements.  O(order^2).

        Initially the order of the element; then, three times, a hash of the invariants of all
        elements and of the products with them.
        """
        every = np.arange(self.order)
        power, color = every.copy(), np.ones(self.order, np.uint64)
        while power.any():
            color += (power > 0).astype(np.uint64)
            power = self.table[power, every]
        color = mixed(color)
        for _ in range(3):
            left, right = color[self.table], color[self.table.T]
            seen = mixed(left + np.uint64(3) * right + np.uint64(7) * color)
            color = mixed(seen.sum(axis=1, dtype=np.uint64) + np.uint64(5) * color)
        return color

    @cached_property
    def invariant(self) -> bytes:
        """An isomorphism invariant that distinguishes nearly all groups."""
        return np.sort(self.colors).tobytes()

    @cached_property
    def steps(self) -> list["Step"]:
        """Generators one by one, rare invariants first, each with the subgroup generated so far."""
        _, class_of, sizes = np.unique(self.colors, return_inverse=True, return_counts=True)
        reached, generators, steps = np.zeros(1, np.int64), list[int](), list[Step]()
        while len(reached) < self.order:
            inside = np.zeros(self.order, bool)
            inside[reached] = True
            best: tuple[float, int, Step] | None = None
            tried: set[tuple[int, int]] = set()
            for element in np.flatnonzero(~inside).tolist():
                step = Step(self.table, [*generators, element])
                kind = (int(class_of[element]), len(step.elements))
                if kind in tried:
                    continue
                tried.add(kind)
                price = np.log(sizes[class_of[element]] + 0.1) / np.log(kind[1] / len(reached))
                if best is None or price < best[0]:
                    best = (float(price), element, step)
                if len(tried) >= 12:
                    break
            assert best is not None
            generators.append(best[1])
            steps.append(best[2])
            reached = best[2].elements
        return steps


class Step:
    """The subgroup that elements generate, with its elements in order of discovery."""

    def __init__(self, table: Elements, generators: list[int]) -> None:
        self.generators = generators
        found, place = [0], {0: 0}
        parents, by = [0], [0]
        for index in _growing(found):
            for number, generator in enumerate(generators):
                element = int(table[found[index], generator])
                if element not in place:
                    place[element] = len(found)
                    found.append(element)
                    parents.append(index)
                    by.append(number)
        self.elements = np.array(found)
        self.parents, self.by = parents, by
        places = np.full(len(table), -1)
        places[self.elements] = np.arange(len(found))
        self.products = places[table[np.ix_(found, generators)]]


def _growing(found: list[int]) -> Iterator[int]:
    index = 0
    while index < len(found):
        yield index
        index += 1


def homomorphisms(source: GroupTable, target: GroupTable) -> Iterator[Elements]:
    """Yield all isomorphisms, several rows of images of 0 .. order - 1 at a time."""
    if source.invariant != target.invariant:
        return
    if source.order == 1:
        yield np.zeros((1, 1), np.int64)
        return
    yield from _extended(source, target, np.zeros((1, 0), np.int64), 0)


def isomorphic(one: GroupTable, other: GroupTable) -> bool:
    """Return whether two groups are isomorphic.

    >>> from topoloom.synth.algebra.polycyclic import Polycyclic
    >>> six, three = Polycyclic((6,), ()), Polycyclic((3, 2), ((0, 1),))
    >>> isomorphic(GroupTable.from_group(six), GroupTable.from_group(three))
    True
    """
    return next(homomorphisms(one, other), None) is not None


def powers(images: Elements, exponent: int) -> Elements:
    """Return the powers of permutations, row by row.

    >>> powers(np.array([[1, 2, 0], [1, 0, 2]]), 2).tolist()
    [[2, 0, 1], [0, 1, 2]]
    """
    power = np.broadcast_to(np.arange(images.shape[1]), images.shape)
    square = images
    while exponent:
        if exponent & 1:
            power = np.take_along_axis(square, power, axis=1)
        exponent >>= 1
        if exponent:
            square = np.take_along_axis(square, square, axis=1)
    return power


def random_automorphism(group: GroupTable, rng: Generator) -> Elements:
    """Return a random automorphism, not uniformly; the identity if all draws fail."""
    for _ in range(_DRAWS):
        images = np.zeros((1, 0), np.int64)
        everywhere = np.zeros((1, 1), np.int64)
        for step in group.steps:
            kept, everywhere = _checked(group, group, step, _continued(group, group, step, images))
            if not len(kept):
                break
            chosen = rng.integers(len(kept))
            images, everywhere = kept[chosen : chosen + 1], everywhere[chosen : chosen + 1]
        else:
            return everywhere[0]
    return np.arange(group.order)


def _continued(source: GroupTable, target: GroupTable, step: "Step", images: Elements) -> Elements:
    """Return images of generators extended by every candidate image of the next generator."""
    like = source.colors[step.generators[-1]]
    candidates = np.flatnonzero(target.colors == like)
    more = np.tile(candidates, len(images))[:, None]
    return np.concatenate([np.repeat(images, len(candidates), axis=0), more], axis=1)


def _extended(
    source: GroupTable, target: GroupTable, images: Elements, level: int
) -> Iterator[Elements]:
    """Yield the isomorphisms that extend partial ones, given by images of some generators."""
    step = source.steps[level]
    like = source.colors[step.generators[-1]]
    cells = len(step.elements) * int((target.colors == like).sum())
    at_once = max(1, _CELLS // cells)
    # Small batches first: the caller may need one only.
    start, width = 0, min(at_once, 16)
    while start < len(images):
        tried = _continued(source, target, step, images[start : start + width])
        start, width = start + width, min(at_once, 4 * width)
        kept, everywhere = _checked(source, target, step, tried)
        if level + 1 < len(source.steps):
            yield from _extended(source, target, kept, level + 1)
        elif len(kept):
            yield everywhere


def _checked(
    source: GroupTable, target: GroupTable, step: Step, tried: Elements
) -> tuple[Elements, Elements]:
    """Return the images that define isomorphisms onto a subgroup, and those of all elements."""
    table = target.table
    moved = np.zeros((len(step.elements), len(tried)), np.int64)
    for index in range(1, len(step.elements)):
        moved[index] = table[moved[step.parents[index]], tried[:, step.by[index]]]
    good = (target.colors[moved] == source.colors[step.elements][:, None]).all(axis=0)
    moved, tried = moved[:, good], tried[good]
    respected = np.ones(len(tried), bool)
    for number in range(len(step.generators)):
        products = moved[step.products[:, number]]
        respected &= (table[moved, tried[:, number]] == products).all(axis=0)
    respected &= (moved[1:] != 0).all(axis=0)
    everywhere = np.zeros((int(respected.sum()), source.order), np.int64)
    everywhere[:, step.elements] = moved[:, respected].T
    return tried[respected], everywhere
