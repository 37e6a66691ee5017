"""Bruck's allgather as a schedule."""

from collections import Counter
from functools import reduce

import numpy as np

from tests.baseline_runs import window_sums
from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines import bruck
from topoloom.schedules.baselines.operation import PASSES, Operation
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return Bruck's allgather with a link for every communicating pair of hosts."""
    if operation.collective not in PASSES:
        return None
    sums = window_sums.window_run(nodes, degree, degree, operation)
    return fastest_run(lambda way: _gathered(nodes, degree, way), degree, operation, [sums])


def _gathered(nodes: int, ports: int, way: int) -> tuple[Topology, StepSchedule]:
    """Return Bruck's allgather; a port's link exists in all steps and is used in one."""
    hosts = np.arange(nodes)
    plan = bruck._steps(nodes, ports)
    # Ports that connect to the same host in a step have a link each.
    facing = [Counter(held + first // ports for first, _ in parts) for held, parts in plan]
    ends = [
        (hosts - way * far) % nodes
        for far, links in reduce(Counter.__or__, facing).items()
        for _ in range(links)
    ]
    topology = Topology.direct(nodes, np.tile(hosts, len(ends)), np.concatenate(ends))
    steps: list[list[np.ndarray]] = []
    for held, parts in plan:
        steps.append([])
        used = Counter[int]()
        for first, past in parts:
            far = held + first // ports
            for shard in range(first // ports, -(-past // ports)):
                low, high = max(first - shard * ports, 0), min(past - shard * ports, ports)
                source, owner = ((hosts + way * by) % nodes for by in (far, held + shard))
                steps[-1].append(sends(source, hosts, owner, low, high - low, used[far]))
            used[far] += 1
    return topology, gather(topology, ports, steps)
