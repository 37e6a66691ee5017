"""Isomorphisms between finite groups, all of them or one, and colours that isomorphisms keep.

Groups are given by their tables: ``table[x, g]`` is x g, 0 the identity.  Exact: what is left out
by colours and by orders is no isomorphism, and what is returned is one, as it was checked on
all products with generators.
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
"""So many images are looked at side by side."""

Hashes = NDArray[np.uint64]


class Tabled:
    """A group by its table, with what searches for isomorphisms ask it for.

    Parameters
    ----------
    table : (order, order) integers
        ``table[x, g]`` is x g.
    """

    def __init__(self, table: Elements) -> None:
        self.table = np.ascontiguousarray(table, np.int64)
        self.order = len(table)

    @classmethod
    def of(cls, group: Group) -> Self:
        """Return a group with its table."""
        return cls(np.stack([group.right(element) for element in range(group.order)], axis=1))

    @cached_property
    def colours(self) -> Hashes:
        """By element a number that isomorphisms keep.  O(order^2).

        At first the order of the element; then, three times, all of them together that the other
        elements and the products with these have.
        """
        every = np.arange(self.order)
        power, colour = every.copy(), np.ones(self.order, np.uint64)
        while power.any():
            colour += (power > 0).astype(np.uint64)
            power = self.table[power, every]
        colour = mixed(colour)
        for _ in range(3):
            left, right = colour[self.table], colour[self.table.T]
            seen = mixed(left + np.uint64(3) * right + np.uint64(7) * colour)
            colour = mixed(seen.sum(axis=1, dtype=np.uint64) + np.uint64(5) * colour)
        return colour

    @cached_property
    def invariant(self) -> bytes:
        """The same for isomorphic groups, and hardly ever for others."""
        return np.sort(self.colours).tobytes()

    @cached_property
    def steps(self) -> list["Step"]:
        """Generators one by one, few colours first, and how each group is reached from the last."""
        _, class_of, sizes = np.unique(self.colours, return_inverse=True, return_counts=True)
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
    """The group that elements generate, its elements in the order in which they are reached."""

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


def homomorphisms(source: Tabled, target: Tabled) -> Iterator[Elements]:
    """Yield all isomorphisms, many rows of images of 0 .. order - 1 at once."""
    if source.invariant != target.invariant:
        return
    if source.order == 1:
        yield np.zeros((1, 1), np.int64)
        return
    yield from _extended(source, target, np.zeros((1, 0), np.int64), 0)


def isomorphic(one: Tabled, other: Tabled) -> bool:
    """Return whether there is an isomorphism.

    >>> from topoloom.synth.algebra.polycyclic import Polycyclic
    >>> six, three = Polycyclic((6,), ()), Polycyclic((3, 2), ((0, 1),))
    >>> isomorphic(Tabled.of(six), Tabled.of(three))
    True
    """
    return next(homomorphisms(one, other), None) is not None


def powers(images: Elements, exponent: int) -> Elements:
    """Return the powers of permutations, row by row.

    >>> powers(np.array([[1, 2, 0], [1, 0, 2]]), 2).tolist()
    [[2, 0, 1], [0, 1, 2]]
    """
    found = np.broadcast_to(np.arange(images.shape[1]), images.shape)
    square = images
    while exponent:
        if exponent & 1:
            found = np.take_along_axis(square, found, axis=1)
        exponent >>= 1
        if exponent:
            square = np.take_along_axis(square, square, axis=1)
    return found


def random_automorphism(group: Tabled, rng: Generator) -> Elements:
    """Return a random automorphism, not all with the same probability; at worst the identity."""
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


def _continued(source: Tabled, target: Tabled, step: "Step", images: Elements) -> Elements:
    """Return images of some generators with every element that one more may go to."""
    like = source.colours[step.generators[-1]]
    candidates = np.flatnonzero(target.colours == like)
    more = np.tile(candidates, len(images))[:, None]
    return np.concatenate([np.repeat(images, len(candidates), axis=0), more], axis=1)


def _extended(source: Tabled, target: Tabled, images: Elements, level: int) -> Iterator[Elements]:
    """Yield what is left of partial isomorphisms, given by the images of some generators."""
    step = source.steps[level]
    like = source.colours[step.generators[-1]]
    cells = len(step.elements) * int((target.colours == like).sum())
    at_once = max(1, _CELLS // cells)
    # Few at first: one may be all that is asked for.
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
    source: Tabled, target: Tabled, step: Step, tried: Elements
) -> tuple[Elements, Elements]:
    """Return the images that make isomorphisms onto a subgroup, and those of all elements."""
    table = target.table
    moved = np.zeros((len(step.elements), len(tried)), np.int64)
    for index in range(1, len(step.elements)):
        moved[index] = table[moved[step.parents[index]], tried[:, step.by[index]]]
    good = (target.colours[moved] == source.colours[step.elements][:, None]).all(axis=0)
    moved, tried = moved[:, good], tried[good]
    respected = np.ones(len(tried), bool)
    for number in range(len(step.generators)):
        products = moved[step.products[:, number]]
        respected &= (table[moved, tried[:, number]] == products).all(axis=0)
    respected &= (moved[1:] != 0).all(axis=0)
    everywhere = np.zeros((int(respected.sum()), source.order), np.int64)
    everywhere[:, step.elements] = moved[:, respected].T
    return tried[respected], everywhere
