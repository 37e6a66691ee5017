"""Protobuf messages from a table of their fields, without generated code."""

from collections.abc import Callable, Mapping
from typing import Any

_MARK = "*"


def message_classes(
    package: str, syntax: str, messages: Mapping[str, str], enums: Mapping[str, tuple[str, ...]]
) -> Callable[[str], Any]:
    r"""Return the function from the name of a message to its class.

    Args:
        package: Name of the package.
        syntax: ``proto2`` or ``proto3``.
        messages: Message -> its fields ``name:type``, in the order of their numbers.  A number
            between them is that of the next field, ``*`` after a type makes a list of it, and
            fields after ``oneof`` exclude each other.  A type is a scalar such as ``int32``, or the
            name of a message or enumeration.
        enums: Enumeration -> its values from 0, as ``Message.Name`` where it is part of a message.

    >>> point = message_classes("test", "proto3", {"Point": "x:int32 3 tags:string*"}, {})("Point")
    >>> point(x=1, tags=["a"]).SerializeToString()
    b'\x08\x01\x1a\x01a'
    """
    # Imported here: reading most formats needs no protobuf.
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name=f"topoloom/{package}.proto", package=package, syntax=syntax
    )
    made = {name: file.message_type.add(name=name) for name in messages}
    for path, values in enums.items():
        owner, _, name = path.rpartition(".")
        enum = (made[owner] if owner else file).enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    field_type = descriptor_pb2.FieldDescriptorProto
    for owner, fields in messages.items():
        number, exclusive = 1, {}
        for word in fields.split():
            if word == "oneof":
                made[owner].oneof_decl.add(name="value")
                exclusive = {"oneof_index": 0}
                continue
            if word.isdigit():
                number = int(word)
                continue
            name, kind = word.split(":")
            plain = kind.removesuffix(_MARK)
            label = field_type.LABEL_OPTIONAL if plain == kind else field_type.LABEL_REPEATED
            field = made[owner].field.add(name=name, number=number, label=label, **exclusive)
            number += 1
            if plain in messages:
                field.type, field.type_name = field_type.TYPE_MESSAGE, f".{package}.{plain}"
            elif plain in enums or f"{owner}.{plain}" in enums:
                path = plain if plain in enums else f"{owner}.{plain}"
                field.type, field.type_name = field_type.TYPE_ENUM, f".{package}.{path}"
            else:
                field.type = field_type.Type.Value(f"TYPE_{plain.upper()}")
    # A pool of its own: a program may also have loaded the generated code.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"{package}.{name}")
    )
