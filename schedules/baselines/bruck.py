"""Bruck's multiport allgather through a switch that joins any pair of ports.

References:
    Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient algorithms for all-to-all communications in
    multiport message-passing systems", IEEE Trans. Parallel Distrib. Syst. 8(11), 1997.
"""

from fractions import Fraction
from math import gcd

from topoloom.schedules.baselines import window_sums
from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    faster,
    step_baseline,
)
from topoloom.schedules.model.schedule import Collective

NAME = "switch-bruck"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of Bruck's allgather on k = d ports: ceil(log_(k+1) N) steps per pass.

    After i steps every host has q = (k+1)^i consecutive shards, its own first.  Port p then
    receives the q shards of the host p q ahead.  In the last step the R missing shards are shared
    among the ports: R / k each, or ceil(R / k) where no host has all shards of a port.
    A port may connect to a different host in every step.  An allreduce may also make one pass, of
    whole buffers or of window sums (`window_sums`).

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 2**20, Fraction(125 * 10**8), Fraction(1, 10**5))
    >>> bruck = time(1024, 4, work)
    >>> bruck.steps, round(float(bruck.seconds) * 1e6, 1)
    (10, 267.6)
    """
    if operation.collective not in PASSES:
        return None
    plan = [parts for _, parts in _steps(nodes, degree)]
    load = sum(max(past - first for first, past in parts) for parts in plan)
    # The number of chunks is the least that the ports can share.
    whole = gcd(degree, *(end for parts in plan for part in parts for end in part))
    wire = Fraction(load, nodes)
    found = step_baseline(NAME, nodes, len(plan), wire, operation, load // whole)
    if operation.collective is not Collective.ALLREDUCE:
        return found
    return faster(found, window_sums.time(NAME, nodes, degree, operation))


def _steps(nodes: int, ports: int) -> list[tuple[int, list[tuple[int, int]]]]:
    """Return, by step, the number of held shards, and the ranges that each port receives.

    Ranges count from the first missing shard, in chunks of 1 / ports.

    >>> _steps(8, 2)
    [(1, [(0, 2), (2, 4)]), (3, [(0, 5), (5, 10)])]
    """
    found, held = [], 1
    while held < nodes:
        left = min(nodes - held, held * ports)
        parts = [(port * left, (port + 1) * left) for port in range(ports)]
        if any(-(-past // ports) - first // ports > held for first, past in parts):
            each = -(-left // ports) * ports
            starts = range(0, left * ports, each)
            parts = [(first, min(first + each, left * ports)) for first in starts]
        found.append((held, parts))
        held += left
    return found
