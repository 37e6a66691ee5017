"""The time of one iteration on a network: phases, exposed communication, what limits."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.communications import Cost, FreeNetwork, Network, Traffic
from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.job_operations import (
    BACKWARD,
    FORWARD,
    PHASES,
    LayerSeconds,
    job_operations,
)
from topoloom.schedules.iterations.operations import Operation, Span
from topoloom.schedules.iterations.training_job import Layer, TrainingJob

BACKWARD_FACTOR = 2
"""The backward pass computes the gradients of inputs and of parameters."""


@dataclass(frozen=True, slots=True)
class Phase:
    """All operations of a kind: their number, data of the largest stage, and busy time.

    ``busy_seconds`` is the largest sum over a stage; ``bytes`` the sum of the data sizes of one
    group in this stage; ``alone_seconds`` the busy time if no other communication used a link.
    """

    kind: str
    count: int
    busy_seconds: Fraction
    alone_seconds: Fraction
    exposed_seconds: Fraction | None = None


@dataclass(frozen=True)
class Iteration:
    """The simulated iteration of a job on a network.

    ``idle_seconds`` is the time of the iteration on a network without communication time: the
    rest of ``seconds`` is exposed communication.
    """

    job: TrainingJob
    seconds: Fraction
    free_seconds: Fraction
    operations: Sequence[Operation]
    spans: Sequence[Span]
    costs: dict[tuple[str, Traffic, Fraction], Cost]

    @property
    def exposed_seconds(self) -> Fraction:
        """Time that communication adds to the iteration."""
        return self.seconds - self.free_seconds

    @property
    def exposed_share(self) -> Fraction:
        """Share of the iteration that is exposed communication."""
        return self.exposed_seconds / self.seconds if self.seconds else Fraction(0)

    @cached_property
    def compute_seconds(self) -> Fraction:
        """Computation of the stage with the most."""
        found = defaultdict[int, Fraction](Fraction)
        for one in self.operations:
            if one.kind in (FORWARD, BACKWARD):
                found[one.stage] += one.seconds
        return max(found.values())

    @property
    def bubble_seconds(self) -> Fraction:
        """Time in which the busiest stage waits for other stages, without communication time."""
        return self.free_seconds - self.compute_seconds

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases that occur, passes first."""
        busy = defaultdict[tuple[str, int], Fraction](Fraction)
        alone, count = busy.copy(), defaultdict[tuple[str, int], int](int)
        for one, span in zip(self.operations, self.spans, strict=True):
            key = one.kind, one.stage
            busy[key] += span.end - span.start
            alone[key] += one.seconds + one.transfer
            count[key] += 1
        found = []
        for kind in PHASES:
            stages = [stage for other, stage in busy if other == kind]
            if stages:
                worst = max(stages, key=lambda stage: busy[kind, stage])
                key = kind, worst
                found.append(Phase(kind, count[key], busy[key], alone[key]))
        return tuple(found)


def simulate_iteration(
    job: TrainingJob, seconds: LayerSeconds, network: Network, free_seconds: Fraction | None = None
) -> Iteration:
    """Simulate one iteration of a job.

    Parameters
    ----------
    job : TrainingJob
        The job.
    seconds : function of a layer
        Seconds of the forward and of the backward pass; see `layer_seconds`.
    network : Network
        Network that carries the collectives.
    free_seconds : Fraction, optional
        The iteration time without communication time, if known.

    Examples
    --------
    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> layer = Layer("layer", forward_seconds=Fraction(1), backward_seconds=Fraction(2))
    >>> job = TrainingJob("two", (layer,) * 2, ProcessGroups.parse("pipeline=2"), microbatches=4)
    >>> str(simulate_iteration(job, layer_seconds(job), FreeNetwork()).seconds)
    '15'
    """
    built = job_operations(job, seconds, network)
    spans = simulate(built.operations, built.shares)
    total = max(span.end for span in spans)
    if free_seconds is None:
        free_seconds = free_iteration_seconds(job, seconds)
    return Iteration(job, total, free_seconds, built.operations, spans, built.costs)


def free_iteration_seconds(job: TrainingJob, seconds: LayerSeconds) -> Fraction:
    """Return the time of an iteration whose communications take no time."""
    built = job_operations(job, seconds, FreeNetwork())
    return max(span.end for span in simulate(built.operations, built.shares))


def layer_seconds(job: TrainingJob, flops_per_second: Fraction | None = None) -> LayerSeconds:
    """Return the seconds of passes: as measured, or from operations at a rate per accelerator.

    Tensor and context parallelism divide the operations of a layer.  The backward pass takes
    twice the time of the forward pass, unless measured.

    Raises
    ------
    NoSchedule
        A layer states no seconds, and no rate is given.

    >>> layer = Layer("layer", forward_flops=Fraction(600))
    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> job = TrainingJob("job", (layer,), ProcessGroups.parse("tensor=2"), samples=2)
    >>> layer_seconds(job, Fraction(100))(layer)
    (Fraction(6, 1), Fraction(12, 1))
    """
    share = Fraction(job.samples, job.size("tensor", "context"))

    def seconds(layer: Layer) -> tuple[Fraction, Fraction]:
        forward = layer.forward_seconds
        if forward is None:
            if layer.forward_flops and not flops_per_second:
                raise NoSchedule("/accelerator", f"must be given: {layer.name} states no seconds")
            forward = layer.forward_flops * share / (flops_per_second or 1)
        backward = layer.backward_seconds
        return forward, BACKWARD_FACTOR * forward if backward is None else backward

    return seconds
