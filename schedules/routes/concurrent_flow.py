"""The linear program of the maximum concurrent flow, with its solution in integers.

Variables: the flow f[s, e] of all data of source s on arc e, and the inverse rate x.
Minimize x subject to two kinds of constraints.  Conservation: at every node v except s, inflow
minus outflow is the demand of v (1, or 0 at a switch).  Capacity: on the arcs of every orbit,
the sum of the flows is at most x times the capacity.  One flow per source serves all its
destinations, since `schedules.routes.flow_decomposition` separates them afterwards.

HiGHS solves the program in floating point.  This module returns integer flows that satisfy
conservation exactly, and integer lengths; each yields an exact bound.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import maximum_flow

from topoloom.schedules.routes.demand import AllToAllDemand

Integers = NDArray[np.int64]

_CLOSE = 1e-9
_LARGEST_DENOMINATOR = 5040
_LARGEST_UNIT = 1 << 60
_INT32 = 2**31 - 1


class Answer(NamedTuple):
    """Floats: ``flows`` (sources, arcs), and ``lengths`` by orbit, the dual of the loads."""

    flows: NDArray[np.float64]
    lengths: NDArray[np.float64]


def solve(problem: AllToAllDemand, seconds: float) -> Answer | None:
    """Return the solution of HiGHS, or None if HiGHS does not finish in ``seconds``.

    Time grows faster than sources * arcs: 16,000 variables take about one second.
    """
    sources, arcs = len(problem.sources), len(problem.tail)
    orbits = len(problem.capacity)
    objective = np.zeros(sources * arcs + 1)
    objective[-1] = 1
    balance, wanted = _balance(problem)
    columns = np.concatenate([np.arange(sources * arcs), np.full(orbits, sources * arcs)])
    rows = np.concatenate([np.tile(problem.orbit, sources), np.arange(orbits)])
    # Rates in units of the mean capacity keep all numbers near 1.
    room = problem.capacity / problem.capacity.mean()
    values = np.concatenate([np.ones(sources * arcs), -room])
    loads = coo_array((values, (rows, columns)), (orbits, sources * arcs + 1)).tocsr()
    found: Any = linprog(
        objective,
        A_ub=loads,
        b_ub=np.zeros(orbits),
        A_eq=balance,
        b_eq=wanted,
        method="highs-ipm" if sources * arcs > 8000 else "highs-ds",
        options={"time_limit": seconds},
    )
    if found.status != 0:
        return None
    flows = np.maximum(found.x[:-1], 0).reshape(sources, arcs)
    return Answer(flows, np.maximum(-found.ineqlin.marginals, 0))


def _balance(problem: AllToAllDemand) -> tuple[csr_array, NDArray[np.float64]]:
    """Return the rows of conservation, one per source and node: inflow minus outflow."""
    nodes, arcs = problem.nodes, len(problem.tail)
    at = np.arange(arcs)
    rows, columns, values, wanted = [], [], [], []
    for index, source in enumerate(problem.sources.tolist()):
        rows += [index * nodes + problem.head, index * nodes + problem.tail]
        columns += [index * arcs + at, index * arcs + at]
        values += [np.ones(arcs), -np.ones(arcs)]
        want = problem.wants.astype(float)
        want[source] = -problem.receivers
        wanted.append(want)
    shape = (len(problem.sources) * nodes, len(problem.sources) * arcs + 1)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return coo_array(entries, shape).tocsr(), np.concatenate(wanted)


def whole_lengths(lengths: NDArray[np.float64], longest: int) -> Iterator[Integers]:
    """Yield integer lengths close to, or proportional to, the given lengths.

    Any lengths prove a bound.  The first are exact where the true lengths are rational multiples of
    each other with small denominators.

    >>> next(whole_lengths(np.array([0.2, 0.3]), 2**30)).tolist()
    [2, 3]
    """
    largest = float(lengths.max(initial=0))
    if largest <= 0:
        return
    shape = lengths / largest
    unit = _common_denominator(shape, longest)
    if unit is not None:
        yield np.rint(shape * unit).astype(np.int64)
    yield np.rint(shape * min(longest, 1 << 30)).astype(np.int64)


def whole_flows(problem: AllToAllDemand, flows: NDArray[np.float64]) -> tuple[Integers, int]:
    """Return flows in integer multiples of 1 / unit close to the given flows, and the unit.

    The flows deliver exactly one unit to every destination.  No arc carries more of a source's
    data than the given flow, rounded up.

    With capacities rounded up, the given flows fit except for the solver's tolerance, so
    an integer maximum flow serves all destinations.
    """
    exact = _common_denominator(flows, _LARGEST_UNIT // problem.nodes**2)
    if exact is not None:
        whole = np.rint(flows * exact).astype(np.int64)
        if _balanced(problem, whole, exact):
            return whole, exact
    # The library's flows are int32.
    unit = 1 << (_INT32 // (2 * problem.nodes)).bit_length() - 1
    whole = np.stack(
        [
            _routed(problem, source, row, unit)
            for source, row in zip(problem.sources.tolist(), flows, strict=True)
        ]
    )
    return whole, unit


def _common_denominator(values: NDArray[np.float64], most: int) -> int | None:
    """Return the least common denominator, up to ``most``, of fractions close to the values."""
    unit = 1
    for value in np.unique(np.round(values, 10)).tolist():
        near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
        if abs(near - Fraction(value)) > _CLOSE:
            return None
        unit = lcm(unit, near.denominator)
        if unit > most:
            return None
    return unit


def _balanced(problem: AllToAllDemand, flows: Integers, unit: int) -> bool:
    for source, row in zip(problem.sources.tolist(), flows, strict=True):
        gain = np.zeros(problem.nodes, np.int64)
        np.add.at(gain, problem.head, row)
        np.subtract.at(gain, problem.tail, row)
        wanted = problem.wants * unit
        wanted[source] = -problem.receivers * unit
        if not np.array_equal(gain, wanted):
            return False
    return True


def _routed(problem: AllToAllDemand, source: int, flow: NDArray[np.float64], unit: int) -> Integers:
    """Return integer flows from one source within capacities slightly above the given flow."""
    nodes, goal = problem.nodes, problem.nodes
    wanted = problem.wants.copy()
    wanted[source] = False
    takers = np.flatnonzero(wanted)
    tails = np.concatenate([problem.tail, takers])
    heads = np.concatenate([problem.head, np.full(len(takers), goal)])
    slack = 0
    while True:
        room = np.minimum(np.ceil(flow * unit) + slack, _INT32 // 2)
        capacity = np.concatenate([room, np.full(len(takers), unit)]).astype(np.int32)
        graph = csr_array((capacity, (tails, heads)), (nodes + 1, nodes + 1))
        found = maximum_flow(graph, source, goal)
        if found.flow_value == unit * len(takers):
            carried = found.flow[problem.tail, problem.head]
            return np.maximum(np.asarray(carried).ravel(), 0).astype(np.int64)
        # The solver's tolerance leaves some destination short of a unit.
        slack = 2 * slack + 1
