"""Speeds of communications that run at once and share links.

A communication that runs alone has speed 1.  It then uses the share u of a link, 0 <= u <= 1; at
speed s it uses s * u.  The speeds are max-min fair: they rise together from 0, and a communication
keeps the speed at which one of its links is full, or speed 1.

The speeds are exact.  Floating-point numbers only select the few links that may be full; their
relative error is below 1e-12, and the selection leaves a margin of 1e-9.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numba import njit
from numpy.typing import NDArray

from topoloom.schedules.iterations.communications import Row

_MARGIN = 1e-9
_ALONE = Fraction(1)


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
        # By link and row.
        self._loads = _greatest(np.ascontiguousarray(loads[:, kept].T))
        self._shares = self._loads / np.array(self._peaks, float)
        used = (self._loads > 0).astype(np.int32)
        beside = used.T @ used > 0
        self._beside = [
            _bits(np.flatnonzero(line)) & ~(1 << row) for row, line in enumerate(beside)
        ]
        self._uses: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self._ratios: dict[int, tuple[tuple[int, tuple[int, int]], ...]] = {}

    def speeds(self, active: Iterable[int]) -> dict[int, Fraction]:
        """Return the speed of every communication that runs, by row."""
        left = _bits(active)
        found: dict[int, Fraction] = {}
        while left:
            part = self.component(left & -left, left)
            found |= {row: Fraction(*ratio) for row, ratio in self.component_ratios(part)}
            left &= ~part
        return dict(sorted(found.items()))

    def least_time(self, times: Sequence[int]) -> Fraction:
        """Return a lower bound of the time in which rows run, each for a time at speed 1.

        No link is used for less: this is the use of the link that floating-point numbers select.

        >>> LinkShares([Row.of(1, 0), Row.of(1, Fraction(1, 2))]).least_time([2, 3])
        Fraction(5, 1)
        """
        if not len(self._shares):
            return Fraction(max(times, default=0))
        full, uses = self._used(int(np.argmax(self._shares @ np.array(times, float))))
        return Fraction(sum(use * times[row] for row, use in uses), full)

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

    def component_ratios(self, part: int) -> tuple[tuple[int, tuple[int, int]], ...]:
        """Return every row of a component with numerator and denominator of its speed.

        A component is a set of rows that runs alone, given as a bit set.
        """
        found = self._ratios.get(part)
        if found is None:
            speeds = self._filled(part)
            found = tuple((row, speeds.get(row, _ALONE).as_integer_ratio()) for row in _rows(part))
            self._ratios[part] = found
        return found

    def _filled(self, part: int) -> dict[int, Fraction]:
        """Raise all speeds until a link is full, fix the speeds there, repeat with the others.

        Returns the speeds below 1.
        """
        members, speeds = _rows(part), dict[int, Fraction]()
        if len(members) == 1:
            return speeds
        rows = np.array(members)
        fixed, level_of = np.zeros(len(rows)), np.full(len(rows), -1)
        while len(speeds) < len(rows):
            full, near = _fill(self._shares, self._loads, rows, fixed, level_of)
            numbers, first = level_of.tolist(), level_of.max() + 1
            for number, link in enumerate(full.tolist(), first - len(full)):
                level = self._level(link, part, speeds)
                for row, own in zip(members, numbers, strict=True):
                    if own == number:
                        speeds[row] = level
            levels = {link: self._level(link, part, speeds) for link in near.tolist()}
            level = min(levels.values(), default=_ALONE)
            if level >= 1:
                break
            links = [link for link, one in levels.items() if one == level]
            users = (self._loads[links][:, rows] > 0).any(axis=0) & (level_of < 0)
            speeds |= dict.fromkeys(rows[users].tolist(), level)
            fixed[users], level_of[users] = float(level), first
        return speeds

    def _level(self, link: int, part: int, speeds: dict[int, Fraction]) -> Fraction:
        """Return the common speed of the rows without a speed at which a link is full."""
        full, uses = self._used(link)
        rising, slow = 0, list[tuple[int, Fraction]]()
        for row, use in uses:
            if row in speeds:
                slow.append((use, speeds[row]))
            elif part >> row & 1:
                rising += use
        # Whole numbers: shares times ``full``, speeds times ``parts``.
        parts = lcm(*(one.denominator for _, one in slow))
        taken = sum(use * one.numerator * (parts // one.denominator) for use, one in slow)
        return Fraction(parts * full - taken, parts * rising)

    def _used(self, link: int) -> tuple[int, list[tuple[int, int]]]:
        """Return a capacity of a link, and what every row uses of it at speed 1, as integers."""
        found = self._uses.get(link)
        if found is None:
            loads = [(row, load) for row, load in enumerate(self._loads[link].tolist()) if load]
            full = lcm(*(self._peaks[row] for row, _ in loads))
            found = full, [(row, load * full // self._peaks[row]) for row, load in loads]
            self._uses[link] = found
        return found


@njit(cache=True, nogil=True)
def _fill(
    shares: NDArray[np.float64],
    loads: NDArray[np.int64],
    rows: NDArray[np.int64],
    fixed: NDArray[np.float64],
    level_of: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Fill links, level by level, as far as floating-point numbers tell which one is full.

    ``shares`` and ``loads`` are by link and row.  ``fixed`` and ``level_of`` are by place in
    ``rows``: the speed and the number of the level of a row that has one, else 0 and -1; the kernel
    adds new levels.

    Returns:
        A full link of every new level, and the links of which one may be full next if several
        differ or the level may be 1.  Without such links, all other rows have speed 1.
    """
    full, near = np.empty(len(rows), np.int64), np.empty(len(shares), np.int64)
    levels = np.empty(len(shares))
    first = level_of.max() + 1
    number = first
    while True:
        least = 1.0
        for link in range(len(shares)):
            free, rises = 1.0, 0.0
            for place in range(len(rows)):
                share = shares[link, rows[place]]
                if level_of[place] < 0:
                    rises += share
                else:
                    free -= share * fixed[place]
            levels[link] = free / rises if rises > 0 else 2.0
            least = min(least, levels[link])
        count = 0
        for link in range(len(shares)):
            if levels[link] <= least + _MARGIN and not _is_alike(loads, rows, near[:count], link):
                near[count] = link
                count += 1
        if count != 1 or least > 1 - _MARGIN:
            return full[: number - first], near[:count]
        for place in range(len(rows)):
            if level_of[place] < 0 and loads[near[0], rows[place]] > 0:
                level_of[place], fixed[place] = number, least
        full[number - first] = near[0]
        number += 1


