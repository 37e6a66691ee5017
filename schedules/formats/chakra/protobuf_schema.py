"""Chakra's execution trace schema 0.0.4 as protobuf messages, without generated code.

The schema describes the scalar values of an attribute and all top-level messages of a file.
Everything else is kept as unknown fields.  A file is a sequence of messages, each preceded by its
length as a varint: first `GlobalMetadata`, then one `Node` after another.
"""

from io import BytesIO
from itertools import count
from typing import Any

from google.protobuf.message import DecodeError, Message
from google.protobuf.proto import parse_length_prefixed, serialize_length_prefixed

from topoloom.schedules.errors import InvalidProgram
from topoloom.synth.formats.protobuf_messages import message_classes

_TYPES = (
    *("INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE"),
    *("COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"),
)
_SCALARS = (
    *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
    *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
)
"""Types of attributes: a field each, with an odd number from 3; even numbers are lists."""
_MESSAGES = {
    "AttributeProto": "name:string doc_string:string oneof "
    + " ".join(f"{number} {kind}_val:{kind}" for number, kind in zip(count(3, 2), _SCALARS)),
    "IOInfo": "values:string shapes:string types:string",
    "GlobalMetadata": "version:string attr:AttributeProto*",
    "Node": "id:uint64 name:string type:NodeType ctrl_deps:uint64* data_deps:uint64* "
    "start_time_micros:uint64 duration_micros:uint64 inputs:IOInfo outputs:IOInfo "
    "attr:AttributeProto*",
}
_message = message_classes("ChakraProtoMsg", "proto3", _MESSAGES, {"NodeType": _TYPES})

Attribute = _message("AttributeProto")
GlobalMetadata = _message("GlobalMetadata")
Node = _message("Node")


def write_messages(messages: list[Message]) -> bytes:
    r"""Return a file of these messages.

    >>> write_messages([GlobalMetadata(version="0.0.4")])
    b'\x07\n\x050.0.4'
    """
    file = BytesIO()
    for message in messages:
        serialize_length_prefixed(message, file)
    return file.getvalue()


def read_messages(data: bytes) -> tuple[Any, list[Any]]:
    """Return the metadata and the nodes of a file.

    Raises:
        InvalidProgram: The bytes are not a sequence of these messages.

    >>> metadata, nodes = read_messages(write_messages([GlobalMetadata(version="1"), Node(id=3)]))
    >>> metadata.version, [node.id for node in nodes]
    ('1', [3])
    """
    file, made = BytesIO(data), []
    while file.tell() < len(data):
        start = file.tell()
        kind = Node if made else GlobalMetadata
        try:
            message = parse_length_prefixed(kind, file)
        except (DecodeError, ValueError, OverflowError) as error:
            # A length may have 64 bits, which exceeds the argument of every read.
            raise InvalidProgram(f"/byte/{start}", "must go on with a message") from error
        made.append(message)
    if not made:
        raise InvalidProgram("", "must begin with GlobalMetadata")
    return made[0], made[1:]
