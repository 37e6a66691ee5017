"""Allreduce by partial sums along the lines of a grid, as messages."""

from itertools import product
from math import prod

import numpy as np

from tests.baseline_runs.runs import BaselineRun
from topoloom.schedules.baselines.partial_sums import Grid
from topoloom.schedules.baselines.torus_shares import dimension_order
from topoloom.schedules.baselines.torus_topology import shifted_hosts
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.synth.topology.topology import Topology


def grid_run(grid: Grid) -> BaselineRun:
    """Return the grid and the messages of the allreduce."""
    hosts = np.arange(prod(grid.shape))
    ends = [
        (hosts, shifted_hosts(hosts, grid.shape, axis, by))
        for axis in range(len(grid.shape))
        for by, *_ in grid.steps(axis)[0]
        for _ in range(grid.copies)
    ]
    columns = (np.concatenate(part) for part in zip(*ends, strict=True))
    topology = Topology.direct(len(hosts), *columns)
    return BaselineRun(topology, _transcript(grid, hosts))


def _transcript(grid: Grid, hosts: np.ndarray) -> Transcript:
    axes, messages = range(len(grid.shape)), list[Message]()
    for first in axes:
        sums = [1 << host for host in hosts.tolist()]
        brought: list[tuple[int, ...]] = [()] * len(sums)
        for axis in dimension_order(first, len(axes)):
            sums, brought = _add_line(grid, messages, axis, first, sums, brought)
    bounds = tuple(2 * len(axes) * host for host in range(len(hosts) + 1))
    return Transcript(Collective.ALLREDUCE, bounds, tuple(messages))


def _add_line(
    grid: Grid,
    messages: list[Message],
    axis: int,
    part: int,
    sums: list[int],
    brought: list[tuple[int, ...]],
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Add the messages along all lines of a dimension; return the sums and their messages.

    Around a ring a host passes on what arrived from the same side one step before.
    """
    hosts, before = np.arange(len(sums)), dict[tuple[int, int], int]()
    totals, arrived = sums[:], [list(needs) for needs in brought]
    for step in grid.steps(axis):
        new = dict[tuple[int, int], int]()
        for (by, low, past), source in product(step, hosts.tolist()):
            target = int(shifted_hosts(hosts[source], grid.shape, axis, by))
            mask, needs = sums[source], brought[source]
            if (by, source) in before:
                needs = (before[by, source],)
                mask = messages[before[by, source]].spans[0].contributions
            new[by, target] = len(messages)
            arrived[target].append(len(messages))
            totals[target] |= mask
            first = (2 * part + low) * len(sums)
            span = Span(first, first + (past - low) * len(sums), mask)
            messages.append(Message(source, target, (span,), needs))
        before = new
    return totals, [tuple(needs) for needs in arrived]
