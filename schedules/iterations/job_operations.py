"""The operations of one iteration of a job.

All ranks of a pipeline stage do the same at the same time, so a stage has one stream of
computations, and every operation on the network stands for all groups of a kind in the stage.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, zip_longest
from typing import NamedTuple

from topoloom.schedules.iterations.communications import Cost, Network
from topoloom.schedules.iterations.link_sharing import LinkShares, Row
from topoloom.schedules.iterations.messages import (
    BACKWARD,
    FORWARD,
    PIPELINE,
    REDUCE,
    REDUCE_EXPERTS,
    LayerMessages,
    Message,
)
from topoloom.schedules.iterations.operations import Operation, Order, order_of
from topoloom.schedules.iterations.pipeline_schedules import Pass, overlapped_pairs, stage_passes
from topoloom.schedules.iterations.training_job import (
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
)

LayerSeconds = Callable[[Layer], tuple[Fraction, Fraction]]
"""Seconds of the forward and of the backward pass of a layer, for one microbatch."""


class Routed(NamedTuple):
    """Operations on a network, their link shares, and the cost of every message by stage."""

    operations: list[Operation]
    shares: LinkShares
    costs: dict[tuple[int, Message], Cost]


@dataclass(frozen=True)
class JobPlan:
    """The operations of a job, before a network gives its messages their times.

    ``messages[i]`` is the message of operation i, or None for a computation.  ``seconds`` are the
    times of the layers.
    """

    job: TrainingJob
    seconds: LayerSeconds
    operations: Sequence[Operation]
    messages: Sequence[Message | None]

    @cached_property
    def order(self) -> Order:
        """The order of the operations."""
        return order_of(self.operations)

    def on(self, network: Network) -> Routed:
        """Return the operations with the times of their messages on a network."""
        rows, row_of = list[Row](), dict[tuple[str, str, str], int]()
        costs, known = dict[tuple[int, Message], Cost](), dict[tuple[int, int], Operation]()
        found = []
        for one, message in zip(self.operations, self.messages, strict=True):
            if message is None:
                found.append(one)
                continue
            timed = known.get((one.stage, id(message)))
            if timed is None:
                cost = network.cost(message.kind, message.traffic, one.stage, message.size_bytes)
                costs[one.stage, message] = cost
                row = row_of.setdefault((one.stream, message.kind, cost.algorithm), len(rows))
                if row == len(rows):
                    rows.append(cost.row)
                runs = message.runs
                timed = one._replace(
                    seconds=cost.latency * runs, transfer=cost.transfer * runs, traffic=row
                )
                known[one.stage, id(message)] = timed
            found.append(timed._replace(after=one.after, name=one.name))
        return Routed(found, LinkShares(rows), costs)


def job_plan(job: TrainingJob, seconds: LayerSeconds) -> JobPlan:
    """Return the operations of one iteration.

    Communications of tensor, context and expert groups stop the computations of their stage;
    with the overlapped order, those of expert groups do not.  Gradients, gathered parameters and
    activations between stages travel beside computations.  A stage sends a bucket of gradients as
    soon as the last microbatch has passed its layers.
    """
    built = _Builder(job, seconds)
    for stage in range(job.stages):
        built.add_stage(stage)
    return built.finished()


class _LayerPlan(NamedTuple):
    """Times and sizes of a layer, computed once."""

    layer: Layer
    seconds: dict[bool, Fraction]
    before: list[Message]
    after: dict[bool, list[Message]]
    exchanged: dict[bool, list[Message]]
    gathered: list[Message]
    gradients: dict[str, Fraction]


@dataclass
class _Thread:
    """A pass in progress: the operations that its next layer waits for."""

    one: Pass
    first: int
    last: int
    after: list[int] = field(default_factory=list[int])


class _Step(NamedTuple):
    """One layer of a pass, by its number in the chunk."""

    thread: _Thread
    number: int


class _Stage:
    """The state of a stage while its operations are built."""

    def __init__(self, stage: int, passes: list[Pass]) -> None:
        self.stage = stage
        self.last_backward = {one.chunk: one for one in passes if not one.forward}
        self.blocked: list[int] = []
        self.computed: list[int] = []
        self.gathered: dict[tuple[int, int], int] = {}
        self.bucket = {REDUCE: Fraction(0), REDUCE_EXPERTS: Fraction(0)}
        self.full: list[tuple[str, Fraction, int]] = []


class _Builder:
    """Operations in the order of their stages; dependencies on other stages follow at the end."""

    def __init__(self, job: TrainingJob, seconds: LayerSeconds) -> None:
        self.job, self.seconds, self.of = job, seconds, LayerMessages(job)
        self.chunks = [[self._planned(layer, seconds) for layer in c] for c in job.chunk_layers()]
        self.handed_on = {forward: self.of.handed_on(forward) for forward in (True, False)}
        self.made: list[Operation] = []
        self.messages: list[Message | None] = []
        self.sent: dict[Pass, int] = {}
        self.received: list[tuple[int, Pass]] = []

    def _planned(self, layer: Layer, seconds: LayerSeconds) -> _LayerPlan:
        of, passes = self.of, (True, False)
        return _LayerPlan(
            layer,
            dict(zip(passes, seconds(layer), strict=True)),
            of.before(layer),
            {forward: of.after(layer, forward) for forward in passes},
            {forward: of.exchanged(layer, forward) for forward in passes},
            of.gathered(layer),
            of.gradients(layer),
        )

    def finished(self) -> JobPlan:
        for index, source in self.received:
            one, sent = self.made[index], self.sent[source]
            self.made[index] = one._replace(after=(*one.after, sent))
        return JobPlan(self.job, self.seconds, self.made, self.messages)

    def add_stage(self, stage: int) -> None:
        """Add all operations of a stage."""
        job = self.job
        passes = stage_passes(job.order, stage, job.stages, job.microbatches, job.chunks)
        state = _Stage(stage, passes)
        if job.sharding is Sharding.OPTIMIZER:
            self._gather_once(state)
        paired = job.order is PipelineOrder.OVERLAPPED
        ahead = job.stages - stage
        for group in overlapped_pairs(passes, ahead) if paired else ([one] for one in passes):
            rounds: Iterable[tuple[_Step | None, ...]] = zip_longest(*map(self._thread, group))
            for step in chain.from_iterable(rounds):
                if step is not None:
                    self._layer(state, step.thread, step.number)
        self._send_gradients(state)

    def _thread(self, one: Pass) -> list[_Step]:
        numbers = list(range(len(self.chunks[one.chunk])))
        if not one.forward:
            numbers.reverse()
        thread = _Thread(one, numbers[0], numbers[-1])
        return [_Step(thread, number) for number in numbers]

    def _layer(self, state: _Stage, thread: _Thread, number: int) -> None:
        """Add one layer of a pass: gathers, the computation, what follows the computation."""
        one, forward = thread.one, thread.one.forward
        plan = self.chunks[one.chunk][number]
        after = [*thread.after, *state.blocked, *self._gathered(state, one, number)]
        for message in plan.before:
            after = [self._send(state, message, after)]
        name = f"{plan.layer.name} of microbatch {one.microbatch}"
        kind = FORWARD if forward else BACKWARD
        stream, seconds = f"compute/{state.stage}", plan.seconds[forward]
        last = self._add(
            Operation(stream, name, seconds, tuple(after), kind=kind, stage=state.stage), None
        )
        if number == thread.first and 0 <= (other := one.chunk - _step(one)) < len(self.chunks):
            self.received.append((last, one._replace(chunk=other)))
        state.computed.append(last)
        state.blocked = []
        overlapped = self.job.order is PipelineOrder.OVERLAPPED
        for stops, messages in (
            (True, plan.after[forward]),
            (not overlapped, plan.exchanged[forward]),
        ):
            for message in messages:
                last = self._send(state, message, [last])
                if stops:
                    state.blocked = [last]
        thread.after = [last]
        if not forward:
            self._gradients(state, one, plan, last, number == thread.last)
        if number == thread.last and 0 <= one.chunk + _step(one) < len(self.chunks):
            for message in self.handed_on[forward]:
                last = self._send(state, message, [last])
            self.sent[one] = last

    def _gather_once(self, state: _Stage) -> None:
        """Add the gathers of updated parameters, in the order of their first use."""
        for chunk in range(state.stage, len(self.chunks), self.job.stages):
            for number, plan in enumerate(self.chunks[chunk]):
                for message in plan.gathered:
                    state.gathered[chunk, number] = self._send(state, message, [])
        if not self.job.overlap:
            state.blocked = list(state.gathered.values())[-1:]

    def _gathered(self, state: _Stage, one: Pass, number: int) -> list[int]:
        """Return the gather that a layer of a pass waits for; with full sharding, add it."""
        if self.job.sharding is not Sharding.FULL:
            found = state.gathered.get((one.chunk, number))
            return [] if found is None else [found]
        ahead = self.job.prefetch + 1 if self.job.overlap else 1
        before = state.computed[-ahead : len(state.computed) - ahead + 1]
        for message in self.chunks[one.chunk][number].gathered:
            before = [self._send(state, message, before)]
        return before

    def _gradients(
        self, state: _Stage, one: Pass, plan: _LayerPlan, after: int, ends: bool
    ) -> None:
        """Collect the gradients of a layer; send every full bucket, and the rest of a chunk."""
        full = self.job.sharding is Sharding.FULL
        if not full and state.last_backward[one.chunk] != one:
            return
        for phase, size in plan.gradients.items():
            state.bucket[phase] += size
            if full or ends or state.bucket[phase] >= self.job.bucket_bytes:
                state.full.append((phase, state.bucket[phase], after))
                state.bucket[phase] = Fraction(0)
        if self.job.overlap:
            self._send_gradients(state)

    def _send_gradients(self, state: _Stage) -> None:
        """Send all full buckets; without overlap, after the computations of the stage."""
        for phase, size, after in state.full:
            before = [after] if self.job.overlap else [state.computed[-1], *state.blocked]
            for message in self.of.reduced(phase, size):
                self._send(state, message, before)
        state.full.clear()

    def _send(self, state: _Stage, message: Message, after: Iterable[int]) -> int:
        """Add a communication of all groups of a kind in the stage; return its index."""
        phase, stage = message.phase, state.stage
        stream = f"{message.traffic if phase == PIPELINE else phase}/{stage}"
        return self._add(
            Operation(stream, message.traffic, Fraction(0), tuple(after), kind=phase, stage=stage),
            message,
        )

    def _add(self, operation: Operation, message: Message | None) -> int:
        self.made.append(operation)
        self.messages.append(message)
        return len(self.made) - 1


def _step(one: Pass) -> int:
    return 1 if one.forward else -1
