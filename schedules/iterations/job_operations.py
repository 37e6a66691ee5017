"""The operations of one iteration of a job.

All ranks of a pipeline stage do the same at the same time, so a stage has one stream of
computations, and every operation on the network stands for all groups of a kind in the stage.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from topoloom.schedules.iterations.communications import Cost, Network, Traffic
from topoloom.schedules.iterations.link_sharing import LinkShares, Row
from topoloom.schedules.iterations.operations import Operation
from topoloom.schedules.iterations.pipeline_schedules import Pass, stage_passes
from topoloom.schedules.iterations.training_job import (
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
)

LayerSeconds = Callable[[Layer], tuple[Fraction, Fraction]]
"""Seconds of the forward and of the backward pass of a layer, for one microbatch."""

FORWARD, BACKWARD = "forward", "backward"
TENSOR, CONTEXT, EXPERT, PIPELINE = "tensor", "context", "expert", "pipeline"
GATHER, REDUCE, REDUCE_EXPERTS = "gather", "reduce", "reduce-experts"
PHASES = (
    *(FORWARD, BACKWARD, TENSOR, CONTEXT, EXPERT, PIPELINE),
    *(GATHER, REDUCE, REDUCE_EXPERTS),
)
"""Kinds of operations: passes first, then communications by what they serve."""


class Operations(NamedTuple):
    """Operations, their link shares, and for every kind the largest cost of one collective."""

    operations: list[Operation]
    shares: LinkShares
    costs: dict[tuple[str, Traffic, Fraction], Cost]


def job_operations(job: TrainingJob, seconds: LayerSeconds, network: Network) -> Operations:
    """Return the operations of one iteration.

    Communications of tensor, context and expert groups stop the computations of their stage;
    with the overlapped order, those of expert groups do not.  Gradients, gathered parameters and
    activations between stages travel beside computations.  A stage sends a bucket of gradients as
    soon as the last microbatch has passed its layers.
    """
    built = _Builder(job, seconds, network)
    for stage in range(job.stages):
        built.add_stage(stage)
    return built.finished()


class _Builder:
    """Operations in the order of their stages; dependencies on later stages are keys at first."""

    def __init__(self, job: TrainingJob, seconds: LayerSeconds, network: Network) -> None:
        self.job, self.network = job, network
        self.layers = job.chunk_layers()
        self.seconds = {layer: seconds(layer) for layer in job.layers}
        self.made: list[Operation] = []
        self.sent: dict[Pass, int] = {}
        self.received: list[tuple[int, Pass]] = []
        self.rows: list[Row] = []
        self.row_of: dict[tuple[str, str, Traffic, str], int] = {}
        self.costs: dict[tuple[str, str, Traffic, int, Fraction], Cost] = {}
        self.dense = job.kind("context", "expert", "data")
        self.sparse = job.kind("context", "data")

    def finished(self) -> Operations:
        for index, source in self.received:
            one = self.made[index]
            if (sent := self.sent[source]) != index:
                self.made[index] = one._replace(after=(*one.after, sent))
        worst: dict[tuple[str, Traffic, Fraction], Cost] = {}
        for (phase, _, traffic, _, size), cost in self.costs.items():
            before = worst.get((phase, traffic, size))
            if before is None or cost.seconds > before.seconds:
                worst[phase, traffic, size] = cost
        return Operations(self.made, LinkShares(self.rows), worst)

    def add_stage(self, stage: int) -> None:
        """Add all operations of a stage."""
        job = self.job
        passes = stage_passes(job.order, stage, job.stages, job.microbatches, job.chunks)
        state = _Stage(stage, {one.chunk: one for one in passes if not one.forward})
        if job.sharding is Sharding.OPTIMIZER and self.dense:
            self._gather_once(state)
        for group in _paired(passes) if job.order is PipelineOrder.OVERLAPPED else _single(passes):
            runs = [self._pass(state, one) for one in group]
            for steps in zip_longest(*runs):
                for step in steps:
                    if step is not None:
                        self._layer(state, *step)
        self._reduce_rest(state)

    def _pass(self, state: "_Stage", one: Pass) -> "list[tuple[_Thread, int, Layer]]":
        layers = self.layers[one.chunk]
        thread = _Thread(one)
        numbered = list(enumerate(layers)) if one.forward else list(enumerate(layers))[::-1]
        thread.first, thread.last = numbered[0][0], numbered[-1][0]
        return [(thread, number, layer) for number, layer in numbered]

    def _layer(self, state: "_Stage", thread: "_Thread", number: int, layer: Layer) -> None:
        """Add one layer of a pass: gathers, the computation, what follows the computation."""
        one = thread.one
        job, stage = self.job, state.stage
        after = [*thread.after, *state.blocked]
        if (gathered := self._gathered(state, one, number, layer)) is not None:
            after.append(gathered)
        samples = Fraction(job.samples, job.size("context"))
        if layer.context_width and (kind := job.kind("context")):
            size = layer.context_width * Fraction(job.samples * job.element_bytes, job.size(TENSOR))
            after = [self._send(state, CONTEXT, kind, Traffic.ALLGATHER, size, after)]
        phase = FORWARD if one.forward else BACKWARD
        duration = self.seconds[layer][0 if one.forward else 1]
        name = f"{layer.name} of microbatch {one.microbatch}"
        made = self._add(
            Operation(f"compute/{stage}", name, duration, tuple(after), kind=phase, stage=stage)
        )
        if number == thread.first:
            self._receive(made, one)
        state.computed.append(made)
        done = self._after(state, one, layer, made, samples)
        thread.after, state.blocked = [done.last], done.blocking
        if not one.forward:
            self._gradients(state, one, layer, done.last, number == thread.last)
        if number == thread.last:
            self._hand_on(state, one, done.last)

    def _after(
        self, state: "_Stage", one: Pass, layer: Layer, made: int, samples: Fraction
    ) -> "_Done":
        """Add the collectives that follow the computation of a layer."""
        job, last, blocking = self.job, made, list[int]()
        if layer.context_width and not one.forward and (kind := job.kind("context")):
            size = layer.context_width * Fraction(job.samples * job.element_bytes, job.size(TENSOR))
            last = self._send(state, CONTEXT, kind, Traffic.REDUCE_SCATTER, size, [last])
            blocking = [last]
        if layer.tensor_width and (kind := job.kind(TENSOR)):
            size = layer.tensor_width * samples * job.element_bytes / layer.tensor_runs
            last = self._send(
                state, TENSOR, kind, Traffic.ALLREDUCE, size, [last], layer.tensor_runs
            )
            blocking = [last]
        parts = layer.expert_bytes if one.forward else layer.expert_backward_bytes
        if parts and (kind := job.kind(EXPERT)):
            for size in parts:
                amount = size * samples / job.size(TENSOR)
                last = self._send(state, EXPERT, kind, Traffic.ALL_TO_ALL, amount, [last])
            if job.order is not PipelineOrder.OVERLAPPED:
                blocking = [last]
        return _Done(last, blocking)

    def _hand_on(self, state: "_Stage", one: Pass, last: int) -> None:
        """Send the result of a pass to the stage of the next chunk, or of the previous."""
        job = self.job
        other = one.chunk + (1 if one.forward else -1)
        if not 0 <= other < len(self.layers):
            return
        if job.stages > 1:
            traffic = Traffic.SEND_NEXT if one.forward else Traffic.SEND_PREVIOUS
            size = Fraction(job.width * job.samples * job.element_bytes)
            size /= job.size(CONTEXT, TENSOR)
            last = self._send(state, PIPELINE, PIPELINE, traffic, size, [last])
        self.sent[one] = last

    def _receive(self, made: int, one: Pass) -> None:
        """Make the first layer of a pass wait for the pass of the chunk before."""
        other = one.chunk - (1 if one.forward else -1)
        if 0 <= other < len(self.layers):
            self.received.append((made, one._replace(chunk=other)))

    def _gather_once(self, state: "_Stage") -> None:
        """Add the gathers of updated parameters, in the order of their first use."""
        chunks = [one for one in range(len(self.layers)) if one % self.job.stages == state.stage]
        for chunk in chunks:
            for number, layer in enumerate(self.layers[chunk]):
                state.gathered[chunk, number] = self._gather(state, layer, [])
        if not self.job.overlap:
            state.blocked = [one for one in state.gathered.values() if one is not None]

    def _gathered(self, state: "_Stage", one: Pass, number: int, layer: Layer) -> int | None:
        """Return the gather that a layer of a pass waits for."""
        job = self.job
        if not self.dense or job.sharding is Sharding.NONE:
            return None
        if job.sharding is Sharding.OPTIMIZER:
            return state.gathered.get((one.chunk, number))
        ahead = job.prefetch + 1 if job.overlap else 1
        return self._gather(state, layer, state.computed[-ahead:][: len(state.computed) >= ahead])

    def _gather(self, state: "_Stage", layer: Layer, after: list[int]) -> int | None:
        last = None
        for kind, count in ((self.dense, layer.parameters), (self.sparse, self._own(layer))):
            if kind and count:
                size = Fraction(count * self.job.element_bytes, self.job.size(TENSOR))
                before = after if last is None else [last]
                last = self._send(state, GATHER, kind, Traffic.ALLGATHER, size, before)
        return last

    def _own(self, layer: Layer) -> Fraction:
        """Return the parameters of the experts of one rank, before tensor parallelism."""
        return Fraction(layer.expert_parameters, self.job.size(EXPERT))

    def _gradients(self, state: "_Stage", one: Pass, layer: Layer, after: int, ends: bool) -> None:
        """Collect the gradients of a layer; send every full bucket, and the rest of a chunk."""
        job = self.job
        full = job.sharding is Sharding.FULL
        if not full and state.last_backward[one.chunk] != one:
            return
        counts = {REDUCE: Fraction(layer.parameters), REDUCE_EXPERTS: self._own(layer)}
        for phase, count in counts.items():
            state.bucket[phase] += count * job.gradient_bytes / job.size(TENSOR)
            if full or ends or state.bucket[phase] >= job.bucket_bytes:
                state.full.append((phase, state.bucket[phase], after))
                state.bucket[phase] = Fraction(0)
        if job.overlap:
            self._reduce_rest(state)

    def _reduce_rest(self, state: "_Stage") -> None:
        """Send all full buckets; without overlap, after the computations of the stage."""
        traffic = (
            Traffic.ALLREDUCE if self.job.sharding is Sharding.NONE else Traffic.REDUCE_SCATTER
        )
        for phase, size, after in state.full:
            kind = self.dense if phase == REDUCE else self.sparse
            if kind and size:
                before = [after] if self.job.overlap else [state.computed[-1], *state.blocked]
                self._send(state, phase, kind, traffic, size, before)
        state.full.clear()

    def _send(
        self,
        state: "_Stage",
        phase: str,
        kind: str,
        traffic: Traffic,
        size: Fraction,
        after: Iterable[int],
        runs: int = 1,
    ) -> int:
        """Add a communication of all groups of a kind in the stage; return its index."""
        stage = state.stage
        key = phase, kind, traffic, stage, size
        cost = self.costs.get(key)
        if cost is None:
            cost = self.costs[key] = self.network.cost(kind, traffic, stage, size)
        stream = f"{traffic if phase == PIPELINE else phase}/{stage}"
        row = self.row_of.setdefault((stream, kind, traffic, cost.algorithm), len(self.rows))
        if row == len(self.rows):
            self.rows.append(cost.row)
        return self._add(
            Operation(
                stream,
                traffic,
                cost.latency * runs,
                tuple(after),
                row,
                cost.transfer * runs,
                phase,
                stage,
            )
        )

    def _add(self, operation: Operation) -> int:
        self.made.append(operation)
        return len(self.made) - 1


class _Stage:
    """What the builder remembers of a stage."""

    def __init__(self, stage: int, last_backward: dict[int, Pass]) -> None:
        self.stage = stage
        self.last_backward = last_backward
        self.blocked: list[int] = []
        self.computed: list[int] = []
        self.gathered: dict[tuple[int, int], int | None] = {}
        self.bucket = {REDUCE: Fraction(0), REDUCE_EXPERTS: Fraction(0)}
        self.full: list[tuple[str, Fraction, int]] = []


class _Thread:
    """A pass in progress: the operations that its next layer waits for."""

    def __init__(self, one: Pass) -> None:
        self.one = one
        self.after: list[int] = []
        self.first = self.last = 0


class _Done(NamedTuple):
    """The last operation of a layer, and the operations that stop the stage until their end."""

    last: int
    blocking: list[int]


def _single(passes: list[Pass]) -> Iterable[list[Pass]]:
    return ([one] for one in passes)


def _paired(passes: list[Pass]) -> Iterable[list[Pass]]:
    """Yield every forward pass together with the backward pass after it.

    >>> [len(group) for group in _paired([Pass(0, 0, True), Pass(0, 1, True), Pass(0, 0, False)])]
    [1, 2]
    """
    at = 0
    while at < len(passes):
        pair = passes[at : at + 2]
        joined = len(pair) == 2 and pair[0].forward and not pair[1].forward
        joined = joined and pair[0].microbatch != pair[1].microbatch
        yield pair if joined else pair[:1]
        at += 2 if joined else 1
