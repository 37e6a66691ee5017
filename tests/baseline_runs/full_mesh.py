"""Allgathers on full meshes."""

from itertools import product
from math import prod

import numpy as np

from tests.baseline_runs.partial_sums import grid_run
from tests.baseline_runs.runs import BaselineRun, fastest_run, gather
from topoloom.schedules.baselines import full_mesh
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.baselines.torus_shares import dimension_order
from topoloom.schedules.model.schedule import StepSchedule
from topoloom.schedules.steps.send_arrays import sends
from topoloom.synth.topology.topology import Topology


def mesh_run(
    mesh: full_mesh.FullMesh, nodes: int, degree: int, operation: Operation
) -> BaselineRun | None:
    """Return the mesh and its schedule."""
    best = mesh.time(nodes, degree, operation)
    if best is None:
        return None
    shapes = mesh._shapes(nodes, degree)
    shape = next(one for one in shapes if mesh._time(one, degree, operation) == best)
    copies = degree // full_mesh._links(shape)
    once = grid_run(Grid(shape, rings=False, copies=copies))
    return fastest_run(lambda _: _gathered(shape, copies), degree, operation, [once])


def _gathered(shape: tuple[int, ...], copies: int) -> tuple[Topology, StepSchedule]:
    hosts = np.arange(prod(shape)).reshape(shape)
    rings = [(axis, by) for axis, side in enumerate(shape) for by in range(1, side)]
    ends = [np.roll(hosts, -by, axis).ravel() for axis, by in rings for _ in range(copies)]
    topology = Topology.direct(hosts.size, np.tile(hosts.ravel(), len(ends)), np.concatenate(ends))
    whole = full_mesh._parts(shape)
    widths = [int(share * whole) for share in full_mesh._shares(shape)]
    steps: list[list[np.ndarray]] = [[] for _ in shape]
    for copy, first in product(range(copies), range(len(shape))):
        low, spread, owner = copy * whole + sum(widths[:first]), [hosts], hosts.ravel()
        for step, axis in enumerate(dimension_order(first, len(shape))):
            reached = list(spread)
            for holder, by in product(spread, range(1, shape[axis])):
                target = np.roll(holder, -by, axis)
                part = (owner, low, widths[first], copy)
                steps[step].append(sends(holder.ravel(), target.ravel(), *part))
                reached.append(target)
            spread = reached
    return topology, gather(topology, whole * copies, steps)
