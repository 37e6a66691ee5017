"""The plan of a traced job: its own operations in their own order, with messages of its groups."""

from collections.abc import Iterable
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.communications import Traffic
from topoloom.schedules.iterations.iteration import layer_seconds
from topoloom.schedules.iterations.job_plan import JobPlan
from topoloom.schedules.iterations.messages import (
    COMPUTE,
    GATHER,
    HOST,
    PIPELINE,
    REDUCE,
    STOPPING,
    Message,
)
from topoloom.schedules.iterations.operations import Operation
from topoloom.schedules.iterations.training_job import GroupTraffic, TracedOperation, TrainingJob


def traced_plan(job: TrainingJob, flops_per_second: Fraction | None = None) -> JobPlan:
    """Return the plan of a job with ``operations``.

    Every operation keeps its stream and what it waits for.  A communication in groups of one rank
    takes no time.  O(n) for n operations and dependences.

    Args:
        job: The job; its bytes and seconds do not depend on the sizes of its groups, except that
            an allgather of given shards has a shard of every rank.
        flops_per_second: Operations of one accelerator per second, for computations without
            seconds.

    Raises:
        NoSchedule: A computation states no seconds, and no rate is given.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.iteration import free_iteration_seconds
    >>> work = TracedOperation("multiply", flops=Fraction(6)), TracedOperation("wait", after=(0,))
    >>> job = TrainingJob("traced", (), ProcessGroups.parse("data=2"), operations=work)
    >>> str(free_iteration_seconds(traced_plan(job, Fraction(2))))
    '3'
    """
    known: dict[tuple[str, Message], Message] = {}
    made, messages = list[Operation](), list[Message | None]()
    for index, one in enumerate(job.operations):
        stream = f"{one.stream or f'operation {index}'}/{one.stage}"
        message = None if one.sent is None else _message(job, one.sent, one.of_shard)
        if message is not None:
            # Equal messages of a stream are one object, whose cost a plan computes once.
            message = known.setdefault((stream, message), message)
        seconds = Fraction(0) if one.sent else _seconds(one, index, flops_per_second)
        phase = _phase(one) if message is None else message.phase
        made.append(
            Operation(
                *(stream, one.name, seconds, one.after),
                kind=phase,
                stage=one.stage,
            )
        )
        messages.append(message)
    return JobPlan(job, layer_seconds(job), made, messages)


def counts_flops(operations: Iterable[TracedOperation]) -> bool:
    """Return whether a computation has operations to count, and no seconds."""
    return any(one.seconds is None and one.flops for one in operations)


def _seconds(one: TracedOperation, index: int, rate: Fraction | None) -> Fraction:
    if one.seconds is not None:
        return one.seconds
    if not one.flops:
        return Fraction(0)
    if not rate:
        named = f"operation {index}, {one.name[:50]!r},"
        raise NoSchedule("/accelerator", f"must be given: {named} states no seconds")
    return one.flops / rate


def _phase(one: TracedOperation) -> str:
    """Return the phase of an operation without message; empty for a point in time."""
    if one.sent is not None or (one.seconds is None and not one.flops):
        return ""
    return HOST if one.host else COMPUTE


def _message(job: TrainingJob, sent: GroupTraffic, of_shard: bool) -> Message | None:
    """Return the message of a communication, or None if its groups have one rank."""
    kind = job.kind(*sent.dimensions)
    if not kind:
        return None
    phase = next((name for name in (*STOPPING, PIPELINE) if name in sent.dimensions), "")
    if not phase:
        phase = GATHER if sent.traffic is Traffic.ALLGATHER else REDUCE
    size = sent.size_bytes * (job.size(*sent.dimensions) if of_shard else 1)
    return Message(phase, kind, sent.traffic, Fraction(size))
