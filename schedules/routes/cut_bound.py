"""Lower bounds by cuts: the data that must cross from one set of nodes to the rest.

A set S of nodes with s compute nodes inside and r outside sends s * r units over the arcs that
leave S.  With lengths 1 on these arcs and 0 elsewhere, this is a bound by lengths.  Lengths
averaged over a group of automorphisms are equal on every orbit of arcs.  They prove no less, since
the distance under an average is at least the average of the distances.

Cuts come from *sweeps*: the nodes are ordered by a function and cut between each two neighbors.
The functions are the slowest modes of the graph (eigenvectors of its Laplacian), which yield the
bisections of meshes and of graphs with few links between their parts.  The order in which nodes
are listed is another: equal eigenvalues, as in square meshes, allow any mixture of modes.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.routes.demand import AllToAllDemand
from topoloom.schedules.routes.shortest_path_bound import length_bound

MAX_NODES = 2048
"""Maximum nodes for the computation of modes; the matrix is dense."""

_MODES = 4

Integers = NDArray[np.int64]


def cut_bound(problem: AllToAllDemand) -> Fraction:
    """Return the best lower bound by the cuts of the sweeps; 0 without cuts.

    O(nodes^3 + modes * (nodes * arcs)) and one search of shortest paths from every source.

    Two triangles joined by one link in each direction: 9 units cross it.

    >>> from topoloom.schedules.routes.demand import all_to_all_demand
    >>> from topoloom.synth.topology.topology import Topology
    >>> inside = [(a, b) for a in range(3) for b in range(3) if a != b]
    >>> links = [*inside, *((a + 3, b + 3) for a, b in inside), (0, 3), (3, 0)]
    >>> cut_bound(all_to_all_demand(Topology(range(6), links)))
    Fraction(9, 1)
    """
    if problem.nodes > MAX_NODES:
        return Fraction(0)
    best, chosen = Fraction(0), None
    for order in _orders(problem):
        rate, inside = _sweep(problem, order)
        if rate > best:
            best, chosen = rate, inside
    if chosen is None:
        return best
    leaving = chosen[problem.tail] & ~chosen[problem.head]
    lengths = np.bincount(problem.orbit[leaving], minlength=len(problem.capacity))
    return max(best, length_bound(problem, lengths.astype(np.int64)))


def _orders(problem: AllToAllDemand) -> Iterator[Integers]:
    """Yield orders of the nodes, each also reversed: the listed order, and by slow modes."""
    yield np.arange(problem.nodes)
    yield np.arange(problem.nodes)[::-1]
    weight = problem.capacity[problem.orbit].astype(float)
    laplacian = np.zeros((problem.nodes, problem.nodes))
    np.subtract.at(laplacian, (problem.tail, problem.head), weight)
    laplacian += laplacian.T
    np.fill_diagonal(laplacian, 0.0)
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1))
    modes = np.linalg.eigh(laplacian)[1][:, 1 : 1 + _MODES]
    for mode in modes.T:
        # Values equal up to rounding count as equal; such nodes keep their order.
        order = np.argsort(np.round(mode, 9), kind="stable").astype(np.int64)
        yield order
        yield order[::-1]


def _sweep(problem: AllToAllDemand, order: Integers) -> tuple[Fraction, NDArray[np.bool_]]:
    """Return the best exact rate among the cuts of one order, and the nodes inside that cut."""
    place = np.empty(problem.nodes, np.int64)
    place[order] = np.arange(problem.nodes)
    capacity = problem.capacity[problem.orbit]
    first, past = place[problem.tail], place[problem.head]
    forward = first < past
    # An arc leaves the first k nodes if they contain its tail and not its head.
    change = np.zeros(problem.nodes + 1, np.int64)
    np.add.at(change, first[forward] + 1, capacity[forward])
    np.subtract.at(change, past[forward] + 1, capacity[forward])
    room = np.cumsum(change)
    within = np.concatenate([[0], np.cumsum(problem.wants[order])])
    units = within * (within[-1] - within)
    counts = [
        (Fraction(int(units[k]), int(room[k])), k)
        for k in range(1, problem.nodes)
        if units[k] and room[k]
    ]
    rate, size = max(counts, default=(Fraction(0), 0))
    inside = np.zeros(problem.nodes, np.bool_)
    inside[order[:size]] = True
    return rate * problem.scale, inside
