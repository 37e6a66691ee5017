"""Process groups as dimensions: ranks are numbers whose digits are coordinates.

Groups of ranks along a dimension of a grid differ in one digit, and groups over several dimensions
in several.  The grid here has the fewest digits that express all groups and messages of a trace.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import gcd, prod

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import DIMENSIONS

_TITLES: Sequence[tuple[str, str]] = (
    ("tensor", r"tensor|model|(?<![a-z])t(en)?p(?![a-z])"),
    ("context", r"context|sequence|(?<![a-z])[cs]p(?![a-z])"),
    ("expert", r"expert|(?<![a-z])(ep|moe)(?![a-z])"),
    ("pipeline", r"pipe|(?<![a-z])pp(?![a-z])"),
    ("data", r"data|shard|replica|(?<![a-z])([dh]s?dp|fsdp)(?![a-z])"),
)
"""Dimension -> descriptions of process groups that name it, as Megatron and PyTorch write them."""

Ranks = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RankGrid:
    """Digits of the ranks, the fastest first, with the names of their dimensions.

    >>> grid = RankGrid((2, 4), ("tensor", "data"))
    >>> grid.coordinates(5), grid.dimensions((1, 3, 5, 7))
    ((1, 2), ('data',))
    """

    sizes: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return prod(self.sizes)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the digits of a rank."""
        found = []
        for size in self.sizes:
            rank, digit = divmod(rank, size)
            found.append(digit)
        return tuple(found)

    def dimensions(self, group: Ranks) -> tuple[str, ...]:
        """Return the dimensions of a group of the grid."""
        return tuple(self.names[digit] for digit in _digits(self.sizes, group))

    def stage(self, rank: int) -> int:
        """Return the pipeline stage of a rank."""
        if "pipeline" not in self.names:
            return 0
        return self.coordinates(rank)[self.names.index("pipeline")]

    def beside(self, rank: int) -> tuple[int, ...]:
        """Return the digits of a rank but that of its pipeline stage."""
        digits = zip(self.coordinates(rank), self.names, strict=True)
        return tuple(digit for digit, name in digits if name != "pipeline")


def rank_grid(
    ranks: int,
    groups: Mapping[Ranks, int],
    messages: Iterable[tuple[int, int]] = (),
    exchanging: Iterable[Ranks] = (),
    titles: Mapping[Ranks, str] | None = None,
) -> RankGrid:
    """Return the grid of a job.

    Messages go along the dimension ``pipeline``.  Other dimensions have the names that the titles
    of groups state; else ``expert`` is the fastest digit of groups in ``exchanging``, ``data`` the
    digit with the fewest collectives but with any, of equals the slowest; ``tensor`` and
    ``context`` are the others.

    Args:
        ranks: Ranks of the job.
        groups: Collectives of every group; a group has its ranks in rising order.
        messages: Pairs of ranks that send and receive.
        exchanging: Groups that run all-to-alls.
        titles: Descriptions of groups.

    Raises:
        NoSchedule: The groups are no grid of at most five dimensions.

    >>> rank_grid(8, {(0, 1): 9, (2, 3): 9, (0, 2): 1, (1, 3): 1}, [(0, 4), (3, 7)])
    RankGrid(sizes=(2, 2, 2), names=('tensor', 'data', 'pipeline'))
    """
    wide: list[Ranks] = sorted(one for one in groups if len(one) > 1)
    pairs = sorted(set(messages))
    points = {1, ranks}
    for group in wide:
        for stride, count in _steps(group):
            points |= {stride, stride * count}
    if pairs:
        points.add(gcd(*(abs(target - source) for source, target in pairs)))
    ordered = sorted(points)
    if ordered[-1] > ranks or any(high % low for low, high in pairwise(ordered)):
        raise NoSchedule("", "the process groups must divide the ranks evenly, as dimensions do")
    sizes = tuple(high // low for low, high in pairwise(ordered)) or (1,)
    pipeline = {_along(sizes, pair) for pair in pairs}
    if len(pipeline) > 1:
        raise NoSchedule("", "all messages must go between pipeline stages, along one dimension")
    of_group = {group: _digits(sizes, group) for group in wide}
    known = dict.fromkeys(pipeline, "pipeline")
    for group, title in (titles or {}).items():
        name = next((name for name, form in _TITLES if re.search(form, title.lower())), "")
        digits = of_group.get(group, ())
        if len(digits) == 1 and digits[0] not in known and name not in known.values() and name:
            known[digits[0]] = name
    used = Counter[int]()
    for group, digits in of_group.items():
        used.update(dict.fromkeys(digits, groups[group]))
    rarest = sorted(range(len(sizes)), key=lambda digit: (not used[digit], used[digit], -digit))
    return RankGrid(sizes, _named(rarest, known, [_digits(sizes, one) for one in exchanging]))


def _named(
    rarest: Sequence[int], known: Mapping[int, str], exchanging: Sequence[tuple[int, ...]]
) -> tuple[str, ...]:
    """Return the names of digits, which come with the fewest collectives first."""
    names, count = dict(known), len(rarest)

    def give(name: str, digits: Iterable[int]) -> None:
        free = [one for one in digits if one not in names]
        if free and name not in names.values():
            names[free[0]] = name

    give("expert", min(exchanging, key=len, default=()))
    give("data", rarest)
    for name in ("tensor", "context", *DIMENSIONS):
        give(name, range(count))
    if len(names) < count:
        rule = f"must have at most {len(DIMENSIONS)} dimensions of parallelism, not {count}"
        raise NoSchedule("", rule)
    return tuple(names[digit] for digit in range(count))


def _steps(group: Ranks) -> list[tuple[int, int]]:
    """Return the strides of a group with their counts; raise unless the group is a grid.

    >>> _steps((4, 5, 12, 13, 20, 21))
    [(1, 2), (8, 3)]
    """
    offsets = [rank - group[0] for rank in group]
    found: list[tuple[int, int]] = []
    size = 1
    while size < len(offsets):
        stride, count = offsets[size], 1
        while size * count < len(offsets) and offsets[size * count] == stride * count:
            count += 1
        found.append((stride, count))
        size *= count
    made = [0]
    for stride, count in found:
        made = [first + stride * at for at in range(count) for first in made]
    aligned = all(group[0] // stride % count == 0 for stride, count in found)
    if made != offsets or not aligned:
        shown = ", ".join(map(str, group[:8])) + (", ..." if len(group) > 8 else "")
        raise NoSchedule("", f"the group of ranks {shown} must be part of a grid of all ranks")
    return found


def _digits(sizes: Sequence[int], group: Ranks) -> tuple[int, ...]:
    """Return the digits in which the ranks of a group differ."""
    steps, stride, found = _steps(group), 1, list[int]()
    for digit, size in enumerate(sizes):
        if any(low <= stride < low * count for low, count in steps) and size > 1:
            found.append(digit)
        stride *= size
    return tuple(found)


def _along(sizes: Sequence[int], pair: tuple[int, int]) -> int:
    """Return the digit in which two ranks differ."""
    source, target, found = *pair, list[int]()
    for digit, size in enumerate(sizes):
        if source % size != target % size:
            found.append(digit)
        source, target = source // size, target // size
    if len(found) != 1:
        rule = f"ranks {pair[0]} and {pair[1]} must not send: they differ in several dimensions"
        raise NoSchedule("", rule)
    return found[0]
