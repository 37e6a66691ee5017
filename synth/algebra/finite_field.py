"""Finite fields of every order up to a limit: exact arithmetic on arrays of elements.

The element c_0 + c_1 p + c_2 p^2 + ... is the polynomial c_0 + c_1 x + c_2 x^2 + ... over the
residues mod p, modulo a primitive polynomial.  So 0 and 1 are the zero and the one, and 0..p-1
are the residues.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topoloom.synth.errors import OutOfDomain

MAX_ORDER = 2048


@dataclass(frozen=True, slots=True, eq=False)
class FiniteField:
    """The field of q = characteristic ** dimension elements, numbered 0..q-1.

    Operations take integers or integer arrays of elements, with broadcasting, and return int64
    arrays.

    Attributes:
        powers (ndarray of int64, shape (q - 1,)): Powers 0, 1, ... of a primitive element, which is
            ``powers[1]`` for q > 2.
    """

    order: int
    characteristic: int
    dimension: int
    powers: NDArray[np.int64]
    _logarithms: NDArray[np.int64]

    def add(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.int64]:
        """Return the sums; O(dimension) a sum."""
        a, b = np.asarray(left, np.int64), np.asarray(right, np.int64)
        total = np.zeros(np.broadcast_shapes(a.shape, b.shape), np.int64)
        p, place = self.characteristic, 1
        for _ in range(self.dimension):
            total = total + (a // place + b // place) % p * place
            place *= p
        return total

    def negative(self, elements: ArrayLike) -> NDArray[np.int64]:
        """Return the additive inverses."""
        return self.multiply(self.characteristic - 1, elements)

    def subtract(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.int64]:
        """Return the differences."""
        return self.add(left, self.negative(right))

    def multiply(self, *factors: ArrayLike) -> NDArray[np.int64]:
        """Return the product of all factors."""
        arrays = np.broadcast_arrays(*(np.asarray(factor, np.int64) for factor in factors))
        exponents = sum((self._logarithms[array] for array in arrays), np.int64(0))
        product_ = self.powers[exponents % (self.order - 1)]
        return np.where(np.logical_and.reduce([array != 0 for array in arrays]), product_, 0)

    def times(self, integer: int, elements: ArrayLike) -> NDArray[np.int64]:
        """Return the integer multiples: ``integer`` summands of each element."""
        return self.multiply(integer % self.characteristic, elements)


@lru_cache(maxsize=32)
def finite_field(order: int) -> FiniteField:
    """Return the field of this order.

    Args:
        order: A prime power of at most `MAX_ORDER`.

    Raises:
        OutOfDomain: No such field exists, or it is too large.

    Tries monic polynomials of degree k in numeric order until one is primitive: the powers of x
    modulo the polynomial are p^k - 1 distinct elements.  Then every residue but 0 is a power of
    x and has an inverse, so the residues form a field.  For k = 1 the polynomial is x - g with a
    primitive root g.

    >>> four = finite_field(4)
    >>> four.multiply([[1], [2], [3]], [1, 2, 3]).tolist()
    [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
    >>> four.add(2, [0, 1, 2, 3]).tolist()
    [2, 3, 0, 1]
    """
    if not is_prime_power(order):
        raise OutOfDomain("q", f"must be a prime power of at most {MAX_ORDER}")
    p = next(p for p in range(2, order + 1) if order % p == 0)
    k = next(k for k in range(1, order) if p**k == order)
    candidates = (_powers_of_x(p, reduction) for reduction in product(range(p), repeat=k))
    powers = next(powers_of_x for powers_of_x in candidates if len(powers_of_x) == order - 1)
    logarithms = np.zeros(order, np.int64)
    logarithms[powers] = np.arange(order - 1)
    return FiniteField(order, p, k, np.array(powers), logarithms)


def is_prime_power(number: int) -> bool:
    """Return whether a number is a prime power of at most `MAX_ORDER`.

    >>> [q for q in range(20) if is_prime_power(q)]
    [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19]
    """
    return number in _prime_powers()


def prime_powers(most: int = MAX_ORDER) -> list[int]:
    """Return the prime powers from 2 to ``most``, increasing.

    >>> prime_powers(11)
    [2, 3, 4, 5, 7, 8, 9, 11]
    """
    return sorted(q for q in _prime_powers() if q <= most)


@lru_cache(maxsize=1)
def _prime_powers() -> frozenset[int]:
    orders: set[int] = set()
    for p in range(2, MAX_ORDER + 1):
        if all(p % d for d in range(2, int(p**0.5) + 1)):
            power = p
            while power <= MAX_ORDER:
                orders.add(power)
                power *= p
    return frozenset(orders)


def _powers_of_x(p: int, reduction: tuple[int, ...]) -> list[int]:
    """Return the distinct powers 1, x, x^2, ... where x^k is the given polynomial.

    The list ends at the first repetition.
    """
    k = len(reduction)
    top = p ** (k - 1)
    wrapped = [sum((lead * c % p) * p**i for i, c in enumerate(reduction)) for lead in range(p)]
    powers, seen, element = [], set(), 1
    while element not in seen and element:
        seen.add(element)
        powers.append(element)
        lead, low = divmod(element, top)
        shifted, extra = low * p, wrapped[lead]
        element, place = 0, 1
        for _ in range(k):
            element += (shifted // place + extra // place) % p * place
            place *= p
    return powers
