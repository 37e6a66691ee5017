"""InfraGraph's protobuf messages, without generated code: the text format and the binary one.

Source: InfraGraph 3.1, `infragraph.proto`, message "Infrastructure".
"""

import json
import re
from functools import cache
from typing import Any

from topoloom.synth.formats.protobuf_messages import message_classes
from topoloom.synth.formats.topology_draft import wrong

TEXT = re.compile(r"(?:^|[\s}\"])(?:devices|instances)\s*\{", re.M)
"""A block behind a name: protobuf text has blocks, YAML and JSON have none."""

_SCHEMES = ("unspecified", "one2one", "many2many", "ring")
_EMPTY = ("Device", "Cpu", "Xpu", "Nic", "Memory", "Port", "Switch")
_RATES = ("gigabits_per_second", "gigabytes_per_second", "gigatransfers_per_second")
_ENUMS = {
    "Component.Choice": ("unspecified", "custom", *(kind.lower() for kind in _EMPTY)),
    "LinkPhysicalBandwidth.Choice": ("unspecified", *_RATES),
    "LinkPhysicalLatency.Choice": ("unspecified", "ms", "us", "ns"),
    "InfrastructureEdge.Scheme": _SCHEMES,
    "DeviceEdge.Scheme": _SCHEMES,
}
_MESSAGES = {
    "Infrastructure": "name:string description:string devices:Device* links:Link* "
    "instances:Instance* edges:InfrastructureEdge*",
    "Device": "name:string description:string components:Component* links:Link* edges:DeviceEdge*",
    "ComponentCustom": "type:string",
    **{f"Component{kind}": "" for kind in _EMPTY},
    "Component": "name:string description:string count:int32 choice:Choice 10 "
    "custom:ComponentCustom " + " ".join(f"{kind.lower()}:Component{kind}" for kind in _EMPTY),
    "LinkPhysicalBandwidth": "choice:Choice " + " ".join(f"{rate}:float" for rate in _RATES),
    "LinkPhysicalLatency": "choice:Choice ms:float us:float ns:float",
    "LinkPhysical": "bandwidth:LinkPhysicalBandwidth latency:LinkPhysicalLatency",
    "Link": "name:string description:string physical:LinkPhysical",
    "DeviceEndpoint": "device:string component:string",
    "InfrastructureEndpoint": "instance:string component:string",
    "InfrastructureEdge": "ep1:InfrastructureEndpoint ep2:InfrastructureEndpoint scheme:Scheme "
    "link:string",
    "DeviceEdge": "ep1:DeviceEndpoint ep2:DeviceEndpoint scheme:Scheme link:string",
    "Instance": "name:string description:string device:string count:int32",
}


def to_text(document: str) -> str:
    """Return an infrastructure in JSON as protobuf text.

    >>> print(to_text('{"name": "a", "instances": [{"name": "b", "count": 2}]}'), end="")
    name: "a"
    instances {
      name: "b"
      count: 2
    }
    """
    from google.protobuf import json_format, text_format

    return text_format.MessageToString(json_format.Parse(document, infrastructure()))


def from_text(text: str) -> dict[str, Any]:
    """Return an infrastructure in protobuf text as the members of JSON.

    >>> from_text('name: "a" links { physical { bandwidth { gigabits_per_second: 212.5 } } }')
    {'name': 'a', 'links': [{'physical': {'bandwidth': {'gigabits_per_second': 212.5}}}]}
    """
    from google.protobuf import text_format

    message = infrastructure()
    try:
        text_format.Parse(text, message)
    except text_format.ParseError as error:
        rule = re.sub(r"\A\d+:\d+ : ", "", str(error)).splitlines()[0][:200]
        raise wrong(f"/line/{error.GetLine() or 1}", f"must be protobuf text: {rule}") from None
    return _members(message)


def from_bytes(data: bytes) -> str | None:
    r"""Return a binary infrastructure as JSON, or None if the data is no infrastructure.

    >>> from_bytes(b"\n\x01a") is None, from_bytes(b"*\x03\n\x01b")
    (True, '{"instances": [{"name": "b"}]}')
    """
    from google.protobuf.message import DecodeError
    from google.protobuf.unknown_fields import UnknownFieldSet

    message = infrastructure()
    try:
        message.ParseFromString(data)
    except DecodeError:
        return None
    if not message.instances or len(UnknownFieldSet(message)):
        return None
    return json.dumps(_members(message))


def _members(message: Any) -> dict[str, Any]:
    from google.protobuf import json_format

    return json_format.MessageToDict(message, preserving_proto_field_name=True)


@cache
def _class() -> Any:
    # proto2 keeps fields that are given with their default value, as `optional` of proto3 does.
    return message_classes("infragraph", "proto2", _MESSAGES, _ENUMS)("Infrastructure")


def infrastructure() -> Any:
    """Return an empty message "Infrastructure"."""
    return _class()()
