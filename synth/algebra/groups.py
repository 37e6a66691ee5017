"""Finite groups with numbered elements, the basis of Cayley digraphs and lifts.

The elements are 0 .. order - 1 with identity 0.  A group computes quickly all products x g with
one element g.  Implementations: `synth.algebra.group_extensions`, `synth.algebra.table_groups`
and `synth.algebra.polycyclic`.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[np.int64]


class Group(Protocol):
    """A finite group on 0 .. order - 1, with identity 0."""

    @property
    def order(self) -> int:
        """Number of elements."""
        raise NotImplementedError

    def right(self, element: int) -> Elements:
        """Return the products x g of all elements x, by x, with one element g."""
        raise NotImplementedError


def inverse(group: Group, element: int) -> int:
    """Return the inverse of an element; O(order).

    >>> from topoloom.synth.algebra.group_extensions import Metacyclic
    >>> inverse(Metacyclic(8, 3, 2), 9)
    13
    """
    return int(np.flatnonzero(group.right(element) == 0)[0])
