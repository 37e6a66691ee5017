"""Bidirectional rings over the hosts in different orders, as in NCCL and TopoOpt.

Every shard travels in both directions at once, so a pass takes floor(N / 2) steps.

References:
    Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J.
    Parallel Distrib. Comput. 69(2), 2009 (one way); NCCL's and TopoOpt's (NSDI 2023) orders.
"""

from fractions import Fraction
from math import gcd

import numpy as np

from topoloom.schedules.baselines.baseline_run import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    all_to_all_baseline,
    step_baseline,
)
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule, StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology

NAME = "shifted-ring"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of floor(d / 2) bidirectional rings over the hosts.

    Each ring carries an equal part of every shard in both directions: floor(N / 2) steps per
    pass.  For even N half of the farthest shard arrives from each side.  For odd d one port stays
    idle; for d = 1 there is one directed ring of N - 1 steps.

    In an all-to-all all data takes the shorter direction.  All ranks together cross
    floor(N^2 / 4) links, or N (N - 1) / 2 on a directed ring, evenly.  Pipelining is assumed
    ideal, so that only the longest path adds latency.

    >>> work = Operation(Collective.ALLREDUCE, 10**6, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> ring = time(12, 4, work)
    >>> ring.steps, float(ring.seconds)
    (12, 0.0002666666666666667)
    """
    used = degree if degree == 1 else degree - degree % 2
    far = nodes - 1 if used == 1 else nodes // 2
    if operation.collective is Collective.ALL_TO_ALL:
        hops = nodes * (nodes - 1) // 2 if used == 1 else nodes * nodes // 4
        wire = Fraction(hops, nodes) * Fraction(degree, used)
        return all_to_all_baseline(NAME, far, wire, operation, Fraction(nodes, degree))
    if operation.collective not in PASSES:
        return None
    wire = Fraction(nodes - 1, nodes) * Fraction(degree, used)
    # Only the shard that arrives from both sides, for even N, is cut.
    halved = used > 1 and nodes % 2 == 0
    return step_baseline(NAME, nodes, far, wire, operation, nodes - 1 if halved else far)


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
