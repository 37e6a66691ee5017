"""Double trees of three children or more, whose height is less, as wide hosts allow.

References
----------
As `double_binary_tree`; the trees of more children are the same construction.
"""

from schedules.baselines import double_trees
from schedules.baselines.operation import Baseline, Operation
from schedules.baselines.running import Running

__all__ = ["NAME", "run", "time"]

NAME = "double-tree"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time over all numbers of children from 3 that the ports allow."""
    return _best(nodes, degree, operation)[0]


def run(nodes: int, degree: int, operation: Operation) -> Running | None:
    """Return both trees on links of their own."""
    timed, arity = _best(nodes, degree, operation)
    return double_trees.run(nodes, degree, arity, operation) if timed else None


def _best(nodes: int, degree: int, operation: Operation) -> tuple[Baseline | None, int]:
    found = [
        (timed, arity)
        for arity in range(3, degree - 1)
        if (timed := double_trees.time(NAME, nodes, degree, arity, operation))
    ]
    return min(found, key=lambda pair: (pair[0].seconds, pair[1]), default=(None, 0))
