"""Exchanges of Swing and Trivance on a torus of routers."""

from math import prod

import numpy as np

from tests.baseline_runs import routed_torus
from topoloom.schedules.baselines.dimension_exchange import SWING, DimensionExchange, power, reach
from topoloom.schedules.baselines.operation import Operation


def exchange_run(
    method: DimensionExchange, nodes: int, degree: int, operation: Operation
) -> routed_torus.RoutedRun | None:
    """Return the torus and its schedule."""
    best = method._best(nodes, degree, operation)
    if best is None:
        return None
    plan = (_swing if method is SWING else _trivance)(best.shape)
    copies = degree // (2 * len(best.shape))
    return routed_torus.routed_run(best.shape, copies, plan, operation, once=best.once)


def _swing(shape: tuple[int, ...]) -> list[list[routed_torus.Exchange]]:
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


def _trivance(shape: tuple[int, ...]) -> list[list[routed_torus.Exchange]]:
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
