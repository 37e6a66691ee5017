"""Recursive doubling on a hypercube, with the data cut to use all dimensions at once.

References:
    Johnsson and Ho, "Optimum broadcasting and personalized communication in hypercubes", IEEE
    Trans. Computers 38(9), 1989.
"""

from fractions import Fraction
from itertools import product

import numpy as np

from topoloom.schedules.baselines.baseline_run import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    faster,
    step_baseline,
)
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.model.schedule import Collective, StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology

NAME = "recursive-doubling"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of recursive doubling (halving) on a hypercube of the hosts.

    N = 2**k hosts with k <= d ports and floor(d / k) links along each dimension; None for
    other hosts.  In step i of an allgather, partners along a dimension exchange their 2**i
    shards.  The data is cut into k parts that start at different dimensions, so that every
    link is used in every step.  k steps per pass.  An allreduce may also exchange partial sums of
    the whole buffer once (`partial_sums`).

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 16, Fraction(1), Fraction(0))
    >>> time(16, 4, work).seconds, time(16, 4, work).steps
    (Fraction(30, 1), 8)
    """
    dimensions = nodes.bit_length() - 1
    if operation.collective not in PASSES:
        return None
    if nodes != 1 << dimensions or not 1 <= dimensions <= degree:
        return None
    used = degree - degree % dimensions
    wire = Fraction(nodes - 1, nodes) * Fraction(degree, used)
    found = step_baseline(NAME, nodes, dimensions, wire, operation, nodes - 1)
    if operation.collective is not Collective.ALLREDUCE:
        return found
    return faster(found, _grid(dimensions, degree).time(NAME, degree, operation))


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the hypercube and its schedule."""
    if time(nodes, degree, operation) is None:
        return None
    dimensions = nodes.bit_length() - 1
    made = _doubling(dimensions, degree // dimensions)
    once = _grid(dimensions, degree).run()
    return fastest_run(lambda _: made, degree, operation, [once])


def _grid(dimensions: int, degree: int) -> Grid:
    return Grid((2,) * dimensions, rings=False, copies=degree // dimensions)


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
