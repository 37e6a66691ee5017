"""A training job: its layers, microbatches, and how parallelism divides them."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate, pairwise
from math import prod
from typing import NamedTuple

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.communications import Traffic
from topoloom.synth.naming.suggestions import one_of


class Sharding(StrEnum):
    """The data that the replicas of a parameter divide among each other.

    ``none``: gradients are allreduced.  ``optimizer``: gradients are reduce-scattered, and the
    updated parameters are gathered once, before their first use.  ``full``: parameters are
    gathered for every forward and every backward pass, too.
    """

    NONE = "none"
    OPTIMIZER = "optimizer"
    FULL = "full"


class PipelineOrder(StrEnum):
    """Orders of microbatches in a stage; see `pipeline_schedules.stage_groups`."""

    GPIPE = "gpipe"
    ONE_F_ONE_B = "1f1b"
    INTERLEAVED = "interleaved"
    OVERLAPPED = "overlapped"
    ZERO_BUBBLE = "zero-bubble"
    DUALPIPE = "dualpipe"

    @property
    def hides_exchanges(self) -> bool:
        """Whether the exchanges of experts run beside another microbatch."""
        return self in (PipelineOrder.OVERLAPPED, PipelineOrder.DUALPIPE)


class GroupTraffic(NamedTuple):
    """A collective of the groups over some dimensions; bytes as in `communications.Network`."""

    dimensions: tuple[str, ...]
    traffic: Traffic
    size_bytes: int


class TracedOperation(NamedTuple):
    """One operation of a traced job: a computation, a communication, or a point in time.

    Attributes:
        name: Description for timelines.
        stage: Pipeline stage that runs the operation, or sends the message.
        stream: Operations of a stream and stage run one after another.  Empty: the operation waits
            for those in ``after`` alone.
        after: Indices of earlier operations that end first.
        seconds, flops: Of a computation: its duration, or its floating-point operations.
        host: Whether the computation runs on the processor of the host.
        sent: Of a communication: its groups and bytes.
        of_shard: Whether the bytes are those that every rank has before an allgather.
    """

    name: str
    stage: int = 0
    stream: str = ""
    after: tuple[int, ...] = ()
    seconds: Fraction | None = None
    flops: Fraction = Fraction(0)
    host: bool = False
    sent: GroupTraffic | None = None
    of_shard: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer; every count is for the whole model, before parallelism divides the layer.

    Attributes:
        parameters, expert_parameters: Elements that every data-parallel replica holds, and of all
            experts together.
        experts: Experts of the layer; 0 without experts.
        forward_flops: Floating-point operations of the forward pass per sample.  A sample is a
            token of a language model, an image, or a record.
        forward_seconds, backward_seconds: Seconds of one microbatch on one accelerator, as
            measured, instead of ``forward_flops``.
        weight_share: Share of the backward pass that computes the gradients of parameters.
        tensor_width, tensor_runs: Elements per sample that the tensor group allreduces in the
            forward pass, and again in the backward pass; the allreduces that these elements take.
        context_width: Elements per sample that the context group gathers in the forward pass; the
            backward pass gathers them again and reduce-scatters their gradients.
        expert_bytes, expert_backward_bytes: Bytes per sample of every all-to-all of the expert
            group in the forward pass, and in the backward pass.
        forward_traffic, backward_traffic, gradient_traffic: Further collectives: after the forward
            and the backward pass of every microbatch, which stop the stage, and once per iteration
            after the gradients of the layer, which do not.
    """

    name: str
    parameters: int = 0
    expert_parameters: int = 0
    experts: int = 0
    forward_flops: Fraction = Fraction(0)
    forward_seconds: Fraction | None = None
    backward_seconds: Fraction | None = None
    weight_share: Fraction = Fraction(1, 2)
    tensor_width: int = 0
    tensor_runs: int = 1
    context_width: int = 0
    expert_bytes: tuple[int, ...] = ()
    expert_backward_bytes: tuple[int, ...] = ()
    forward_traffic: tuple[GroupTraffic, ...] = ()
    backward_traffic: tuple[GroupTraffic, ...] = ()
    gradient_traffic: tuple[GroupTraffic, ...] = ()

    @property
    def exchanges(self) -> bool:
        """Whether the layer sends to groups of experts."""
        stated = (*self.forward_traffic, *self.backward_traffic)
        return bool(self.expert_bytes) or any("expert" in one.dimensions for one in stated)


