"""Pairwise exchange of all pairs at once, over a link per pair of hosts.

References:
    The pairwise exchange of Thakur, Rabenseifner and Gropp, "Optimization of collective
    communication operations in MPICH", 2005, with a link for every pair.
"""

from fractions import Fraction

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

NAME = "direct"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return one step per pass, for N - 1 ports or more: every shard or block over its link.

    Every pair has floor(d / (N - 1)) links, which share its data.  Includes all-to-all.

    >>> work = Operation(Collective.ALL_TO_ALL, 8, Fraction(1), Fraction(0))
    >>> time(8, 7, work).seconds, time(8, 6, work)
    (Fraction(7, 1), None)
    """
    parallel = degree // (nodes - 1)
    if not parallel:
        return None
    wire = Fraction(degree, nodes * parallel)
    if operation.collective is Collective.ALL_TO_ALL:
        return all_to_all_baseline(NAME, 1, wire, operation, Fraction(nodes, degree))
    if operation.collective not in PASSES:
        return None
    return step_baseline(NAME, nodes, 1, wire, operation, 1)


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the complete graph and its schedule."""
    if time(nodes, degree, operation) is None:
        return None
    parallel = degree // (nodes - 1)
    if operation.collective is Collective.ALL_TO_ALL:
        topology = _complete(nodes, parallel)
        routes = (Route((a, b), 1) for a in range(nodes) for b in range(nodes) if a != b)
        schedule = RouteSchedule(
            Collective.ALL_TO_ALL, topology.digest, topology.nodes, 1, tuple(routes)
        )
        return BaselineRun(topology, schedule, 1)
    return fastest_run(lambda _: _gathered(nodes, parallel), degree, operation)


def _complete(nodes: int, parallel: int) -> Topology:
    hosts = np.arange(nodes)
    ends = [(hosts + by) % nodes for by in range(1, nodes) for _ in range(parallel)]
    return Topology.direct(nodes, np.tile(hosts, len(ends)), np.concatenate(ends))


def _gathered(nodes: int, parallel: int) -> tuple[Topology, StepSchedule]:
    topology, hosts = _complete(nodes, parallel), np.arange(nodes)
    step = [
        sends(hosts, (hosts + by) % nodes, hosts, link, 1, link)
        for by in range(1, nodes)
        for link in range(parallel)
    ]
    return topology, gather(topology, parallel, [step])
