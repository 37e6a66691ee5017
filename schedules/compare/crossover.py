"""The fastest candidate by message size, and the exact crossover sizes.

A candidate's time is a straight line in the size M, or the minimum of several lines: a step
schedule is one line, trees are one line for each number of chunks.  The minimum over all
candidates is the lower envelope of all lines; crossover sizes are fractions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.simulate import Lockstep

SIZES = tuple(1 << power for power in range(10, 31, 2))
"""1 KiB to 1 GiB."""

MAX_LINES = 4096
"""Maximum number of chunks tried for trees."""


@dataclass(frozen=True, slots=True)
class Line:
    """``fixed_seconds + seconds_per_byte * M`` with ``chunks`` pieces, in ``rounds`` rounds.

    For steps whose chunks cost time, ``max_chunks`` is the maximum chunks per shard.
    """

    fixed_seconds: Fraction
    seconds_per_byte: Fraction
    chunks: int = 1
    rounds: int = 0
    max_chunks: int | None = None

    def seconds(self, size_bytes: int | Fraction) -> Fraction:
        """Return the time for M bytes."""
        return self.fixed_seconds + self.seconds_per_byte * size_bytes


@dataclass(frozen=True, slots=True)
class Candidate:
    """An algorithm; its time is the minimum of its lines."""

    name: str
    lines: tuple[Line, ...]

    def best(self, size_bytes: int | Fraction) -> Line:
        """Return the line of least time; ties go to the fewest pieces."""
        return min(self.lines, key=lambda line: (line.seconds(size_bytes), line.chunks))

    def seconds(self, size_bytes: int | Fraction) -> Fraction:
        """Return the time for M bytes."""
        return self.best(size_bytes).seconds(size_bytes)


@dataclass(frozen=True, slots=True)
class FastestRange:
    """A range of sizes in which a candidate is the fastest.

    ``start`` is the exact size at which the candidate equals the one before, or 0 for the first
    range.  It is faster from ``first_bytes`` whole bytes on.
    """

    name: str
    start: Fraction
    first_bytes: int


def tree_candidate(name: str, parts: Sequence[Lockstep], largest_bytes: int) -> Candidate:
    """Return the candidate of trees in lock step, with every part cut into the same pieces.

    Args:
        parts: Costs of the parts for one byte; an allreduce has two.
        largest_bytes: Lines include the best number of pieces up to this size, at most `MAX_LINES`.

    Past `Lockstep.chunks_to_try` the time of each part only grows with the pieces, for
    this size and all smaller sizes.

    >>> chain = Lockstep(Fraction(1), 2, ((Fraction(1), Fraction(1)), (Fraction(1),)))
    >>> trees = tree_candidate("chain", [chain], 100)
    >>> [(size, trees.best(size).chunks, str(trees.seconds(size))) for size in (1, 8, 100)]
    [(1, 1, '4'), (8, 3, '44/3'), (100, 10, '121')]
    """
    tried = (part.scaled(largest_bytes).chunks_to_try(MAX_LINES) for part in parts)
    most = max(map(max, tried), default=1)
    lines = []
    for chunks in range(1, most + 1):
        fixed = sum((part.latency_seconds(chunks) for part in parts), Fraction(0))
        whole = sum((part.seconds(chunks) for part in parts), Fraction(0))
        rounds = sum(part.depth + chunks - 1 for part in parts)
        lines.append(Line(fixed, whole - fixed, chunks, rounds))
    return Candidate(name, tuple(lines))


def fastest_ranges(candidates: Sequence[Candidate]) -> tuple[FastestRange, ...]:
    """Return the fastest candidate for every size from 1 byte, by range.

    Ties go to the earlier candidate, and a winner stays until another is strictly faster.
    Ranges without a whole number of bytes are dropped.

    Raises:
        NoSchedule: There is no candidate, or two have the same name.

    The lower envelope of L lines by increasing fixed part and decreasing slope, as in the
    convex hull by monotone chain: O(L log L).

    >>> fast = Candidate("few steps", (Line(Fraction(5), Fraction(1, 75)),))
    >>> lean = Candidate("balanced", (Line(Fraction(6), Fraction(1, 100)),))
    >>> for each in fastest_ranges([lean, fast]):
    ...     print(each.name, each.start, each.first_bytes)
    few steps 0 1
    balanced 300 301
    """
    _require_names(candidates)
    found: list[FastestRange] = []
    owners: dict[Line, list[str]] = {}
    for candidate in candidates:
        for line in candidate.lines:
            same = Line(line.fixed_seconds, line.seconds_per_byte)
            owners.setdefault(same, []).append(candidate.name)
    hull = _envelope(list(owners))
    for at, line in enumerate(hull):
        start = _meeting(hull[at - 1], line) if at else Fraction(0)
        if found and found[-1].name in owners[line]:
            continue
        name = owners[line][0]
        first = floor(start) + 1
        if found and found[-1].first_bytes == first:
            found.pop()
        # Between two bytes only: the neighbors on both sides are one candidate.
        elif len(found) > 1 and found[-1].first_bytes == start and found[-2].name in owners[line]:
            found.pop()
            continue
        if not found or found[-1].name != name:
            found.append(FastestRange(name, start, first))
    return tuple(found)


def _require_names(candidates: Sequence[Candidate]) -> None:
    if not candidates:
        raise NoSchedule("/candidates", "must hold at least one")
    if len({candidate.name for candidate in candidates}) < len(candidates):
        raise NoSchedule("/candidates", "must have different names")


def _envelope(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that are least somewhere beyond 0, by increasing size."""
    hull: list[Line] = []
    for line in sorted(lines, key=lambda line: (line.fixed_seconds, line.seconds_per_byte)):
        if hull and line.seconds_per_byte >= hull[-1].seconds_per_byte:
            continue
        while len(hull) > 1 and _meeting(hull[-1], line) <= _meeting(hull[-2], hull[-1]):
            hull.pop()
        hull.append(line)
    return hull


def _meeting(one: Line, other: Line) -> Fraction:
    """Return the size at which ``other``, with higher fixed part and lower slope, is as fast."""
    gained = one.seconds_per_byte - other.seconds_per_byte
    return (other.fixed_seconds - one.fixed_seconds) / gained
