"""Bidirectional rings along every dimension of a torus, one dimension after another.

The data is cut into one share per dimension.  Each share starts with a different dimension and
takes the others in cyclic order, so that all links are in use.

References:
    Jain and Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus
    interconnects", ICS 2010; as on TPU pods (Kumar et al., arXiv:2011.03641).
"""

from fractions import Fraction
from math import prod

from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    all_to_all_baseline,
    faster,
    step_baseline,
)
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.baselines.torus_shares import (
    TorusShares,
    best_shares,
    totals,
)
from topoloom.schedules.baselines.torus_topology import nearest
from topoloom.schedules.model.schedule import Collective

NAME = "torus-rings"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time of bidirectional rings on a torus of the hosts with 2 D <= d ports.

    Candidates are, for every number D of dimensions, the torus closest to a cube.  Either all data
    travels in both directions of a ring of n: floor(n / 2) steps, in which every link carries the
    data that its host has so far, or half of it in the last step of even n.  Or one half travels
    in each direction: n - 1 steps of half the data, which may load links less for unequal sides.
    For two dimensions the shares are optimal.  For more, they are the better of equal shares and
    shares proportional to the side of the last dimension.  floor(d / 2 D) tori run in parallel.
    An allreduce may also exchange partial sums once (`partial_sums`).  None where N has no two
    sides of at least 3.

    In an all-to-all, data takes the dimensions in sequence, in the shorter direction of each: the
    busiest ring, of side n, takes floor(n^2 / 4) / n of M per direction.

    >>> work = Operation(Collective.ALLGATHER, 16, Fraction(1), Fraction(0))
    >>> time(16, 4, work).seconds, time(16, 4, work).steps
    (Fraction(15, 1), 4)
    """
    found = (_time(shape, degree, operation) for shape in nearest(nodes, degree // 2))
    served = [one for one in found if one]
    return faster(*served) if served else None


def _time(shape: tuple[int, ...], degree: int, operation: Operation) -> Baseline | None:
    copies = degree // (2 * len(shape))
    scale = Fraction(degree, copies)
    if operation.collective is Collective.ALL_TO_ALL:
        far = sum(side // 2 for side in shape)
        wire = max(Fraction(side * side // 4, 2 * side) for side in shape) * scale
        return all_to_all_baseline(NAME, far, wire, operation, Fraction(prod(shape), degree))
    if operation.collective not in PASSES:
        return None
    timed = (_timed(plan, degree, operation) for plan in best_shares(shape))
    if operation.collective is not Collective.ALLREDUCE:
        return faster(*timed)
    return faster(*timed, Grid(shape, rings=True, copies=copies).time(NAME, degree, operation))


def _timed(plan: TorusShares, degree: int, operation: Operation) -> Baseline:
    loads, nodes = totals(plan), prod(plan.shape)
    copies = degree // (2 * len(plan.shape))
    wire = loads[1] * Fraction(degree, nodes * copies)
    return step_baseline(NAME, nodes, loads[0], wire, operation, loads[1] * plan.parts)
