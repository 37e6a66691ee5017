"""Polycyclic groups: every finite solvable group, as a chain of cyclic extensions.

A group H is extended by an element t whose power m, and no lower power, lies in H: t acts on H by
an automorphism s, and t^m = h.  This is a group exactly if s(h) = h and s^m is conjugation by h
(Hölder; M. Hall, "The Theory of Groups", theorem 15.3.1).  Every finite solvable group is a chain
of such extensions with m prime.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import prod
from typing import Self

import numpy as np

from topoloom.synth.algebra.groups import Elements
from topoloom.synth.errors import OutOfDomain
from topoloom.synth.limits import MAX_NODES, capped_product

MOST_GENERATORS = 16


@dataclass(frozen=True)
class Polycyclic:
    """The group of generators g_1, ..., g_k, each extending the group of the previous ones.

    The element e_1 + m_1 (e_2 + m_2 (e_3 + ...)) is g_1^e_1 g_2^e_2 g_3^e_3 ... with e_i < m_i.

    Attributes:
        orders: m_1, ..., m_k: g_i to the power m_i is an element of the group before g_i.
        relations: For each generator but the first: its power g_i^m_i, then its conjugates g_i g_1
            g_i^-1, g_i g_2 g_i^-1, ...; all elements of the group before g_i.

    Raises:
        OutOfDomain: The relations define no group of order m_1 m_2 ... m_k.

    Checking the relations of a step takes O(k) operations on all elements.  So does a product of
    all elements with one element, times the logarithms of the m_i.

    The quaternions: g_1 of order 4; g_2 squared is g_1 squared, and g_2 inverts g_1:

    >>> Polycyclic((4, 2), ((2, 3),)).right(4).tolist()
    [4, 5, 6, 7, 2, 3, 0, 1]
    """

    orders: tuple[int, ...]
    relations: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.orders or any(order < 2 for order in self.orders):
            raise OutOfDomain("orders", "must be at least one number of at least 2")
        counts = [len(relation) for relation in self.relations]
        if counts != list(range(2, len(self.orders) + 1)):
            raise OutOfDomain("relations", "must be a power and i - 1 conjugates for generator i")
        _ = self._rights

    @classmethod
    def read(cls, numbers: Sequence[int]) -> tuple[Self, tuple[int, ...]]:
        """Return the group encoded by a prefix of numbers (`numbers`), and the remaining numbers.

        >>> Polycyclic.read((2, 4, 2, 2, 3, 1, 4))
        (Polycyclic(orders=(4, 2), relations=((2, 3),)), (1, 4))
        """
        count, rest = (numbers[0] if numbers else 0), tuple(numbers[1:])
        if not 1 <= count <= MOST_GENERATORS:
            raise OutOfDomain("k", f"must be from 1 to {MOST_GENERATORS}")
        orders, rest = rest[:count], rest[count:]
        if capped_product(*orders) > MAX_NODES:
            raise OutOfDomain("order", f"must be at most {MAX_NODES}")
        relations = []
        for number in range(2, count + 1):
            relations.append(rest[:number])
            rest = rest[number:]
        return cls(orders, tuple(relations)), rest

    @property
    def numbers(self) -> tuple[int, ...]:
        """Number of generators, their orders, and the relations.

        >>> Polycyclic((4, 2), ((2, 3),)).numbers
        (2, 4, 2, 2, 3)
        """
        return len(self.orders), *self.orders, *chain.from_iterable(self.relations)

    @property
    def order(self) -> int:
        """Number of elements, m_1 m_2 ... m_k."""
        return prod(self.orders)

    @cached_property
    def _rights(self) -> list[Elements]:
        """Products of all elements with g_1, ..., g_k."""
        first = self.orders[0]
        rights = [np.roll(np.arange(first), -1)]
        for number, relation in enumerate(self.relations, start=1):
            rights = _extended(rights, self.orders[: number + 1], relation)
        return rights

    def right(self, element: int) -> Elements:
        """Return the products of all elements with one element; see `Group`."""
        return _product_by(self._rights, self.orders, element)


def _product_by(rights: Sequence[Elements], orders: Sequence[int], element: int) -> Elements:
    """Return the products of all elements with one element, from those with the generators."""
    products = np.arange(len(rights[0]))
    for right, order in zip(rights, orders, strict=True):
        element, exponent = divmod(element, order)
        while exponent:
            if exponent & 1:
                products = right[products]
            exponent >>= 1
            if exponent:
                right = right[right]
    return products


def _extended(
    rights: list[Elements], orders: tuple[int, ...], relation: tuple[int, ...]
) -> list[Elements]:
    """Return the products with the generators of a group and of its extension by one more.

    Raises `OutOfDomain` if the relation defines no extension.
    """
    *before, order = orders
    size = len(rights[0])
    if not all(0 <= element < size for element in relation):
        raise OutOfDomain("relations", f"must be elements 0 to {size - 1} of the smaller group")
    power, *images = relation
    products: dict[int, Elements] = {}

    def by(element: int) -> Elements:
        if element not in products:
            products[element] = _product_by(rights, before, element)
        return products[element]

    moved = _homomorphism([by(image) for image in images], before)
    columns = [_iterated(moved, int(right[0]), order) for right in rights]
    automorphism = all(
        (moved[right] == by(image)[moved]).all()
        for right, image in zip(rights, images, strict=True)
    )
    # Conjugation applied m times must equal conjugation by the m-th power.
    inner = all(
        by(power)[column[order]] == right[power]
        for column, right in zip(columns, rights, strict=True)
    )
    if not (automorphism and inner and moved[power] == power):
        rule = "must define a group: conjugation by g is an automorphism, and m times that by g^m"
        raise OutOfDomain("relations", rule)
    extended = [
        np.concatenate([by(image) + size * place for place, image in enumerate(column[:order])])
        for column in columns
    ]
    return [*extended, np.concatenate([np.arange(size, size * order), by(power)])]


def _iterated(moved: Elements, element: int, times: int) -> list[int]:
    """Return an element and its images under a map applied 1, 2, ..., ``times`` times."""
    column = [element]
    for _ in range(times):
        column.append(int(moved[column[-1]]))
    return column


def _homomorphism(images: Sequence[Elements], orders: Sequence[int]) -> Elements:
    """Return the images of all elements, from products with the images of the generators."""
    moved = np.zeros(1, np.int64)
    for right, order in zip(images, orders, strict=True):
        blocks = [moved]
        for _ in range(order - 1):
            blocks.append(right[blocks[-1]])
        moved = np.concatenate(blocks)
    return moved
