"""Chakra's execution trace schema 0.0.4 as protobuf messages, without generated code.

The schema describes the scalar values of an attribute and all top-level messages of a file.
Everything else is kept as unknown fields.  A file is a sequence of messages, each preceded by its
length as a varint: first `GlobalMetadata`, then one `Node` after another.
"""

from io import BytesIO
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message
from google.protobuf.proto import parse_length_prefixed, serialize_length_prefixed

from topoloom.schedules.errors import InvalidProgram

_Field = descriptor_pb2.FieldDescriptorProto
_VALUES = {
    "double_val": (3, _Field.TYPE_DOUBLE),
    "float_val": (5, _Field.TYPE_FLOAT),
    "int32_val": (7, _Field.TYPE_INT32),
    "int64_val": (9, _Field.TYPE_INT64),
    "uint32_val": (11, _Field.TYPE_UINT32),
    "uint64_val": (13, _Field.TYPE_UINT64),
    "sint32_val": (15, _Field.TYPE_SINT32),
    "sint64_val": (17, _Field.TYPE_SINT64),
    "fixed32_val": (19, _Field.TYPE_FIXED32),
    "fixed64_val": (21, _Field.TYPE_FIXED64),
    "sfixed32_val": (23, _Field.TYPE_SFIXED32),
    "sfixed64_val": (25, _Field.TYPE_SFIXED64),
    "bool_val": (27, _Field.TYPE_BOOL),
    "string_val": (29, _Field.TYPE_STRING),
    "bytes_val": (31, _Field.TYPE_BYTES),
}
_TYPES = (
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
)
_PACKAGE = "ChakraProtoMsg"
_MESSAGES = {
    "IOInfo": {
        "values": (1, _Field.TYPE_STRING),
        "shapes": (2, _Field.TYPE_STRING),
        "types": (3, _Field.TYPE_STRING),
    },
    "GlobalMetadata": {
        "version": (1, _Field.TYPE_STRING),
        "attr": (2, "repeated", "AttributeProto"),
    },
    "Node": {
        "id": (1, _Field.TYPE_UINT64),
        "name": (2, _Field.TYPE_STRING),
        "type": (3, "enum", "NodeType"),
        "ctrl_deps": (4, "repeated", _Field.TYPE_UINT64),
        "data_deps": (5, "repeated", _Field.TYPE_UINT64),
        "start_time_micros": (6, _Field.TYPE_UINT64),
        "duration_micros": (7, _Field.TYPE_UINT64),
        "inputs": (8, "one", "IOInfo"),
        "outputs": (9, "one", "IOInfo"),
        "attr": (10, "repeated", "AttributeProto"),
    },
}


def _described() -> descriptor_pb2.FileDescriptorProto:
    """Return the schema as protoc would describe it."""
    file = descriptor_pb2.FileDescriptorProto(
        name="topoloom/chakra_et_def.proto", package=_PACKAGE, syntax="proto3"
    )
    types = file.enum_type.add(name="NodeType")
    for number, name in enumerate(_TYPES):
        types.value.add(name=name, number=number)
    attribute = file.message_type.add(name="AttributeProto")
    attribute.oneof_decl.add(name="value")
    for number, name in enumerate(("name", "doc_string"), 1):
        attribute.field.add(
            name=name, number=number, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL
        )
    for name, (number, kind) in _VALUES.items():
        attribute.field.add(
            name=name, number=number, type=kind, label=_Field.LABEL_OPTIONAL, oneof_index=0
        )
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for name, spec in fields.items():
            _add_field(described, name, spec)
    return file


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, spec: tuple[Any, ...]) -> None:
    number, *how, kind = spec
    repeated = how == ["repeated"]
    field = message.field.add(
        name=name,
        number=number,
        label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
    )
    if isinstance(kind, str):
        field.type = _Field.TYPE_ENUM if how == ["enum"] else _Field.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"
    else:
        field.type = kind


# A separate pool: a program may also have loaded the generated code.
_pool = descriptor_pool.DescriptorPool()
_pool.Add(_described())


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


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
