"""Latency, rate and the costs of messages and chunks, fitted to measured times.

The model is that of `schedules.simulate`: messages that leave in sequence over one link, with the
given total of chunks and bytes, arrive after

    alpha + messages * overhead + chunks * chunk + bytes / rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule

MAX_ROWS = 10_000
"""Maximum rows of a table."""

DIGITS = 6
"""Significant digits of fitted values, as precise as measured times."""


@dataclass(frozen=True, slots=True)
class Row:
    """Messages sent in sequence, with their total chunks and bytes and their time.

    ``seconds`` is one-way, from the start of the first to the arrival of the last message.
    """

    size_bytes: int
    seconds: float
    messages: int = 1
    chunks: int = 1


@dataclass(frozen=True, slots=True)
class Fit:
    """The costs of a link; ``largest_error`` is that of the worst row, as a share of its time."""

    alpha_seconds: Fraction
    overhead_seconds: Fraction
    chunk_seconds: Fraction
    link_bytes_per_second: Fraction
    largest_error: float


def fit(rows: Sequence[Row]) -> Fit:
    """Return the nonnegative costs whose times are closest to the measured times.

    Args:
        rows: 2 to `MAX_ROWS`, of at least two sizes.  Where the number of messages depends linearly
            on the other columns, the latency includes their cost; likewise for chunks.

    Raises:
        NoSchedule: There are too few or too many rows, a number is out of its range, or times do
            not grow with sizes.

    Least squares of the errors relative to the measured times, so that short and long messages
    have equal weight, over nonnegative costs (Lawson and Hanson, "Solving least squares
    problems", 1974).  Results are rounded to `DIGITS` significant digits.

    >>> sent = [(2**k, 1) for k in range(0, 24, 4)] + [(2**20, 10)]
    >>> told = [Row(n, 1e-5 + m * 2e-6 + n / 1e9, messages=m, chunks=m) for n, m in sent]
    >>> found = fit(told)
    >>> float(found.alpha_seconds), float(found.overhead_seconds), float(found.chunk_seconds)
    (1e-05, 2e-06, 0.0)
    >>> float(found.link_bytes_per_second)
    1000000000.0
    """
    _require_rows(rows)
    seconds = np.array([row.seconds for row in rows])
    columns = np.array([(1, row.size_bytes, row.messages, row.chunks) for row in rows], np.float64)
    used = _independent(columns)
    from scipy.optimize import nnls

    scale = np.where(columns.max(axis=0) > 0, columns.max(axis=0), 1.0)
    shares = columns / scale / seconds[:, None]
    costs = np.zeros(4)
    costs[used] = nnls(shares[:, used], np.ones(len(rows)))[0]
    errors = np.abs(shares @ costs - 1)
    alpha, per_byte, overhead, chunk = costs / scale
    if per_byte <= 0:
        raise NoSchedule("/measured", "must hold times that grow with the bytes")
    return Fit(
        _rounded(alpha),
        _rounded(overhead),
        _rounded(chunk),
        _rounded(1 / per_byte),
        float(errors.max()),
    )


def _require_rows(rows: Sequence[Row]) -> None:
    if not 2 <= len(rows) <= MAX_ROWS:
        raise NoSchedule("/measured", f"must hold 2 to {MAX_ROWS} rows")
    for index, row in enumerate(rows):
        if row.size_bytes < 1 or row.messages < 1 or row.chunks < row.messages:
            rule = "must have bytes and messages from 1, and at least as many chunks as messages"
            raise NoSchedule(f"/measured/{index}", rule)
        if not 0 < row.seconds < float("inf"):
            raise NoSchedule(f"/measured/{index}/seconds", "must be a positive number")
    if len({row.size_bytes for row in rows}) < 2:
        raise NoSchedule("/measured", "must hold at least two sizes")


def _independent(columns: NDArray[np.float64]) -> list[int]:
    """Return the first maximal set of linearly independent columns."""
    used: list[int] = []
    for column in range(columns.shape[1]):
        tried = columns[:, [*used, column]]
        largest = np.abs(tried).max(axis=0)
        if largest.min() > 0 and np.linalg.matrix_rank(tried / largest) > len(used):
            used.append(column)
    return used


def _rounded(value: float) -> Fraction:
    return Fraction(f"{value:.{DIGITS}g}")
