"""Recursive halving and doubling through a switch: Rabenseifner's allreduce and its halves.

References:
    Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH",
    Int. J. High Performance Computing Applications 19(1), 2005.
"""

from fractions import Fraction

import numpy as np

from topoloom.schedules.baselines import window_sums
from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    faster,
    step_baseline,
)
from topoloom.schedules.model.schedule import Collective, StepSchedule
from topoloom.schedules.steps.send_arrays import allgather_from_sends, normalized_schedule, sends
from topoloom.synth.topology.topology import Topology

NAME = "switch-rabenseifner"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of N = 2^k hosts that use all their ports with one partner per step.

    In step i of an allgather, partners exchange their 2^i shards: k steps, (N-1)/N.  An allreduce
    may also exchange partial sums of the whole buffer once (recursive doubling).  None for other
    N, where surplus hosts would first transfer their data.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 16, Fraction(1), Fraction(1))
    >>> time(16, 1, work).seconds
    Fraction(38, 1)
    """
    if operation.collective not in PASSES or nodes & (nodes - 1):
        return None
    wire = Fraction(nodes - 1, nodes)
    found = step_baseline(NAME, nodes, nodes.bit_length() - 1, wire, operation, nodes - 1)
    if operation.collective is not Collective.ALLREDUCE:
        return found
    return faster(found, window_sums.time(NAME, nodes, 1, operation))


def doubling(nodes: int, ports: int) -> tuple[Topology, StepSchedule]:
    """Return the allgather of 2^k hosts, with a link of all ports per pair of partners."""
    hosts, steps = np.arange(nodes), range(nodes.bit_length() - 1)
    links = [(int(host), int(host) ^ (1 << step), ports) for step in steps for host in hosts]
    topology = Topology(range(nodes), links)
    sent = [
        [
            sends(
                hosts[:, None],
                hosts[:, None] ^ (1 << step),
                hosts[:, None] ^ np.arange(1 << step),
                0,
                1,
                0,
            )
        ]
        for step in steps
    ]
    gather = allgather_from_sends(topology.node_count, 1, sent)
    return topology, normalized_schedule(gather, topology)