@dataclass(frozen=True, slots=True)
class TrainingJob:
    """One iteration: layers in order, samples, parallelism, and what is sent.

    Attributes:
        processes: Sizes of tensor, context, expert, data and pipeline parallelism.  Layers outside
            the experts have context * expert * data replicas; an expert has context * data
            replicas.
        microbatches, samples: Microbatches of an iteration, and samples of one microbatch, for
            every replica.
        width: Elements per sample that a pipeline stage sends to the next.
        element_bytes, gradient_bytes: Bytes of an activation or parameter, and of a gradient.
        chunks: Model chunks of a stage in the interleaved order.
        bucket_bytes: Gradients are sent once a bucket holds this or more.
        prefetch: Layers whose parameters are gathered before the layer in computation.
        overlap: Whether gradients and gathered parameters travel during computations.
        operations: The operations of one iteration as traced, instead of layers.
        notes, source: Assumptions for the user, and the public source of the layout.
    """

    name: str
    layers: tuple[Layer, ...]
    processes: ProcessGroups
    microbatches: int = 1
    samples: int = 1
    width: int = 0
    element_bytes: int = 2
    gradient_bytes: int = 4
    sharding: Sharding = Sharding.NONE
    order: PipelineOrder = PipelineOrder.ONE_F_ONE_B
    chunks: int = 1
    bucket_bytes: int = 25 * 2**20
    prefetch: int = 1
    overlap: bool = True
    operations: tuple[TracedOperation, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""
    _sizes: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sizes", dict(self.processes.sizes))
        if self.operations:
            self._require_stages()
            return
        self._require_counts()
        self._require_pipeline()
        self._require_experts()

    def size(self, *dimensions: str) -> int:
        """Return the ranks of a dimension, or of several together."""
        return prod(self._sizes.get(name, 1) for name in dimensions)

    @property
    def ranks(self) -> int:
        """The accelerators of the job."""
        return self.processes.rank_count

    @property
    def stages(self) -> int:
        """Stages of the pipeline."""
        return self.size("pipeline")

    @property
    def least_microbatches(self) -> int:
        """The fewest microbatches that the order of the pipeline takes in all its phases."""
        return 2 * self.stages if self.order is PipelineOrder.DUALPIPE else max(self.stages, 2)

    def own_chunks(self, stage: int) -> tuple[int, ...]:
        """Return the model chunks of a stage; in DualPipe, a chunk has two stages."""
        if self.order is PipelineOrder.DUALPIPE:
            return stage, self.stages - 1 - stage
        return tuple(range(stage, self.stages * self.chunks, self.stages))

    def kind(self, *dimensions: str) -> str:
        """Return the kind of group over those dimensions that have more than one rank; or ''."""
        return "+".join(name for name in dimensions if self.size(name) > 1)

    def chunk_layers(self) -> tuple[tuple[Layer, ...], ...]:
        """Return the layers of every model chunk, in model order.

        Chunk c belongs to stage c mod p.  Where the layers do not divide evenly, the outer chunks
        have one layer more: the first, the last, the second, ...
        """
        count = self.stages * self.chunks
        least, more = divmod(len(self.layers), count)
        sizes = [least + (min(2 * c, 2 * (count - c) - 1) < more) for c in range(count)]
        ends = list(accumulate(sizes, initial=0))
        return tuple(self.layers[low:high] for low, high in pairwise(ends))

    def with_parallel(self, processes: ProcessGroups) -> "TrainingJob":
        """Return the job with other sizes of parallelism."""
        return replace(self, processes=processes)

    def _require_stages(self) -> None:
        """Raise unless the traced operations have the stages of the pipeline."""
        stages = 1 + max(one.stage for one in self.operations)
        if stages != self.stages:
            rule = f"must have pipeline={stages}, the stages of the operations, not {self.stages}"
            raise NoSchedule("/parallel", rule)

    def _require_counts(self) -> None:
        if not self.layers:
            raise NoSchedule("/layers", "must not be empty")
        least = {
            "microbatches": 1,
            "samples": 1,
            "element_bytes": 1,
            "gradient_bytes": 1,
            "chunks": 1,
            "bucket_bytes": 1,
            "width": 0,
            "prefetch": 0,
        }
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise NoSchedule(f"/{name}", f"must be at least {bound}")

    def _require_pipeline(self) -> None:
        stages, count = self.stages, len(self.layers)
        if self.chunks > 1 and self.order is not PipelineOrder.INTERLEAVED:
            raise NoSchedule("/chunks", "must be 1 unless the pipeline order is interleaved")
        if count < stages * self.chunks:
            rule = (
                f"must have at most one chunk per layer; {stages} * {self.chunks} exceeds {count}"
            )
            raise NoSchedule("/parallel" if self.chunks == 1 else "/chunks", rule)
        if self.order is PipelineOrder.INTERLEAVED and self.microbatches % stages:
            raise NoSchedule(
                "/microbatches",
                f"must be a multiple of the {stages} pipeline stages in the interleaved order",
            )
        if self.order is PipelineOrder.DUALPIPE:
            if stages % 2:
                raise NoSchedule("/parallel", f"must have an even pipeline, not {stages} stages")
            if self.microbatches % 2 or self.microbatches < 2 * stages:
                rule = f"must be even and at least {2 * stages}, twice the stages, in DualPipe"
                raise NoSchedule("/microbatches", rule)

    def _require_experts(self) -> None:
        expert = self.size("expert")
        counts = {layer.experts for layer in self.layers if layer.experts}
        for count in sorted(counts):
            if count % expert:
                raise NoSchedule(
                    "/parallel", f"expert={expert} must divide the {count} experts of a layer"
                )
        if expert > 1 and not any(layer.exchanges for layer in self.layers):
            raise NoSchedule("/parallel", f"expert={expert} must be 1 for a model without experts")


def processes_of(sizes: str | dict[str, int], ranks: int) -> ProcessGroups:
    """Return the groups of sizes that multiply to the ranks; a missing ``data`` takes the rest.

    >>> str(processes_of("tensor=2,pipeline=2", 8))
    'tensor=2,pipeline=2,data=2'
    >>> processes_of("tensor=3", 8)
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /parallel: must multiply to the 8 ranks; tensor=3 has 3
    """
    try:
        found = ProcessGroups.parse(sizes) if isinstance(sizes, str) else ProcessGroups.of(sizes)
    except NoSchedule as error:
        raise NoSchedule("/parallel", error.rule) from None
    names = [name for name, _ in found.sizes]
    if "data" not in names and ranks % found.rank_count == 0:
        found = ProcessGroups((*found.sizes, ("data", ranks // found.rank_count)))
    if found.rank_count != ranks:
        raise NoSchedule(
            "/parallel",
            f"must multiply to the {ranks} ranks; {found} has {found.rank_count}",
        )
    return found


def enum_of(kind: type[StrEnum], text: str, place: str) -> StrEnum:
    """Return the member of an enumeration that a text names.

    >>> enum_of(Sharding, "ful", "/sharding")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /sharding: must be one of none, optimizer, full; ...
    """
    if text not in list(kind):
        raise NoSchedule(place, one_of(text, [str(one) for one in kind]))
    return kind(text)
