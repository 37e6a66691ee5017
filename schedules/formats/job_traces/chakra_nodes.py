"""Read a Chakra execution trace of a training job: the nodes of one rank.

Computations have a duration, or ``num_ops``; collectives have ``comm_type``, ``comm_size`` (bytes
that a rank puts in) and ``pg_name`` or ``comm_group``; messages have ``comm_dst`` or ``comm_src``
and ``comm_tag``.

References:
    github.com/mlcommons/chakra: schema/protobuf/et_def.proto, src/converter/pytorch_converter.py.
    github.com/astra-sim/symbolic_tensor_graph: chakra/backends/chakra_00_4_backend.
    github.com/astra-sim/astra-sim: astra-sim/workload/Workload.cc.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.program import COMPUTE, RECEIVE, SEND
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages
from topoloom.schedules.formats.job_traces.nodes import (
    MAX_NODES,
    MAX_RANKS,
    ROOTED,
    Group,
    Kind,
    Node,
    RankTrace,
    collective_named,
    fault,
)
from topoloom.schedules.groups.process_groups import DIMENSIONS
from topoloom.synth.naming.suggestions import one_of

METADATA, LOAD, STORE, COLLECTIVE = 1, 2, 3, 7
COMM_TYPES = (
    *("ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST"),
    *("ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"),
)
Groups = Mapping[str, tuple[int, ...]]
"""Ranks of the process groups by name; no ranks stand for all."""

_MOST = 2**63
_ALL = ("", "0")
"""Names of the group of all ranks, unless the trace defines them."""
_UNREADABLE = (
    *(ValueError, SyntaxError, RecursionError, MemoryError),
    *(TypeError, KeyError, AttributeError),
)
"""Errors of a text that lists no process groups."""
_UNTIMED = "Loads and stores of memory without a duration take no time."


class RawNode(NamedTuple):
    """A node as a file states it; times in microseconds."""

    id: int
    name: str
    type: int
    data_deps: Sequence[int]
    ctrl_deps: Sequence[int]
    start: int
    duration: int
    values: Mapping[str, Any]
    inputs: str = ""


def read_chakra(data: bytes, file: str, groups: Groups, several: bool = False) -> RankTrace:
    """Return the trace in a file of protobuf messages.

    Args:
        data: The file.
        file: Its name; the last number in it is the rank, unless the file states one.
        groups: Process groups of a file beside it.
        several: Whether other ranks have files, too: then the rank must be known.

    Raises:
        NoSchedule: Names the file, the node, and the rule that the node breaks.
    """
    try:
        metadata, messages = read_messages(data)
    except InvalidProgram as error:
        where = error.field.removeprefix("/").replace("/", " ")
        raise fault(file, None, f"{where} {error.rule}".strip()) from None
    raw = [
        RawNode(
            *(one.id, one.name, one.type, one.data_deps, one.ctrl_deps),
            *(one.start_time_micros, one.duration_micros, attributes(one), one.inputs.values),
        )
        for one in messages
    ]
    return rank_trace(raw, attributes(metadata), file, groups, several)


def attributes(message: Any) -> dict[str, Any]:
    """Return the scalar attributes of a message; lists have no value here."""
    found: dict[str, Any] = {}
    for one in message.attr:
        kind = one.WhichOneof("value")
        if kind:
            found[one.name] = getattr(one, kind)
    return found


def rank_trace(
    raw: Sequence[RawNode],
    metadata: Mapping[str, Any],
    file: str,
    groups: Groups,
    several: bool = False,
) -> RankTrace:
    """Return the trace of the nodes of a file; parameters and errors as of `read_chakra`."""
    if not 1 <= len(raw) <= MAX_NODES:
        raise fault(file, None, f"must have 1 to {MAX_NODES} nodes, not {len(raw)}")
    position = {one.id: at for at, one in enumerate(raw)}
    if len(position) < len(raw):
        raise fault(file, None, "the ids of its nodes must differ")
    groups = {**groups, **_own_groups(raw, file)}
    # In a trace of PyTorch's calls, which has rf_id, a control dependence is the caller, whose own
    # place in time data dependences state.
    of_calls = any("rf_id" in one.values for one in raw)
    nodes = _Nodes(file, groups, position, of_calls)
    made = tuple(map(nodes.node, raw))
    return RankTrace(
        *(file, _rank(metadata, file, several), made),
        ranks=1 + max((rank for ranks in groups.values() for rank in ranks), default=-1),
        sizes=str(metadata.get("parallel", ""))[:200],
        notes=tuple(nodes.notes),
    )


def _rank(metadata: Mapping[str, Any], file: str, several: bool) -> int:
    for name in ("rank", "stage"):
        if type(metadata.get(name)) is int:
            return _between(metadata[name], name, 0, MAX_RANKS, file, None)
    numbers = re.findall(r"[0-9]+", file)
    if not numbers and several:
        raise fault(file, None, "its name must have the rank, such as trace.0.et")
    return _between(int(numbers[-1][:20]) if numbers else 0, "rank", 0, MAX_RANKS, file, None)


def _own_groups(raw: Sequence[RawNode], file: str) -> dict[str, tuple[int, ...]]:
    """Return the process groups that metadata of PyTorch's traces define."""
    found: dict[str, tuple[int, ...]] = {}
    for one in raw:
        if one.type == METADATA and "process_group:init" in one.name and one.inputs:
            try:
                values = ast.literal_eval(one.inputs[: 2**24])
                for text in values:
                    for group in json.loads(text):
                        ranks = group.get("ranks", [])
                        found[str(group["pg_name"])] = ranks_of(ranks, file, one.id)
            except _UNREADABLE:
                rule = "must list process groups with pg_name and ranks"
                raise fault(file, one.id, rule) from None
    return found


