"""Rings along the dimensions of a torus."""

from collections.abc import Iterator, Sequence
from itertools import product as places
from math import lcm, prod

import numpy as np

from tests.baseline_runs.partial_sums import grid_run
from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines import torus_rings
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.baselines.torus_shares import (
    TorusShares,
    best_shares,
    dimension_order,
)
from topoloom.schedules.baselines.torus_topology import nearest, shifted_hosts, torus
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule, StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the torus and its schedule."""
    best = torus_rings.time(nodes, degree, operation)
    if best is None:
        return None
    shape = next(
        s for s in nearest(nodes, degree // 2) if torus_rings._time(s, degree, operation) == best
    )
    copies = degree // (2 * len(shape))
    if operation.collective is Collective.ALL_TO_ALL:
        return _exchange(shape, copies)
    plan = min(
        best_shares(shape), key=lambda plan: torus_rings._timed(plan, degree, operation).seconds
    )
    once = grid_run(Grid(shape, rings=True, copies=copies))
    return fastest_run(lambda _: _rings(plan, copies), degree, operation, [once])


def _rings(plan: TorusShares, copies: int) -> tuple[Topology, StepSchedule]:
    shape = plan.shape
    topology = torus(shape, copies)
    whole = lcm(*(share.denominator for share in plan.shares))
    widths = [int(share * whole) for share in plan.shares]
    steps: list[list[np.ndarray]] = [[] for _ in plan.loads]
    for copy in range(copies):
        low = 2 * copy * whole
        for first, width in enumerate(widths):
            axes = dimension_order(first, len(shape))
            if plan.halves:
                _go_round(steps, shape, axes, (low, width, 1), copy)
                _go_round(steps, shape, axes, (low + width, width, -1), copy)
            elif width:
                _go_both_ways(steps, shape, axes, (low, width), copy)
            low += 2 * width
    return topology, gather(topology, 2 * whole * copies, steps)


def _go_round(
    steps: list[list[np.ndarray]],
    shape: tuple[int, ...],
    axes: list[int],
    part: tuple[int, int, int],
    link: int,
) -> None:
    """Add the sends of chunks [low, low + width) in one direction of all rings."""
    low, width, way = part
    if not width:
        return
    nodes = np.arange(prod(shape))
    step, spread = 0, nodes[None, :]
    for axis in axes:
        for hop in range(1, shape[axis]):
            source, target = (shifted_hosts(spread, shape, axis, way * at) for at in (hop - 1, hop))
            steps[step].append(sends(source, target, nodes, low, width, link))
            step += 1
        spread = np.concatenate(
            [shifted_hosts(spread, shape, axis, by) for by in range(shape[axis])]
        )


def _go_both_ways(
    steps: list[list[np.ndarray]],
    shape: tuple[int, ...],
    axes: list[int],
    part: tuple[int, int],
    link: int,
) -> None:
    """Add the sends of chunks [low, low + 2 width): halves where the directions meet, else all."""
    low, width = part
    nodes = np.arange(prod(shape))
    step, spread = 0, nodes[None, :]
    for axis in axes:
        side = shape[axis]
        for hop in range(1, side // 2 + 1):
            meeting = 2 * hop == side
            for way in (1, -1):
                source, target = (
                    shifted_hosts(spread, shape, axis, way * at) for at in (hop - 1, hop)
                )
                first = low + width * (meeting and way < 0)
                count = width if meeting else 2 * width
                steps[step].append(sends(source, target, nodes, first, count, link))
            step += 1
        spread = np.concatenate([shifted_hosts(spread, shape, axis, by) for by in range(side)])


def _exchange(shape: tuple[int, ...], copies: int) -> BaselineRun:
    """Return an all-to-all along the dimensions in order, in the shorter direction of each."""
    topology, units = torus(shape, copies), 1 << len(shape)
    routes = []
    for source in range(prod(shape)):
        for offset in places(*(range(side) for side in shape)):
            if any(offset):
                routes += _routes(source, offset, shape, units)
    schedule = RouteSchedule(
        Collective.ALL_TO_ALL, topology.digest, topology.nodes, units, tuple(routes)
    )
    return BaselineRun(topology, schedule)


def _routes(
    source: int, offset: Sequence[int], shape: tuple[int, ...], units: int
) -> Iterator[Route]:
    """Yield the routes to one host; opposite positions of a ring use both directions."""
    ways = [
        [by] if 2 * by < side else [by - side] if 2 * by > side else [by, -by]
        for by, side in zip(offset, shape, strict=True)
    ]
    for moves in places(*ways):
        path = [np.array(source)]
        for axis, move in enumerate(moves):
            one, start = (1 if move > 0 else -1), path[-1]
            path += [
                shifted_hosts(start, shape, axis, one * hop) for hop in range(1, abs(move) + 1)
            ]
        yield Route(tuple(int(at) for at in path), units // prod(map(len, ways)))
