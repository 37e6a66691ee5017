"""Double trees with three or more children, for lower height on hosts with many ports.

References:
    As `double_binary_tree`; trees with more children use the same construction.
"""

from topoloom.schedules.baselines import two_tree_schedule
from topoloom.schedules.baselines.baseline_run import BaselineRun
from topoloom.schedules.baselines.operation import Baseline, Operation

NAME = "double-tree"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time over all numbers of children, at least 3, that the ports allow."""
    return _best(nodes, degree, operation)[0]


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return both trees on disjoint links."""
    timed, arity = _best(nodes, degree, operation)
    return two_tree_schedule.two_tree_run(nodes, degree, arity, operation) if timed else None


def _best(nodes: int, degree: int, operation: Operation) -> tuple[Baseline | None, int]:
    found = [
        (timed, arity)
        for arity in range(3, degree - 1)
        if (timed := two_tree_schedule.time(NAME, nodes, degree, arity, operation))
    ]
    return min(found, key=lambda pair: (pair[0].seconds, pair[1]), default=(None, 0))
