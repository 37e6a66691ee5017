"""Recursive doubling on a hypercube, with the data cut to use all dimensions at once.

References:
    Johnsson and Ho, "Optimum broadcasting and personalized communication in hypercubes", IEEE
    Trans. Computers 38(9), 1989.
"""

from fractions import Fraction

from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    faster,
    step_baseline,
)
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.model.schedule import Collective

NAME = "recursive-doubling"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the time of recursive doubling (halving) on a hypercube of the hosts.

    N = 2**k hosts with k <= d ports and floor(d / k) links along each dimension; None for
    other hosts.  In step i of an allgather, partners along a dimension exchange their 2**i
    shards.  The data is cut into k parts that start at different dimensions, so that every
    link is used in every step.  k steps per pass.  An allreduce may also exchange partial sums of
    the whole buffer once (`partial_sums`).

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLREDUCE, 16, Fraction(1), Fraction(0))
    >>> time(16, 4, work).seconds, time(16, 4, work).steps
    (Fraction(30, 1), 8)
    """
    dimensions = nodes.bit_length() - 1
    if operation.collective not in PASSES:
        return None
    if nodes != 1 << dimensions or not 1 <= dimensions <= degree:
        return None
    used = degree - degree % dimensions
    wire = Fraction(nodes - 1, nodes) * Fraction(degree, used)
    found = step_baseline(NAME, nodes, dimensions, wire, operation, nodes - 1)
    if operation.collective is not Collective.ALLREDUCE:
        return found
    return faster(found, _grid(dimensions, degree).time(NAME, degree, operation))


def _grid(dimensions: int, degree: int) -> Grid:
    return Grid((2,) * dimensions, rings=False, copies=degree // dimensions)
