"""Trivance on a torus of routers: three hosts exchange at once, in log3 N steps.

References
----------
"Trivance: latency-optimal allreduce by shortcutting multiport networks", arXiv:2602.17254.
"""

from fractions import Fraction

import numpy as np

from schedules.baselines import routed
from schedules.baselines.operation import PASSES, Baseline, Operation, in_steps, seconds
from schedules.model import Collective

__all__ = ["NAME", "run", "time"]

NAME = "routed-trivance"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time on a torus whose D <= d / 2 sides are all 3^q; or None.

    In the s-th step along a dimension hosts exchange with both that are 3^s away; each link on the
    way carries 3^s messages.  The data is cut into D parts that begin with different
    dimensions.  log3 N steps a pass; an allreduce also in one, with all of a part in every
    step.

    >>> work = Operation(Collective.ALLREDUCE, 9, Fraction(1), Fraction(90))
    >>> time(9, 2, work).steps, time(9, 2, work).seconds
    (2, Fraction(252, 1))
    """
    return min(
        (timed for timed, _, _ in _ways(nodes, degree, operation)),
        key=lambda timed: timed.seconds,
        default=None,
    )


def run(nodes: int, degree: int, operation: Operation) -> routed.Routed | None:
    """Return the torus and what it runs."""
    ways = _ways(nodes, degree, operation)
    if not ways:
        return None
    _, shape, once = min(ways, key=lambda way: way[0].seconds)
    copies, plan = degree // (2 * len(shape)), _plan(nodes, shape)
    return routed.routed(shape, copies, plan, operation, once=once)


def _ways(
    nodes: int, degree: int, operation: Operation
) -> list[tuple[Baseline, tuple[int, ...], bool]]:
    """Return times by torus, and whether it is in one pass."""
    steps, found = _third(nodes), []
    if operation.collective not in PASSES or 3**steps != nodes:
        return []
    for sides in range(1, degree // 2 + 1):
        if steps % sides:
            continue
        shape, copies = (3 ** (steps // sides),) * sides, degree // (2 * sides)
        loads = [Fraction(3 ** (step // sides), sides * copies) for step in range(steps)]
        shards = [load * 3 ** (steps - 1 - step) for step, load in enumerate(loads)]
        wire = sum(shards, Fraction(0)) * degree / nodes
        found.append((in_steps(NAME, steps, wire, operation), shape, False))
        if operation.collective is Collective.ALLREDUCE:
            whole = seconds(steps, sum(loads, Fraction(0)) * degree, operation)
            found.append((Baseline(NAME, whole, steps, 1), shape, True))
    return found


def _plan(nodes: int, shape: tuple[int, ...]) -> list[list[routed.Exchange]]:
    sides = len(shape)
    return [
        [
            routed.Exchange(
                (first + step) % sides,
                np.array([[1], [-1]]) * np.full(nodes, 3 ** (step // sides)),
            )
            for step in range(_third(nodes))
        ]
        for first in range(sides)
    ]


def _third(nodes: int) -> int:
    """Return the largest q with 3^q <= N."""
    power = 0
    while 3 ** (power + 1) <= nodes:
        power += 1
    return power
