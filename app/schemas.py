"""What people may ask, and in which units: the request shapes of REST and CLI alike.

The wire speaks Gbit/s, microseconds and sizes with suffixes; `workload` turns them
into bytes/s and seconds, exactly.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from app.quantities import Bytes, Gap, NotNegative, Positive
from app.request_base import Request, optional
from app.topology_source import TopologySource

__all__ = [
    "MAX_GAP",
    "AnyCollectiveName",
    "DesignRequest",
    "ExportRequest",
    "ForestRequest",
    "FrontierRequest",
    "OptimumRequest",
    "PassName",
    "PatchPlanRequest",
    "ScheduleRequest",
    "ShardSize",
    "SimulationRequest",
    "TimedRequest",
    "TopologySource",
]

Nodes = Annotated[StrictInt, Field(ge=2, le=10**6, description="number of hosts")]
Degree = Annotated[StrictInt, Field(ge=1, le=10**4, description="ports of each host")]
LinkKind = Literal["unidirectional", "bidirectional"]
CollectiveName = Literal["allgather", "reduce-scatter", "allreduce", "all-to-all"]
PassName = Literal["allgather", "reduce-scatter", "allreduce"]
AnyCollectiveName = Literal[
    "allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all"
]
AlgorithmName = Literal["bfb", "forestcoll", "lifted", "mcf", "shortest-paths"]
NodeName = Annotated[StrictInt | StrictStr, Field(description="id of a compute node")]


MAX_GAP = (
    "forestcoll only, instead of trees_per_root: the fewest trees per root that take at most "
    "1 + max_gap times as long as the optimum"
)


class FrontierRequest(Request):
    """Which hosts there are."""

    nodes: Nodes
    degree: Degree
    links: LinkKind = Field(
        "unidirectional",
        description="unidirectional: a port is one fibre in and one out, which may lead to "
        "different hosts; bidirectional: both lead to the same host",
    )
    parallel_links: StrictBool = Field(
        False, description="allow several links from one host to the same other host"
    )
    vertex_transitive: StrictBool = Field(
        False, description="only topologies that are known to look the same from every host"
    )
    families: Annotated[list[str], Field(min_length=1, max_length=100)] | None = optional(
        "only topologies made of these families of bases; by default of all"
    )
    max_steps: Annotated[StrictInt, Field(ge=1, le=10**6)] | None = optional(
        "only topologies of at most so many steps, and so on their transposes"
    )
    all_to_all: StrictBool | None = optional(
        "measure all-to-all on every point, too, exactly or between bounds"
    )

    @field_validator("all_to_all")
    @classmethod
    def _asked(cls, asked: bool | None) -> bool | None:
        # Not asked for and left out are one question.
        return asked or None

    @field_validator("families")
    @classmethod
    def _sorted(cls, families: list[str] | None) -> list[str] | None:
        # The order does not matter: equal questions have equal ids.
        return None if families is None else sorted(set(families))


class TimedRequest(FrontierRequest):
    """Which hosts there are, and how fast their links are."""

    node_gbps: Positive = Field(
        Decimal(100), description="what one host sends at most, all ports together, Gbit/s"
    )
    alpha_us: Positive = Field(Decimal(10), description="latency of one hop, microseconds")

    @property
    def bytes_per_second(self) -> Fraction:
        """B, the bandwidth of one host."""
        return Fraction(self.node_gbps) * 10**9 / 8

    @property
    def alpha_seconds(self) -> Fraction:
        """The latency of one hop."""
        return Fraction(self.alpha_us) / 10**6


class TaskRequest(Request):
    """One collective of a workload, so many times."""

    collective: CollectiveName = Field(description="what is run")
    bytes: Bytes = Field(description="on how many bytes")
    count: Annotated[StrictInt, Field(ge=1, le=10**6)] = Field(1, description="how often")


_WAYS = (("collective", "bytes"), ("workload",), ("preset",))


class DesignRequest(TimedRequest):
    """Which hosts there are, and what they run, said in exactly one of three ways."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": list(way)} for way in _WAYS],
            "examples": [
                {"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"},
                {"nodes": 12, "degree": 4, "preset": "gpt2-xl-ddp"},
            ],
        },
    )

    collective: CollectiveName = optional("what is run, on how many bytes")
    bytes: Bytes = optional(
        "allgather: size of the result; reduce-scatter, allreduce: of the input; all-to-all: of "
        "what a host has for all hosts together"
    )
    workload: Annotated[list[TaskRequest], Field(min_length=1, max_length=1000)] = optional(
        "instead: several collectives, each with its size and how often it is run"
    )
    preset: Annotated[str, Field(min_length=1, max_length=100)] = optional(
        "instead: one training step of a known model, see the list of presets"
    )

    @model_validator(mode="after")
    def _one_way(self) -> "DesignRequest":
        given = {name for way in _WAYS for name in way if getattr(self, name) is not None}
        if given not in map(set, _WAYS):
            raise ValueError(
                "must say what is run in exactly one way: by collective and bytes, by workload "
                "or by preset"
            )
        return self


class ExportRequest(Request):
    """What may be said about the format that a schedule is written in."""

    dialect: str | None = optional("dialect of MSCCL XML")
    inplace: StrictBool | None = optional("for calls in place")
    ranks_per_node: Annotated[StrictInt, Field(ge=1, le=10**6)] | None = optional(
        "ranks of one machine"
    )
    bytes: Bytes | None = optional("size of the data")
    alpha_us: Positive | None = optional("latency of one hop, microseconds")
    node_gbps: Positive | None = optional("bandwidth of one host, Gbit/s")


