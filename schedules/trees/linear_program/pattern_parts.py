"""The trees of each pattern of copies, as exact numbers: a network of their share of the links.

Floats of the solver are rounded; a division that misses the proved rate is discarded.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import TooLarge
from topoloom.schedules.trees.flow.network import Network, guard
from topoloom.schedules.trees.flow.optimality import best_rate
from topoloom.schedules.trees.linear_program.link_division import reaches

Pattern = tuple[int, ...]
"""The switches at which a tree is copied."""


@dataclass(frozen=True, eq=False, slots=True)
class PatternPart:
    """The trees of one pattern: a network of their share of the links.

    Its terminals are the ranks and the switches of ``copying``.  ``share`` is the rate of a shard
    of size 1 of this network, in the unit of the divided network.
    """

    network: Network
    copying: Pattern
    share: Fraction


class PatternColumns(Protocol):
    """The columns of a linear program by pattern, in units of ``whole``."""

    network: Network
    whole: int
    patterns: list[Pattern]
    shares: list[dict[int, int]]
    rooms: list[int]


def exact_parts(
    program: PatternColumns, solution: NDArray[np.float64], rate: Fraction, most: int
) -> tuple[PatternPart, ...] | None:
    """Return the parts of a solution with denominators up to ``most``, or None if they miss it.

    ``rate`` is that of all data.  Exact sums and max-flows check the rounded numbers.
    """
    network = program.network
    for unit in (Fraction(1), rate / network.data):

        def exact(value: float, unit: Fraction = unit) -> Fraction:
            whole = max(0.0, value * program.whole / float(unit))
            return Fraction(whole).limit_denominator(most) * unit

        shares = [
            {root: exact(solution[at]) for root, at in share.items()} for share in program.shares
        ]
        rooms = [
            [exact(value) for value in solution[room : room + len(network.tail)]]
            for room in program.rooms
        ]
        if not _adds_up(network, shares, rooms, rate):
            continue
        made = [
            _part(network, pattern, share, room)
            for pattern, share, room in zip(program.patterns, shares, rooms, strict=True)
            if any(share.values())
        ]
        if all(made):
            return tuple(part for part in made if part is not None)
    return None


def _adds_up(
    network: Network,
    shares: Sequence[dict[int, Fraction]],
    rooms: Sequence[Sequence[Fraction]],
    rate: Fraction,
) -> bool:
    """Return whether all data is sent at the rate, and no link carries more than its capacity."""
    sent = all(
        sum(share[root] for share in shares) == rate * int(network.sizes[root]) / network.data
        for root in shares[0]
    )
    carried = map(sum, zip(*rooms, strict=True))
    return sent and all(
        c <= most for c, most in zip(carried, network.capacity.tolist(), strict=True)
    )


def _part(
    network: Network, pattern: Pattern, share: dict[int, Fraction], room: Sequence[Fraction]
) -> PatternPart | None:
    """Return the part of a pattern, or None if its links do not carry its shares."""
    scale = lcm(*(one.denominator for one in share.values()))
    whole = [int(share.get(node, Fraction(0)) * scale) for node in range(network.node_count)]
    common = gcd(*whole)
    sizes = np.array([size // common for size in whole], np.int64)
    per_size = Fraction(common, scale)
    finest = lcm(*(one.denominator for one in room))
    units = [int(one * finest) for one in room]
    divisor = gcd(*units)
    if not divisor:
        return None
    try:
        guard(sum(units) // divisor)
    except TooLarge:
        return None
    kept = np.flatnonzero(units)
    part = replace(
        network,
        terminals=np.array(sorted({*network.terminals.tolist(), *pattern}), np.int64),
        sizes=sizes,
        tail=network.tail[kept],
        head=network.head[kept],
        capacity=np.array([units[arc] // divisor for arc in kept.tolist()], np.int64),
        unit=network.unit * divisor / finest,
    )
    balance = np.zeros(part.node_count, np.int64)
    np.add.at(balance, part.head, part.capacity)
    np.subtract.at(balance, part.tail, part.capacity)
    balance[part.terminals] = 0
    if (balance < 0).any() or not reaches(part):
        return None
    # A shard of size 1 needs this inverse rate; the part's own unit is a multiple of the network's.
    if best_rate(part).inverse * per_size > Fraction(divisor, finest):
        return None
    return PatternPart(part, pattern, per_size)
