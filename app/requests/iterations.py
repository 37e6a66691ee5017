"""Requests for training iterations."""

import base64
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    WithJsonSchema,
    model_validator,
)

from topoloom.app.requests.base import Positive, Request, Share, optional
from topoloom.app.requests.options import cluster, iterations
from topoloom.app.requests.options.cluster import LinkKind
from topoloom.app.requests.topology_source import MAX_GRAPHS, GraphName, GraphSource

Text = Annotated[str, Field(min_length=1, max_length=4096)]


def model_of_traces(value: Any) -> Any:
    """Return the model file of traces; return other values as they are."""
    if not isinstance(value, dict) or "traces" not in value:
        return value
    from topoloom.schedules.errors import NoSchedule, TooLarge
    from topoloom.schedules.formats.job_traces.trace_files import trace_model

    if unknown := sorted(value.keys() - {"name", "traces"}):
        raise ValueError(f"must have no {unknown[0]!r:.50} beside traces")
    files, name = value["traces"], value.get("name", "trace")
    if not isinstance(files, dict) or not isinstance(name, str) or not 1 <= len(name) <= 100:
        raise ValueError("must have traces as an object from name to file, and a short name")
    try:
        return trace_model({one: _file(one, held) for one, held in files.items()}, "", name)
    except (NoSchedule, TooLarge) as error:
        raise ValueError(error.rule) from None


def _file(name: str, held: Any) -> Any:
    """Return the file of a trace: parsed JSON, or the bytes of a text in base64."""
    if isinstance(held, dict | bytes):
        return held
    try:
        found = base64.b64decode(held, validate=True)
    except (TypeError, ValueError):
        raise ValueError(f"{name[:200]}: must be base64 text or a JSON object") from None
    if found[:2] == b"\x1f\x8b":
        # A small body could unpack to a gigabyte.
        raise ValueError(f"{name[:200]}: must not be gzipped")
    return found


def _model(value: Any) -> Any:
    """Return the model file of a text in AICB's format, or of traces."""
    if not isinstance(value, str):
        return model_of_traces(value)
    from topoloom.schedules.errors import NoSchedule
    from topoloom.schedules.formats.aicb_workload import aicb_model

    try:
        return aicb_model(value)
    except NoSchedule as error:
        raise ValueError(error.rule) from None


_FILE = {"type": "object", "title": "Model"}
Model = Annotated[
    dict[str, Any],
    BeforeValidator(_model),
    WithJsonSchema({"anyOf": [_FILE, {"type": "string", "maxLength": 200_000}]}),
]
"""A model file or traces as an object, or an AICB workload file as text."""


class IterationRequest(Request):
    """A job, given as a preset or as a model, and the hosts that it runs on."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": ["preset"]}, {"required": ["model"]}],
            "examples": [{"preset": "mixtral-8x7b", "nodes": 8, "degree": 4}],
        },
    )

    preset: Annotated[str, Field(min_length=1, max_length=100)] = optional(
        "job of a public model: llama3-405b, deepseek-v3, mixtral-8x7b, dlrm-dcnv2 or vit-22b"
    )
    model: Model = optional(
        "instead of a preset: a model file, the text of an AICB workload, or traces"
    )
    nodes: StrictInt = cluster.NODES.field()
    degree: StrictInt = cluster.DEGREE.field()
    links: LinkKind = cluster.LINKS.field()
    parallel: Text = iterations.PARALLEL.field()
    topology: Text = iterations.TOPOLOGY.field()
    graphs: Annotated[dict[GraphName, GraphSource], Field(min_length=1, max_length=MAX_GRAPHS)] = (
        optional(f"topologies of the names after @ in the topology, at most {MAX_GRAPHS}")
    )
    accelerator: Annotated[str, Field(min_length=1, max_length=100)] = (
        iterations.ACCELERATOR.field()
    )
    efficiency: Share = iterations.EFFICIENCY.field()
    accelerators_per_host: StrictInt = iterations.ACCELERATORS_PER_HOST.field()
    inside_gbps: Positive = iterations.INSIDE_GBPS.field()
    node_gbps: Positive = iterations.ITERATION_NODE_GBPS.field()
    alpha_us: Positive = iterations.ITERATION_ALPHA_US.field()
    microbatches: StrictInt = iterations.MICROBATCHES.field()

    @model_validator(mode="after")
    def _one_job(self) -> Self:
        if (self.preset is None) == (self.model is None):
            raise ValueError("must have exactly one of preset and model")
        return self

    @property
    def job(self) -> str:
        """The name of the preset or of the model.

        >>> IterationRequest(model={"layers": []}, nodes=2, degree=1).job
        'the model'
        """
        return self.preset or str(self.model.get("name") or "the model")
