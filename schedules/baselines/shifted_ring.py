"""Bidirectional rings over the hosts in different orders, as in NCCL and TopoOpt.

Every shard travels in both directions at once, so a pass takes floor(N / 2) steps.

References:
    Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J.
    Parallel Distrib. Comput. 69(2), 2009 (one way); NCCL's and TopoOpt's (NSDI 2023) orders.
"""

from fractions import Fraction

from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    all_to_all_baseline,
    step_baseline,
)
from topoloom.schedules.model.schedule import Collective

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
