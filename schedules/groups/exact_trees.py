"""Exact weights of trees, and exact lengths of arcs, close to a solution in floats.

References:
    Gleixner, Steffy and Wolter, "Iterative refinement for linear programming", 2016: residuals are
    exact, corrections are in floats, and the result is rounded to small denominators.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.groups.joint_program import Column, JointProgram

LONGEST = 1 << 30
"""Maximum length of an arc: sums of the lengths of a path are exact as floats."""

_POSITIVE, _TIGHT = 1e-9, 1e-7
_UNITS = (1 << 10, 1 << 20, 1 << 40)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Weights: TypeAlias = tuple[tuple[Column, Fraction], ...]


class MasterSolution(NamedTuple):
    """Floats: the ``weights`` of columns, the prices ``lengths`` of resources, and the time."""

    columns: list[Column]
    weights: Floats
    lengths: Floats
    time: float

    @property
    def used(self) -> list[int]:
        """The columns with a positive weight."""
        return np.flatnonzero(self.weights > _POSITIVE).tolist()


def exact_lengths(program: JointProgram, found: MasterSolution) -> Ints | None:
    """Return integer lengths under which all used trees of a class cost exactly the same.

    None if no such lengths up to `LONGEST` are found.
    """
    columns = [found.columns[at] for at in found.used]
    priced = np.flatnonzero(found.lengths > _POSITIVE * found.lengths.max())
    matrix = np.zeros((len(columns) + 1, len(priced) + len(program.classes)), np.int64)
    start = np.zeros(matrix.shape[1])
    start[: len(priced)] = found.lengths[priced]
    for row, column in enumerate(columns):
        loads = column.loads // program.classes[column.kind].total
        matrix[row, : len(priced)] = loads[priced]
        matrix[row, len(priced) + column.kind] = -1
        start[len(priced) + column.kind] = float(loads @ found.lengths)
    matrix[-1, : len(priced)] = np.array(program.room)[priced]
    right = np.zeros(len(matrix), np.int64)
    right[-1] = 1
    solution = exact_solution(matrix, right, start)
    if solution is None or min(solution) < 0:
        return None
    exact = solution[: len(priced)]
    scale = lcm(*(value.denominator for value in exact))
    whole = [int(value * scale) for value in exact]
    common = gcd(*whole)
    if max(whole) // common > LONGEST:
        return None
    lengths = np.zeros(len(program.room), np.int64)
    lengths[priced] = [value // common for value in whole]
    return lengths


def exact_weights(program: JointProgram, found: MasterSolution) -> Iterator[Weights]:
    """Yield weights with sum 1 in every class: those of the exact vertex, and on grids."""
    columns = [found.columns[at] for at in found.used]
    weights = found.weights[found.used]
    kinds = np.array([column.kind for column in columns])
    loads = np.stack([column.loads for column in columns], axis=1)
    room = np.array(program.room)
    slack = found.time * room - loads @ weights
    tight = np.flatnonzero(slack <= _TIGHT * found.time * room)
    classes = (np.arange(len(program.classes))[:, None] == kinds).astype(np.int64)
    none = np.zeros((len(classes), 1), np.int64)
    matrix = np.block([[classes, none], [loads[tight], -room[tight][:, None]]])
    right = np.array([1] * len(classes) + [0] * len(tight))
    solution = exact_solution(matrix, right, np.append(weights, found.time))
    if solution is not None and min(solution) >= 0:
        yield _positive(columns, solution[:-1])
    floats = tuple(
        (column, Fraction(weight)) for column, weight in zip(columns, weights.tolist(), strict=True)
    )
    for unit in _UNITS:
        yield on_grid(floats, unit)


def on_grid(weights: Weights, unit: int) -> Weights:
    """Return the weights rounded to multiples of 1 / unit, with sum 1 in every class."""
    sums: dict[int, Fraction] = defaultdict(Fraction)
    for column, weight in weights:
        sums[column.kind] += weight
    exact = [weight * unit / sums[column.kind] for column, weight in weights]
    near = [int(value) for value in exact]
    rest = dict.fromkeys(sums, unit)
    for (column, _), part in zip(weights, near, strict=True):
        rest[column.kind] -= part
    # The largest remainders are rounded up.
    for at in sorted(range(len(near)), key=lambda at: near[at] - exact[at]):
        kind = weights[at][0].kind
        near[at] += rest[kind] > 0
        rest[kind] -= 1
    columns = [column for column, _ in weights]
    return _positive(columns, [Fraction(part, unit) for part in near])


def _positive(columns: Sequence[Column], weights: Sequence[Fraction]) -> Weights:
    pairs = zip(columns, weights, strict=True)
    return tuple((column, weight) for column, weight in pairs if weight)


def slowest(program: JointProgram, chosen: Weights) -> Fraction:
    """Return the time of weighted trees: the largest load over capacity, exactly."""
    scale = lcm(*(weight.denominator for _, weight in chosen))
    loads = np.zeros(len(program.room), object)
    for column, weight in chosen:
        loads += column.loads.astype(object) * int(weight * scale)
    return max(
        Fraction(int(load), size * scale) for load, size in zip(loads, program.room, strict=True)
    )


ROUNDS = 40
"""Corrections; each adds about 12 digits."""

MOST_DENOMINATOR = 1 << 600
"""Maximum denominator of a result: a determinant of the matrix."""

MAX_ENTRIES = 1 << 20
"""Maximum entries of a matrix: about ten seconds."""

_BITS = 1250


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
