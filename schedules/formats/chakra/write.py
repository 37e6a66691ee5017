"""Chakra execution traces: the sends, receives and additions of each rank, for simulators.

One file per rank.  Nodes are sends, receives and additions of a number of bytes, with their
dependencies on earlier nodes of the same rank; a send and its receive share a unique tag.  Byte c
of shard i is byte i * M / N + c of M; chunk bounds are rounded down to whole bytes.  ``inputs``
and ``outputs`` of a node are the bytes that it reads and writes, as ``[buffer, first, bytes]``.
The buffer is the data, or a staging area whose bytes wait to be added or, in an all-to-all, to
be forwarded; the bytes of an all-to-all end in the result.
"""

from typing import Any

from topoloom.schedules.errors import NotExportable
from topoloom.schedules.formats.chakra.nodes import ExchangeNodes, FoldNodes, ShardNodes, attributes
from topoloom.schedules.formats.chakra.program import MAX_BYTES, VERSION
from topoloom.schedules.formats.chakra.protobuf_schema import GlobalMetadata, write_messages
from topoloom.schedules.formats.lowering.buffer_moves import MAX_MESSAGES
from topoloom.schedules.formats.lowering.transfers import (
    MAX_CELLS,
    chunks_per_shard,
    least_messages,
    require_plain,
    transfers,
)
from topoloom.schedules.formats.targets.fit_runtime import coarser
from topoloom.schedules.model.schedule import Collective, RouteSchedule, Schedule, StepSchedule
from topoloom.schedules.verify import require_valid
from topoloom.synth.topology.topology import Topology


def render(schedule: Schedule, topology: Topology, size_bytes: int) -> tuple[bytes, ...]:
    """Return the traces of a schedule, one for each rank.

    Switches disappear: a path through switches is a message from its first to its last rank, and
    the simulator routes it.  Data that other formats pipeline in slices is sent whole, in one
    message for each edge of a tree or send of a step.

    Args:
        schedule: Checked first, so only proven schedules are exported.
        size_bytes: M: the output of an allgather, the input of a reduce-scatter, the buffer of an
            allreduce, the data that each rank sends in an all-to-all.  Every chunk has at least one
            byte; in an all-to-all all blocks have the same number of bytes.

    Raises:
        NotExportable: The size is too small or too large, or there are too many messages.

    A send depends on the nodes that wrote its bytes; an addition on the receive and on the
    previous addition; a receive into data on the earlier reads and writes of these bytes.  A node
    depends only on earlier nodes of its own file, so no order of execution deadlocks.

    Order on a link.  Contributions to sums could leave at once and would delay the data that
    other ranks wait for.  So a send to be added, and any send of a step, has control dependencies
    on the sends of the previous stage to the same rank (the previous step, or the next deeper
    level of the trees).

    >>> from topoloom.schedules.formats.chakra.protobuf_schema import read_messages
    >>> from topoloom.schedules.model.schedule import Collective, Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> [node.name for node in read_messages(render(both, pair, 1024)[0])[1]]
    ['send to 1', 'receive from 1']
    """
    ranks = rank_nodes(schedule, topology, size_bytes)
    metadata = {"collective": schedule.collective.value, "ranks": len(ranks), "bytes": size_bytes}
    return tuple(
        write_messages(
            [
                GlobalMetadata(version=VERSION, attr=attributes(metadata | {"rank": rank})),
                *nodes,
            ]
        )
        for rank, nodes in enumerate(ranks)
    )


def rank_nodes(schedule: Schedule, topology: Topology, size_bytes: int) -> list[list[Any]]:
    """Return the nodes of each rank; parameters and errors as of `render`."""
    ranks = topology.compute_nodes
    require_plain(schedule)
    _require_few(least_messages(schedule, joined=False))
    require_valid(schedule, topology)
    schedule = _fitting(schedule, size_bytes)
    chunks, found = transfers(schedule, ranks)
    kind = _nodes(schedule)
    whole = chunks if kind is FoldNodes else chunks * len(ranks)
    if not whole <= size_bytes <= MAX_BYTES:
        raise NotExportable(
            "/bytes", f"must be {whole} to {MAX_BYTES}: the schedule cuts the data into {whole}"
        )
    exchanges = schedule.collective is Collective.ALL_TO_ALL
    if exchanges and size_bytes % len(ranks):
        raise NotExportable("/bytes", f"must be a multiple of the {len(ranks)} ranks")
    traces = kind(len(ranks), whole, size_bytes)
    found = traces.prepared(found)
    _require_few(len(found))
    for tag, transfer in enumerate(found, 1):
        traces.add(transfer, tag)
    traces.finish()
    return traces.nodes


def _require_few(needed: int) -> None:
    if needed > MAX_MESSAGES:
        raise NotExportable(
            "/messages", f"at most {MAX_MESSAGES} messages are written; {needed} are needed"
        )


def _fitting(schedule: Schedule, size_bytes: int) -> Schedule:
    """Return the routes with their shares of a block rounded so that each has at least one byte."""
    if not isinstance(schedule, RouteSchedule):
        return schedule
    ranks = len(schedule.ranks)
    for each in coarser(schedule):
        chunks = chunks_per_shard(each) * ranks
        if chunks <= size_bytes and chunks * ranks <= MAX_CELLS:
            return each
    return schedule


def _nodes(schedule: Schedule) -> type[ShardNodes]:
    """Return the class that creates the nodes of a schedule."""
    if schedule.collective is Collective.ALL_TO_ALL:
        return ExchangeNodes
    folds = isinstance(schedule, StepSchedule) and schedule.in_one_pass
    return FoldNodes if folds else ShardNodes
