"""Exchanges on a torus of routers along one dimension after another: Swing and Trivance.

In a step every host exchanges with ``radix - 1`` hosts along a dimension, which divides the number
of shards by the radix: q steps along a side of radix^q.  A method defines the partner distances.
Bine trees (De Sensi et al., SC 2025, arXiv:2508.17311) have the same partners as Swing in an
allreduce, and the same cost here.

References:
    De Sensi et al., "Swing: short-cutting rings for higher bandwidth allreduce", NSDI 2024.
    "Trivance: latency-optimal allreduce by shortcutting multiport networks", arXiv:2602.17254.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    pass_baseline,
    seconds,
)
from topoloom.schedules.model.schedule import Collective


class _Way(NamedTuple):
    """A torus, whether the algorithm runs in one pass, and its time."""

    timed: Baseline
    shape: tuple[int, ...]
    once: bool


@dataclass(frozen=True, slots=True)
class DimensionExchange:
    """A method of exchange between hosts of a torus of routers.

    Attributes:
        radix: Factor by which one step divides the data.
        parts: Number of parts of the data per dimension.
        least_steps: Sides are radix^q with q at least this.
        reach: Number of links in one direction that carry a message in the s-th step along a
            dimension.
    """

    NAME: str
    radix: int
    parts: int
    least_steps: int
    reach: Callable[[int], int]

    def time(self, nodes: int, degree: int, operation: Operation) -> Baseline | None:
        """Return the least time on a torus whose D <= d / 2 sides are all radix^q, or None.

        >>> nine = Operation(Collective.ALLREDUCE, 9, Fraction(1), Fraction(90))
        >>> TRIVANCE.time(9, 2, nine).steps, TRIVANCE.time(9, 2, nine).seconds
        (2, Fraction(252, 1))
        >>> eight = Operation(Collective.ALLREDUCE, 8, Fraction(1), Fraction(10))
        >>> SWING.time(8, 2, eight).steps, SWING.time(8, 2, eight).seconds
        (3, Fraction(70, 1))
        """
        best = self._best(nodes, degree, operation)
        return best and best.timed

    def _best(self, nodes: int, degree: int, operation: Operation) -> _Way | None:
        ways = self._ways(nodes, degree, operation)
        return min(ways, key=lambda way: way.timed.seconds, default=None)

    def _ways(self, nodes: int, degree: int, operation: Operation) -> Iterator[_Way]:
        steps = power(nodes, self.radix)
        if operation.collective not in PASSES or self.radix**steps != nodes:
            return
        chunks = (nodes - 1) // (self.radix - 1)
        for sides in range(1, degree // 2 + 1):
            if steps % sides or steps // sides < self.least_steps:
                continue
            shape, copies = (self.radix ** (steps // sides),) * sides, degree // (2 * sides)
            cut = self.parts * sides * copies
            loads = [Fraction(self.reach(step // sides), cut) for step in range(steps)]
            shards = (load / self.radix ** (step + 1) for step, load in enumerate(loads))
            wire = sum(shards, Fraction(0)) * degree
            two_passes = pass_baseline(self.NAME, steps, wire, operation, chunks)
            yield _Way(two_passes, shape, False)
            if operation.collective is Collective.ALLREDUCE:
                whole = seconds(steps, sum(loads, Fraction(0)) * degree, operation, steps)
                yield _Way(Baseline(self.NAME, whole, steps, 1), shape, True)


def power(nodes: int, radix: int) -> int:
    """Return the largest q with radix^q <= N.

    >>> power(8, 3), power(27, 3), power(1024, 2)
    (1, 3, 10)
    """
    power = 0
    while radix ** (power + 1) <= nodes:
        power += 1
    return power


def reach(step: int) -> int:
    """Return the distance between partners of a step of Swing.

    >>> [reach(step) for step in range(6)]
    [1, 1, 3, 5, 11, 21]
    """
    return abs(1 - (-2) ** (step + 1)) // 3


SWING = DimensionExchange("routed-swing", radix=2, parts=2, least_steps=2, reach=reach)
"""Recursive doubling with partners on alternating sides, on sides of 2^q, q >= 2.

Partners of the s-th step along a dimension are r(s) = |1 - (-2)^(s+1)| / 3 apart, and each link
between them carries r(s) messages.  The data is cut into 2 D parts, one for each first dimension
and first direction.  log2 N steps per pass; an allreduce also in one pass, with all data of a part
in every step.
"""


TRIVANCE = DimensionExchange(
    "routed-trivance", radix=3, parts=1, least_steps=1, reach=lambda s: 3**s
)
"""Exchanges among three hosts, in log3 N steps, on sides of 3^q.

In the s-th step along a dimension hosts exchange with both hosts at distance 3^s; each link between
them carries 3^s messages.  The data is cut into D parts with different first dimensions.  An
allreduce also runs in one pass, with all data of a part in every step.
"""
