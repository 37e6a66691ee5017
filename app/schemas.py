"""What people may ask, and in which units: the request shapes of REST and CLI alike.

The wire speaks Gbit/s, microseconds and sizes with suffixes; `workload` turns them
into bytes/s and seconds, exactly.
"""

import re
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

from app.measured_times import MeasuredRow, fitted
from app.options import cluster, collectives, exporting, pages, patching, replaying
from app.options.cluster import JudgeName, LinkKind
from app.options.collectives import AlgorithmName, AnyCollectiveName, CollectiveName
from app.options.patching import PanelKind, PlaceKind, WayName
from app.quantities import Bytes, Gap, NotNegative, Positive
from app.request_base import Request, optional
from app.topology_source import TopologySource

__all__ = [
    "AnyCollectiveName",
    "DesignRequest",
    "ExportRequest",
    "ForestRequest",
    "FrontierRequest",
    "NeighbourRequest",
    "ObservationRequest",
    "OptimumRequest",
    "PageRequest",
    "PassName",
    "PatchPlanRequest",
    "RepairsRequest",
    "ScheduleRequest",
    "SeenPairRequest",
    "ShardSize",
    "SimulationRequest",
    "SurveyRequest",
    "TimedRequest",
    "TopologySource",
]

PassName = Literal["allgather", "reduce-scatter", "allreduce"]
NodeName = Annotated[StrictInt | StrictStr, Field(description="id of a compute node")]


PlantValues = Annotated[dict[str, Any], Field(title="Plant")]
PresentValues = Annotated[dict[str, Any], Field(title="Present")]


class FrontierRequest(Request):
    """Which hosts there are."""

    nodes: StrictInt = cluster.NODES.field()
    degree: StrictInt = cluster.DEGREE.field()
    links: LinkKind = cluster.LINKS.field()
    parallel_links: StrictBool = cluster.PARALLEL_LINKS.field()
    vertex_transitive: StrictBool = cluster.VERTEX_TRANSITIVE.field()
    families: list[str] | None = cluster.FAMILIES.field()
    bases: list[str] | None = cluster.BASES.field()
    max_steps: StrictInt | None = cluster.MAX_STEPS.field()
    schedule: JudgeName = cluster.SCHEDULE.field()
    all_to_all: StrictBool | None = cluster.ALL_TO_ALL.field()

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

    @field_validator("bases")
    @classmethod
    def _recipes(cls, bases: list[str] | None) -> list[str] | None:
        if bases is None:
            return None
        from synth.errors import SynthError
        from synth.recipe import parse

        try:
            # Blanks and the order do not matter either.
            return sorted({str(parse(base)) for base in bases})
        except SynthError as refused:
            raise ValueError(f"must be recipes: {refused}") from None


