"""Requests for schedules, optima, simulations and exports."""

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    field_validator,
    model_validator,
)

from topoloom.app.requests.base import Bytes, Gap, NotNegative, Positive, Request
from topoloom.app.requests.field_errors import PlacedError
from topoloom.app.requests.group_traffic import (
    GroupSizes,
    HostLists,
    NodeName,
    Traffic,
    require_absent,
    require_with_groups,
)
from topoloom.app.requests.options import cluster, collectives, exports, simulations
from topoloom.app.requests.options.collectives import AlgorithmName, AnyCollectiveName
from topoloom.app.requests.topology_source import TopologySource

if TYPE_CHECKING:
    from topoloom.schedules.options import Options
    from topoloom.schedules.simulate import Network
    from topoloom.synth.topology.assumptions import Assumption
    from topoloom.synth.topology.topology import NodeId, Topology


class ExportRequest(Request):
    """Options of an export format."""

    dialect: str | None = exports.DIALECT.field(max_length=40)
    runtime: str | None = exports.RUNTIME.field(max_length=40)
    inplace: StrictBool | None = exports.INPLACE.field()
    instances: StrictInt | None = exports.INSTANCES.field()
    ranks_per_node: StrictInt | None = exports.RANKS_PER_NODE.field()
    min_bytes: Bytes | None = exports.MIN_BYTES.field()
    max_bytes: Bytes | None = exports.MAX_EXPORT_BYTES.field()
    scratch_budget: Bytes | None = exports.SCRATCH_BUDGET.field()
    channels: StrictInt | None = exports.TUNER_CHANNELS.field()
    bytes: Bytes | None = exports.EXPORT_BYTES.field()
    alpha_us: Positive | None = exports.EXPORT_ALPHA_US.field()
    node_gbps: Positive | None = exports.EXPORT_NODE_GBPS.field()


class ShardSize(Request):
    """Relative shard size of one rank."""

    rank: NodeName
    size: Annotated[StrictInt, Field(ge=0, le=10**15)] = Field(description="relative size")


def _shard(value: Any) -> Any:
    """Parse the text ``ID=SIZE``."""
    if not isinstance(value, str):
        return value
    rank, mark, size = value.rpartition("=")
    if not mark or re.fullmatch("[0-9]{1,16}", size, re.ASCII) is None:
        raise ValueError('must be an object with rank and size, or a text "ID=SIZE"')
    return {"rank": rank, "size": int(size)}


