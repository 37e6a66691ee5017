"""What may be asked of topologies and schedules that are at hand: costs, optima, checks, times."""

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
from topoloom.app.requests.options import cluster, collectives, simulations
from topoloom.app.requests.options.collectives import AnyCollectiveName
from topoloom.app.requests.options.exports import DialectName
from topoloom.app.requests.schedules import NodeName, OptimumRequest, SimulationRequest
from topoloom.app.requests.topology_source import TopologySource

MAX_BATCH = 100
"""Designs of one batch."""

TextFormat: TypeAlias = Literal["msccl-xml", "mscclpp-json", "nccl-tuner-csv"]
MAX_TRACES = 16_384


def _trace(value: Any) -> Any:
    """Return the bytes that a text in base64 stands for."""
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise ValueError("must be a text in base64") from None


Trace: TypeAlias = Annotated[
    bytes,
    BeforeValidator(_trace),
    PlainSerializer(lambda data: base64.b64encode(data).decode(), when_used="json"),
    Field(json_schema_extra={"type": "string", "format": "byte"}),
]


class CostRequest(Request):
    """Which topology is measured."""

    topology: TopologySource


class TopologyOptimumRequest(OptimumRequest):
    """On which topology the optimum of which collective is wanted."""

    topology: TopologySource

    def question(self) -> OptimumRequest:
        """Return what is asked, apart from the topology."""
        said = self.model_fields_set & set(OptimumRequest.model_fields)
        given: dict[str, Any] = {name: getattr(self, name) for name in said}
        return OptimumRequest.model_construct(_fields_set=said, **given)


_WAYS = ("schedule", "schedule_id", "text", "traces")
_SHAPE: dict[str, Any] = {
    "oneOf": [{"required": [way]} for way in _WAYS],
    "dependentRequired": {"text": ["format"], "format": ["text"]}
    | {"dialect": ["text"], "runtime": ["text"]}
    | {way: ["topology"] for way in ("schedule", "text", "traces")},
}


class GivenSchedule(Request):
    """A schedule, said in exactly one of four ways, and the topology that it runs on."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_SHAPE)

    topology: TopologySource = optional(
        "what it runs on, as in topologies; default: the topology of the stored schedule"
    )
    schedule: dict[str, Any] = optional("a schedule/1 document")
    schedule_id: IdPrefix = optional("id of a stored schedule, or the first 6 or more of it")
    text: str = optional("an MSCCL XML, MSCCL++ JSON or NCCL tuner file")
    format: TextFormat = optional("which of them it is")
    dialect: DialectName = optional(
        "msccl-xml: which dialect; default: the first of msccl, azure and rccl that takes the text"
    )
    runtime: Annotated[str, Field(max_length=40)] = optional(
        "msccl-xml, mscclpp-json: by the limits of which run-time it is read"
    )
    traces: Annotated[list[Trace], Field(min_length=1, max_length=MAX_TRACES)] = optional(
        "Chakra traces, one for each rank in the order of ranks, in base64"
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        given = [way for way in _WAYS if getattr(self, way) is not None]
        if len(given) != 1:
            raise ValueError(f"must say the schedule by exactly one of {', '.join(_WAYS)}")
        if self.topology is None and self.schedule_id is None:
            raise ValueError("must say the topology that the schedule runs on")
        if (self.format is None) == (self.text is not None):
            raise ValueError("must say the format of a text, and of nothing else")
        if self.dialect is not None and self.format != "msccl-xml":
            raise ValueError("dialect must be left out: for msccl-xml only")
        if self.runtime is not None and self.format not in ("msccl-xml", "mscclpp-json"):
            raise ValueError("runtime must be left out: for msccl-xml and mscclpp-json only")
        return self


class VerifyRequest(GivenSchedule):
    """Which schedule is checked against which topology."""


class TimedScheduleRequest(GivenSchedule, SimulationRequest):
    """Which schedule is simulated, with how much data, on how fast a fabric."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_SHAPE)

    def simulation(self) -> SimulationRequest:
        """Return what is asked of the simulation, apart from the schedule."""
        names = SimulationRequest.model_fields
        given = {name: getattr(self, name) for name in names}
        return SimulationRequest.model_construct(**given)


_COMPARED = ("designs", "schedules", "topology")
Ids: TypeAlias = Annotated[list[IdPrefix], Field(min_length=2, max_length=20)]


class ComparisonRequest(Request):
    """Which stored designs, or schedules, or ways to run a collective are put side by side."""

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

    designs: Ids = optional("ids of 2 to 20 stored designs, or the first 6 or more of each")
    schedules: Ids = optional("instead: ids of 2 to 20 stored schedules")
    topology: TopologySource = optional(
        "instead: where all ways to run a collective are compared, for every size"
    )
    collective: AnyCollectiveName = collectives.COMPARED_COLLECTIVE.field()
    root: NodeName = collectives.ROOT.field()
    bytes: Bytes = simulations.COMPARED_BYTES.field()
    alpha_us: Positive = simulations.COMPARED_ALPHA_US.field()
    node_gbps: Positive = simulations.SIMULATED_NODE_GBPS.field()
    overhead_us: NotNegative | None = cluster.MESSAGE_US.field()
    chunk_us: NotNegative | None = cluster.CHUNK_US.field()

    @model_validator(mode="after")
    def _one_way(self) -> "ComparisonRequest":
        if sum(getattr(self, way) is not None for way in _COMPARED) != 1:
            raise ValueError("must have designs, schedules or a topology, one of them")
        if (self.topology is None) != (self.collective is None):
            raise ValueError("must have a collective where it has a topology, and only there")
        if self.root is not None and self.topology is None:
            raise ValueError("must have a root only where it has a topology")
        said = (self.bytes, self.alpha_us, self.node_gbps, self.overhead_us, self.chunk_us)
        if self.designs is not None and any(one is not None for one in said):
            raise ValueError(
                "must have bytes, alpha_us, node_gbps, overhead_us and chunk_us only for schedules"
                " or a topology"
            )
        return self


class LoadPlotRequest(Request):
    """Of which stored schedule the load of links is drawn."""

    schedule_id: IdPrefix = Field(description="id of a stored schedule, or the first 6 or more")


class SurveyPlotRequest(Request):
    """Which stored survey is drawn."""

    sweep_id: IdPrefix = Field(
        description="id of a stored sweep over faults, or the first 6 or more"
    )


class TreePlotRequest(LoadPlotRequest):
    """Of which stored schedule the way of which shard is drawn."""

    root: Annotated[str, Field(max_length=1000)] = Field(
        description="id of the rank whose shard is followed"
    )
    tree: Annotated[StrictInt, Field(ge=1, le=10**6)] = Field(
        1, description="which tree of the root, heaviest first"
    )
    part: Annotated[StrictInt, Field(ge=1, le=2)] = optional(
        "which part of an allreduce; default: the last"
    )


class BatchRequest(Request):
    """Several designs, each answered by itself."""

    designs: Annotated[
        list[Any],
        Field(
            min_length=1,
            max_length=MAX_BATCH,
            json_schema_extra={"items": {"$ref": "#/components/schemas/DesignRequest"}},
        ),
    ] = Field(description=f"1 to {MAX_BATCH} requests of POST /v1/designs")
