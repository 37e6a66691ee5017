"""Nodes of Chakra traces, created transfer by transfer: sends, receives, additions.

Data to be added or forwarded waits in a staging area of its own.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from topoloom.schedules.formats.chakra.program import COMPUTE, RECEIVE, RESULT, SEND
from topoloom.schedules.formats.chakra.protobuf_schema import Attribute, Node
from topoloom.schedules.formats.lowering.transfers import Transfer


class ShardNodes:
    """The nodes of all ranks."""

    def __init__(self, ranks: int, whole: int, size_bytes: int) -> None:
        self.nodes: list[list[Any]] = [[] for _ in range(ranks)]
        self.whole, self.size_bytes = whole, size_bytes
        self.staged = [0] * ranks
        # By sender and receiver: the latest stage, its sends, and the sends of the stage before.
        self.stages: dict[tuple[int, int], tuple[int, list[int], list[int]]] = {}
        # Per rank and chunk: the last node that wrote it, and that touched it; -1 if none.
        self.written = np.full((ranks, whole), -1, dtype=np.int32)
        self.touched = self.written.copy()

    def prepared(self, transfers: list[Transfer]) -> list[Transfer]:
        """Return the transfers as messages; each message leaves from one region."""
        return transfers

    def finish(self) -> None:
        """Add the nodes after all transfers."""

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
        """Return the sends of the previous stage to the same rank, and record this send."""
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
            attr=attributes(about),
        )
        self.nodes[rank].append(node)
        return node


class ExchangeNodes(ShardNodes):
    """The nodes of an all-to-all: forwarded blocks wait in staging areas of their own."""

    def __init__(self, ranks: int, whole: int, size_bytes: int) -> None:
        super().__init__(ranks, 0, size_bytes)
        self.chunks, self.of_rank = whole // ranks, whole
        self.block = size_bytes // ranks
        # By rank and chunk: its offset in staging, and the node that received it.
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


class _Arrived(NamedTuple):
    """A received contribution: its bytes of the data, its chunks, its staging area, its node."""

    data: tuple[str, int, int]
    span: slice
    staged: tuple[str, int, int]
    node: int


class FoldNodes(ShardNodes):
    """The nodes of an allreduce in one pass: contributions are staged, passed on, then added up.

    Chunk c of what rank r contributes is number r * C + c of a transfer, where the data has C.
    """

    def __init__(self, ranks: int, whole: int, size_bytes: int) -> None:
        super().__init__(ranks, whole, size_bytes)
        # By rank: received contributions by first chunk, and the sends of its own data.
        self.arrived: list[dict[int, _Arrived]] = [{} for _ in range(ranks)]
        self.sent: list[list[tuple[slice, int]]] = [[] for _ in range(ranks)]

    def prepared(self, transfers: list[Transfer]) -> list[Transfer]:
        """Return the transfers, cut so that every rank forwards each received message whole.

        All transfers of a contribution are cut wherever one of them begins or ends.
        """
        return list(_cut(transfers, self.whole))

    def add(self, transfer: Transfer, tag: int) -> None:
        """Add the nodes at both ends of a transfer."""
        source, target = transfer.source, transfer.target
        owner, part = divmod(transfer.chunk, self.whole)
        first = part * self.size_bytes // self.whole
        size = (part + transfer.length) * self.size_bytes // self.whole - first
        about = _about(transfer, tag, size)
        data, span = ("data", first, size), slice(part, part + transfer.length)
        taken, before = data, list[int]()
        if source != owner:
            held = self.arrived[source][transfer.chunk]
            taken, before = held.staged, [held.node]
        sent = self._node(source, SEND, f"send to {target}", before, about)
        sent.inputs.values = _regions(taken)
        sent.ctrl_deps.extend(self._earlier(transfer, sent.id))
        if source == owner:
            self.sent[source].append((span, sent.id))
        staged = ("staging", self.staged[target], size)
        self.staged[target] += size
        got = self._node(target, RECEIVE, f"receive from {source}", [], about)
        got.outputs.values = _regions(staged)
        self.arrived[target][transfer.chunk] = _Arrived(data, span, staged, got.id)

    def finish(self) -> None:
        """Add each rank's received contributions to its own data, after the data has been sent."""
        for rank, arrived in enumerate(self.arrived):
            for chunk in sorted(arrived):
                one = arrived[chunk]
                before = _known(self.written[rank, one.span])
                before += [sent for span, sent in self.sent[rank] if _overlap(span, one.span)]
                about = {"is_cpu_op": False}
                last = self._node(rank, COMPUTE, "add", [*before, one.node], about)
                last.inputs.values = _regions(one.data, one.staged)
                last.outputs.values = _regions(one.data)
                self.written[rank, one.span] = last.id


def _overlap(one: slice, other: slice) -> bool:
    return one.start < other.stop and other.start < one.stop


def _cut(transfers: Iterable[Transfer], whole: int) -> Iterator[Transfer]:
    """Yield the transfers, cut wherever another transfer of the same contribution begins or ends.

    >>> wide, narrow = (Transfer(0, 0, 1, 0, 3, False, True), Transfer(1, 1, 2, 1, 2, False, True))
    >>> [(one.target, one.chunk, one.length) for one in _cut([wide, narrow], 3)]
    [(1, 0, 1), (1, 1, 2), (2, 1, 2)]
    """
    held = list(transfers)
    cuts: dict[int, set[int]] = defaultdict(set)
    for one in held:
        cuts[one.chunk // whole] |= {one.chunk, one.chunk + one.length}
    ordered = {owner: sorted(own) for owner, own in cuts.items()}
    for one in held:
        own = ordered[one.chunk // whole]
        low, high = bisect_left(own, one.chunk), bisect_left(own, one.chunk + one.length)
        for first, past in pairwise(own[low : high + 1]):
            yield one._replace(chunk=first, length=past - first)


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


def attributes(values: dict[str, Any]) -> list[Any]:
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
