"""The three-dimensional full mesh: hosts that differ in one coordinate have a direct link.

References
----------
Ahn et al., "HyperX: topology, routing, and packaging of efficient large-scale networks", SC
2009; found to be Pareto-optimal for serving experts in arXiv:2605.00254.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import lcm, prod

import numpy as np

from topoloom.schedules.baselines.baseline_run import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines.operation import (
    PASSES,
    Baseline,
    Operation,
    faster,
    step_baseline,
)
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.model.schedule import Collective, StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology

NAME = "full-mesh-3d"


def time(nodes: int, degree: int, operation: Operation) -> Baseline | None:
    """Return the least time on a mesh of sides a, b, c with (a-1) + (b-1) + (c-1) = d, or None.

    The data is cut into three shares, one per cyclic order of the dimensions.  In a step every
    host sends its data to all others along the dimension: three steps, the j-th of which loads
    a link with all shards gathered before.  Shares are proportional to the side of their last
    dimension.  An allreduce may also exchange partial sums once (`partial_sums`).

    >>> from topoloom.schedules.model.schedule import Collective
    >>> work = Operation(Collective.ALLGATHER, 64, Fraction(1), Fraction(0))
    >>> time(64, 9, work).steps, time(64, 9, work).seconds
    (3, Fraction(63, 1))
    """
    if operation.collective not in PASSES:
        return None
    timed = [_time(shape, operation) for shape in _shapes(nodes, degree)]
    return min(timed, key=lambda one: one.seconds, default=None)


def baseline_run(nodes: int, degree: int, operation: Operation) -> BaselineRun | None:
    """Return the mesh and its schedule."""
    best = time(nodes, degree, operation)
    if best is None:
        return None
    shape = next(s for s in _shapes(nodes, degree) if _time(s, operation) == best)
    once = Grid(shape, rings=False).run()
    return fastest_run(lambda _: _gathered(shape), degree, operation, [once])


def _shapes(nodes: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the sides, at least 2, of meshes with these numbers of hosts and ports."""
    for a in range(2, degree):
        for b in range(a, degree + 2 - a):
            c = degree + 3 - a - b
            if c >= b and a * b * c == nodes:
                yield a, b, c


def _time(shape: tuple[int, ...], operation: Operation) -> Baseline:
    loads = [Fraction(0)] * 3
    for step in range(3):
        along = [Fraction(0)] * 3
        for first, share in enumerate(_shares(shape)):
            done = [shape[(first + turn) % 3] for turn in range(step)]
            along[(first + step) % 3] += share * prod(done)
        loads[step] = max(along)
    wire = sum(loads, Fraction(0)) * Fraction(sum(shape) - 3, prod(shape))
    parts = sum(loads, Fraction(0)) * _parts(shape)
    found = step_baseline(NAME, prod(shape), 3, wire, operation, parts)
    if operation.collective is not Collective.ALLREDUCE:
        return found
    return faster(found, Grid(shape, rings=False).time(NAME, sum(shape) - 3, operation))


def _shares(shape: tuple[int, ...]) -> list[Fraction]:
    """Return the share that starts with each dimension; links of the last step have equal load."""
    return [Fraction(shape[axis - 1], sum(shape)) for axis in range(3)]


def _parts(shape: tuple[int, ...]) -> int:
    return lcm(*(share.denominator for share in _shares(shape)))


def _gathered(shape: tuple[int, ...]) -> tuple[Topology, StepSchedule]:
    hosts = np.arange(prod(shape)).reshape(shape)
    rings = [(axis, by) for axis, side in enumerate(shape) for by in range(1, side)]
    ends = [np.roll(hosts, -by, axis).ravel() for axis, by in rings]
    topology = Topology.direct(hosts.size, np.tile(hosts.ravel(), len(ends)), np.concatenate(ends))
    whole = _parts(shape)
    widths = [int(share * whole) for share in _shares(shape)]
    steps: list[list[np.ndarray]] = [[], [], []]
    for first, width in enumerate(widths):
        spread, owner = [hosts], hosts.ravel()
        for step in range(3):
            axis = (first + step) % 3
            reached = list(spread)
            for holder in spread:
                for by in range(1, shape[axis]):
                    target = np.roll(holder, -by, axis)
                    low = sum(widths[:first])
                    steps[step].append(sends(holder.ravel(), target.ravel(), owner, low, width, 0))
                    reached.append(target)
            spread = reached
    return topology, gather(topology, whole, steps)