class ShardSize(Request):
    """How much data one rank brings, relative to the others."""

    rank: NodeName
    size: Annotated[StrictInt, Field(ge=0, le=10**15)] = Field(description="relative to the others")


def _shard(value: Any) -> Any:
    """Read ``ID=SIZE`` as the object it stands for."""
    if not isinstance(value, str):
        return value
    rank, mark, size = value.rpartition("=")
    if not mark or re.fullmatch("[0-9]{1,16}", size, re.ASCII) is None:
        raise ValueError('must be an object with rank and size, or a text "ID=SIZE"')
    return {"rank": rank, "size": int(size)}


class ForestRequest(Request):
    """What only forestcoll can be asked for: how many trees, of whose data, for whom."""

    trees_per_root: Annotated[StrictInt, Field(ge=1, le=10**6)] = optional(
        "forestcoll only: trees per root, or per unit of size of a shard; left out, the least "
        "number that is optimal"
    )
    max_gap: Gap = optional(MAX_GAP)
    root: NodeName = optional("of a broadcast or reduce: where the data begins or ends")
    shards: Annotated[
        list[Annotated[ShardSize, BeforeValidator(_shard)]], Field(min_length=1, max_length=10**5)
    ] = optional(
        "forestcoll only: relative sizes of the shards, 0 for those left out; by default all equal"
    )
    participants: Annotated[list[NodeName], Field(min_length=2, max_length=10**5)] = optional(
        "forestcoll only: the compute nodes that take part, the others only forward; by default all"
    )

    @field_validator("shards")
    @classmethod
    def _sizes_sorted(cls, shards: list[ShardSize] | None) -> list[ShardSize] | None:
        if shards is None:
            return None
        _require_once([shard.rank for shard in shards])
        return sorted(shards, key=lambda shard: str(shard.rank))

    @field_validator("participants")
    @classmethod
    def _members_sorted(cls, members: list[int | str] | None) -> list[int | str] | None:
        if members is None:
            return None
        _require_once(members)
        return sorted(members, key=str)


def _require_once(names: list[int | str]) -> None:
    # Ids are told apart by their texts, as in topology/1.
    seen: set[str] = set()
    for name in names:
        if str(name) in seen:
            raise ValueError(f"must name each compute node once; {name!r} is repeated")
        seen.add(str(name))


class OptimumRequest(ForestRequest):
    """Of which collective the optimum is wanted, and of how many trees."""

    collective: AnyCollectiveName = Field(
        default="allgather",
        description="the optimum depends on where data starts and where it goes",
    )


class ScheduleRequest(ForestRequest):
    """What to run on which topology."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}]
        },
    )

    topology: TopologySource
    collective: AnyCollectiveName
    algorithm: AlgorithmName = optional(
        "bfb: fewest steps, for hosts joined by equal links; forestcoll: highest throughput, "
        "for any fabric, and all that is not allgather, reduce-scatter or allreduce among all "
        "hosts; lifted: from the bases of a recipe, at the cost its theorems state; for "
        "all-to-all mcf: multi-commodity flow, or shortest-paths: fewest hops; left out, bfb "
        "where it applies, mcf for all-to-all"
    )
    max_chunks: Annotated[StrictInt, Field(ge=1, le=2**16)] = optional(
        "bfb only: cut each shard into at most so many chunks, at the least loss of bandwidth; "
        "left out, as many as lose none"
    )


class SimulationRequest(Request):
    """How much data a schedule moves, and how fast the fabric is."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"bytes": "64MiB"}]}
    )

    bytes: Bytes = Field(
        description="allgather: size of the result; else of the input of every rank"
    )
    alpha_us: NotNegative = Field(Decimal(10), description="latency of one hop, microseconds")
    node_gbps: Positive = optional(
        "what one host sends at most, all ports together, Gbit/s; left out, the topology's "
        "own unit, and 100 where that counts links"
    )
    link_gbps: Positive = optional("instead: what one unit of capacity carries, Gbit/s")
    overhead_us: NotNegative = Field(
        Decimal(0), description="how long a message keeps its link busy beside its bytes"
    )
    channels: Annotated[StrictInt, Field(ge=1, le=10**4)] = optional(
        "how many links a host sends on at a time; left out, on all"
    )
    chunks: Annotated[StrictInt, Field(ge=1, le=2**20)] = optional(
        "into how many pieces each message is cut; left out, 1 for steps, and for trees what "
        "is best in lock step"
    )
    synchronous: StrictBool = Field(
        False, description="all hosts wait for the slowest message of each step or round"
    )

    @model_validator(mode="after")
    def _one_rate(self) -> "SimulationRequest":
        if self.node_gbps is not None and self.link_gbps is not None:
            raise ValueError("must have only one of node_gbps and link_gbps")
        return self


class PatchPlanRequest(Request):
    """Which topology to plug, on which panels, starting from which wiring."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"topology": {"recipe": "BiRing(5)"}, "panels": "per-port"}]
        },
    )

    topology: TopologySource
    panels: Literal["per-port", "single"] = Field(
        "per-port", description="one panel for each port of the hosts, or one for all"
    )
    hosts: Annotated[StrictInt, Field(ge=1, le=10**6)] = optional(
        "hosts cabled to the panels; left out, the nodes of the topology"
    )
    lanes: Annotated[StrictInt, Field(ge=1, le=10**4)] = optional(
        "ports cabled of each host; left out, the degree of the topology"
    )
    present: list[Any] | dict[str, Any] = optional(
        'what is plugged today: pairs {"panel", "a", "b"}, or a patch-plan/1 document, '
        "whose final wiring is meant; left out, nothing"
    )
