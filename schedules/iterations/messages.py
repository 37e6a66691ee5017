"""The communications of a job: what each layer sends, in which groups, and how many bytes."""

from fractions import Fraction
from typing import NamedTuple

from topoloom.schedules.iterations.communications import Traffic
from topoloom.schedules.iterations.training_job import (
    GroupTraffic,
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
)

FORWARD, BACKWARD = "forward", "backward"
TENSOR, CONTEXT, EXPERT, PIPELINE = "tensor", "context", "expert", "pipeline"
GATHER, REDUCE, REDUCE_EXPERTS = "gather", "reduce", "reduce-experts"
COMPUTE, HOST = "compute", "host"
STOPPING = (TENSOR, CONTEXT, EXPERT)
COMPUTATIONS = (FORWARD, BACKWARD, COMPUTE)
"""Computations of accelerators; those of a traced job may belong to any pass."""
PHASES = (
    *COMPUTATIONS,
    *(HOST, TENSOR, CONTEXT, EXPERT, PIPELINE),
    *(GATHER, REDUCE, REDUCE_EXPERTS),
)
"""Kinds of operations: computations first, then communications by what they serve."""


class Message(NamedTuple):
    """A communication of all groups of a kind in a stage; ``runs`` collectives one after another.

    ``size_bytes`` is the size of one run; see `communications.Network.cost`.
    """

    phase: str
    kind: str
    traffic: Traffic
    size_bytes: Fraction
    runs: int = 1


class LayerMessages:
    """The communications of the layers of a job; none where a group has one rank.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> sizes, sharding = ProcessGroups.parse("tensor=2,data=3"), Sharding.FULL
    >>> job = TrainingJob("job", (Layer("a", 6),), sizes, sharding=sharding)
    >>> [(one.kind, one.size_bytes) for one in LayerMessages(job).gathered(job.layers[0])]
    [('data', Fraction(6, 1))]
    """

    def __init__(self, job: TrainingJob) -> None:
        self.job = job
        self.dense = job.kind("context", "expert", "data")
        self.sparse = job.kind("context", "data")
        self.samples = Fraction(job.samples, job.size(CONTEXT))
        self.tensor = job.size(TENSOR)

    def before(self, layer: Layer) -> list[Message]:
        """Return what a layer waits for in both passes: keys and values of other ranks."""
        return self._context(layer, Traffic.ALLGATHER)

    def after(self, layer: Layer, forward: bool) -> list[Message]:
        """Return what follows the computation of a layer and stops its stage."""
        job, found = self.job, list[Message]()
        if not forward:
            found += self._context(layer, Traffic.REDUCE_SCATTER)
        if layer.tensor_width and (kind := job.kind(TENSOR)):
            size = layer.tensor_width * self.samples * job.element_bytes / layer.tensor_runs
            found.append(Message(TENSOR, kind, Traffic.ALLREDUCE, size, layer.tensor_runs))
        for one in layer.forward_traffic if forward else layer.backward_traffic:
            phase = next((name for name in STOPPING if name in one.dimensions), GATHER)
            found += self._stated(phase, one)
        return found

    def stated_gradients(self, layer: Layer) -> list[Message]:
        """Return the collectives of a layer's gradients that the layer states."""
        found = list[Message]()
        for one in layer.gradient_traffic:
            own = self.job.size(EXPERT) > 1 and EXPERT not in one.dimensions
            found += self._stated(REDUCE_EXPERTS if own else REDUCE, one)
        return found

    def _stated(self, phase: str, one: GroupTraffic) -> list[Message]:
        kind = self.job.kind(*one.dimensions)
        return [Message(phase, kind, one.traffic, Fraction(one.size_bytes))] if kind else []

    def exchanged(self, layer: Layer, forward: bool) -> list[Message]:
        """Return the all-to-alls of a layer with experts."""
        parts = layer.expert_bytes if forward else layer.expert_backward_bytes
        if not (kind := self.job.kind(EXPERT)):
            return []
        share = self.samples / self.tensor
        return [Message(EXPERT, kind, Traffic.ALL_TO_ALL, size * share) for size in parts]

    def gathered(self, layer: Layer) -> list[Message]:
        """Return the gathers of the parameters of a layer."""
        if self.job.sharding is Sharding.NONE:
            return []
        size = self.job.element_bytes
        counts = ((self.dense, layer.parameters), (self.sparse, self._own(layer)))
        return [
            Message(GATHER, kind, Traffic.ALLGATHER, Fraction(count) * size / self.tensor)
            for kind, count in counts
            if kind and count
        ]

    def gradients(self, layer: Layer) -> dict[str, Fraction]:
        """Return the bytes of gradients of a layer: of its experts, and of all else."""
        share = Fraction(self.job.gradient_bytes, self.tensor)
        return {REDUCE: layer.parameters * share, REDUCE_EXPERTS: self._own(layer) * share}

    def reduced(self, phase: str, size_bytes: Fraction) -> list[Message]:
        """Return the messages of a bucket of gradients."""
        kind = self.dense if phase == REDUCE else self.sparse
        whole = self.job.sharding is Sharding.NONE
        traffic = Traffic.ALLREDUCE if whole else Traffic.REDUCE_SCATTER
        found = [Message(phase, kind, traffic, size_bytes)] if kind and size_bytes else []
        if size_bytes and self.job.order is PipelineOrder.DUALPIPE:
            # The two stages of a chunk add their reduced gradients.
            own = size_bytes if whole else size_bytes / self.job.size(*kind.split("+"))
            found.append(Message(phase, PIPELINE, Traffic.SEND_MIRROR, own))
        return found

    def handed_on(self, later: bool) -> list[Message]:
        """Return the message of activations, or of their gradients, to the later stage or back."""
        job = self.job
        if not (kind := job.kind(PIPELINE)):
            return []
        traffic = Traffic.SEND_NEXT if later else Traffic.SEND_PREVIOUS
        size = job.width * self.samples * job.element_bytes / self.tensor
        return [Message(PIPELINE, kind, traffic, size)]

    def _context(self, layer: Layer, traffic: Traffic) -> list[Message]:
        if not layer.context_width or not (kind := self.job.kind(CONTEXT)):
            return []
        size = layer.context_width * Fraction(
            self.job.samples * self.job.element_bytes, self.tensor
        )
        return [Message(CONTEXT, kind, traffic, size)]

    def _own(self, layer: Layer) -> Fraction:
        """Return the parameters of the experts of one rank, before tensor parallelism."""
        return Fraction(layer.expert_parameters, self.job.size(EXPERT))