def ranks_of(value: Any, file: str, node: object) -> tuple[int, ...]:
    """Return the ranks of a process group in rising order."""
    known = isinstance(value, list) and all(type(one) is int for one in value)
    if not known or not all(0 <= one < MAX_RANKS for one in value):
        raise fault(file, node, f"the ranks of a group must be integers from 0 to {MAX_RANKS - 1}")
    if len(set(value)) < len(value):
        raise fault(file, node, "a group must have every rank once")
    return tuple(sorted(value))


def _between(value: Any, name: str, least: int, most: int, file: str, node: object) -> int:
    if type(value) is not int or not least <= value < most:
        raise fault(file, node, f"{name} must be an integer from {least} to {most - 1}")
    return value


class _Nodes:
    """The nodes of a file in the making."""

    def __init__(
        self, file: str, groups: Groups, position: Mapping[int, int], of_calls: bool
    ) -> None:
        self.file, self.groups, self.position = file, groups, position
        self.notes: dict[str, None] = {}
        self.of_calls = of_calls

    def node(self, raw: RawNode) -> Node:
        before = {self._position(raw, one) for one in raw.data_deps}
        if not self.of_calls:
            before |= {self._position(raw, one) for one in raw.ctrl_deps}
        common = raw.name[:1000], tuple(sorted(before)), 1000 * raw.start
        if raw.values.get("is_cpu_op", False) and "comm_size" not in raw.values:
            # The caller of a collective in a trace of PyTorch has the collective's type.
            return self._computed(raw, *common, Kind.HOST)
        if raw.type == COLLECTIVE:
            return self._collective(raw, *common)
        if raw.type in (SEND, RECEIVE):
            return self._message(raw, *common)
        if raw.type in (LOAD, STORE) and not raw.duration:
            self.notes[_UNTIMED] = None
            return Node(common[0], Kind.JOIN, *common[1:])
        if raw.type in (METADATA, LOAD, STORE, COMPUTE):
            return self._computed(raw, *common, Kind.COMPUTE)
        raise fault(self.file, raw.id, f"type must be from 1 to 7, not {raw.type}")

    def _position(self, raw: RawNode, other: int) -> int:
        found = self.position.get(other)
        if found is None:
            raise fault(self.file, raw.id, f"must depend on nodes of the file, not {other}")
        return found

    def _computed(
        self, raw: RawNode, name: str, before: tuple[int, ...], start: int, kind: Kind
    ) -> Node:
        flops = 0 if raw.duration else self._number(raw, "num_ops", 0)
        if not raw.duration and not flops:
            return Node(name, Kind.JOIN, before, start)
        if kind is Kind.HOST:
            stream = f"host {str(raw.values.get('tid', ''))[:80]}".strip()
        else:
            stream = _stream(raw) or ("memory" if raw.type in (LOAD, STORE) else "")
        return Node(name, kind, before, start, 1000 * raw.duration, flops, stream)

    def _collective(self, raw: RawNode, name: str, before: tuple[int, ...], start: int) -> Node:
        kind = raw.values.get("comm_type")
        if type(kind) is int and 0 <= kind < len(COMM_TYPES):
            kind = COMM_TYPES[kind]
        if kind not in COMM_TYPES:
            rule = f"comm_type must be an integer from 0 to {len(COMM_TYPES) - 1}"
            if isinstance(kind, str):
                rule = f"comm_type {one_of(kind[:50], COMM_TYPES)}"
            raise fault(self.file, raw.id, rule)
        name_of, traffic = collective_named(kind, self.file, raw.id)
        if name_of in ("broadcast", "gather", "scatter", "reduce"):
            self.notes[ROOTED] = None
        size = 0 if name_of == "barrier" else self._number(raw, "comm_size")
        return Node(
            *(name, Kind.COLLECTIVE, before, start),
            stream=_stream(raw),
            group=self._group(raw),
            traffic=traffic,
            size=size,
            of_shard=name_of in ("allgather", "gather"),
        )

    def _group(self, raw: RawNode) -> Group:
        name = str(raw.values.get("pg_name", raw.values.get("comm_group", "")))
        if name in self.groups:
            return self.groups[name] or None
        if name in _ALL:
            return None
        if all(part in DIMENSIONS for part in name.split("+")):
            return name
        rule = f"its group {name[:50]!r} must be stated, such as in comm_group.json"
        raise fault(self.file, raw.id, rule)

    def _message(self, raw: RawNode, name: str, before: tuple[int, ...], start: int) -> Node:
        sends = raw.type == SEND
        peer = self._number(raw, "comm_dst" if sends else "comm_src")
        return Node(
            *(name, Kind.SEND if sends else Kind.RECEIVE, before, start),
            stream=_stream(raw),
            size=self._number(raw, "comm_size"),
            peer=_between(peer, "its peer", 0, MAX_RANKS, self.file, raw.id),
            tag=self._number(raw, "comm_tag", 0),
        )

    def _number(self, raw: RawNode, name: str, default: int | None = None) -> int:
        value = raw.values.get(name, default)
        if value is None:
            raise fault(self.file, raw.id, f"must state {name}")
        return _between(value, name, 0, _MOST, self.file, raw.id)


def _stream(raw: RawNode) -> str:
    """Return the stream of the accelerator that a node states; else nothing."""
    return f"stream {str(raw.values['stream'])[:80]}" if "stream" in raw.values else ""
