"""Write the timeline of an iteration: CSV, and Chakra traces of the pipeline stages.

All ranks of a stage do the same at the same time, so a trace stands for all of them.
"""

import csv
import io
from collections.abc import Iterator
from typing import Any

from topoloom.schedules.formats.chakra.nodes import attributes
from topoloom.schedules.formats.chakra.program import COMPUTE, RECEIVE, SEND, VERSION
from topoloom.schedules.formats.chakra.protobuf_schema import GlobalMetadata, Node, write_messages
from topoloom.schedules.iterations.communications import Traffic
from topoloom.schedules.iterations.iteration import Iteration
from topoloom.schedules.iterations.job_plan import JobPlan
from topoloom.schedules.iterations.messages import Message

COLLECTIVE = 7
"""The value of `NodeType` for a collective."""

COMM_TYPES = {
    Traffic.ALLREDUCE: 0,
    Traffic.ALLGATHER: 2,
    Traffic.ALL_TO_ALL: 6,
    Traffic.REDUCE_SCATTER: 7,
}
"""Values of Chakra's `CollectiveCommType`."""

COLUMNS = ("operation", "stage", "stream", "kind", "name", "group", "bytes", "start_s", "end_s")


def timeline_csv(iteration: Iteration) -> str:
    """Return one line per operation, in the order of starts; times are in seconds.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.iteration import *
    >>> from topoloom.schedules.iterations.job_operations import job_plan
    >>> one = Fraction(1)
    >>> layer = Layer("a", forward_seconds=one, backward_seconds=one)
    >>> job = TrainingJob("job", (layer,), ProcessGroups.parse("data=1"))
    >>> plan = job_plan(job, layer_seconds(job))
    >>> routed = plan.on(FreeNetwork())
    >>> timeline = simulate(routed.operations, routed.shares, plan.order)
    >>> timeline_csv(Iteration(plan, routed, timeline, timeline.seconds)).splitlines()[1]
    '0,0,compute,forward,a of microbatch 0,,,0.0,1.0'
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    starts = iteration.timeline.starts
    for index in sorted(range(len(starts)), key=lambda index: (starts[index], index)):
        one, message = iteration.plan.operations[index], iteration.plan.messages[index]
        size = "" if message is None else float(message.size_bytes * message.runs)
        lines.writerow(
            (
                *(index, one.stage, one.stream.rpartition("/")[0], one.kind, one.name),
                *("" if message is None else message.kind, size),
                float(iteration.timeline.start(index)),
                float(iteration.timeline.end(index)),
            )
        )
    return text.getvalue()


def timeline_traces(iteration: Iteration) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of one Chakra trace per pipeline stage.

    A computation has its duration.  A collective names its groups in ``pg_name``, and has the bytes
    that a rank puts in.  A message to another stage is a send there and a receive here, with stages
    in place of ranks.  `job_traces.trace_files.trace_model` reads the traces of all stages.
    """
    plan = iteration.plan
    last = dict[str, int]()
    before: list[list[int]] = []
    for index, one in enumerate(plan.operations):
        own = [*one.after, *([last[one.stream]] if one.stream in last else [])]
        last[one.stream] = index
        before.append(sorted(set(own)))
    for stage in range(plan.job.stages):
        nodes = list(_nodes(iteration, stage, before))
        about = {"stage": stage, "stages": plan.job.stages, "model": plan.job.name}
        metadata = attributes(about | {"parallel": str(plan.job.processes)})
        yield (
            f"iteration.{stage}.et",
            write_messages([GlobalMetadata(version=VERSION, attr=metadata), *nodes]),
        )


def _receive(plan: JobPlan, index: int, stage: int) -> Any:
    """Return the node of a stage that receives a message; its number follows all operations."""
    source, message = plan.operations[index].stage, plan.messages[index]
    assert message is not None
    values = {"comm_src": source, "comm_dst": stage, "comm_tag": index}
    size = int(message.size_bytes)
    return Node(
        id=len(plan.operations) + index,
        name=f"receive from stage {source}",
        type=RECEIVE,
        attr=attributes({"is_cpu_op": False, **values, "comm_size": size}),
    )


def _put_in(plan: JobPlan, message: Message) -> int:
    """Return the bytes that a rank puts into a collective: its shard for an allgather."""
    gathers = message.traffic is Traffic.ALLGATHER
    members = plan.job.size(*message.kind.split("+")) if gathers else 1
    return int(message.size_bytes * message.runs / members)


def _nodes(iteration: Iteration, stage: int, before: list[list[int]]) -> Iterator[Any]:
    """Yield the nodes of a stage; receives have the numbers after those of all operations."""
    plan, timeline = iteration.plan, iteration.timeline
    operations, count = plan.operations, len(plan.operations)
    mirror = plan.job.stages - 1 - stage
    streams: dict[str, int] = {}
    for index, (one, message) in enumerate(zip(operations, plan.messages, strict=True)):
        # No operation waits for these messages.
        if message and message.traffic is Traffic.SEND_MIRROR and one.stage == mirror:
            yield _receive(plan, index, stage)
    for index, one in enumerate(operations):
        if one.stage != stage:
            continue
        deps = []
        for other in before[index]:
            if operations[other].stage == stage:
                deps.append(other)
                continue
            yield _receive(plan, other, stage)
            deps.append(count + other)
        message = plan.messages[index]
        values = {"is_cpu_op": False, "stream": streams.setdefault(one.stream, len(streams))}
        kind = COMPUTE
        if message is not None and message.traffic in COMM_TYPES:
            kind = COLLECTIVE
            values |= {"comm_type": COMM_TYPES[message.traffic], "pg_name": message.kind}
            values |= {"comm_size": _put_in(plan, message)}
        elif message is not None:
            kind, target = SEND, message.traffic.target(stage, plan.job.stages)
            values |= {"comm_src": stage, "comm_dst": target, "comm_tag": index}
            values |= {"comm_size": int(message.size_bytes)}
        length = timeline.end(index) - timeline.start(index)
        yield Node(
            id=index,
            name=one.name if message is None else f"{one.kind} {one.name}",
            type=kind,
            data_deps=deps,
            start_time_micros=int(timeline.start(index) * 10**6),
            duration_micros=int(length * 10**6),
            attr=attributes(values),
        )
