"""Read the operations of a traced job from a model file: an entry for each, as JSON.

An entry has a ``name``, the ``stage`` that runs it, a ``stream``, and the indices of the entries
``after`` which it starts.  A computation has ``seconds`` or ``flops``; ``host`` marks one of the
host's processor.  A communication has a ``collective`` with ``bytes``: among the ``group``, or to
another stage (``send-next``, ``send-previous``, ``send-mirror``).  Without a stream, entries run on
``compute``, ``host``, or the stream of their group or send; one without work on none.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.formats.model_values import (
    COLLECTIVES,
    dimensions_of,
    exact_number,
    object_of,
    text_of,
    whole_number,
)
from topoloom.schedules.iterations.communications import Traffic
from topoloom.schedules.iterations.training_job import GroupTraffic, TracedOperation
from topoloom.synth.naming.suggestions import one_of

MAX_OPERATIONS = 200_000
MAX_DEPENDENCES = 2_000_000
MAX_STREAMS = 64
"""Most streams of communications in a stage."""
MAX_STAGES = 1024

MEMBERS = (
    *("name", "stage", "stream", "after", "seconds", "flops", "host"),
    *("group", "collective", "bytes", "shard_bytes"),
)
_SENDS = tuple(one for one in Traffic if one.startswith("send"))


def read_operations(value: Any, place: str) -> tuple[TracedOperation, ...]:
    """Return the operations of a list.

    Raises:
        NoSchedule: An entry breaks a rule, or a stage has more than `MAX_STREAMS` streams of
            communications.
        TooLarge: There are more than `MAX_OPERATIONS` entries or `MAX_DEPENDENCES` dependences.

    >>> work = [{"seconds": 0.5}, {"collective": "allreduce", "group": "data", "bytes": 8}]
    >>> [str(one.seconds) for one in read_operations(work, "")]
    ['1/2', 'None']
    >>> read_operations([{"after": [0]}], "/operations")
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /operations/0/after/0: must be the index of an earlier \
operation
    """
    if not isinstance(value, list) or not value:
        raise NoSchedule(place, "must be a list of at least one operation")
    if len(value) > MAX_OPERATIONS:
        raise TooLarge(place, f"must be at most {MAX_OPERATIONS} operations, not {len(value)}")
    found = tuple(_operation(one, index, place) for index, one in enumerate(value))
    if sum(len(one.after) for one in found) > MAX_DEPENDENCES:
        raise TooLarge(place, f"must have at most {MAX_DEPENDENCES} entries of after in all")
    streams = sorted({(one.stage, one.stream) for one in found if one.sent})
    for one, later in pairwise([place for place, _ in streams[::MAX_STREAMS]]):
        if one == later:
            rule = f"must have at most {MAX_STREAMS} streams of communications in stage {one}"
            raise NoSchedule(place, rule)
    return found


def _operation(value: Any, index: int, place: str) -> TracedOperation:
    where = f"{place}/{index}"
    members = object_of(value, where, MEMBERS)
    after = members.get("after", [])
    if not isinstance(after, list):
        raise NoSchedule(f"{where}/after", "must be a list of indices")
    for at, other in enumerate(after):
        if type(other) is not int or not 0 <= other < index:
            raise NoSchedule(f"{where}/after/{at}", "must be the index of an earlier operation")
    host = members.get("host", False)
    if not isinstance(host, bool):
        raise NoSchedule(f"{where}/host", "must be true or false")
    sent, of_shard = _sent(members, where) if "collective" in members else (None, False)
    kinds = ("seconds", "flops", "host") if sent else ("group", "bytes", "shard_bytes")
    for name in kinds:
        if name in members:
            rule = f"must not be given {'with' if sent else 'without'} a collective"
            raise NoSchedule(f"{where}/{name}", rule)
    stream = text_of(members.get("stream", ""), f"{where}/stream") or _default_stream(members)
    times = {
        name: exact_number(members[name], f"{where}/{name}")
        for name in ("seconds", "flops")
        if name in members
    }
    return TracedOperation(
        text_of(members.get("name", f"operation {index}"), f"{where}/name"),
        whole_number(members.get("stage", 0), f"{where}/stage", 0, MAX_STAGES - 1),
        *(stream, tuple(after)),
        **times,
        host=host,
        sent=sent,
        of_shard=of_shard,
    )


def _default_stream(members: Mapping[str, Any]) -> str:
    """Return the stream of an entry that names none; a point in time has no stream."""
    if "collective" in members:
        return str(members.get("group", members["collective"]))
    if "seconds" in members or "flops" in members:
        return "host" if "host" in members else "compute"
    return ""


def _sent(members: Mapping[str, Any], place: str) -> tuple[GroupTraffic, bool]:
    """Return the communication of an entry, and whether its bytes are those of a shard."""
    text = members["collective"]
    if text not in (*COLLECTIVES, *_SENDS):
        raise NoSchedule(f"{place}/collective", one_of(text, (*COLLECTIVES, *_SENDS)))
    traffic = Traffic(text)
    if text in _SENDS:
        if "group" in members:
            raise NoSchedule(f"{place}/group", "must not be given for a send")
        dimensions: tuple[str, ...] = ("pipeline",)
    else:
        dimensions = dimensions_of(members.get("group"), f"{place}/group")
    of_shard = "shard_bytes" in members
    if of_shard and (traffic is not Traffic.ALLGATHER or "bytes" in members):
        raise NoSchedule(f"{place}/shard_bytes", "must be for an allgather, instead of bytes")
    name = "shard_bytes" if of_shard else "bytes"
    size = whole_number(members.get(name), f"{place}/{name}")
    return GroupTraffic(dimensions, traffic, size), of_shard
