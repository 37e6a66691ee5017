"""Exchanges on a torus of routers along one dimension after another: the common part.

In a step every host exchanges with ``radix - 1`` hosts along a dimension, which divides the number
of shards by the radix: q steps along a side of radix^q.  A method defines the partner distances.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.baselines import routed_torus
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
        plan: The exchanges on a torus, by part of the data and by step.
    """

    name: str
    radix: int
    parts: int
    least_steps: int
    reach: Callable[[int], int]
    plan: Callable[[tuple[int, ...]], routed_torus.ExchangePlan]

    def time(self, nodes: int, degree: int, operation: Operation) -> Baseline | None:
        """Return the least time on a torus whose D <= d / 2 sides are all radix^q, or None."""
        best = self._best(nodes, degree, operation)
        return best and best.timed

    def baseline_run(
        self, nodes: int, degree: int, operation: Operation
    ) -> routed_torus.RoutedRun | None:
        """Return the torus and its schedule."""
        best = self._best(nodes, degree, operation)
        if best is None:
            return None
        copies = degree // (2 * len(best.shape))
        plan = self.plan(best.shape)
        return routed_torus.routed_run(best.shape, copies, plan, operation, once=best.once)

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
            two_passes = pass_baseline(self.name, steps, wire, operation, chunks)
            yield _Way(two_passes, shape, False)
            if operation.collective is Collective.ALLREDUCE:
                whole = seconds(steps, sum(loads, Fraction(0)) * degree, operation, steps)
                yield _Way(Baseline(self.name, whole, steps, 1), shape, True)


def power(nodes: int, radix: int) -> int:
    """Return the largest q with radix^q <= N.

    >>> power(8, 3), power(27, 3), power(1024, 2)
    (1, 3, 10)
    """
    power = 0
    while radix ** (power + 1) <= nodes:
        power += 1
    return power
