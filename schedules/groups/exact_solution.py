"""Exact solutions of linear equations close to a solution in floats.

References:
    Gleixner, Steffy and Wolter, "Iterative refinement for linear programming", 2016: residuals are
    exact, corrections are in floats, and the result is rounded to small denominators.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

ROUNDS = 40
"""Corrections; each adds about 12 digits."""

MOST_DENOMINATOR = 1 << 600
"""Maximum denominator of a result: a determinant of the matrix."""

MAX_ENTRIES = 1 << 20
"""Maximum entries of a matrix: about ten seconds."""

_BITS = 1250

Ints = NDArray[np.int64]


def exact_solution(
    matrix: Ints, right: Ints, start: NDArray[np.float64]
) -> tuple[Fraction, ...] | None:
    """Return the exact solution of ``matrix @ x = right`` near ``start``; None if none is found.

    Args:
        start: A solution up to rounding errors.

    >>> matrix, right = np.array([[3, 1], [1, -1]]), np.array([2, 0])
    >>> exact_solution(matrix, right, np.array([0.4999, 0.5001]))
    (Fraction(1, 2), Fraction(1, 2))
    """
    if matrix.size > MAX_ENTRIES:
        return None
    rows, columns = np.nonzero(matrix)
    values = matrix[rows, columns].astype(object)
    inverse = np.linalg.pinv(matrix.astype(float))
    unit = 1 << _BITS
    found = np.array([int(Fraction(value) * unit) for value in start.tolist()], object)
    goal = right.astype(object) * unit
    for _ in range(ROUNDS):
        left = goal.copy()
        np.subtract.at(left, rows, values * found[columns])
        size = max((abs(part) for part in left), default=0)
        if size == 0:
            break
        small = inverse @ np.array([float(Fraction(part, size)) for part in left])
        found += np.array([int(Fraction(value) * size) for value in small.tolist()], object)
    near = tuple(Fraction(value, unit).limit_denominator(MOST_DENOMINATOR) for value in found)
    sums = [Fraction(-int(part)) for part in right]
    for row, column, value in zip(rows.tolist(), columns.tolist(), values, strict=True):
        sums[row] += value * near[column]
    return None if any(sums) else near
