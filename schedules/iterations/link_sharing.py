"""Speeds of communications that run at once and share links.

A communication that runs alone has speed 1.  It then uses the share u of a link, 0 <= u <= 1; at
speed s it uses s * u.  The speeds are max-min fair: they rise together from 0, and a communication
keeps the speed at which one of its links is full, or speed 1.

The speeds are exact.  Floating-point numbers only select the few links that may be full; their
relative error is below 1e-12, and the selection leaves a margin of 1e-9.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np
from numpy.typing import NDArray

_MARGIN = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """The links that a communication uses: it takes ``loads[e] / peak`` of link e at speed 1."""

    loads: NDArray[np.int64]
    peak: int

    @classmethod
    def of(cls, *shares: int | Fraction) -> "Row":
        """Return a row of shares, in the order of the links.

        >>> Row.of(1, Fraction(1, 2)).loads.tolist()
        [2, 1]
        """
        peak = lcm(*(Fraction(one).denominator for one in shares))
        return cls(np.array([int(one * peak) for one in shares], np.int64), peak)


class LinkShares:
    """The link shares of all communications of an iteration; speeds are cached.

    >>> half = Fraction(1, 2)
    >>> shares = LinkShares([Row.of(1, 0), Row.of(1, half), Row.of(0, half)])
    >>> [str(speed) for speed in shares.speeds({0, 1, 2}).values()]
    ['1/2', '1/2', '1']
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        width = max((len(row.loads) for row in rows), default=0)
        loads = np.zeros((len(rows), width), np.int64)
        for number, row in enumerate(rows):
            loads[number, : len(row.loads)] = row.loads
        self._peaks = [row.peak for row in rows]
        shares = loads / np.array(self._peaks, float)[:, None] if rows else loads.astype(float)
        kept = shares.sum(axis=0) > 1 - _MARGIN
        self._loads = _greatest(np.unique(loads[:, kept], axis=1))
        self._shares = self._loads / np.array(self._peaks or [1], float)[:, None][: len(rows)]
        used = (self._loads > 0).astype(np.int32)
        beside = used @ used.T > 0
        self._beside = [
            _bits(np.flatnonzero(line)) & ~(1 << row) for row, line in enumerate(beside)
        ]
        self._cache: dict[int, dict[int, Fraction]] = {}
        self._ratios: dict[int, tuple[tuple[int, tuple[int, int]], ...]] = {}

    def speeds(self, active: Iterable[int]) -> dict[int, Fraction]:
        """Return the speed of every communication that runs, by row."""
        left = _bits(active)
        found: dict[int, Fraction] = {}
        while left:
            part = self.component(left & -left, left)
            found |= self.component_speeds(part)
            left &= ~part
        return dict(sorted(found.items()))

    def component(self, rows: int, active: int) -> int:
        """Return the active rows joined to ``rows`` by shared links; both are bit sets."""
        found = fresh = rows
        while fresh:
            row = (fresh & -fresh).bit_length() - 1
            fresh &= fresh - 1
            new = self._beside[row] & active & ~found
            found |= new
            fresh |= new
        return found

    def component_speeds(self, part: int) -> dict[int, Fraction]:
        """Return the speeds of a set of rows that runs alone, given as a bit set."""
        found = self._cache.get(part)
        if found is None:
            found = self._cache[part] = self._filled(part)
        return found

    def component_ratios(self, part: int) -> tuple[tuple[int, tuple[int, int]], ...]:
        """Return every row of a component with numerator and denominator of its speed."""
        found = self._ratios.get(part)
        if found is None:
            speeds = self.component_speeds(part).items()
            found = tuple((row, (one.numerator, one.denominator)) for row, one in speeds)
            self._ratios[part] = found
        return found

    def _filled(self, part: int) -> dict[int, Fraction]:
        """Raise all speeds until a link is full, fix the speeds there, repeat with the others."""
        rows = [row for row in range(part.bit_length()) if part >> row & 1]
        speeds: dict[int, Fraction] = {}
        if len(rows) > 1:
            shares = self._shares[rows]
            kept = shares.sum(axis=0) > 1 - _MARGIN
            shares, links = shares[:, kept], np.flatnonzero(kept)
            fixed = np.zeros(len(rows))
            rising = np.ones(len(rows), bool)
            while len(links) and rising.any():
                level, full = self._level(rows, shares, links, fixed, rising, speeds)
                if level >= 1:
                    break
                for place in full:
                    speeds[rows[place]] = level
                    fixed[place], rising[place] = float(level), False
                kept = (shares[rising] > 0).any(axis=0)
                shares, links = shares[:, kept], links[kept]
        return {row: speeds.get(row, Fraction(1)) for row in rows}

    def _level(
        self,
        rows: list[int],
        shares: NDArray[np.float64],
        links: NDArray[np.int64],
        fixed: NDArray[np.float64],
        rising: NDArray[np.bool_],
        speeds: dict[int, Fraction],
    ) -> tuple[Fraction, set[int]]:
        """Return the common speed at which the first links are full, and the rows that use them."""
        levels = (1 - fixed @ shares) / (rising @ shares)
        near = np.flatnonzero(levels <= levels.min() + _MARGIN)
        # Whole numbers: shares times ``peak``, speeds times ``parts``.  Equal links count once.
        peak = lcm(*(self._peaks[row] for row in rows))
        factors = [peak // self._peaks[row] for row in rows]
        parts = lcm(*(one.denominator for one in speeds.values()))
        taken = [
            0 if up else speeds[row].numerator * (parts // speeds[row].denominator)
            for row, up in zip(rows, rising.tolist(), strict=True)
        ]
        ups = [int(up) for up in rising.tolist()]
        known: dict[tuple[int, ...], Fraction] = {}
        exact: dict[int, Fraction] = {}
        for place, column in zip(
            near.tolist(), self._loads[rows][:, links[near]].T.tolist(), strict=True
        ):
            key = tuple(column)
            if key not in known:
                uses = list(map(mul, key, factors))
                left = parts * peak - sum(map(mul, uses, taken))
                known[key] = Fraction(left, parts * sum(map(mul, uses, ups)))
            exact[place] = known[key]
        level = min(exact.values())
        first = [place for place, one in exact.items() if one == level]
        users = (shares[:, first] > 0).any(axis=1) & rising
        return level, set(np.flatnonzero(users).tolist())


def _greatest(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns that are below no other column in every row.

    Where a link below another is full, the other is full, too, and has all its communications.

    >>> _greatest(np.array([[1, 2, 0], [1, 1, 3]])).tolist()
    [[2, 0], [1, 3]]
    """
    found = np.empty_like(columns)
    count = 0
    # A column below another has a smaller sum.
    for place in np.argsort(-columns.sum(axis=0), kind="stable"):
        column = columns[:, place]
        if not (column[:, None] <= found[:, :count]).all(axis=0).any():
            found[:, count] = column
            count += 1
    return found[:, :count]


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << int(one) for one in numbers)
