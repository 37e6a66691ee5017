"""The operations of one iteration of a job.

All ranks of a pipeline stage do the same at the same time, so a stage has one stream of
computations, and every operation on the network stands for all groups of a kind in the stage.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, zip_longest
from typing import NamedTuple

from topoloom.schedules.iterations.job_plan import JobPlan, LayerSeconds
from topoloom.schedules.iterations.messages import (
    BACKWARD,
    FORWARD,
    PIPELINE,
    REDUCE,
    REDUCE_EXPERTS,
    LayerMessages,
    Message,
)
from topoloom.schedules.iterations.operations import Operation
from topoloom.schedules.iterations.pipeline_schedules import Pass, Work, stage_groups
from topoloom.schedules.iterations.training_job import (
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
)


def job_plan(job: TrainingJob, seconds: LayerSeconds) -> JobPlan:
    """Return the operations of one iteration.

    Communications of tensor, context and expert groups stop the computations of their stage;
    with the orders that overlap passes, those of expert groups do not.  Gradients, gathered
    parameters and activations between stages travel beside computations.  A stage sends a bucket
    of gradients as soon as the last microbatch has passed its layers.
    """
    built = _Builder(job, seconds)
    for stage in range(job.stages):
        built.add_stage(stage)
    return built.finished()


class _LayerPlan(NamedTuple):
    """Times and sizes of a layer, computed once."""

    layer: Layer
    seconds: dict[Work, Fraction]
    before: list[Message]
    after: dict[bool, list[Message]]
    exchanged: dict[bool, list[Message]]
    gathered: list[Message]
    gradients: dict[str, Fraction]


@dataclass
class _Thread:
    """A pass in progress: the operations that its next layer waits for."""

    one: Pass
    numbers: range
    after: list[int] = field(default_factory=list[int])


class _Stage:
    """The state of a stage while its operations are built."""

    def __init__(self, stage: int, passes: Iterable[Pass]) -> None:
        self.stage = stage
        self.last_backward = {one.chunk: one for one in passes if one.has_gradients}
        self.blocked: list[int] = []
        self.computed: list[int] = []
        self.gathered: dict[tuple[int, int], int] = {}
        self.bucket = {REDUCE: Fraction(0), REDUCE_EXPERTS: Fraction(0)}
        self.full: list[tuple[list[Message], int]] = []


class _Builder:
    """Operations in the order of their stages; dependencies on other stages follow at the end."""

    def __init__(self, job: TrainingJob, seconds: LayerSeconds) -> None:
        self.job, self.seconds, self.of = job, seconds, LayerMessages(job)
        self.chunks = [[self._planned(layer, seconds) for layer in c] for c in job.chunk_layers()]
        self.handed_on = {later: self.of.handed_on(later) for later in (True, False)}
        self.made: list[Operation] = []
        self.messages: list[Message | None] = []
        # By chunk, microbatch and direction: the operations that complete the result.
        self.sent: dict[tuple[int, int, bool], list[int]] = {}
        self.received: list[tuple[int, tuple[int, int, bool]]] = []

    def _planned(self, layer: Layer, seconds: LayerSeconds) -> _LayerPlan:
        of, passes = self.of, (True, False)
        forward, backward, weights = seconds(layer)
        parts = {Work.INPUTS: backward - weights, Work.WEIGHTS: weights}
        return _LayerPlan(
            layer,
            {Work.FORWARD: forward, Work.BACKWARD: backward, **parts},
            of.before(layer),
            {forward: of.after(layer, forward) for forward in passes},
            {forward: of.exchanged(layer, forward) for forward in passes},
            of.gathered(layer),
            of.gradients(layer),
        )

    def finished(self) -> JobPlan:
        for index, source in self.received:
            one, sent = self.made[index], self.sent[source]
            self.made[index] = one._replace(after=(*one.after, *sent))
        return JobPlan(self.job, self.seconds, self.made, self.messages)

    def add_stage(self, stage: int) -> None:
        """Add all operations of a stage."""
        job = self.job
        groups = stage_groups(job.order, stage, job.stages, job.microbatches, job.chunks)
        state = _Stage(stage, chain.from_iterable(groups))
        if job.sharding is Sharding.OPTIMIZER:
            self._gather_once(state)
        for group in groups:
            self._group(state, [self._thread(one) for one in group])
        self._send_gradients(state)

    def _thread(self, one: Pass) -> _Thread:
        numbers = range(len(self.chunks[one.chunk]))
        return _Thread(one, numbers if one.forward else numbers[::-1])

    def _group(self, state: _Stage, threads: list[_Thread]) -> None:
        """Add passes, layer by layer in turn; in DualPipe, send the results of both together."""
        for numbers in zip_longest(*(thread.numbers for thread in threads)):
            for thread, number in zip(threads, numbers, strict=True):
                if number is not None:
                    self._layer(state, thread, number)
        ends = [end for thread in threads for end in thread.after]
        together = self.job.order is PipelineOrder.DUALPIPE
        for thread in threads:
            if thread.one.work is not Work.WEIGHTS:
                self._hand_on(state, thread.one, ends if together else thread.after)

    def _layer(self, state: _Stage, thread: _Thread, number: int) -> None:
        """Add one layer of a pass: gathers, the computation, what follows the computation."""
        one = thread.one
        plan = self.chunks[one.chunk][number]
        if one.work is Work.WEIGHTS:
            last = self._compute(state, one, plan, state.blocked)
        else:
            last = self._travel(state, thread, plan, number)
        thread.after = [last]
        if one.has_gradients:
            self._gradients(state, one, plan, last, number == thread.numbers[-1])

    def _travel(self, state: _Stage, thread: _Thread, plan: _LayerPlan, number: int) -> int:
        """Add a layer of a pass that crosses stages; return its last operation."""
        one, forward = thread.one, thread.one.forward
        after = [*thread.after, *state.blocked, *self._gathered(state, one, number)]
        for message in plan.before:
            after = [self._send(state, message, after)]
        last = self._compute(state, one, plan, after)
        before = one.chunk - _step(one)
        if number == thread.numbers[0] and 0 <= before < len(self.chunks):
            self.received.append((last, (before, one.microbatch, forward)))
        stopping = not self.job.order.hides_exchanges
        for stops, messages in ((True, plan.after[forward]), (stopping, plan.exchanged[forward])):
            for message in messages:
                last = self._send(state, message, [last])
                if stops:
                    state.blocked = [last]
        return last

    def _compute(self, state: _Stage, one: Pass, plan: _LayerPlan, after: Iterable[int]) -> int:
        """Add the computation of a layer; return its index."""
        name = f"{plan.layer.name} of microbatch {one.microbatch}"
        stream, seconds = f"compute/{state.stage}", plan.seconds[one.work]
        kind = FORWARD if one.forward else BACKWARD
        added = self._add(
            Operation(stream, name, seconds, tuple(after), kind=kind, stage=state.stage), None
        )
        state.computed.append(added)
        state.blocked = []
        return added

    def _hand_on(self, state: _Stage, one: Pass, ends: list[int]) -> None:
        """Send the result of a pass to the stage of the next chunk, after the ends of passes."""
        if not 0 <= one.chunk + _step(one) < len(self.chunks):
            return
        reverse = one.chunk % self.job.stages != state.stage
        for message in self.handed_on[one.forward is not reverse]:
            ends = [self._send(state, message, ends)]
        self.sent[one.chunk, one.microbatch, one.forward] = ends

    def _gather_once(self, state: _Stage) -> None:
        """Add the gathers of updated parameters, in the order of their first use."""
        for chunk in self.job.own_chunks(state.stage):
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
                state.full.append((self.of.reduced(phase, state.bucket[phase]), after))
                state.bucket[phase] = Fraction(0)
        if state.last_backward[one.chunk] == one:
            state.full.append((self.of.stated_gradients(plan.layer), after))
        if self.job.overlap:
            self._send_gradients(state)

    def _send_gradients(self, state: _Stage) -> None:
        """Send all full buckets; without overlap, after the computations of the stage."""
        for messages, after in state.full:
            before = [after] if self.job.overlap else [state.computed[-1], *state.blocked]
            for message in messages:
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
