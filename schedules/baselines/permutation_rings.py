"""One-way rings over d permutations of the hosts, as TopoOpt plugs them for an allreduce.

References
----------
Wang et al., "TopoOpt: co-optimizing network topology and parallelization strategy for
distributed training jobs", NSDI 2023, TotientPerms.
"""

from fractions import Fraction
from math import gcd

import numpy as np

from topoloom.schedules.baselines.baseline_run import Running, gather, in_passes
from topoloom.schedules.baselines.operation import PASSES, Baseline, Operation, in_steps
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology

__all__ = ["NAME", "ONE_WAY", "run", "time"]

NAME = "permutation-rings"
ONE_WAY = True
"""Its links need no partner the other way, so it is for hosts whose ports are plugged so."""


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of d one-way rings, each with one d-th of the data: N - 1 steps a pass.

    Ring j goes on by the j-th number that has no factor in common with N, the numbers as far
    apart as TopoOpt spreads them; all ports are used, odd ones too.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLGATHER, 12, Fraction(1), Fraction(0))
    >>> time(12, 3, work).seconds
    Fraction(11, 1)
    """
    if operation.collective not in PASSES:
        return None
    return in_steps(NAME, nodes - 1, Fraction(nodes - 1, nodes), operation, nodes - 1)


def run(nodes: int, degree: int, operation: Operation) -> Running | None:
    """Return the rings and what they run."""
    if operation.collective not in PASSES:
        return None
    return in_passes(lambda way: _rings(nodes, strides(nodes, degree), way), operation.collective)


def strides(nodes: int, degree: int) -> list[int]:
    """Return by how much the rings go on: nearest to a geometric series, as far as there are any.

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
