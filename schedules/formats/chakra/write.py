"""Chakra execution traces: what each rank sends, receives and adds, for simulators.

One file per rank.  Nodes are sends, receives and additions of so many bytes, with their
dependencies on earlier nodes of the same rank; a send and its receive have a tag of
their own.  Byte c of shard i is byte i * M / N + c of M; chunks end at the whole byte
below.  ``inputs`` and ``outputs`` of a node tell which bytes it reads and writes, as
``[buffer, first, bytes]``: the data, or a staging area where bytes wait to be added, or to be
passed on in an all-to-all, whose bytes end in the result.
"""

import json
from typing import Any

import numpy as np

from schedules.errors import NotExportable
from schedules.formats.buffer_moves import MAX_MESSAGES
from schedules.formats.chakra.program import COMPUTE, MAX_BYTES, RECEIVE, RESULT, SEND, VERSION
from schedules.formats.chakra.protobuf import Attribute, GlobalMetadata, Node, write_messages
from schedules.formats.fitting import coarser
from schedules.formats.transfers import (
    MAX_CELLS,
    Transfer,
    chunks_per_shard,
    least_messages,
    require_plain,
    transfers,
)
from schedules.model import Collective, RouteSchedule, Schedule
from schedules.verify import require_valid
from synth.topology import Topology

__all__ = ["render"]


def render(schedule: Schedule, topology: Topology, size_bytes: int) -> tuple[bytes, ...]:
    """Return the traces of a schedule, one for each rank.

    Switches disappear: a path through them is a message from its first to its last
    rank, and how it gets there is the simulator's affair.  What is pipelined in slices
    elsewhere is sent whole here, one message for each edge of a tree or send of a step.

    Parameters
    ----------
    schedule : Schedule
        It is checked first: what is exported is what was proved.
    size_bytes : int
        M: the output of an allgather, the input of a reduce-scatter, the buffer of an
        allreduce, what each rank sends in an all-to-all.  Every chunk has a byte at least;
        in an all-to-all all blocks have the same number of bytes.

    Raises
    ------
    InvalidSchedule
        The schedule is not valid on the topology.
    NotExportable
        The size is too small or too large, or there are too many messages.

    Notes
    -----
    A send depends on what wrote its bytes; an addition on the receive and on the
    addition before; a receive into data on what read or wrote them before.  A node
    depends on nodes of its own file only, and those stand before it, so no order of work
    gets stuck.

    Order on a link.  What a rank contributes to sums could leave at once, and would stand in
    the way of what others wait for.  So a send to be added, and any send of a step, has
    control dependencies on the sends of the stage before (the step before, or those from
    deeper in the trees) to the same rank.

    Examples
    --------
    >>> from schedules.formats.chakra.protobuf import read_messages
    >>> from schedules.model import Collective, Tree, TreeSchedule
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> trees = (Tree(0, 1, ((0, 1),)), Tree(1, 1, ((1, 0),)))
    >>> both = TreeSchedule(Collective.ALLGATHER, pair.digest, (0, 1), 1, trees)
    >>> [node.name for node in read_messages(render(both, pair, 1024)[0])[1]]
    ['send to 1', 'receive from 1']
    """
    ranks = topology.compute_nodes
    require_plain(schedule)
    needed = least_messages(schedule, joined=False)
    if needed > MAX_MESSAGES:
        raise NotExportable(
            "/messages", f"at most {MAX_MESSAGES} messages are written; {needed} are needed"
        )
    require_valid(schedule, topology)
    schedule = _fitting(schedule, size_bytes)
    chunks, found = transfers(schedule, ranks)
    whole = chunks * len(ranks)
    if not whole <= size_bytes <= MAX_BYTES:
        raise NotExportable(
            "/bytes", f"must be {whole} to {MAX_BYTES}: the schedule cuts the data into {whole}"
        )
    exchanges = schedule.collective is Collective.ALL_TO_ALL
    if exchanges and size_bytes % len(ranks):
        raise NotExportable("/bytes", f"must be a multiple of the {len(ranks)} ranks")
    traces = (_Exchange if exchanges else _Traces)(len(ranks), whole, size_bytes)
    for tag, transfer in enumerate(found, 1):
        traces.add(transfer, tag)
    metadata = {"collective": schedule.collective.value, "ranks": len(ranks), "bytes": size_bytes}
    return tuple(
        write_messages(
            [
                GlobalMetadata(version=VERSION, attr=_attributes(metadata | {"rank": rank})),
                *nodes,
            ]
        )
        for rank, nodes in enumerate(traces.nodes)
    )


def _fitting(schedule: Schedule, size_bytes: int) -> Schedule:
    """Return routes whose shares of a block are rounded so far that each has a byte."""
    if not isinstance(schedule, RouteSchedule):
        return schedule
    ranks = len(schedule.ranks)
    for each in coarser(schedule):
        chunks = chunks_per_shard(each) * ranks
        if chunks <= size_bytes and chunks * ranks <= MAX_CELLS:
            return each
    return schedule


