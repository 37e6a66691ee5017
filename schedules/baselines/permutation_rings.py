"""Unidirectional rings over d permutations of the hosts, as in TopoOpt's allreduce.

References:
    Wang et al., "TopoOpt: co-optimizing network topology and parallelization strategy for
    distributed training jobs", NSDI 2023, TotientPerms.
"""

from fractions import Fraction

from topoloom.schedules.baselines.operation import PASSES, Baseline, Operation, step_baseline

NAME = "permutation-rings"
ONE_WAY = True
"""The links need no reverse direction: for hosts with unidirectional links."""


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of d one-way rings with 1/d of the data each: N - 1 steps per pass.

    Ring j has as stride the j-th number coprime to N, with strides spread as in TopoOpt.  All
    ports are used, also for odd d.

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLGATHER, 12, Fraction(1), Fraction(0))
    >>> time(12, 3, work).seconds
    Fraction(11, 1)
    """
    if operation.collective not in PASSES:
        return None
    wire = Fraction(nodes - 1, nodes)
    return step_baseline(NAME, nodes, nodes - 1, wire, operation, nodes - 1)
