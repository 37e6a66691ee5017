"""Read a training job from a model file: layers, microbatches and parallelism as JSON.

The file has a list ``layers`` and the members of `schedules.iterations.training_job.TrainingJob`;
a layer has the members of `Layer`, and ``count`` for equal layers in a row.  ``parallel`` maps
dimensions to sizes.
"""

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from itertools import repeat
from typing import Any

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import DIMENSIONS
from topoloom.schedules.iterations.communications import Traffic
from topoloom.schedules.iterations.training_job import (
    GroupTraffic,
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
    enum_of,
    processes_of,
)
from topoloom.synth.naming.suggestions import one_of

MAX_LAYERS = 10_000
_MAX = 10**18
_FRACTIONS = ("forward_flops", "forward_seconds", "backward_seconds", "weight_share")
_LISTS = ("expert_bytes", "expert_backward_bytes")
_TRAFFIC = ("forward_traffic", "backward_traffic", "gradient_traffic")
_DIMENSIONS = tuple(name for name in DIMENSIONS if name != "pipeline")
_COLLECTIVES = tuple(one for one in Traffic if not one.startswith("send"))
_TEXTS = ("name",)
_WHOLE = (
    *("microbatches", "samples", "width", "element_bytes", "gradient_bytes", "chunks"),
    *("bucket_bytes", "prefetch"),
)
LAYER_MEMBERS = (*(one.name for one in fields(Layer)), "count")
JOB_MEMBERS = ("name", "layers", "parallel", *_WHOLE, "sharding", "order", "overlap", "source")


def read_model(
    document: Any, ranks: int, parallel: str | None = None, place: str = ""
) -> TrainingJob:
    """Return the job of a model file.

    Args:
        document: The parsed JSON.
        ranks: Accelerators of the job; ``data`` takes those that the other sizes leave.
        parallel: Sizes such as ``tensor=8,pipeline=4``, instead of those of the file.
        place: JSON pointer of the document in a request.

    Raises:
        NoSchedule: A member is unknown or breaks a rule, or the job breaks a rule.

    >>> layers = [{"count": 2, "parameters": 10, "forward_seconds": "1/2"}]
    >>> job = read_model({"layers": layers, "parallel": {"pipeline": 2}}, 8)
    >>> len(job.layers), str(job.processes)
    (2, 'pipeline=2,data=4')
    >>> read_model({"layers": [{"parameter": 10}]}, 8)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    topoloom.schedules.errors.NoSchedule: /layers/0/parameter: must be one of name, parameters, ...
    """
    members = _object(document, place, JOB_MEMBERS)
    listed = members.get("layers")
    if not isinstance(listed, list) or not listed:
        raise NoSchedule(f"{place}/layers", "must be a list of at least one layer")
    layers: list[Layer] = []
    for number, one in enumerate(listed):
        layer, count = _layer(one, f"{place}/layers/{number}", f"layer {number}")
        if len(layers) + count > MAX_LAYERS:
            raise NoSchedule(f"{place}/layers", f"must be at most {MAX_LAYERS} layers")
        layers += repeat(layer, count)
    given = parallel
    if given is None:
        given = _sizes(members.get("parallel", {"data": ranks}), place)
    values: dict[str, Any] = {
        name: _whole(members[name], f"{place}/{name}") for name in _WHOLE if name in members
    }
    if "overlap" in members:
        if not isinstance(members["overlap"], bool):
            raise NoSchedule(f"{place}/overlap", "must be true or false")
        values["overlap"] = members["overlap"]
    for name, kind in (("sharding", Sharding), ("order", PipelineOrder)):
        if name in members:
            values[name] = enum_of(kind, members[name], f"{place}/{name}")
    for name in ("name", "source"):
        values[name] = _text(members.get(name, ""), f"{place}/{name}")
    values["name"] = values["name"] or "model"
    return TrainingJob(layers=tuple(layers), processes=processes_of(given, ranks), **values)


def _layer(value: Any, place: str, name: str) -> tuple[Layer, int]:
    members = _object(value, place, LAYER_MEMBERS)
    read: dict[str, Any] = {"name": name}
    for key, one in members.items():
        where = f"{place}/{key}"
        if key in _TEXTS:
            read[key] = _text(one, where)
        elif key in _FRACTIONS:
            read[key] = _fraction(one, where)
            if key == "weight_share" and read[key] > 1:
                raise NoSchedule(where, "must be at most 1")
        elif key in _LISTS:
            if not isinstance(one, list) or len(one) > 8:
                raise NoSchedule(where, "must be a list of at most 8 sizes in bytes")
            read[key] = tuple(_whole(part, f"{where}/{at}") for at, part in enumerate(one))
        elif key in _TRAFFIC:
            if not isinstance(one, list) or len(one) > 8:
                raise NoSchedule(where, "must be a list of at most 8 collectives")
            read[key] = tuple(_traffic(part, f"{where}/{at}") for at, part in enumerate(one))
        elif key != "count":
            read[key] = _whole(one, where, least=1 if key == "tensor_runs" else 0)
    return Layer(**read), _whole(members.get("count", 1), f"{place}/count", 1, MAX_LAYERS)


def _traffic(value: Any, place: str) -> GroupTraffic:
    """Return a collective of the groups over dimensions such as ``expert+data``."""
    members = _object(value, place, ("group", "collective", "bytes"))
    dimensions = tuple(_text(members.get("group"), f"{place}/group").split("+"))
    for name in dimensions:
        if name not in _DIMENSIONS:
            raise NoSchedule(f"{place}/group", one_of(name, _DIMENSIONS))
    if (text := members.get("collective")) not in _COLLECTIVES:
        raise NoSchedule(f"{place}/collective", one_of(text, _COLLECTIVES))
    size = _whole(members.get("bytes"), f"{place}/bytes")
    return GroupTraffic(dimensions, Traffic(text), size)


def _object(value: Any, place: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise NoSchedule(place, "must be an object")
    for name in value:
        if name not in known:
            raise NoSchedule(f"{place}/{name}", one_of(name, known))
    return value


def _sizes(value: Any, place: str) -> dict[str, int]:
    if not isinstance(value, dict) or not value:
        raise NoSchedule(f"{place}/parallel", "must be an object from dimension to size")
    return {str(name): _whole(one, f"{place}/parallel/{name}", 1) for name, one in value.items()}


def _whole(value: Any, place: str, least: int = 0, most: int = _MAX) -> int:
    if type(value) is not int or not least <= value <= most:
        raise NoSchedule(place, f"must be an integer from {least} to {most}")
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str) or len(value) > 1000:
        raise NoSchedule(place, "must be a text of at most 1000 characters")
    return value


def _fraction(value: Any, place: str) -> Fraction:
    """Return a number as written: 0.1 is one tenth."""
    try:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float | str)
            or (isinstance(value, str) and len(value) > 40)
        ):
            raise ValueError
        found = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, ZeroDivisionError):
        raise NoSchedule(place, 'must be a number, or a text such as "1/100"') from None
    if not 0 <= found <= _MAX * 1000:
        raise NoSchedule(place, f"must be from 0 to {_MAX * 1000}")
    return found