class ForestRequest(Request):
    """Options of forestcoll: trees, root, shards, participants."""

    trees_per_root: StrictInt = collectives.TREES_PER_ROOT.field()
    max_gap: Gap = collectives.MAX_GAP.field()
    root: NodeName = collectives.ROOT.field()
    shards: list[Annotated[ShardSize, BeforeValidator(_shard)]] = collectives.SHARDS.field()
    participants: list[NodeName] = collectives.PARTICIPANTS.field()

    @property
    def names_nodes(self) -> bool:
        """Whether the request names nodes of the topology."""
        return any(member is not None for member in (self.root, self.shards, self.participants))

    def options(self, nodes: "Iterable[NodeId]") -> "Options":
        """Return the options of an algorithm, with names replaced by the ids of ``nodes``.

        A text matches an integer id with the same digits; a topology never has both.  Unknown
        names stay unchanged.
        """
        from topoloom.schedules.options import Options

        members, shards, root = self.participants, self.shards, self.root
        ids: dict[str, NodeId] = {str(node): node for node in nodes}
        return Options(
            trees_per_root=self.trees_per_root,
            max_gap=self.max_gap,
            root=None if root is None else ids.get(str(root), root),
            shards=None
            if shards is None
            else {ids.get(str(shard.rank), shard.rank): shard.size for shard in shards},
            participants=None
            if members is None
            else tuple(ids.get(str(name), name) for name in members),
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
    # Ids with the same text are equal, as in topology/1.
    seen: set[str] = set()
    for name in names:
        if str(name) in seen:
            raise ValueError(f"must name each compute node once; {name!r} is repeated")
        seen.add(str(name))


class OptimumRequest(ForestRequest):
    """Collective and options of an optimum."""

    collective: AnyCollectiveName = collectives.OPTIMUM_COLLECTIVE.field()
    values: StrictBool = collectives.VALUES.field()
    groups: GroupSizes | HostLists = collectives.GROUPS.field()
    group: Annotated[str, Field(max_length=100)] = collectives.GROUP.field()
    traffic: Traffic = collectives.TRAFFIC.field()

    @model_validator(mode="after")
    def _group_of_groups(self) -> "OptimumRequest":
        require_with_groups(self, "group", "traffic")
        if self.traffic is not None:
            require_absent(self, "traffic", "group", "collective")
        return self


class ScheduleRequest(ForestRequest):
    """Topology, collective and algorithm of a schedule."""

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
    groups: GroupSizes | HostLists = collectives.GROUPS.field()
    group: Annotated[str, Field(max_length=100)] = collectives.GROUP.field()
    traffic: Traffic = collectives.TRAFFIC.field()
    number: StrictInt = collectives.GROUP_NUMBER.field()

    @model_validator(mode="after")
    def _group_of_groups(self) -> "ScheduleRequest":
        require_with_groups(self, "group", "traffic", "number")
        if self.groups is not None:
            own = {"topology", "collective", "groups", "group", "traffic", "number"}
            for name in sorted(self.model_fields_set - own):
                raise PlacedError(f"/{name}", "must be absent with groups")
        return self

    def options(self, nodes: "Iterable[NodeId]") -> "Options":
        """Return the options of an algorithm, with names replaced by the ids of ``nodes``."""
        limits = {"max_chunks": self.max_chunks, "steps": self.steps, "max_height": self.max_height}
        return replace(super().options(nodes), **limits)


class SimulationRequest(Request):
    """Data size and speed of the fabric."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"bytes": "64MiB"}]}
    )

    bytes: Bytes = simulations.SIMULATED_BYTES.field()
    alpha_us: NotNegative | None = simulations.SIMULATED_ALPHA_US.field()
    node_gbps: Positive = simulations.SIMULATED_NODE_GBPS.field()
    link_gbps: Positive = simulations.LINK_GBPS.field()
    overhead_us: NotNegative = simulations.OVERHEAD_US.field()
    chunk_us: NotNegative | None = cluster.CHUNK_US.field()
    channels: StrictInt = simulations.CHANNELS.field()
    chunks: StrictInt = simulations.CHUNKS.field()
    synchronous: StrictBool = simulations.SYNCHRONOUS.field()

    @model_validator(mode="after")
    def _one_rate(self) -> "SimulationRequest":
        if self.node_gbps is not None and self.link_gbps is not None:
            raise ValueError("must have only one of node_gbps and link_gbps")
        return self

    @property
    def stated_alpha_us(self) -> Fraction | None:
        """The latency of all hops, if given."""
        return None if self.alpha_us is None else Fraction(self.alpha_us)

    def speed_assumptions(self, topology: "Topology") -> "tuple[Assumption, ...]":
        """Return which latencies and rate count where the request states none."""
        from topoloom.synth.topology.hops import speed_assumptions

        known = self.node_gbps is not None or self.link_gbps is not None
        return speed_assumptions(topology, self.stated_alpha_us, rate_stated=known)

    def on(self, topology: "Topology") -> "SimulationRequest":
        """Return the request with the latency of all hops, unless ``topology`` states its own."""
        from topoloom.synth.topology.hops import DEFAULT_ALPHA_US

        if self.alpha_us is not None or topology.latencies:
            return self
        return self.model_copy(update={"alpha_us": Decimal(int(DEFAULT_ALPHA_US))})

    def network(self, topology: "Topology") -> "Network":
        """Return the speed of the fabric for a schedule on ``topology``."""
        from topoloom.schedules.simulate import Network
        from topoloom.synth.topology.hops import hop_seconds
        from topoloom.synth.topology.rates import unit_bytes_per_second

        if self.link_gbps is not None:
            rate = Fraction(self.link_gbps) * 10**9 / 8
        else:
            node = self.node_gbps
            rate = unit_bytes_per_second(topology, None if node is None else Fraction(node))
        return Network(
            hop_seconds(topology, self.stated_alpha_us),
            rate,
            Fraction(self.overhead_us) / 10**6,
            self.channels,
            Fraction(self.chunk_us or 0) / 10**6,
        )
