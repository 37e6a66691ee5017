"""The fastest algorithm by message size, where times come from the judge (`Judge`).

A simulated time is no straight line in the size, so crossover sizes are searched: between two
simulated sizes with different winners, down to the whole byte.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import floor

from topoloom.schedules.compare.crossover import FastestRange

TimeBySize = Callable[[int], Fraction]
"""Returns seconds for M bytes."""

SECANTS = 3
"""Steps along a line after which the search for a crossover bisects once."""


def judged_ranges(
    names: Sequence[str],
    times: Sequence[TimeBySize],
    sizes: Iterable[int],
    floors: Sequence[TimeBySize] | None = None,
) -> tuple[FastestRange, ...]:
    """Return the fastest of several algorithms from 1 byte on, by range.

    Ties go to the earlier algorithm.

    Args:
        times: The time of each algorithm.
        sizes: Positive sizes; the fastest algorithm of each is found.
        floors: A lower bound on the time of each algorithm.  An algorithm whose bound is above the
            time of another is not asked for its time.

    At the start of every range the algorithm is the fastest of all, and one byte below the
    algorithm of the range before is.  Where the fastest algorithm of two neighboring ``sizes`` is
    the same, no other is looked for between them.  O(log size) times of two algorithms for a
    range.

    >>> few = lambda size: 5 + Fraction(4 * size, 300)
    >>> lean = lambda size: 6 + Fraction(size, 100)
    >>> for each in judged_ranges(["lean", "few"], [lean, few], [1, 10**6]):
    ...     print(each.name, each.start, each.first_bytes)
    few 0 1
    lean 300 300
    """
    keys = [partial(_key, at, time) for at, time in enumerate(times)]
    lowest = [partial(_key, at, floor) for at, floor in enumerate(floors or times)]

    def fastest(size: int, *likely: int) -> int:
        found = [keys[at](size) for at in likely]
        for bound in sorted(low(size) for low in lowest):
            if found and min(found) <= bound:
                break
            found.append(keys[bound[1]](size))
        return min(found)[1]

    def changes(low: int, high: int, *likely: int) -> Iterator[tuple[int, int, int]]:
        """Yield (first size, algorithm before, algorithm from there on) within (low, high]."""
        before, after = fastest(low, *likely), fastest(high, *likely)
        if before == after:
            return
        first = _first_win(keys[before], keys[after], low, high)
        yield from changes(low, first - 1, before, after)
        here, there = fastest(first - 1, before, after), fastest(first, before, after)
        if here != there:
            yield first, here, there
        yield from changes(first, high, before, after)

    simulated = sorted({1, *sizes})
    found = [FastestRange(names[fastest(1)], Fraction(0), 1)]
    for low, high in pairwise(simulated):
        for first, before, after in changes(low, high):
            start = _equal_size(times[before], times[after], first)
            found.append(FastestRange(names[after], start, first))
    return tuple(found)


def _key(at: int, time: TimeBySize, size: int) -> tuple[Fraction, int]:
    return time(size), at


_Key = Callable[[int], tuple[Fraction, int]]


def _first_win(before: _Key, after: _Key, low: int, high: int) -> int:
    """Return a size in (low, high] at which ``after`` wins, and one byte below ``before`` does.

    ``before`` wins at ``low``, ``after`` at ``high``.  Times are straight lines in most places, so
    the line through the last two sizes leads to the crossover; every few steps the range is
    bisected instead.
    """

    def lead(size: int) -> Fraction:
        return after(size)[0] - before(size)[0]

    last, here, steps = low, high, 0
    while high - low > 1:
        gain = lead(last) - lead(here)
        slope = gain / (here - last)
        guess = here + floor(lead(here) / slope) if slope > 0 else low
        guess += guess == low == here
        steps += 1
        if steps > SECANTS or not low < guess < high:
            guess, steps = (low + high) // 2, 0
        last, here = here, guess
        low, high = (guess, high) if before(guess) < after(guess) else (low, guess)
    return high


def _equal_size(before: TimeBySize, after: TimeBySize, first: int) -> Fraction:
    """Return the size in [first - 1, first] of equal times, which are straight lines there."""
    lead = after(first - 1) - before(first - 1)
    lag = before(first) - after(first)
    share = lead / (lead + lag) if lead + lag else Fraction(1)
    return first - 1 + share
