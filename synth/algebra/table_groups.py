"""Groups with enumerated elements: SL(2, p), alternating and symmetric groups."""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial

import numpy as np

from topoloom.synth.algebra.groups import Elements
from topoloom.synth.errors import OutOfDomain


@dataclass(frozen=True)
class Linear:
    """SL(2, p): the 2 x 2 matrices of determinant 1 over the field of a prime p.

    Element 0 is the identity; the others are sorted by rows.

    Raises:
        OutOfDomain: p is not a prime up to 13.

    >>> Linear(5).order
    120
    """

    p: int

    def __post_init__(self) -> None:
        if self.p not in (2, 3, 5, 7, 11, 13):
            raise OutOfDomain("p", "must be a prime up to 13")

    @property
    def order(self) -> int:
        """Number of elements, p (p^2 - 1)."""
        return self.p * (self.p**2 - 1)

    @cached_property
    def _matrices(self) -> Elements:
        """(order, 4): entries by row; the identity first."""
        p = self.p
        every = np.stack(np.unravel_index(np.arange(p**4), (p,) * 4), axis=1)
        a, b, c, d = every.T
        matrices = every[(a * d - b * c) % p == 1]
        is_identity = (matrices == (1, 0, 0, 1)).all(axis=1)
        return np.concatenate([matrices[is_identity], matrices[~is_identity]])

    @cached_property
    def _numbers(self) -> Elements:
        """Elements by the value of their entries to the base p."""
        numbers = np.zeros(self.p**4, np.int64)
        numbers[self._values(self._matrices)] = np.arange(self.order)
        return numbers

    def _values(self, matrices: Elements) -> Elements:
        return matrices @ (self.p ** np.arange(3, -1, -1))

    def right(self, element: int) -> Elements:
        """Return the products of all elements with one element; see `Group`."""
        squares = self._matrices.reshape(-1, 2, 2)
        products = squares @ squares[element] % self.p
        return self._numbers[self._values(products.reshape(-1, 4))]


@dataclass(frozen=True)
class Alternating:
    """The even permutations of n letters, or all of them, in lexicographic order.

    Raises:
        OutOfDomain: n is not from 3 to 7.

    >>> Alternating(5).order, Alternating(5, odd_too=True).order
    (60, 120)
    """

    n: int
    odd_too: bool = False

    def __post_init__(self) -> None:
        if not 3 <= self.n <= 7:
            raise OutOfDomain("n", "must be from 3 to 7")

    @property
    def order(self) -> int:
        """Number of elements, n! or half of it."""
        return factorial(self.n) // (1 if self.odd_too else 2)

    @cached_property
    def _images(self) -> Elements:
        """(order, n): images of the letters."""
        images = [p for p in permutations(range(self.n)) if self.odd_too or _even(p)]
        return np.array(images)

    def right(self, element: int) -> Elements:
        """Return the products of all elements with one element; the left factor acts first."""
        weights = self.n ** np.arange(self.n - 1, -1, -1)
        # Lexicographic order is increasing order of these values.
        products = self._images[element][self._images] @ weights
        return np.searchsorted(self._images @ weights, products)


def _even(images: tuple[int, ...]) -> bool:
    pairs = ((i, j) for j in range(len(images)) for i in range(j))
    return sum(images[i] > images[j] for i, j in pairs) % 2 == 0
