"""A selection of group elements with their products, as the kernels need them."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.random import Generator
from numpy.typing import NDArray

from topoloom.synth.algebra.groups import Group

_ALL_UP_TO = 256
_CHOSEN = 96
_INVOLUTIONS = 8


class Selection(NamedTuple):
    """Elements available as voltages, closed under inverses; the identity comes first."""

    elements: NDArray[np.int64]
    product: NDArray[np.uint16]
    """(selected, order): the products of all elements with the selected ones."""
    inverse: NDArray[np.int64]
    """By index in the selection."""
    involutions: NDArray[np.int64]
    """Indices of the elements of order 2."""


def select(group: Group, rng: Generator) -> Selection:
    """Return all elements of a small group, or a random selection for a large group.

    The full product table of a group of order 4096 would take longer than a search.  For large
    groups the selection adds some involutions among powers of selected elements.

    >>> from topoloom.synth.algebra.group_extensions import Metacyclic
    >>> select(Metacyclic(4, 1, 1), np.random.default_rng(1)).inverse.tolist()
    [0, 3, 2, 1]
    """
    if group.order <= _ALL_UP_TO:
        chosen = np.arange(group.order)
    else:
        chosen = rng.choice(np.arange(1, group.order), _CHOSEN, replace=False)
    rows: dict[int, NDArray[np.int64]] = {0: group.right(0)}
    back: dict[int, int] = {0: 0}
    for element in chosen.tolist():
        _add(group, element, rows, back)
    if group.order > _ALL_UP_TO:
        for involution in _involutions(rows):
            _add(group, involution, rows, back)
    elements = np.array(sorted(rows))
    number = {element: index for index, element in enumerate(elements.tolist())}
    inverse = np.array([number[back[element]] for element in elements.tolist()])
    product = np.stack([rows[element] for element in elements.tolist()]).astype(np.uint16)
    numbers = np.arange(len(elements))
    return Selection(elements, product, inverse, numbers[(inverse == numbers) & (numbers > 0)])


def _add(
    group: Group, element: int, rows: dict[int, NDArray[np.int64]], back: dict[int, int]
) -> None:
    """Add an element g and its inverse, the x with x g = 0."""
    if element not in rows:
        rows[element] = group.right(element)
        inverse = int(np.argmin(rows[element]))
        if inverse != element:
            rows[inverse] = group.right(inverse)
        back[element], back[inverse] = inverse, element


def _involutions(rows: dict[int, NDArray[np.int64]]) -> list[int]:
    """Return a few elements of order 2 among the powers of the elements of even order."""
    found: set[int] = set()
    if len(rows[0]) % 2:
        return []
    for element, row in rows.items():
        power = int(_half_way(element, row))
        if power:
            found.add(power)
        if len(found) == _INVOLUTIONS:
            break
    return sorted(found)


@njit(cache=True, nogil=True)
def _half_way(element: int, row: Any) -> int:
    """Return the power of an element at half its order; 0 for odd orders."""
    order, power = 1, element
    while power:
        power = row[power]
        order += 1
    if order % 2:
        return 0
    power = element
    for _ in range(order // 2 - 1):
        power = row[power]
    return power
