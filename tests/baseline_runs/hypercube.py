"""Recursive doubling on a hypercube."""

from itertools import product

import numpy as np

from tests.baseline_runs.partial_sums import grid_run
from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines import hypercube
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the hypercube and its schedule."""
    if hypercube.time(nodes, degree, operation) is None:
        return None
    dimensions = nodes.bit_length() - 1
    made = _doubling(dimensions, degree // dimensions)
    once = grid_run(hypercube._grid(dimensions, degree))
    return fastest_run(lambda _: made, degree, operation, [once])


def _doubling(dimensions: int, parallel: int) -> tuple[Topology, StepSchedule]:
    """Return recursive doubling; part j of every shard starts at dimension j."""
    hosts = np.arange(1 << dimensions)
    ends = [hosts ^ (1 << axis) for axis in range(dimensions) for _ in range(parallel)]
    topology = Topology.direct(len(hosts), np.tile(hosts, len(ends)), np.concatenate(ends))
    steps: list[list[np.ndarray]] = [[] for _ in range(dimensions)]
    for axis, link in product(range(dimensions), range(parallel)):
        spread = np.zeros(1, np.int64)
        for step, sent in enumerate(steps):
            over = 1 << (axis + step) % dimensions
            shards = hosts[:, None] ^ spread
            part = axis * parallel + link
            sent.append(sends(hosts[:, None], hosts[:, None] ^ over, shards, part, 1, link))
            spread = np.concatenate([spread, spread ^ over])
    return topology, gather(topology, dimensions * parallel, steps)
