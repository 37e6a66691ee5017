"""Swing on a torus of routers: recursive doubling whose partners swing from side to side.

Bine trees (De Sensi et al., SC 2025, arXiv:2508.17311) join the same partners in an allreduce, and
cost the same here.

References
----------
De Sensi et al., "Swing: short-cutting rings for higher bandwidth allreduce", NSDI 2024.
"""

from fractions import Fraction
from math import prod

import numpy as np

from schedules.baselines import routed
from schedules.baselines.operation import PASSES, Baseline, Operation, in_steps, seconds
from schedules.model import Collective

__all__ = ["NAME", "run", "time"]

NAME = "routed-swing"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time on a torus whose D <= d / 2 sides are all 2^q, q >= 2; or None.

    Partners of the s-th step along a dimension are r(s) = |1 - (-2)^(s+1)| / 3 apart, and each
    link on the way carries r(s) messages.  The data is cut into 2 D parts: one for each
    dimension to begin with and each side to swing to first.  log2 N steps a pass; an
    allreduce also in one, with all of a part in every step.

    >>> work = Operation(Collective.ALLREDUCE, 8, Fraction(1), Fraction(10))
    >>> time(8, 2, work).steps, time(8, 2, work).seconds
    (3, Fraction(70, 1))
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
    copies, plan = degree // (2 * len(shape)), _plan(shape)
    return routed.routed(shape, copies, plan, operation, once=once)


def reach(step: int) -> int:
    """Return how far apart partners of a step are.

    >>> [reach(step) for step in range(6)]
    [1, 1, 3, 5, 11, 21]
    """
    return abs(1 - (-2) ** (step + 1)) // 3


def _ways(
    nodes: int, degree: int, operation: Operation
) -> list[tuple[Baseline, tuple[int, ...], bool]]:
    """Return times by torus, and whether it is in one pass."""
    bits, found = nodes.bit_length() - 1, []
    if operation.collective not in PASSES or nodes != 1 << bits:
        return []
    for sides in range(1, degree // 2 + 1):
        if bits % sides or bits // sides < 2:
            continue
        shape, copies = (1 << bits // sides,) * sides, degree // (2 * sides)
        loads = [Fraction(reach(step // sides), 2 * sides * copies) for step in range(bits)]
        shards = [load * (nodes >> step + 1) for step, load in enumerate(loads)]
        wire = sum(shards, Fraction(0)) * degree / nodes
        found.append((in_steps(NAME, bits, wire, operation), shape, False))
        if operation.collective is Collective.ALLREDUCE:
            whole = seconds(bits, sum(loads, Fraction(0)) * degree, operation)
            found.append((Baseline(NAME, whole, bits, 1), shape, True))
    return found


def _plan(shape: tuple[int, ...]) -> list[list[routed.Exchange]]:
    hosts, sides = np.arange(prod(shape)), len(shape)
    plan = []
    for first in range(sides):
        for side in (1, -1):
            steps = []
            for step in range(len(hosts).bit_length() - 1):
                axis = (first + step) % sides
                place = hosts // prod(shape[axis + 1 :]) % shape[axis]
                swung = side * (-1) ** (step // sides) * reach(step // sides)
                steps.append(routed.Exchange(axis, np.where(place % 2, -swung, swung)[None, :]))
            plan.append(steps)
    return plan
