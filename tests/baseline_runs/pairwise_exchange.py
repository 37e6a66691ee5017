"""Pairwise exchange over a link per pair."""

import numpy as np

from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines import pairwise_exchange
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule, StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the complete graph and its schedule."""
    if pairwise_exchange.time(nodes, degree, operation) is None:
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
