"""Read the traces of a job from files: Chakra traces, or kernels that PyTorch's profiler saw.

The content of a file shows its kind: Chakra's messages as protobuf or JSON, a profile of PyTorch,
or the ranks of process groups.  Files may be gzipped.
"""

import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.formats.job_traces.chakra_json import (
    FORMS,
    groups_of,
    is_group_file,
    read_chakra_json,
    read_chakra_messages,
)
from topoloom.schedules.formats.job_traces.chakra_nodes import read_chakra
from topoloom.schedules.formats.job_traces.job_model import job_model
from topoloom.schedules.formats.job_traces.kernel_trace import read_kernel_trace
from topoloom.schedules.formats.job_traces.nodes import MAX_NODES, RankTrace, fault

MAX_FILES = 16_384
MAX_BYTES = 2**30
"""Most bytes of all files, unpacked."""
SUFFIXES = (".et", ".json", ".et.gz", ".json.gz")
"""Ends of the names of traces in a folder."""

Content: TypeAlias = bytes | str | Mapping[str, Any]
"""A file: its bytes, which may be gzipped, its text, or its parsed JSON."""

_CHAKRA, _KERNELS = "Chakra traces", "traces of PyTorch's profiler"


class _Document(NamedTuple):
    """The content of a file: bytes of protobuf, a text of JSON objects, or one parsed object."""

    binary: bytes | None = None
    text: str = ""
    parsed: Any = None


def is_trace(document: Any) -> bool:
    """Return whether parsed JSON is a trace rather than a model file.

    >>> is_trace({"traceEvents": []}), is_trace({"layers": []})
    (True, False)
    """
    return isinstance(document, dict) and any(one in document for one in ("traceEvents", *FORMS))


def trace_model(files: Mapping[str, Content], place: str, name: str = "trace") -> dict[str, Any]:
    """Return the document of a model file for the traces in files.

    Args:
        files: Content by name: bytes, text, or parsed JSON.
        place: JSON pointer of the files in a request.
        name: Name of the job.

    Raises:
        NoSchedule: Names the file and the node that breaks a rule.
        TooLarge: The files exceed a limit.
    """
    try:
        return _model(files) | {"name": name}
    except (NoSchedule, TooLarge) as error:
        raise type(error)(place, error.rule) from None


def _model(files: Mapping[str, Content]) -> dict[str, Any]:
    if not isinstance(files, Mapping):
        raise NoSchedule("", "must be files by their names")
    if not 1 <= len(files) <= MAX_FILES:
        raise TooLarge("", f"must be 1 to {MAX_FILES} files, not {len(files)}")
    left, found = MAX_BYTES, dict[str, _Document]()
    for name, content in files.items():
        found[name], size = _document(content, name, left)
        left -= size
    groups: dict[str, tuple[int, ...]] = {}
    for name in [name for name, one in found.items() if is_group_file(one.parsed)]:
        groups |= groups_of(found.pop(name).parsed, name)
    if not found:
        raise NoSchedule("", f"must have a trace, a file that ends in {' or '.join(SUFFIXES[:2])}")
    profiles = {name for name, one in found.items() if "traceEvents" in (one.parsed or ())}
    if 0 < len(profiles) < len(found):
        other = min(found.keys() - profiles)
        raise fault(other, None, f"must be a profile of PyTorch, as {min(profiles)[:200]} is")
    traces, nodes = list[RankTrace](), 0
    for name, one in found.items():
        traces.append(_trace(one, name, groups, len(found) > 1))
        nodes += len(traces[-1].nodes)
        if nodes > MAX_NODES:
            rule = f"must have at most {MAX_NODES} nodes in all; one rank of each stage is enough"
            raise TooLarge("", rule)
    return job_model(traces, _KERNELS if profiles else _CHAKRA)


def _trace(
    one: _Document, name: str, groups: Mapping[str, tuple[int, ...]], several: bool
) -> RankTrace:
    if one.binary is not None:
        return read_chakra(one.binary, name, groups, several)
    if one.text:
        return read_chakra_messages(one.text, name, groups, several)
    if "traceEvents" in one.parsed:
        return read_kernel_trace(one.parsed, name, several)
    if any(form in one.parsed for form in FORMS):
        return read_chakra_json(one.parsed, name, groups, several)
    raise fault(name, None, f"must have {', '.join(FORMS)} or traceEvents")


def _document(content: Content, name: str, left: int) -> tuple[_Document, int]:
    """Return the content of a file, and its bytes."""
    if isinstance(content, Mapping):
        return _Document(parsed=dict(content)), 0
    if not isinstance(content, bytes | str):
        raise fault(name, None, "must be bytes, a text or a JSON object")
    data = content.encode() if isinstance(content, str) else _unpacked(content, name, left)
    if len(data) > left:
        raise TooLarge("", f"must have at most {MAX_BYTES} bytes in all, unpacked")
    if data.lstrip()[:1] != b"{":
        return _Document(binary=data), len(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        # A length of 123 bytes begins protobuf like JSON.
        return _Document(binary=data), len(data)
    try:
        return _Document(parsed=json.loads(text)), len(data)
    except RecursionError:
        raise fault(name, None, "must not be nested so deeply") from None
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise fault(name, None, f"must be JSON: {error}") from None
        return _Document(text=text), len(data)


def _unpacked(data: bytes, name: str, left: int) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    unpacker = zlib.decompressobj(wbits=31)
    try:
        found = unpacker.decompress(data, left + 1)
    except zlib.error:
        raise fault(name, None, "must be a whole gzip file") from None
    if len(found) <= left and not unpacker.eof:
        raise fault(name, None, "must be a whole gzip file")
    return found
