"""Unidirectional rings over permutations."""

from math import gcd

import numpy as np

from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines.operation import PASSES, Operation
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the rings and their schedule."""
    if operation.collective not in PASSES:
        return None
    rings = strides(nodes, degree)
    return fastest_run(lambda way: _rings(nodes, rings, way), degree, operation)


def strides(nodes: int, degree: int) -> list[int]:
    """Return the strides of the rings: closest to a geometric series, distinct while possible.

    >>> strides(16, 4), strides(3, 3)
    ([1, 3, 5, 7], [1, 2, 2])
    """
    free = [step for step in range(1, nodes) if gcd(step, nodes) == 1]
    pool, chosen = [], []
    for ring in range(degree):
        pool = pool or free[:]
        wanted = nodes ** (ring / degree)
        chosen.append(min(pool, key=lambda step: (abs(step - wanted), step)))
        pool.remove(chosen[-1])
    return chosen


def _rings(nodes: int, steps_on: list[int], way: int) -> tuple[Topology, StepSchedule]:
    hosts = np.arange(nodes)
    turned = [way * step % nodes for step in steps_on]
    ends = [(hosts + step) % nodes for step in turned]
    topology = Topology.direct(nodes, np.tile(hosts, len(ends)), np.concatenate(ends))
    links = [turned[:ring].count(step) for ring, step in enumerate(turned)]
    steps = [
        [
            sends((hosts + (at - 1) * on) % nodes, (hosts + at * on) % nodes, hosts, ring, 1, link)
            for ring, (on, link) in enumerate(zip(turned, links, strict=True))
        ]
        for at in range(1, nodes)
    ]
    return topology, gather(topology, len(turned), steps)
