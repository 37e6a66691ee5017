"""Group extensions: cyclic by cyclic, vectors by a matrix, and three cyclic groups."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topoloom.synth.algebra.groups import Elements
from topoloom.synth.errors import OutOfDomain


@dataclass(frozen=True)
class Metacyclic:
    """Z_b extended by Z_a, which acts by r: the metacyclic groups.

    The element x + b i is the pair (x, i); (x, i) (y, j) = (x + r^i y + carry, i + j), where
    the carry is c if i + j >= a and 0 otherwise.  c = 0 gives the semidirect product, r = 1 the
    direct product, a = 2 and r = b - 1 the dihedral group; the latter with c = b / 2 gives the
    dicyclic group.

    Raises:
        OutOfDomain: r^a is not 1 modulo b, or r c is not c: no group.

    >>> Metacyclic(5, 2, 4).right(5).tolist()[:6]
    [5, 6, 7, 8, 9, 10]
    """

    b: int
    r: int
    a: int
    c: int = 0

    def __post_init__(self) -> None:
        for name in ("b", "a"):
            if getattr(self, name) < 1:
                raise OutOfDomain(name, "must be at least 1")
        if not (0 <= self.r < max(self.b, 2) and pow(self.r, self.a, self.b) == 1 % self.b):
            raise OutOfDomain("r", "must be below b, and its power a must be 1 modulo b")
        if not (0 <= self.c < self.b and (self.r * self.c - self.c) % self.b == 0):
            raise OutOfDomain("c", "must be below b, and r c must be c modulo b")

    @property
    def order(self) -> int:
        """Number of elements, a b."""
        return self.a * self.b

    @cached_property
    def _powers(self) -> Elements:
        """The powers of r modulo b, by exponent below a."""
        powers = np.ones(self.a, np.int64) % self.b
        for i in range(1, self.a):
            powers[i] = powers[i - 1] * self.r % self.b
        return powers

    def right(self, element: int) -> Elements:
        """Return the products of all elements with one element; see `Group`."""
        y, j = element % self.b, element // self.b
        i = np.arange(self.a)
        shift = self._powers * y + np.where(i + j >= self.a, self.c, 0)
        x = (np.arange(self.b) + shift[:, None]) % self.b
        return (x + self.b * ((i + j) % self.a)[:, None]).ravel()


@dataclass(frozen=True)
class MatrixExtension:
    """Z_m^k extended by Z_a, which acts by a matrix M; elements are pairs (v, i).

    (v, i) (w, j) = (v + M^i w, i + j).  The number of (v, i) is the value of the digits v_1 v_2 ...
    to the base m, the last digit least significant, plus m^k i.  Affine groups of fields are of
    this kind.

    Raises:
        OutOfDomain: M^a is not the identity modulo m.

    The alternating group of degree 4:

    >>> MatrixExtension(2, ((0, 1), (1, 1)), 3).order
    12
    """

    m: int
    matrix: tuple[tuple[int, ...], ...]
    a: int

    def __post_init__(self) -> None:
        if self.m < 2:
            raise OutOfDomain("m", "must be at least 2")
        if self.a < 1:
            raise OutOfDomain("a", "must be at least 1")
        if any(not 0 <= entry < self.m for row in self.matrix for entry in row):
            raise OutOfDomain("entry", "must be below m")
        one = np.eye(len(self.matrix), dtype=np.int64)
        if (self._power(self.a) != one).any():
            raise OutOfDomain("a", "must be such that the matrix to this power is the identity")

    def _power(self, exponent: int) -> Elements:
        result, square = np.eye(len(self.matrix), dtype=np.int64), np.array(self.matrix)
        while exponent:
            if exponent & 1:
                result = result @ square % self.m
            square, exponent = square @ square % self.m, exponent >> 1
        return result

    @property
    def _vectors(self) -> int:
        return self.m ** len(self.matrix)

    @property
    def order(self) -> int:
        """Number of elements, a m^k."""
        return self.a * self._vectors

    def right(self, element: int) -> Elements:
        """Return the products of all elements with one element; see `Group`."""
        size, k = self._vectors, len(self.matrix)
        weights = self.m ** np.arange(k - 1, -1, -1)
        vectors = np.arange(size)[:, None] // weights % self.m
        moved = self._powers @ vectors[element % size] % self.m
        sums = (vectors + moved[:, None]) % self.m @ weights
        return (sums + size * ((np.arange(self.a) + element // size) % self.a)[:, None]).ravel()

    @cached_property
    def _powers(self) -> Elements:
        """(a, k, k): powers of the matrix, by exponent below a."""
        powers = [np.eye(len(self.matrix), dtype=np.int64)]
        for _ in range(self.a - 1):
            powers.append(powers[-1] @ np.array(self.matrix) % self.m)
        return np.stack(powers)


@dataclass(frozen=True)
class Nested:
    """Z_b extended by (Z_c extended by Z_a): the element x + b (y + c i) is (x, y, i).

    Z_a acts on Z_c by t and on Z_b by s; Z_c acts on Z_b by r:
    (x, y, i) (u, v, j) = (x + s^i r^y u, y + t^i v, i + j).

    Raises:
        OutOfDomain: Not an action: t^a = 1 modulo c and s^a = r^c = r^(t - 1) = 1 modulo b must
            hold.

    >>> Nested(7, 3, 2, 2, 6, 1).order
    42
    """

    b: int
    c: int
    a: int
    r: int
    s: int
    t: int

    def __post_init__(self) -> None:
        for name in ("b", "c", "a"):
            if getattr(self, name) < 1:
                raise OutOfDomain(name, "must be at least 1")
        one = 1 % self.b
        rules = {
            "r": pow(self.r, self.c, self.b) == pow(self.r, (self.t - 1) % self.c, self.b) == one,
            "s": pow(self.s, self.a, self.b) == one,
            "t": pow(self.t, self.a, self.c) == 1 % self.c,
        }
        for name, holds in rules.items():
            if not (holds and 0 <= getattr(self, name) < max(self.b, self.c)):
                raise OutOfDomain(name, "must act: t^a = 1 mod c, s^a = r^c = r^(t-1) = 1 mod b")

    @property
    def order(self) -> int:
        """Number of elements, a b c."""
        return self.a * self.b * self.c

    def right(self, element: int) -> Elements:
        """Return the products of all elements with one element; see `Group`."""
        u, rest = element % self.b, element // self.b
        v, j = rest % self.c, rest // self.c
        i, y, x = np.ogrid[: self.a, : self.c, : self.b]
        on_b, on_c = _powers(self.s, self.a, self.b)[i], _powers(self.t, self.a, self.c)[i]
        first = (x + on_b * _powers(self.r, self.c, self.b)[y] % self.b * u) % self.b
        second, third = (y + on_c * v) % self.c, (i + j) % self.a
        return (first + self.b * (second + self.c * third)).ravel()


def _powers(base: int, count: int, modulus: int) -> Elements:
    powers = [1 % modulus]
    for _ in range(count - 1):
        powers.append(powers[-1] * base % modulus)
    return np.array(powers)
