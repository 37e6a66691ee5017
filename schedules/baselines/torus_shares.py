"""Exact division of an allgather's data and links among the dimensions of a torus.

The data is cut into one share per dimension; each share starts with a different dimension and
takes the others in cyclic order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm


@dataclass(frozen=True, slots=True)
class TorusShares:
    """The share that starts with each dimension, whether in halves, and the resulting loads."""

    shape: tuple[int, ...]
    shares: tuple[Fraction, ...]
    halves: bool

    @property
    def parts(self) -> int:
        """The number of equal parts of the data, such that shares are whole.

        Their halves are also whole where each direction carries half of the data.
        """
        halved = self.halves or any(side % 2 == 0 for side in self.shape)
        return (2 if halved else 1) * lcm(*(share.denominator for share in self.shares))

    @property
    def loads(self) -> list[Fraction]:
        """The largest load of each step, in shards."""
        return [max(row) for row in zip(*_loads(self.shape, self.shares, self.halves), strict=True)]


@lru_cache(maxsize=4096)
def totals(plan: TorusShares) -> tuple[int, Fraction]:
    """Return the steps of a plan and the sum of their loads, in shards."""
    loads = plan.loads
    return len(loads), sum(loads, Fraction(0))


@lru_cache(maxsize=4096)
def best_shares(shape: tuple[int, ...]) -> tuple[TorusShares, ...]:
    """Return the best shares, with both directions at once and by halves."""
    return tuple(
        min(
            (TorusShares(shape, shares, halves) for shares in _shares(shape, halves)),
            key=lambda plan: (totals(plan)[1], plan.shares),
        )
        for halves in (False, True)
    )


def _loads(
    shape: tuple[int, ...], shares: Sequence[Fraction], halves: bool
) -> list[list[Fraction]]:
    """Return the load of a link along each dimension, by step, in shards."""
    loads = [[Fraction(0)] * sum(_weights(side, halves)[0] for side in shape) for _ in shape]
    for first, share in enumerate(shares):
        step, held = 0, 1
        for axis in dimension_order(first, len(shape)):
            hops, usual, last = _weights(shape[axis], halves)
            for hop in range(1, hops + 1):
                loads[axis][step] += share * held * (last if hop == hops else usual)
                step += 1
            held *= shape[axis]
    return loads


def _weights(side: int, halves: bool) -> tuple[int, Fraction, Fraction]:
    """Return the steps of a ring, the load of each step, and of the last step."""
    half, whole = Fraction(1, 2), Fraction(1)
    if halves:
        return side - 1, half, half
    return side // 2, whole, half if side % 2 == 0 else whole


def _shares(shape: tuple[int, ...], halves: bool) -> Iterator[tuple[Fraction, ...]]:
    """Yield shares by first dimension; for two dimensions these include the optimum.

    The sum of the largest loads is convex and piecewise linear.  Its minimum is at an end or
    where the loads of both dimensions are equal in some step.
    """
    yield (Fraction(1, len(shape)),) * len(shape)
    yield tuple(Fraction(shape[axis - 1], sum(shape)) for axis in range(len(shape)))
    if len(shape) == 2:
        zero, one = Fraction(0), Fraction(1)
        ends = [_loads(shape, shares, halves) for shares in ((zero, one), (one, zero))]
        gaps = ([one - other for one, other in zip(*loads, strict=True)] for loads in ends)
        met = {low / (low - high) for low, high in zip(*gaps, strict=True) if low * high < 0}
        meetings = [(share, 1 - share) for share in sorted(met)]
        while len(meetings) > 2:
            middle = len(meetings) // 2
            near, far = (TorusShares(shape, meetings[at], halves) for at in (middle - 1, middle))
            falls = totals(far)[1] < totals(near)[1]
            meetings = meetings[middle:] if falls else meetings[:middle]
        yield from meetings


def dimension_order(first: int, dimensions: int) -> list[int]:
    """Return the order of dimensions of the share that starts with ``first``.

    >>> dimension_order(1, 3)
    [1, 2, 0]
    """
    return [(first + turn) % dimensions for turn in range(dimensions)]
