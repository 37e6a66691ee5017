"""Swing on a torus of routers: recursive doubling with partners on alternating sides.

Bine trees (De Sensi et al., SC 2025, arXiv:2508.17311) have the same partners in an allreduce and
the same cost here.

References:
    De Sensi et al., "Swing: short-cutting rings for higher bandwidth allreduce", NSDI 2024.
"""

from math import prod

import numpy as np

from topoloom.schedules.baselines import routed_torus
from topoloom.schedules.baselines.dimension_exchange import DimensionExchange
from topoloom.schedules.baselines.operation import Baseline, Operation

NAME = "routed-swing"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time on a torus whose D <= d / 2 sides are all 2^q, q >= 2; or None.

    Partners of the s-th step along a dimension are r(s) = |1 - (-2)^(s+1)| / 3 apart, and each
    link between them carries r(s) messages.  The data is cut into 2 D parts, one for each first
    dimension and first direction.  log2 N steps per pass; an allreduce also in one pass, with all
    data of a part in every step.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 8, Fraction(1), Fraction(10))
    >>> time(8, 2, work).steps, time(8, 2, work).seconds
    (3, Fraction(70, 1))
    """
    return _SWING.time(nodes, degree, operation)


def baseline_run(nodes: int, degree: int, operation: Operation) -> routed_torus.RoutedRun | None:
    """Return the torus and its schedule."""
    return _SWING.baseline_run(nodes, degree, operation)


def reach(step: int) -> int:
    """Return the distance between partners of a step.

    >>> [reach(step) for step in range(6)]
    [1, 1, 3, 5, 11, 21]
    """
    return abs(1 - (-2) ** (step + 1)) // 3


def _plan(shape: tuple[int, ...]) -> list[list[routed_torus.Exchange]]:
    hosts, sides = np.arange(prod(shape)), len(shape)
    plan = []
    for first in range(sides):
        for side in (1, -1):
            steps = []
            for step in range(len(hosts).bit_length() - 1):
                axis = (first + step) % sides
                place = hosts // prod(shape[axis + 1 :]) % shape[axis]
                swung = side * (-1) ** (step // sides) * reach(step // sides)
                steps.append(
                    routed_torus.Exchange(axis, np.where(place % 2, -swung, swung)[None, :])
                )
            plan.append(steps)
    return plan


_SWING = DimensionExchange(NAME, radix=2, parts=2, least_steps=2, reach=reach, plan=_plan)
