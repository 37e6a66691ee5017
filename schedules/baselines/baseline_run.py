"""A baseline as it runs: a schedule on a topology of its own, and how it is timed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.generate.collectives import reverse
from topoloom.schedules.model.schedule import Collective, Schedule, SequenceSchedule, StepSchedule
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.steps.send_arrays import finished, schedule_of
from topoloom.synth.topology.topology import Topology

__all__ = ["Gathers", "Running", "gather", "in_passes"]


@dataclass(frozen=True, slots=True)
class Running:
    """What a baseline runs, and on which links; each is a port of a host.

    ``chunks`` is into how many pieces trees are cut.  Schedules in steps are timed in step.
    """

    topology: Topology
    schedule: Schedule
    chunks: int | None = None

    def seconds(self, degree: int, operation: Operation) -> Fraction:
        """Return what the simulator takes for it on hosts of so many ports."""
        rate = operation.bytes_per_second / degree
        return simulate(
            self.schedule,
            self.topology,
            Network(
                operation.alpha_seconds,
                rate,
                operation.overhead_seconds,
                chunk_seconds=operation.chunk_seconds,
            ),
            size_bytes=operation.size_bytes,
            chunks=self.chunks,
            synchronous=self.chunks is None,
        ).seconds


Gathers = Callable[[int], tuple[Topology, StepSchedule]]
"""Makes an allgather and its topology, or with -1 the one on that topology turned round."""


def gather(
    topology: Topology, chunks: int, steps: Sequence[Sequence[NDArray[Any]]]
) -> StepSchedule:
    """Return the allgather of these sends (`schedules.steps.send_arrays.sends`), step by step."""
    return finished(schedule_of(topology.node_count, chunks, steps), topology)


def in_passes(make: Gathers, collective: Collective) -> Running:
    """Return an allgather, a reduce-scatter or an allreduce from what makes allgathers."""
    topology, forward = make(1)
    if collective is Collective.ALLGATHER:
        return Running(topology, forward)
    _, turned = make(-1)
    scatter = reverse(turned, topology)
    if collective is Collective.REDUCE_SCATTER:
        return Running(topology, scatter)
    both = SequenceSchedule(Collective.ALLREDUCE, topology.digest, (scatter, forward))
    return Running(topology, both)
