"""What people ask of schedules: of which collective, for whom, written how, how fast."""

import re
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

from app.options import cluster, collectives, exporting, replaying
from app.options.collectives import AlgorithmName, AnyCollectiveName
from app.quantities import Bytes, Gap, NotNegative, Positive
from app.request_base import Request
from app.topology_source import TopologySource

__all__ = [
    "ExportRequest",
    "ForestRequest",
    "NodeName",
    "OptimumRequest",
    "PassName",
    "ScheduleRequest",
    "ShardSize",
    "SimulationRequest",
]

PassName = Literal["allgather", "reduce-scatter", "allreduce"]
NodeName = Annotated[StrictInt | StrictStr, Field(description="id of a compute node")]


class ExportRequest(Request):
    """What may be said about the format that a schedule is written in."""

    dialect: str | None = exporting.DIALECT.field(max_length=40)
    runtime: str | None = exporting.RUNTIME.field(max_length=40)
    inplace: StrictBool | None = exporting.INPLACE.field()
    instances: StrictInt | None = exporting.INSTANCES.field()
    ranks_per_node: StrictInt | None = exporting.RANKS_PER_NODE.field()
    min_bytes: Bytes | None = exporting.MIN_BYTES.field()
    max_bytes: Bytes | None = exporting.MAX_EXPORT_BYTES.field()
    scratch_budget: Bytes | None = exporting.SCRATCH_BUDGET.field()
    channels: StrictInt | None = exporting.TUNER_CHANNELS.field()
    bytes: Bytes | None = exporting.EXPORT_BYTES.field()
    alpha_us: Positive | None = exporting.EXPORT_ALPHA_US.field()
    node_gbps: Positive | None = exporting.EXPORT_NODE_GBPS.field()


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

    trees_per_root: StrictInt = collectives.TREES_PER_ROOT.field()
    max_gap: Gap = collectives.MAX_GAP.field()
    root: NodeName = collectives.ROOT.field()
    shards: list[Annotated[ShardSize, BeforeValidator(_shard)]] = collectives.SHARDS.field()
    participants: list[NodeName] = collectives.PARTICIPANTS.field()

    @property
    def names_nodes(self) -> bool:
        """Whether some node is named, whose id the topology knows."""
        return any(given is not None for given in (self.root, self.shards, self.participants))

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

    collective: AnyCollectiveName = collectives.OPTIMUM_COLLECTIVE.field()
    values: StrictBool = collectives.VALUES.field()


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
    collective: AnyCollectiveName = collectives.RUN_COLLECTIVE.field()
    algorithm: AlgorithmName = collectives.ALGORITHM.field()
    max_height: StrictInt = collectives.MAX_HEIGHT.field()
    max_chunks: StrictInt = collectives.MAX_CHUNKS.field()
    steps: StrictInt = collectives.STEPS.field()


class SimulationRequest(Request):
    """How much data a schedule moves, and how fast the fabric is."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"bytes": "64MiB"}]}
    )

    bytes: Bytes = replaying.SIMULATED_BYTES.field()
    alpha_us: NotNegative = replaying.SIMULATED_ALPHA_US.field()
    node_gbps: Positive = replaying.SIMULATED_NODE_GBPS.field()
    link_gbps: Positive = replaying.LINK_GBPS.field()
    overhead_us: NotNegative = replaying.OVERHEAD_US.field()
    chunk_us: NotNegative | None = cluster.CHUNK_US.field()
    channels: StrictInt = replaying.CHANNELS.field()
    chunks: StrictInt = replaying.CHUNKS.field()
    synchronous: StrictBool = replaying.SYNCHRONOUS.field()

    @model_validator(mode="after")
    def _one_rate(self) -> "SimulationRequest":
        if self.node_gbps is not None and self.link_gbps is not None:
            raise ValueError("must have only one of node_gbps and link_gbps")
        return self
