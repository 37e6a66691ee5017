"""How a request names a topology, and what it changes about it."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StrictInt, model_validator

from app.identity import IdPrefix
from app.request_base import Rational, Request, optional

__all__ = ["TopologyChanges", "TopologySource"]

MAX_CHANGES = 10_000

FormatName = Literal[
    "json",
    "nccl-xml",
    "nvidia-smi",
    "rocm-smi",
    "matrix",
    "node-link",
    "graphml",
    "edgelist",
    "undirected-edgelist",
]
WAYS = ("recipe", "fabric", "document", "id", "name", "text")
NodeName = StrictInt | Annotated[str, Field(max_length=200)]
Entries = Field(min_length=1, max_length=MAX_CHANGES)


class TopologyChanges(Request):
    """What of a topology is lost or slow; links are meant both ways, with parallel ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"minProperties": 1})

    without_nodes: Annotated[list[NodeName], Entries] = optional(
        "ids of nodes that are lost with all their links"
    )
    without_links: Annotated[list[tuple[NodeName, NodeName]], Entries] = optional(
        "pairs of nodes between which every link is lost"
    )
    slow_links: Annotated[list[tuple[NodeName, NodeName, Rational]], Entries] = optional(
        "pairs of nodes, and the share that is left of the capacity between them, "
        'more than 0 and less than 1, such as "1/2"'
    )

    @model_validator(mode="after")
    def _something(self) -> "TopologyChanges":
        if not self.model_fields_set:
            raise ValueError("must hold without_nodes, without_links or slow_links")
        return self

    def given(self) -> dict[str, Any]:
        """Return the members that were sent."""
        return {name: getattr(self, name) for name in sorted(self.model_fields_set)}


class TopologySource(Request):
    """A topology, named in exactly one of six ways, or a topology/1 document itself."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": [way]} for way in WAYS],
            "dependentRequired": {"format": ["text"], "link_bandwidth": ["text"]},
            "examples": [{"recipe": "LineGraph(3, Circulant(16, 3, 4))"}],
        },
    )

    recipe: Annotated[str, Field(min_length=1, max_length=4096)] = optional("recipe text")
    fabric: Annotated[str, Field(min_length=1, max_length=200)] = optional("a known fabric")
    document: dict[str, Any] = optional("a topology/1 document")
    id: IdPrefix = optional("id of a stored topology, or the first 6 or more characters of it")
    name: Annotated[str, Field(min_length=1, max_length=80)] = optional(
        "name of a stored topology, such as the short name of one that was built"
    )
    text: str = optional("a file that describes a fabric, in one of the formats")
    format: FormatName = optional("format of the text; left out, it is told from the text")
    link_bandwidth: Rational = optional(
        "GB/s per direction of one link, for the formats nvidia-smi and rocm-smi"
    )
    changes: TopologyChanges = optional("what of the topology is lost or slow")

    @model_validator(mode="before")
    @classmethod
    def _document_itself(cls, value: Any) -> Any:
        """Take a topology/1 document for what it is; places in it are under /document."""
        if isinstance(value, dict) and value.get("schema") == "topology/1":
            return {"document": value}
        return value

    @model_validator(mode="after")
    def _exactly_one(self) -> "TopologySource":
        given = self.model_fields_set
        if len(given & set(WAYS)) != 1:
            raise ValueError(f"must name the topology by exactly one of {', '.join(WAYS)}")
        if "text" not in given and given & {"format", "link_bandwidth"}:
            raise ValueError("format and link_bandwidth are for text only")
        return self
