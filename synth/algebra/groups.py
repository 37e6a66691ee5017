"""Finite groups whose elements are numbers: what Cayley digraphs and lifts are built on.

Every group here has the elements 0 .. order - 1, of which 0 is the identity, and answers one
question quickly: all products x g of every element x with one element g.  They are in
`synth.algebra.group_extensions` and `synth.algebra.table_groups`.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[np.int64]


class Group(Protocol):
    """A finite group on 0 .. order - 1, with identity 0."""

    @property
    def order(self) -> int:
        """How many elements there are."""
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
