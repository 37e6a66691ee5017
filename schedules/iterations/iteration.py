"""The time of one iteration on a network: phases, exposed communication, what limits."""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.communications import FreeNetwork
from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.job_plan import JobPlan, LayerSeconds, Routed
from topoloom.schedules.iterations.messages import COMPUTATIONS, PHASES
from topoloom.schedules.iterations.operations import Timeline
from topoloom.schedules.iterations.training_job import Layer, TrainingJob

BACKWARD_FACTOR = 2
"""The backward pass computes the gradients of inputs and of parameters."""


@dataclass(frozen=True, slots=True)
class Phase:
    """All operations of a kind, in the stage where they take longest.

    ``seconds`` is the sum of their durations, ``alone_seconds`` the sum without shared links;
    ``bytes`` is the sum of the data sizes of one group.  ``exposed_seconds`` is the part of the
    iteration that would vanish if these operations took no time.
    """

    kind: str
    stage: int
    count: int
    bytes: Fraction
    seconds: Fraction
    alone_seconds: Fraction
    exposed_seconds: Fraction


@dataclass(frozen=True)
class Iteration:
    """The simulated iteration of a job on a network.

    ``free_seconds`` is the time of the iteration if communications took no time: the rest of
    ``seconds`` is exposed communication.
    """

    plan: JobPlan
    routed: Routed
    timeline: Timeline
    free_seconds: Fraction

    @property
    def job(self) -> TrainingJob:
        """The job."""
        return self.plan.job

    @property
    def seconds(self) -> Fraction:
        """Time of the iteration."""
        return self.timeline.seconds

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
        """Computation of the stage with the most, in its longest stream."""
        found = defaultdict[tuple[int, str], Fraction](Fraction)
        for one in self.plan.operations:
            if one.kind in COMPUTATIONS:
                found[one.stage, one.stream] += one.seconds
        return max(found.values(), default=Fraction(0))

    @property
    def bubble_seconds(self) -> Fraction:
        """Time in which the busiest stage waits for other stages, without communication time."""
        return self.free_seconds - self.compute_seconds

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases that occur, passes first.  One more simulation for each communication."""
        second, found = self.timeline.ticks_per_second, []
        for kind in PHASES:
            ticks = defaultdict[int, int](int)
            for index, one in enumerate(self.routed.operations):
                if one.kind == kind:
                    ticks[one.stage] += self.timeline.ends[index] - self.timeline.starts[index]
            if not ticks:
                continue
            stage = max(ticks, key=lambda stage: ticks[stage])
            own = [
                (one, message)
                for one, message in zip(self.routed.operations, self.plan.messages, strict=True)
                if one.kind == kind and one.stage == stage
            ]
            found.append(
                Phase(
                    kind,
                    stage,
                    len(own),
                    sum((m.size_bytes * m.runs for _, m in own if m), Fraction(0)),
                    Fraction(ticks[stage], second),
                    sum((one.seconds + one.transfer for one, _ in own), Fraction(0)),
                    self.seconds - self.without(kind),
                )
            )
        return tuple(found)

    def without(self, kind: str) -> Fraction:
        """Return the time of the iteration if the operations of a kind took no time."""
        nothing = Fraction(0)
        changed = [
            one._replace(seconds=nothing, transfer=nothing) if one.kind == kind else one
            for one in self.routed.operations
        ]
        return simulate(changed, self.routed.shares, self.plan.order).seconds


def free_iteration_seconds(plan: JobPlan) -> Fraction:
    """Return the time of an iteration whose communications take no time.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.job_operations import job_plan
    >>> layer = Layer("layer", forward_seconds=Fraction(1), backward_seconds=Fraction(2))
    >>> job = TrainingJob("two", (layer,) * 2, ProcessGroups.parse("pipeline=2"), microbatches=4)
    >>> str(free_iteration_seconds(job_plan(job, layer_seconds(job))))
    '15'
    """
    routed = plan.on(FreeNetwork())
    return simulate(routed.operations, routed.shares, plan.order).seconds


def layer_seconds(job: TrainingJob, flops_per_second: Fraction | None = None) -> LayerSeconds:
    """Return the seconds of passes: as measured, or from operations at a rate per accelerator.

    The three numbers are those of the forward pass, of the backward pass, and of the gradients of
    parameters within the backward pass.  Tensor and context parallelism divide the operations of
    a layer.  The backward pass takes twice the time of the forward pass, unless measured.

    Raises:
        NoSchedule: A layer states no seconds, and no rate is given.

    >>> layer = Layer("layer", forward_flops=Fraction(600))
    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> job = TrainingJob("job", (layer,), ProcessGroups.parse("tensor=2"), samples=2)
    >>> layer_seconds(job, Fraction(100))(layer)
    (Fraction(6, 1), Fraction(12, 1), Fraction(6, 1))
    """
    share = Fraction(job.samples, job.size("tensor", "context"))

    def seconds(layer: Layer) -> tuple[Fraction, Fraction, Fraction]:
        forward = layer.forward_seconds
        if forward is None:
            if layer.forward_flops and not flops_per_second:
                raise NoSchedule("/accelerator", f"must be given: {layer.name} states no seconds")
            forward = layer.forward_flops * share / (flops_per_second or 1)
        backward = layer.backward_seconds
        backward = BACKWARD_FACTOR * forward if backward is None else backward
        return forward, backward, backward * layer.weight_share

    return seconds
