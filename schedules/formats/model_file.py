"""Read a training job from a model file: layers, microbatches and parallelism as JSON.

The file has a list ``layers`` and the members of `schedules.iterations.training_job.TrainingJob`;
a layer has the members of `Layer`, and ``count`` for equal layers in a row.  ``parallel`` maps
dimensions to sizes.  A traced job has a list ``operations`` instead; see `operation_list`.
"""

from collections.abc import Mapping
from dataclasses import fields
from itertools import repeat
from typing import Any

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.formats.model_values import (
    COLLECTIVES,
    dimensions_of,
    exact_number,
    object_of,
    text_of,
    whole_number,
)
from topoloom.schedules.formats.operation_list import read_operations
from topoloom.schedules.groups.process_groups import ProcessGroups
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
_FRACTIONS = ("forward_flops", "forward_seconds", "backward_seconds", "weight_share")
_LISTS = ("expert_bytes", "expert_backward_bytes")
_TRAFFIC = ("forward_traffic", "backward_traffic", "gradient_traffic")
_TEXTS = ("name",)
_WHOLE = (
    *("microbatches", "samples", "width", "element_bytes", "gradient_bytes", "chunks"),
    *("bucket_bytes", "prefetch"),
)
LAYER_MEMBERS = (*(one.name for one in fields(Layer)), "count")
JOB_MEMBERS = ("name", "layers", "parallel", *_WHOLE, "sharding", "order", "overlap", "source")
TRACED_MEMBERS = ("name", "operations", "parallel", "source", "notes")
MAX_NOTES = 100


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
    if isinstance(document, dict) and "operations" in document:
        return _traced(document, ranks, parallel, place)
    members = object_of(document, place, JOB_MEMBERS)
    listed = members.get("layers")
    if not isinstance(listed, list) or not listed:
        raise NoSchedule(f"{place}/layers", "must be a list of at least one layer")
    layers: list[Layer] = []
    for number, one in enumerate(listed):
        layer, count = _layer(one, f"{place}/layers/{number}", f"layer {number}")
        if len(layers) + count > MAX_LAYERS:
            raise NoSchedule(f"{place}/layers", f"must be at most {MAX_LAYERS} layers")
        layers += repeat(layer, count)
    values: dict[str, Any] = {
        name: whole_number(members[name], f"{place}/{name}") for name in _WHOLE if name in members
    }
    if "overlap" in members:
        if not isinstance(members["overlap"], bool):
            raise NoSchedule(f"{place}/overlap", "must be true or false")
        values["overlap"] = members["overlap"]
    for name, kind in (("sharding", Sharding), ("order", PipelineOrder)):
        if name in members:
            values[name] = enum_of(kind, members[name], f"{place}/{name}")
    for name in ("name", "source"):
        values[name] = text_of(members.get(name, ""), f"{place}/{name}")
    values["name"] = values["name"] or "model"
    processes = _processes(members, ranks, parallel, place)
    return TrainingJob(layers=tuple(layers), processes=processes, **values)


def _traced(document: Any, ranks: int, parallel: str | None, place: str) -> TrainingJob:
    """Return the job of a file with operations instead of layers."""
    members = object_of(document, place, TRACED_MEMBERS)
    notes = members.get("notes", [])
    if not isinstance(notes, list) or len(notes) > MAX_NOTES:
        raise NoSchedule(f"{place}/notes", f"must be a list of at most {MAX_NOTES} texts")
    return TrainingJob(
        text_of(members.get("name", ""), f"{place}/name") or "trace",
        (),
        _processes(members, ranks, parallel, place),
        operations=read_operations(members["operations"], f"{place}/operations"),
        notes=tuple(text_of(one, f"{place}/notes/{at}") for at, one in enumerate(notes)),
        source=text_of(members.get("source", ""), f"{place}/source"),
    )


def _processes(
    members: Mapping[str, Any], ranks: int, parallel: str | None, place: str
) -> ProcessGroups:
    """Return the sizes of a request, else of the file, else all ranks as replicas."""
    if parallel is None:
        return processes_of(_sizes(members.get("parallel", {"data": ranks}), place), ranks)
    return processes_of(parallel, ranks)


def _layer(value: Any, place: str, name: str) -> tuple[Layer, int]:
    members = object_of(value, place, LAYER_MEMBERS)
    read: dict[str, Any] = {"name": name}
    for key, one in members.items():
        where = f"{place}/{key}"
        if key in _TEXTS:
            read[key] = text_of(one, where)
        elif key in _FRACTIONS:
            read[key] = exact_number(one, where)
            if key == "weight_share" and read[key] > 1:
                raise NoSchedule(where, "must be at most 1")
        elif key in _LISTS:
            if not isinstance(one, list) or len(one) > 8:
                raise NoSchedule(where, "must be a list of at most 8 sizes in bytes")
            read[key] = tuple(whole_number(part, f"{where}/{at}") for at, part in enumerate(one))
        elif key in _TRAFFIC:
            if not isinstance(one, list) or len(one) > 8:
                raise NoSchedule(where, "must be a list of at most 8 collectives")
            read[key] = tuple(_traffic(part, f"{where}/{at}") for at, part in enumerate(one))
        elif key != "count":
            read[key] = whole_number(one, where, least=1 if key == "tensor_runs" else 0)
    return Layer(**read), whole_number(members.get("count", 1), f"{place}/count", 1, MAX_LAYERS)


def _traffic(value: Any, place: str) -> GroupTraffic:
    """Return a collective of the groups over dimensions such as ``expert+data``."""
    members = object_of(value, place, ("group", "collective", "bytes"))
    dimensions = dimensions_of(members.get("group"), f"{place}/group")
    if (text := members.get("collective")) not in COLLECTIVES:
        raise NoSchedule(f"{place}/collective", one_of(text, COLLECTIVES))
    size = whole_number(members.get("bytes"), f"{place}/bytes")
    return GroupTraffic(dimensions, Traffic(text), size)


def _sizes(value: Any, place: str) -> dict[str, int]:
    if not isinstance(value, dict) or not value:
        raise NoSchedule(f"{place}/parallel", "must be an object from dimension to size")
    return {
        str(name): whole_number(one, f"{place}/parallel/{name}", 1) for name, one in value.items()
    }