class _Traces:
    """The nodes of all ranks so far."""

    def __init__(self, ranks: int, whole: int, size_bytes: int) -> None:
        self.nodes: list[list[Any]] = [[] for _ in range(ranks)]
        self.whole, self.size_bytes = whole, size_bytes
        self.staged = [0] * ranks
        # By sender and receiver: the latest stage so far, its sends, and those before it.
        self.stages: dict[tuple[int, int], tuple[int, list[int], list[int]]] = {}
        # Per rank and chunk: the last node that wrote it, and that touched it; -1 if none.
        self.written = np.full((ranks, whole), -1, dtype=np.int32)
        self.touched = self.written.copy()

    def add(self, transfer: Transfer, tag: int) -> None:
        """Add the nodes at both ends of a transfer."""
        source, target = transfer.source, transfer.target
        span = slice(transfer.chunk, transfer.chunk + transfer.length)
        first = transfer.chunk * self.size_bytes // self.whole
        size = span.stop * self.size_bytes // self.whole - first
        data = ("data", first, size)
        about = _about(transfer, tag, size)
        sent = self._node(
            source, SEND, f"send to {target}", _known(self.written[source, span]), about
        )
        sent.inputs.values = _regions(data)
        if transfer.reduce or transfer.in_step:
            sent.ctrl_deps.extend(self._earlier(transfer, sent.id))
        self.touched[source, span] = sent.id
        if not transfer.reduce:
            before = _known(self.touched[target, span])
            last = self._node(target, RECEIVE, f"receive from {source}", before, about)
            last.outputs.values = _regions(data)
        else:
            staged = ("staging", self.staged[target], size)
            self.staged[target] += size
            got = self._node(target, RECEIVE, f"receive from {source}", [], about)
            got.outputs.values = _regions(staged)
            before = [*_known(self.written[target, span]), got.id]
            last = self._node(target, COMPUTE, "add", before, {"is_cpu_op": False})
            last.inputs.values = _regions(data, staged)
            last.outputs.values = _regions(data)
        self.written[target, span] = self.touched[target, span] = last.id

    def _earlier(self, transfer: Transfer, sent: int) -> list[int]:
        """Return the sends of the stage before to the same rank, noting this one."""
        pair = transfer.source, transfer.target
        stage, now, before = self.stages.get(pair, (transfer.stage, [], []))
        if stage < transfer.stage:
            now, before = [], now
        self.stages[pair] = transfer.stage, [*now, sent], before
        return before

    def _node(
        self, rank: int, kind: int, name: str, before: list[int], about: dict[str, Any]
    ) -> Any:
        node = Node(
            id=len(self.nodes[rank]),
            name=name,
            type=kind,
            data_deps=before,
            attr=_attributes(about),
        )
        self.nodes[rank].append(node)
        return node


class _Exchange(_Traces):
    """The nodes of an all-to-all: what is passed on waits in staging areas of its own."""

    def __init__(self, ranks: int, whole: int, size_bytes: int) -> None:
        super().__init__(ranks, 0, size_bytes)
        self.chunks, self.of_rank = whole // ranks, whole
        self.block = size_bytes // ranks
        # By rank and chunk: where it is staged, and the node that received it.
        self.kept: dict[tuple[int, int], tuple[int, int]] = {}

    def add(self, transfer: Transfer, tag: int) -> None:
        """Add the nodes at both ends of a transfer."""
        source, target, chunk = transfer.source, transfer.target, transfer.chunk
        owner, offset = divmod(chunk, self.of_rank)
        goal, part = divmod(offset, self.chunks)
        low = part * self.block // self.chunks
        size = (part + transfer.length) * self.block // self.chunks - low
        about = _about(transfer, tag, size)
        if source == owner:
            taken, before = ("data", goal * self.block + low, size), list[int]()
        else:
            place, node = self.kept.pop((source, chunk))
            taken, before = ("staging", place, size), [node]
        sent = self._node(source, SEND, f"send to {target}", before, about)
        sent.inputs.values = _regions(taken)
        got = self._node(target, RECEIVE, f"receive from {source}", [], about)
        if target == goal:
            got.outputs.values = _regions((RESULT, owner * self.block + low, size))
            return
        self.kept[target, chunk] = self.staged[target], got.id
        got.outputs.values = _regions(("staging", self.staged[target], size))
        self.staged[target] += size


def _about(transfer: Transfer, tag: int, size: int) -> dict[str, Any]:
    """Return the attributes of both ends of a message."""
    return {
        "is_cpu_op": False,
        "comm_src": transfer.source,
        "comm_dst": transfer.target,
        "comm_tag": tag,
        "comm_size": size,
    }


def _known(nodes: np.ndarray) -> list[int]:
    return [int(node) for node in np.unique(nodes) if node >= 0]


def _regions(*regions: tuple[str, int, int]) -> str:
    return json.dumps(regions)


def _attributes(values: dict[str, Any]) -> list[Any]:
    """Return attributes in the types that simulators read: sizes have 64 bits."""
    made = []
    for name, value in values.items():
        if isinstance(value, bool):
            made.append(Attribute(name=name, bool_val=value))
        elif isinstance(value, str):
            made.append(Attribute(name=name, string_val=value))
        elif name in ("bytes", "comm_size"):
            made.append(Attribute(name=name, int64_val=value))
        else:
            made.append(Attribute(name=name, int32_val=value))
    return made
