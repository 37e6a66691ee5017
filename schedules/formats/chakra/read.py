"""Read Chakra traces of a collective: from bytes to nodes that keep the rules of the format.

The reader shares no code with the writer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from topoloom.schedules.errors import InvalidProgram
from topoloom.schedules.formats.chakra.program import (
    BUFFERS,
    COLLECTIVES,
    COMPUTE,
    MAX_BYTES,
    MAX_NODES,
    MAX_RANKS,
    MAX_TAG,
    RECEIVE,
    RESULT,
    SEND,
    VERSION,
    Region,
    Step,
    Trace,
    Traces,
)
from topoloom.schedules.formats.chakra.protobuf_schema import read_messages
from topoloom.schedules.model.schedule import Collective

_KINDS = {SEND: (1, 0), RECEIVE: (0, 1), COMPUTE: (2, 1)}
"""Regions read and written, by type of node."""


def parse(files: Sequence[bytes]) -> Traces:
    """Return the traces in the files of all ranks, in order.

    Raises:
        InvalidProgram: Names the rank, the node's place in its file, and the rule that the node
            breaks.

    >>> parse([b""])
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.InvalidProgram: /ranks/0: must begin with GlobalMetadata
    """
    if not 1 <= len(files) <= MAX_RANKS:
        raise InvalidProgram("/ranks", f"must be 1 to {MAX_RANKS} files")
    traces, common = [], None
    for rank, data in enumerate(files):
        place = f"/ranks/{rank}"
        try:
            metadata, nodes = read_messages(data)
        except InvalidProgram as error:
            raise InvalidProgram(place + error.field, error.rule) from None
        told = _metadata(metadata, place, rank, len(files))
        if common is not None and told != common:
            raise InvalidProgram(place, "must tell the same collective and bytes as rank 0")
        common = told
        traces.append(_trace(nodes, place, rank, len(files), told))
    collective, size_bytes = common or (Collective.ALLGATHER, 0)
    return Traces(collective, size_bytes, tuple(traces))


def _require_no_result(trace: Trace, place: str) -> None:
    if any(region.buffer == RESULT for step in trace.steps for region in step.reads + step.writes):
        raise InvalidProgram(place, f"the buffer {RESULT} is for all-to-all only")


def _metadata(metadata: Any, place: str, rank: int, ranks: int) -> tuple[Collective, int]:
    if metadata.version != VERSION:
        raise InvalidProgram(f"{place}/version", f"must be {VERSION}")
    values = _attributes(metadata, place)
    if (values.get("rank"), values.get("ranks")) != (rank, ranks):
        raise InvalidProgram(f"{place}/attr", f"must say that it is rank {rank} of {ranks}")
    names = {collective.value: collective for collective in COLLECTIVES}
    name = values.get("collective")
    if name not in names:
        raise InvalidProgram(f"{place}/attr/collective", f"must be one of {', '.join(names)}")
    return names[name], _number(values, "bytes", place, 1, MAX_BYTES)


def _trace(
    nodes: list[Any], place: str, rank: int, ranks: int, told: tuple[Collective, int]
) -> Trace:
    if len(nodes) > MAX_NODES:
        raise InvalidProgram(place, f"at most {MAX_NODES} nodes are replayed, not {len(nodes)}")
    position = {node.id: at for at, node in enumerate(nodes)}
    if len(position) < len(nodes):
        raise InvalidProgram(place, "the ids of nodes must differ")
    steps: list[Step] = []
    before: dict[int, set[int]] = {}
    for at, node in enumerate(nodes):
        here = f"{place}/nodes/{at}"
        wanted = {*node.data_deps, *node.ctrl_deps}
        if not wanted <= position.keys():
            raise InvalidProgram(here, "must depend on nodes of its own file")
        before[at] = {position[identity] for identity in wanted}
        steps.append(_step(node, here, rank, ranks, told[1]))
    return sorted_trace(steps, before, place, told[0])


def sorted_trace(
    steps: Sequence[Step], before: Mapping[int, set[int]], place: str, collective: Collective
) -> Trace:
    """Return the steps of a rank, each after the steps that it waits for.

    ``before`` has the positions that each step waits for.

    Raises:
        InvalidProgram: Steps wait for each other, or use the result of another collective.
    """
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        raise InvalidProgram(place, "its nodes must not wait for each other in a circle") from None
    moved = {at: number for number, at in enumerate(order)}
    trace = Trace(
        tuple(
            replace(steps[at], before=tuple(sorted(moved[one] for one in before[at])))
            for at in order
        )
    )
    if collective is not Collective.ALL_TO_ALL:
        _require_no_result(trace, place)
    return trace


def _step(node: Any, place: str, rank: int, ranks: int, size_bytes: int) -> Step:
    if node.type not in _KINDS:
        raise InvalidProgram(f"{place}/type", "must be a send, a receive or a computation")
    counts = _KINDS[node.type]
    reads = regions_of(node.inputs.values, f"{place}/inputs", counts[0], size_bytes)
    writes = regions_of(node.outputs.values, f"{place}/outputs", counts[1], size_bytes)
    if len({region.count for region in reads + writes}) > 1:
        raise InvalidProgram(place, "must read and write as many bytes")
    if node.type == COMPUTE:
        return Step(node.type, (), reads, writes, -1, -1, -1)
    values = _attributes(node, place)
    source = _number(values, "comm_src", place, 0, ranks - 1)
    target = _number(values, "comm_dst", place, 0, ranks - 1)
    own, peer = (source, target) if node.type == SEND else (target, source)
    if own != rank or peer == rank:
        raise InvalidProgram(place, f"must join rank {rank} to another")
    size = _number(values, "comm_size", place, 1, MAX_BYTES)
    if size != (reads + writes)[0].count:
        raise InvalidProgram(f"{place}/comm_size", "must be the bytes that it reads or writes")
    tag = _number(values, "comm_tag", place, 0, MAX_TAG)
    return Step(node.type, (), reads, writes, peer, tag, size)


def _attributes(message: Any, place: str) -> dict[str, Any]:
    values = {}
    for attribute in message.attr:
        if attribute.name in values:
            raise InvalidProgram(f"{place}/attr/{attribute.name}", "must be given once")
        kind = attribute.WhichOneof("value")
        values[attribute.name] = getattr(attribute, kind) if kind else None
    return values


def _number(values: dict[str, Any], key: str, place: str, least: int, most: int) -> int:
    value = values.get(key)
    if type(value) is not int or not least <= value <= most:
        raise InvalidProgram(f"{place}/attr/{key}", f"must be an integer from {least} to {most}")
    return value


def regions_of(text: str, place: str, count: int, size_bytes: int) -> tuple[Region, ...]:
    """Read ``[[buffer, first, bytes], ...]``."""
    try:
        entries = json.loads(text) if text else []
    except (ValueError, RecursionError):
        raise InvalidProgram(place, "must be JSON") from None
    if not isinstance(entries, list) or len(entries) != count:
        raise InvalidProgram(place, f"must name {count} regions")
    made = []
    for entry in entries:
        match entry:
            case [str(buffer), int(first), int(size)] if buffer in BUFFERS and first >= 0 < size:
                made.append(Region(buffer, first, size))
            case _:
                raise InvalidProgram(place, f"must be {' or '.join(BUFFERS)}, first byte, bytes")
        if made[-1].buffer != "staging" and made[-1].end > size_bytes:
            raise InvalidProgram(place, f"must stay within {size_bytes} bytes")
    return tuple(made)