class TimedRequest(FrontierRequest):
    """Which hosts there are, and how fast their links are."""

    node_gbps: Positive = cluster.NODE_GBPS.field()
    alpha_us: Positive = cluster.ALPHA_US.field()

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

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        """Read ``COLLECTIVE:BYTES:COUNT``, as queries have it, as the object it stands for."""
        if not isinstance(value, str):
            return value
        collective, *rest = value.split(":")
        count = rest.pop() if len(rest) == 2 else "1"
        if len(rest) != 1 or re.fullmatch("[0-9]{1,7}", count, re.ASCII) is None:
            raise ValueError("must be a text such as allreduce:25MiB or allreduce:25MiB:40")
        return {"collective": collective, "bytes": rest[0], "count": int(count)}


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

    collective: CollectiveName = cluster.COLLECTIVE.field()
    bytes: Bytes = cluster.DESIGN_BYTES.field()
    workload: list[TaskRequest] = cluster.WORKLOAD.field()
    preset: str = cluster.PRESET.field(min_length=1, max_length=100)
    panels: PanelKind = patching.DESIGN_PANELS.field()
    plant: list[PlantValues] | PlantValues = patching.DESIGN_PLANT.field()
    present: list[PresentValues] | PresentValues = patching.DESIGN_PRESENT.field()
    place: PlaceKind = patching.DESIGN_PLACE.field()
    spares: StrictBool = patching.DESIGN_SPARES.field()
    max_moves: StrictInt = patching.MAX_MOVES.field()

    @property
    def rewired(self) -> bool:
        """Whether today's wiring is weighed."""
        return any(one is not None for one in (self.panels, self.plant, self.present))

    @field_validator("spares")
    @classmethod
    def _used(cls, used: bool | None) -> bool | None:
        # Not asked for and left out are one question.
        return used or None

    @model_validator(mode="after")
    def _of_today(self) -> "DesignRequest":
        if self.panels is not None and self.plant is not None:
            raise ValueError("must have only one of panels and plant")
        said = (self.place, self.spares, self.max_moves)
        if not self.rewired and any(one is not None for one in said):
            raise ValueError(
                "must say what is plugged today, by present, plant or panels, where max_moves, "
                "place or spares is given"
            )
        return self

    overhead_us: NotNegative | None = cluster.MESSAGE_US.field()
    chunk_us: NotNegative | None = cluster.CHUNK_US.field()
    measured: list[MeasuredRow] | None = cluster.MEASURED.field()

    @model_validator(mode="after")
    def _fitted(self) -> "DesignRequest":
        """Put what is fitted to a table in its place: equal costs are one question."""
        if self.measured is None:
            return self
        said = (self.node_gbps, self.alpha_us, self.overhead_us, self.chunk_us)
        # The command line always says the defaults.
        if said != (cluster.NODE_GBPS.default, cluster.ALPHA_US.default, None, None):
            raise ValueError(
                "must have no node_gbps, alpha_us, overhead_us or chunk_us beside measured"
            )
        for name, value in fitted(self.measured, self.degree).items():
            object.__setattr__(self, name, value)
        return self

    @property
    def overhead_seconds(self) -> Fraction:
        """What each message takes beside its bytes."""
        return Fraction(self.overhead_us or 0) / 10**6

    @property
    def chunk_seconds(self) -> Fraction:
        """What each chunk takes beside its bytes."""
        return Fraction(self.chunk_us or 0) / 10**6

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
    panels: PanelKind = patching.PANELS.field()
    hosts: StrictInt = patching.HOSTS.field()
    lanes: StrictInt = patching.LANES.field()
    plant: list[Any] | dict[str, Any] = patching.PLANT.field()
    spares: StrictBool = patching.SPARES.field()
    place: PlaceKind = patching.PLACE.field()
    max_links_down: StrictInt = patching.MAX_LINKS_DOWN.field()
    stay_connected: StrictBool = patching.STAY_CONNECTED.field()
    make_first: StrictBool = patching.MAKE_FIRST.field()
    present: list[Any] | dict[str, Any] = patching.PRESENT.field()

    @model_validator(mode="after")
    def _one_plant(self) -> "PatchPlanRequest":
        # The command line always says a layout, if only the default.
        regular = (self.panels, self.hosts, self.lanes) != (patching.PANELS.default, None, None)
        if self.plant is not None and regular:
            raise ValueError("must have no panels, hosts or lanes beside a plant")
        return self


class RepairsRequest(Request):
    """What is dead of a plan that was carried out."""

    hosts: list[str] = patching.DEAD_HOSTS.field()
    host_ports: list[str] = patching.DEAD_HOST_PORTS.field()
    ports: list[str] = patching.DEAD_PORTS.field()
    pairs: list[str] = patching.DEAD_PAIRS.field()
    way: WayName = patching.WAY.field()


class SurveyRequest(Request):
    """Which failures of a plan that was carried out are looked at, and how many are told."""

    at_once: StrictInt = patching.AT_ONCE.field()
    worst: StrictInt = patching.WORST.field()


class SeenPairRequest(Request):
    """A pair that is plugged."""

    a: StrictInt | StrictStr = Field(description="port on the A side, such as 3A")
    b: StrictInt | StrictStr = Field(description="port on the B side")
    light: StrictBool = Field(default=True, description="whether light goes through it")

    def on(self, panel: str) -> dict[str, Any]:
        """Return it as a row of what is plugged."""
        return {"panel": panel, "a": self.a, "b": self.b}


class NeighbourRequest(Request):
    """What a port of a host hears, as by LLDP."""

    host: str = Field(description="the host that hears", max_length=200)
    port: str = Field(description="its port", max_length=200)
    peer: str = optional("the host that it hears; left out, nothing is heard", max_length=200)
    peer_port: str = optional("the port that it hears", max_length=200)

    @property
    def heard(self) -> tuple[str, str] | None:
        """The host and the port that are heard; None for nothing."""
        return None if self.peer is None else (self.peer, self.peer_port or "")


class ObservationRequest(Request):
    """What was seen of the panels of a plan."""

    panels: dict[str, list[SeenPairRequest]] = optional("by panel: all that is plugged there")
    neighbours: list[NeighbourRequest] = optional(
        "or beside them: what ports of hosts hear; of other ports what was known stays",
        max_length=100_000,
    )
    stage: StrictInt = optional(
        "stages of the plan that were carried out there; left out, the nearest are found", ge=0
    )


class PageRequest(Request):
    """Which page of a list."""

    limit: StrictInt = pages.LIMIT.field()
    cursor: str = pages.CURSOR.field(max_length=200)
