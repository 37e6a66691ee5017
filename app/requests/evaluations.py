"""Requests about given topologies and schedules: costs, optima, verification, times, plots."""

import base64
import binascii
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictInt,
    model_validator,
)

from topoloom.app.requests.base import Bytes, NotNegative, Positive, Request, optional
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.options import cluster, collectives, simulations
from topoloom.app.requests.options.collectives import AnyCollectiveName
from topoloom.app.requests.options.exports import DialectName
from topoloom.app.requests.schedules import NodeName, OptimumRequest, SimulationRequest
from topoloom.app.requests.topology_source import TopologySource

MAX_BATCH = 100
"""Limit of the designs of one batch."""

TextFormat: TypeAlias = Literal["msccl-xml", "mscclpp-json", "goal", "nccl-tuner-csv"]
MAX_TRACES = 16_384


def _trace(value: Any) -> Any:
    """Return the decoded bytes of a base64 text."""
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ValueError("must be base64 text") from None


Trace: TypeAlias = Annotated[
    bytes,
    BeforeValidator(_trace),
    PlainSerializer(lambda data: base64.b64encode(data).decode(), when_used="json"),
    Field(json_schema_extra={"type": "string", "format": "byte"}),
]


class CostRequest(Request):
    """Topology whose cost is measured."""

    topology: TopologySource


class TopologyOptimumRequest(OptimumRequest):
    """Topology and collective of an optimum."""

    topology: TopologySource

    def question(self) -> OptimumRequest:
        """Return the request without the topology."""
        names = self.model_fields_set & set(OptimumRequest.model_fields)
        members: dict[str, Any] = {name: getattr(self, name) for name in names}
        return OptimumRequest.model_construct(_fields_set=names, **members)


_WAYS = ("schedule", "schedule_id", "text", "traces")
_SHAPE: dict[str, Any] = {
    "oneOf": [{"required": [way]} for way in _WAYS],
    "dependentRequired": {"text": ["format"], "format": ["text"]}
    | {"dialect": ["text"], "runtime": ["text"]}
    | {way: ["topology"] for way in ("schedule", "text", "traces")},
}


class GivenSchedule(Request):
    """A schedule, given in exactly one of four ways, and its topology."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_SHAPE)

    topology: TopologySource = optional(
        "topology that the schedule runs on; default: the topology of the stored schedule"
    )
    schedule: dict[str, Any] = optional("a schedule/1 document")
    schedule_id: IdPrefix = optional("id of a stored schedule, or its first 6 or more characters")
    text: str = optional("an MSCCL XML, MSCCL++ JSON, GOAL or NCCL tuner file")
    format: TextFormat = optional("format of the text")
    dialect: DialectName = optional(
        "msccl-xml: dialect; default: the first of msccl, azure and rccl that accepts the text"
    )
    runtime: Annotated[str, Field(max_length=40)] = optional(
        "msccl-xml, mscclpp-json: runtime whose limits apply"
    )
    traces: Annotated[list[Trace], Field(min_length=1, max_length=MAX_TRACES)] = optional(
        "Chakra traces in base64, one per rank, in rank order"
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = [way for way in _WAYS if getattr(self, way) is not None]
        if len(given) != 1:
            raise ValueError(f"must have exactly one of {', '.join(_WAYS)}")
        if self.topology is None and self.schedule_id is None:
            raise ValueError("must have the topology that the schedule runs on")
        if (self.format is None) == (self.text is not None):
            raise ValueError("must have text and format together, or neither")
        if self.dialect is not None and self.format != "msccl-xml":
            raise ValueError("must have dialect with msccl-xml only")
        if self.runtime is not None and self.format not in ("msccl-xml", "mscclpp-json"):
            raise ValueError("must have runtime with msccl-xml or mscclpp-json only")
        return self


class VerifyRequest(GivenSchedule):
    """Schedule to verify, and its topology."""


class TimedScheduleRequest(GivenSchedule, SimulationRequest):
    """Schedule to simulate, data size and speed of the fabric."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_SHAPE)

    def simulation(self) -> SimulationRequest:
        """Return the request without the schedule."""
        members = {name: getattr(self, name) for name in SimulationRequest.model_fields}
        return SimulationRequest.model_construct(**members)


