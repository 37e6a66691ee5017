"""Pairwise exchange of all pairs at once, over a link per pair of hosts.

References:
    The pairwise exchange of Thakur, Rabenseifner and Gropp, "Optimization of collective
    communication operations in MPICH", 2005, with a link for every pair.
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
