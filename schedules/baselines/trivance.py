"""Trivance on a torus of routers: exchanges among three hosts, in log3 N steps.

References:
    "Trivance: latency-optimal allreduce by shortcutting multiport networks", arXiv:2602.17254.
"""

from math import prod

import numpy as np

from topoloom.schedules.baselines import routed_torus
from topoloom.schedules.baselines.dimension_exchange import DimensionExchange, power
from topoloom.schedules.baselines.operation import Baseline, Operation

NAME = "routed-trivance"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time on a torus whose D <= d / 2 sides are all 3^q; or None.

    In the s-th step along a dimension hosts exchange with both hosts at distance 3^s; each link
    between them carries 3^s messages.  The data is cut into D parts with different first
    dimensions.  log3 N steps per pass; an allreduce also in one pass, with all data of a part in
    every step.

    >>> from fractions import Fraction
    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 9, Fraction(1), Fraction(90))
    >>> time(9, 2, work).steps, time(9, 2, work).seconds
    (2, Fraction(252, 1))
    """
    return _TRIVANCE.time(nodes, degree, operation)


def baseline_run(nodes: int, degree: int, operation: Operation) -> routed_torus.RoutedRun | None:
    """Return the torus and its schedule."""
    return _TRIVANCE.baseline_run(nodes, degree, operation)


def _plan(shape: tuple[int, ...]) -> list[list[routed_torus.Exchange]]:
    sides, steps = len(shape), power(prod(shape), 3)
    return [
        [
            routed_torus.Exchange(
                (first + step) % sides,
                np.array([[1], [-1]]) * np.full(prod(shape), 3 ** (step // sides)),
            )
            for step in range(steps)
        ]
        for first in range(sides)
    ]


_TRIVANCE = DimensionExchange(
    NAME, radix=3, parts=1, least_steps=1, reach=lambda step: 3**step, plan=_plan
)
