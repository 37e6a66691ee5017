"""What people may ask, and in which units: the request shapes of REST and CLI alike.

The wire speaks Gbit/s, microseconds and sizes with suffixes; `workload` turns them
into bytes/s and seconds, exactly.
"""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
    WithJsonSchema,
    field_validator,
    model_validator,
)

__all__ = [
    "DesignRequest",
    "FrontierRequest",
    "PatchPlanRequest",
    "ScheduleRequest",
    "SimulationRequest",
    "TopologySource",
    "parse_bytes",
]

MAX_BYTES = 10**24
_SIZE = re.compile(r"^([1-9][0-9]{0,11}) ?((?:[KMGTkmgt][Ii]?)?[Bb])?$", re.ASCII)
_SUFFIXES = {"B": 1} | {
    f"{letter}{mark}B": base ** (index + 1)
    for mark, base in (("", 1000), ("I", 1024))
    for index, letter in enumerate("KMGT")
}


def parse_bytes(value: Any) -> int:
    """Return a size in bytes; texts may carry a binary or a decimal suffix.

    Suffixes: B; KB, MB, GB, TB (powers of 1000); KiB, MiB, GiB, TiB (powers of
    1024).  Capitals do not matter.

    >>> parse_bytes("1MiB"), parse_bytes("1 KB"), parse_bytes("64"), parse_bytes(7)
    (1048576, 1000, 64, 7)

    Raises
    ------
    ValueError
        It is no size, or not in 1 … 10**24.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError('must be a positive integer or a text such as "1MiB"')
    if isinstance(value, int):
        if not 1 <= value <= MAX_BYTES:
            raise ValueError("must be a positive number of bytes, at most 10**24")
        return value
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ValueError(
            "must be a positive whole number of bytes, with one of the suffixes "
            "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB or none"
        )
    return int(match[1]) * _SUFFIXES[(match[2] or "B").upper()]


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _decimal(value: Any) -> Any:
    """Read 0.1 as the decimal that was written, not as the nearest binary fraction."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return Decimal(repr(value)) if isinstance(value, float) else value


def optional(description: str) -> Any:
    """Return a field that may be left out, but not be null."""
    return Field(default=None, description=description, json_schema_extra=_without_default)


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


Bytes = Annotated[
    int,
    BeforeValidator(parse_bytes),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": MAX_BYTES},
                {"type": "string", "pattern": _SIZE.pattern},
            ]
        }
    ),
]
Positive = Annotated[
    Decimal,
    BeforeValidator(_decimal),
    Field(ge=Decimal("0.000001"), le=10**9, allow_inf_nan=False),
    # No more digits than a JSON number has: what is computed with is what is stored.
    AfterValidator(lambda value: Decimal(repr(float(value)))),
    PlainSerializer(_plain_number),
    WithJsonSchema({"type": "number", "minimum": 1e-6, "maximum": 10**9}),
]
NotNegative = Annotated[
    Decimal,
    BeforeValidator(_decimal),
    Field(ge=0, le=10**9, allow_inf_nan=False),
    AfterValidator(lambda value: Decimal(repr(float(value)))),
    PlainSerializer(_plain_number),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 10**9}),
]
Nodes = Annotated[StrictInt, Field(ge=2, le=10**6, description="number of hosts")]
Degree = Annotated[StrictInt, Field(ge=1, le=10**4, description="ports of each host")]
LinkKind = Literal["unidirectional", "bidirectional"]
CollectiveName = Literal["allgather", "reduce-scatter", "allreduce", "all-to-all"]
AlgorithmName = Literal["bfb", "forestcoll", "mcf"]
Identity = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Request(BaseModel):
    """Base of all requests: unknown fields are refused, nothing is changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def canonical(self) -> dict[str, Any]:
        """Return the request as plain JSON values, defaults filled in."""
        return self.model_dump(mode="json", exclude_none=True)


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


class DesignRequest(FrontierRequest):
    """Which hosts there are, and what they run."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"nodes": 12, "degree": 4, "collective": "allreduce", "bytes": "1MB"}]
        },
    )

    collective: CollectiveName
    bytes: Bytes = Field(
        description="allgather: size of the result; reduce-scatter, allreduce: of the input"
    )
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

    def hosts(self) -> FrontierRequest:
        """Return the part of the question that the search depends on."""
        return FrontierRequest(
            nodes=self.nodes,
            degree=self.degree,
            links=self.links,
            parallel_links=self.parallel_links,
            vertex_transitive=self.vertex_transitive,
            families=self.families,
            max_steps=self.max_steps,
            all_to_all=self.all_to_all,
        )


class TopologySource(Request):
    """A topology, named in exactly one of four ways, or a topology/1 document itself."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "minProperties": 1,
            "maxProperties": 1,
            "examples": [{"recipe": "LineGraph(3, Circulant(16, 3, 4))"}],
        },
    )

    recipe: Annotated[str, Field(min_length=1, max_length=4096)] = optional("recipe text")
    fabric: Annotated[str, Field(min_length=1, max_length=200)] = optional("a known fabric")
    document: dict[str, Any] = optional("a topology/1 document")
    id: Identity = optional("id of a stored topology")

    @model_validator(mode="before")
    @classmethod
    def _document_itself(cls, value: Any) -> Any:
        """Take a topology/1 document for what it is; places in it are under /document."""
        if isinstance(value, dict) and value.get("schema") == "topology/1":
            return {"document": value}
        return value

    @model_validator(mode="after")
    def _exactly_one(self) -> "TopologySource":
        if len(self.model_fields_set) != 1:
            raise ValueError(
                "must name the topology by exactly one of recipe, fabric, document, id"
            )
        return self


class ScheduleRequest(Request):
    """What to run on which topology."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [{"topology": {"recipe": "BiRing(5)"}, "collective": "allgather"}]
        },
    )

    topology: TopologySource
    collective: CollectiveName
    algorithm: AlgorithmName = optional(
        "bfb: fewest steps, for hosts joined by equal links; forestcoll: highest throughput, "
        "for any fabric; mcf: multi-commodity flow, the one for all-to-all; left out, bfb where "
        "it applies, mcf for all-to-all"
    )
    trees_per_root: Annotated[StrictInt, Field(ge=1, le=10**6)] = optional(
        "forestcoll only; left out, the least number that is optimal"
    )


class SimulationRequest(Request):
    """How much data a schedule moves, and how fast the fabric is."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"bytes": "64MiB"}]}
    )

    bytes: Bytes = Field(
        description="allgather: size of the result; reduce-scatter, allreduce: of the input"
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