_COMPARED = ("designs", "schedules", "topology")
Ids: TypeAlias = Annotated[list[IdPrefix], Field(min_length=2, max_length=20)]


class ComparisonRequest(Request):
    """Stored designs, stored schedules, or algorithms on a topology to compare."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": [way]} for way in _COMPARED],
            "dependentRequired": {
                "topology": ["collective"],
                "collective": ["topology"],
                "root": ["topology"],
            },
        },
    )

    designs: Ids = optional("2 to 20 ids of stored designs, or their first 6 or more characters")
    schedules: Ids = optional("instead of designs: 2 to 20 ids of stored schedules")
    topology: TopologySource = optional(
        "instead of designs: topology on which all algorithms are compared, for every data size"
    )
    collective: AnyCollectiveName = collectives.COMPARED_COLLECTIVE.field()
    root: NodeName = collectives.ROOT.field()
    bytes: Bytes = simulations.COMPARED_BYTES.field()
    alpha_us: Positive = simulations.COMPARED_ALPHA_US.field()
    node_gbps: Positive = simulations.SIMULATED_NODE_GBPS.field()
    overhead_us: NotNegative | None = cluster.MESSAGE_US.field()
    chunk_us: NotNegative | None = cluster.CHUNK_US.field()

    @model_validator(mode="after")
    def _exactly_one(self) -> "ComparisonRequest":
        if sum(getattr(self, way) is not None for way in _COMPARED) != 1:
            raise ValueError("must have exactly one of designs, schedules and topology")
        if self.topology is not None and self.collective is None:
            raise PlacedError("/collective", "is missing; algorithms need a collective to run")
        if self.collective is not None and self.topology is None:
            raise PlacedError("/topology", "is missing; a collective runs on a topology")
        if self.root is not None and self.topology is None:
            raise ValueError("must have root with a topology only")
        speeds = (self.bytes, self.alpha_us, self.node_gbps, self.overhead_us, self.chunk_us)
        if self.designs is not None and any(member is not None for member in speeds):
            raise ValueError(
                "must have bytes, alpha_us, node_gbps, overhead_us and chunk_us only for schedules"
                " or a topology"
            )
        return self


class LoadPlotRequest(Request):
    """Stored schedule whose link loads are drawn."""

    schedule_id: IdPrefix = Field(
        description="id of a stored schedule, or its first 6 or more characters"
    )


class FaultPlotRequest(Request):
    """Stored fault analysis to draw."""

    sweep_id: IdPrefix = Field(
        description="id of a stored fault analysis, or its first 6 or more characters"
    )


class IterationPlotRequest(Request):
    """Stored sweep of iterations to draw."""

    sweep_id: IdPrefix = Field(
        description="id of a stored sweep of iterations, or its first 6 or more characters"
    )


class TreePlotRequest(LoadPlotRequest):
    """Stored schedule and rank whose tree or shard path is drawn."""

    root: Annotated[str, Field(max_length=1000)] = Field(
        description="id of the rank whose shard is drawn"
    )
    tree: Annotated[StrictInt, Field(ge=1, le=10**6)] = Field(
        1, description="number of the tree of the root, heaviest first"
    )
    part: Annotated[StrictInt, Field(ge=1, le=2)] = optional(
        "number of the part of an allreduce; default: the last"
    )


class BatchRequest(Request):
    """Several designs, each with its own answer."""

    designs: Annotated[
        list[Any],
        Field(
            min_length=1,
            max_length=MAX_BATCH,
            json_schema_extra={"items": {"$ref": "#/components/schemas/DesignRequest"}},
        ),
    ] = Field(description=f"1 to {MAX_BATCH} requests of POST /v1/designs")
