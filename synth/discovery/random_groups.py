"""Random groups of a given order, of the kinds with a name in recipes."""

from math import gcd

import numpy as np
from numpy.random import Generator

from topoloom.synth.algebra.group_extensions import MatrixExtension, Metacyclic, Nested
from topoloom.synth.algebra.groups import Group
from topoloom.synth.algebra.table_groups import Alternating, Linear
from topoloom.synth.discovery.random_solvable_groups import random_solvable

_FIXED: dict[int, tuple[Group, ...]] = {}
for _group in (
    *(Linear(p) for p in (3, 5, 7, 11, 13)),
    *(Alternating(n) for n in (5, 6, 7)),
    *(Alternating(n, odd_too=True) for n in (4, 5, 6)),
):
    _FIXED[_group.order] = (*_FIXED.get(_group.order, ()), _group)


def random_group(order: int, rng: Generator, *, plain: bool, solvable: bool = False) -> Group:
    """Return a group of this order; ``plain`` restricts it to a product of two cyclic groups.

    ``solvable`` draws half of the groups from the table of solvable groups, or from random cyclic
    extensions of these where the table lacks the order.

    >>> random_group(60, np.random.default_rng(1), plain=True).order
    60
    """
    if solvable and not plain and rng.random() < 0.5:
        group = random_solvable(order, rng)
        if group is not None:
            return group
    if not plain:
        luck = rng.random()
        if luck < 0.3 and order in _FIXED:
            fixed = _FIXED[order]
            return fixed[rng.integers(len(fixed))]
        if luck < 0.5:
            group = _matrix_extension(order, rng)
            if group is not None:
                return group
        elif luck < 0.65:
            return _nested(order, rng)
    return _metacyclic(order, rng, split=plain or rng.random() < 0.7)


def _divisor(number: int, rng: Generator) -> int:
    divisors = [d for d in range(1, number + 1) if number % d == 0]
    return int(rng.choice(divisors))


def _roots(exponent: int, modulus: int) -> list[int]:
    """Return all r with r ** exponent = 1 modulo ``modulus``."""
    if modulus == 1:
        return [0]
    return [r for r in range(1, modulus) if pow(r, exponent, modulus) == 1]


def _metacyclic(order: int, rng: Generator, *, split: bool) -> Metacyclic:
    a = _divisor(order, rng)
    b = order // a
    r = int(rng.choice(_roots(a, b)))
    # r c = c modulo b: c is a multiple of b / gcd(b, r - 1).
    fixed = gcd(b, r - 1) if b > 1 else 1
    c = 0 if split else int(rng.integers(fixed)) * (b // fixed)
    return Metacyclic(b, r, a, c)


def _nested(order: int, rng: Generator) -> Nested:
    a = _divisor(order, rng)
    c = _divisor(order // a, rng)
    b = order // a // c
    t = int(rng.choice(_roots(a, c)))
    both = gcd(c, (t - 1) % c) if c > 1 else 1
    r, s = int(rng.choice(_roots(both, b))), int(rng.choice(_roots(a, b)))
    return Nested(b, c, a, r, s, t)


def _matrix_extension(order: int, rng: Generator) -> MatrixExtension | None:
    """Return a vector group extended by a random matrix whose order divides the cofactor."""
    kinds = [
        (m, k)
        for k in range(2, 7)
        for m in range(2, 1 + round(order ** (1 / k)))
        if order % m**k == 0
    ]
    if not kinds:
        return None
    m, k = kinds[rng.integers(len(kinds))]
    a = order // m**k
    one = np.eye(k, dtype=np.int64)
    matrix = one
    for _ in range(20):
        tried = rng.integers(0, m, (k, k))
        period = _period(tried, m)
        if period is None:
            continue
        power = _power(tried, period // gcd(period, a), m)
        matrix = power
        if (power != one).any():
            break
    rows = tuple(tuple(row) for row in matrix.tolist())
    return MatrixExtension(m, rows, a)


def _period(matrix: np.ndarray, m: int) -> int | None:
    """Return the order of a matrix modulo ``m``; None if not invertible or at least 200."""
    one, power = np.eye(len(matrix), dtype=np.int64), matrix % m
    for exponent in range(1, 200):
        if (power == one).all():
            return exponent
        power = power @ matrix % m
    return None


def _power(matrix: np.ndarray, exponent: int, m: int) -> np.ndarray:
    result = np.eye(len(matrix), dtype=np.int64)
    for _ in range(exponent):
        result = result @ matrix % m
    return result
