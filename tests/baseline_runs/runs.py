"""The run of a baseline: a schedule on a topology of its own, and its simulated time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.generate.collectives import reverse
from topoloom.schedules.model.schedule import Collective, Schedule, SequenceSchedule, StepSchedule
from topoloom.schedules.model.transcript import Transcript
from topoloom.schedules.simulate import Network, simulate
from topoloom.schedules.steps.send_arrays import allgather_from_sends, normalized_schedule
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """The schedule of a baseline and its links, each of which is a port of a host.

    An allreduce by partial sums in one pass is a transcript: schedules cannot express it.
    ``chunks`` is the number of pieces of trees.  Schedules in steps are simulated synchronously.
    """

    topology: Topology
    schedule: Schedule | Transcript
    chunks: int | None = None

    def seconds(self, degree: int, operation: Operation) -> Fraction:
        """Return the simulated time on hosts of ``degree`` ports."""
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
"""Returns an allgather and its topology; with -1 those on the transpose."""


def gather(
    topology: Topology, chunks: int, steps: Sequence[Sequence[NDArray[Any]]]
) -> StepSchedule:
    """Return the allgather with the given sends (`schedules.steps.send_arrays.sends`) by step."""
    return normalized_schedule(allgather_from_sends(topology.node_count, chunks, steps), topology)


def in_passes(make: Gathers, collective: Collective) -> BaselineRun:
    """Return an allgather, a reduce-scatter or an allreduce composed of allgathers."""
    topology, forward = make(1)
    if collective is Collective.ALLGATHER:
        return BaselineRun(topology, forward)
    _, turned = make(-1)
    scatter = reverse(turned, topology)
    if collective is Collective.REDUCE_SCATTER:
        return BaselineRun(topology, scatter)
    both = SequenceSchedule(Collective.ALLREDUCE, topology.digest, (scatter, forward))
    return BaselineRun(topology, both)


def fastest_run(
    make: Gathers, degree: int, operation: Operation, others: Iterable[BaselineRun] = ()
) -> BaselineRun:
    """Return the run of least simulated time of a collective by allgathers.

    An allreduce makes two passes, or one over whole buffers, or is one of ``others``.
    """
    usual = in_passes(make, operation.collective)
    if operation.collective is not Collective.ALLREDUCE:
        return usual
    topology, forward = make(1)
    once = BaselineRun(topology, replace(forward, collective=Collective.ALLREDUCE))
    return min([usual, once, *others], key=lambda run: run.seconds(degree, operation))