@njit(cache=True, nogil=True)
def _is_alike(
    loads: NDArray[np.int64], rows: NDArray[np.int64], others: NDArray[np.int64], link: int
) -> bool:
    """Return whether some rows load a link as one of the others."""
    for other in others:
        alike = True
        for row in rows:
            if loads[link, row] != loads[other, row]:
                alike = False
                break
        if alike:
            return True
    return False


def _greatest(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lines that are below no other line in every column; equal lines once.

    Where a link below another is full, the other is full, too, and has all its communications.

    >>> _greatest(np.array([[1, 1], [2, 1], [0, 3], [2, 1]])).tolist()
    [[2, 1], [0, 3]]
    """
    # A line below another has a smaller sum.
    return lines[_kept(lines, np.argsort(-lines.sum(axis=1), kind="stable"))]


@njit(cache=True, nogil=True)
def _kept(lines: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lines, in order, that are below no earlier one."""
    found = np.empty(len(order), np.int64)
    count = 0
    for line in order:
        below = False
        for other in found[:count]:
            below = True
            for column in range(lines.shape[1]):
                if lines[line, column] > lines[other, column]:
                    below = False
                    break
            if below:
                break
        if not below:
            found[count] = line
            count += 1
    return found[:count]


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << int(one) for one in numbers)


def _rows(part: int) -> list[int]:
    """Return the rows of a bit set.

    >>> _rows(0b101)
    [0, 2]
    """
    found = list[int]()
    while part:
        lowest = part & -part
        found.append(lowest.bit_length() - 1)
        part ^= lowest
    return found
