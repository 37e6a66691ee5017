"""Rings over the hosts in different orders."""

from math import gcd

import numpy as np

from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines.operation import PASSES, Operation
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule, StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the rings and their schedule."""
    strides = _strides(nodes, degree // 2)
    if operation.collective is Collective.ALL_TO_ALL:
        return _exchange(nodes, strides, two_way=degree > 1)
    if operation.collective not in PASSES:
        return None
    if degree == 1:
        return fastest_run(lambda way: _directed(nodes, way), degree, operation)
    return fastest_run(lambda _: _two_way(nodes, strides), degree, operation)


def _strides(nodes: int, rings: int) -> list[int]:
    """Return the strides of the rings, distinct while possible."""
    coprime = [step for step in range(1, nodes // 2 + 1) if gcd(step, nodes) == 1]
    return [coprime[ring % len(coprime)] for ring in range(max(1, rings))]


def _rows(nodes: int, stride: int, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return source, target and shard of a step along a ring."""
    hosts = np.arange(nodes)
    return (hosts + (step - 1) * stride) % nodes, (hosts + step * stride) % nodes, hosts


def _directed(nodes: int, way: int) -> tuple[Topology, StepSchedule]:
    topology = Topology.direct(nodes, *_rows(nodes, way, 1)[:2])
    steps = [[sends(*_rows(nodes, way, step), 0, 1, 0)] for step in range(1, nodes)]
    return topology, gather(topology, 1, steps)


def _two_way(nodes: int, strides: list[int]) -> tuple[Topology, StepSchedule]:
    ways = [(ring, way * stride) for ring, stride in enumerate(strides) for way in (1, -1)]
    ends = [_rows(nodes, stride, 1)[:2] for _, stride in ways]
    topology = Topology.direct(
        nodes, *(np.concatenate(column) for column in zip(*ends, strict=True))
    )
    used: dict[int, int] = {}
    links = []
    for _, stride in ways:
        links.append(used.get(stride % nodes, 0))
        used[stride % nodes] = links[-1] + 1
    steps = []
    for step in range(1, nodes // 2 + 1):
        halved = 2 * step == nodes
        steps.append(
            [
                sends(
                    *_rows(nodes, stride, step),
                    2 * ring + (halved and stride < 0),
                    1 if halved else 2,
                    link,
                )
                for (ring, stride), link in zip(ways, links, strict=True)
            ]
        )
    return topology, gather(topology, 2 * len(strides), steps)


def _exchange(nodes: int, strides: list[int], *, two_way: bool) -> BaselineRun:
    """Return an all-to-all in which every pair takes the shorter direction of each ring."""
    units = 2 * len(strides) if two_way else 1
    ways = (1, -1) if two_way else (1,)
    links = [(i, (i + w * s) % nodes) for s in strides for w in ways for i in range(nodes)]
    topology = Topology(range(nodes), links)
    routes = []
    for source in range(nodes):
        for stride in strides:
            for far in range(1, nodes):
                routes += [
                    Route(
                        tuple((source + way * stride * hop) % nodes for hop in range(hops + 1)), w
                    )
                    for way, hops, w in _turns(far, nodes, two_way)
                ]
    schedule = RouteSchedule(
        Collective.ALL_TO_ALL, topology.digest, topology.nodes, units, tuple(routes)
    )
    return BaselineRun(topology, schedule)


def _turns(far: int, nodes: int, two_way: bool) -> list[tuple[int, int, int]]:
    """Return direction, hops and share of the data to the host ``far`` positions ahead."""
    if not two_way:
        return [(1, far, 1)]
    if 2 * far == nodes:
        return [(1, far, 1), (-1, far, 1)]
    return [(1, far, 2)] if 2 * far < nodes else [(-1, nodes - far, 2)]
