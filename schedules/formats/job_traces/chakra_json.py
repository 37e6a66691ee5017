"""Read Chakra traces as JSON, in the three forms that tools write.

STAGE writes an object with ``nodes``; Chakra's feeder reads an object with ``workload_graph``;
Chakra's jsonizer writes the messages of a trace as objects one after another.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError

from topoloom.schedules.formats.chakra.program import COMPUTE, RECEIVE, SEND
from topoloom.schedules.formats.chakra.protobuf_schema import (
    GlobalMetadata,
    write_messages,
)
from topoloom.schedules.formats.chakra.protobuf_schema import Node as Message
from topoloom.schedules.formats.job_traces.chakra_nodes import (
    COLLECTIVE,
    LOAD,
    METADATA,
    STORE,
    Groups,
    RawNode,
    rank_trace,
    ranks_of,
    read_chakra,
)
from topoloom.schedules.formats.job_traces.nodes import MAX_NODES, RankTrace, fault

FORMS: Mapping[str, Mapping[str, str]] = {
    "nodes": {"id": "id", "name": "name", "type": "node_type", "ctrl_deps": "ctrl_deps"},
    "workload_graph": {"id": "Id", "name": "Name", "type": "NodeType", "ctrl_deps": "ctrlDeps"},
}
"""List of an object -> names of members there."""
_TYPES: Mapping[Any, int] = {
    "metadata_node": METADATA,
    "mem_load_node": LOAD,
    "mem_store_node": STORE,
    "comp_node": COMPUTE,
    "comm_send_node": SEND,
    "comm_recv_node": RECEIVE,
    "coll_comm_node": COLLECTIVE,
    "comm_coll_node": COLLECTIVE,
}


def is_group_file(document: Any) -> bool:
    """Return whether a document maps names of process groups to their ranks.

    >>> is_group_file({"1": [0, 1]}), is_group_file({"nodes": [{}]})
    (True, False)
    """
    return (
        isinstance(document, dict)
        and bool(document)
        and all(
            isinstance(one, list) and one and all(type(rank) is int for rank in one)
            for one in document.values()
        )
        and not FORMS.keys() & document.keys()
    )


def groups_of(document: Mapping[str, Any], file: str) -> dict[str, tuple[int, ...]]:
    """Return the process groups of a document."""
    return {name: ranks_of(one, file, None) for name, one in document.items()}


def read_chakra_json(
    document: Mapping[str, Any], file: str, groups: Groups, several: bool = False
) -> RankTrace:
    """Return the trace of a document of one of the `FORMS`; errors as of `read_chakra`."""
    form = next(one for one in FORMS if one in document)
    listed = document[form]
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise fault(file, None, f"{form} must be a list of objects")
    if "schema" in document:
        rule = "must be converted: it is PyTorch's trace of the host, not one of Chakra's graphs"
        raise fault(file, None, rule)
    raw = [_raw(one, FORMS[form], file, at) for at, one in enumerate(listed)]
    return rank_trace(raw, {}, file, groups, several)


def read_chakra_messages(text: str, file: str, groups: Groups, several: bool = False) -> RankTrace:
    """Return the trace of messages that follow each other as JSON objects."""
    made = []
    for at, one in enumerate(_objects(text, file)):
        if at > MAX_NODES:
            raise fault(file, None, f"must have at most {MAX_NODES} nodes")
        try:
            message = ParseDict(
                one, Message() if at else GlobalMetadata(), True, max_recursion_depth=20
            )
        except ParseError as error:
            rule = f"must be a node of Chakra's schema: {str(error)[:200]}"
            raise fault(file, at - 1, rule) from None
        made.append(message)
    return read_chakra(write_messages(made), file, groups, several)


def _objects(text: str, file: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            one, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise fault(file, None, f"must be JSON: character {at}") from None
        yield one
        while at < len(text) and text[at].isspace():
            at += 1


def _raw(one: Mapping[str, Any], names: Mapping[str, str], file: str, at: int) -> RawNode:
    kind = one.get(names["type"])
    kind = _TYPES.get(kind.lower(), kind) if isinstance(kind, str) else kind
    numbers = {"id": one.get(names["id"]), "type": kind, "runtime": one.get("runtime", 0)}
    for name, value in numbers.items():
        if type(value) is not int or not 0 <= value < 2**53:
            raise fault(file, at, f"{name} must be a whole number, not {str(value)[:50]!r}")
    lists = {"data_deps": one.get("data_deps", []), "ctrl_deps": one.get(names["ctrl_deps"], [])}
    for name, value in lists.items():
        if not isinstance(value, list) or not all(type(dep) is int for dep in value):
            raise fault(file, at, f"{name} must be a list of ids")
    return RawNode(
        *(numbers["id"], str(one.get(names["name"], "")), numbers["type"]),
        *(lists["data_deps"], lists["ctrl_deps"], 0, numbers["runtime"], one),
    )
