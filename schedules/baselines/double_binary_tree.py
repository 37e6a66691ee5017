"""NCCL's double binary trees, pipelined in both directions at once.

References:
    Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
    scan", Parallel Computing 35(12), 2009; NCCL 2.4.
"""

from topoloom.schedules.baselines import two_tree_schedule
from topoloom.schedules.baselines.baseline_run import BaselineRun
from topoloom.schedules.baselines.operation import Baseline, Operation

NAME = "double-binary-tree"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of `two_tree_schedule.time` with two children; four ports or more."""
    return two_tree_schedule.time(NAME, nodes, degree, 2, operation)


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return both trees on disjoint links."""
    return two_tree_schedule.two_tree_run(nodes, degree, 2, operation)
