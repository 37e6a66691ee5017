"""Topology sources in requests: six ways to name a topology, and lost or slow parts."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, StrictBool, StrictInt, model_validator

from topoloom.app.requests.base import Rational, Request, optional
from topoloom.app.requests.document_ids import IdPrefix
from topoloom.app.requests.options import topology_source as entries
from topoloom.app.requests.options.topology_source import (
    READING,
    AttributeName,
    FormatName,
    NicNames,
    NodeName,
    ShortText,
    UnitName,
)

MAX_GRAPHS = 16

WAYS = ("recipe", "fabric", "document", "id", "name", "text")
TEXT_ONLY = tuple(option.name for option in READING)
OPTIONS = tuple(name for name in TEXT_ONLY if name != "format")
"""Reading options of a text: members with the names of `synth.formats.OPTIONS`."""
GraphName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._/-]{1,200}$")]


class TopologyChanges(Request):
    """Lost and slow parts of a topology; a pair means all parallel links in both directions."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"minProperties": 1})

    without_nodes: list[NodeName] = entries.WITHOUT_NODES.field()
    without_links: list[tuple[NodeName, NodeName]] = entries.WITHOUT_LINKS.field()
    slow_links: list[tuple[NodeName, NodeName, Rational]] = entries.SLOW_LINKS.field()

    @model_validator(mode="after")
    def _something(self) -> "TopologyChanges":
        if not self.model_fields_set:
            raise ValueError("must have without_nodes, without_links or slow_links")
        return self

    def given(self) -> dict[str, Any]:
        """Return the members of the request body."""
        return {name: getattr(self, name) for name in sorted(self.model_fields_set)}


_SHAPE: dict[str, Any] = {
    "oneOf": [{"required": [way]} for way in WAYS],
    "dependentRequired": {name: ["text"] for name in TEXT_ONLY},
    "examples": [{"recipe": "LineGraph(3, Circulant(16, 3, 4))"}],
}


class GraphSource(Request):
    """A graph of a recipe: exactly one of six members, or a topology/1 document itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_SHAPE)

    recipe: Annotated[str, Field(min_length=1, max_length=4096)] = optional("recipe text")
    fabric: Annotated[str, Field(min_length=1, max_length=200)] = optional("name of a fabric")
    document: dict[str, Any] = optional("a topology/1 document")
    id: IdPrefix = optional("id of a stored topology, or its first 6 or more characters")
    name: Annotated[str, Field(min_length=1, max_length=80)] = optional(
        "name of a stored topology, such as its short name"
    )
    text: str = optional("text of a topology file, in any format")
    format: FormatName = entries.FORMAT.field()
    capacity_attribute: AttributeName = entries.CAPACITY_ATTRIBUTE.field()
    kind_attribute: AttributeName = entries.KIND_ATTRIBUTE.field()
    switch_values: list[AttributeName] = entries.SWITCH_VALUES.field()
    unit: UnitName = entries.UNIT.field()
    directed: StrictBool = entries.DIRECTED.field()
    link_bandwidth: Rational = entries.LINK_BANDWIDTH.field()
    nvlink: ShortText = entries.NVLINK.field()
    pcie_bandwidth: Rational = entries.PCIE_BANDWIDTH.field()
    cpu_bandwidth: Rational = entries.CPU_BANDWIDTH.field()
    boxes: StrictInt = entries.BOXES.field()
    network: ShortText = entries.NETWORK.field()
    oversubscription: Rational = entries.OVERSUBSCRIPTION.field()
    nics: NicNames = entries.NICS.field()
    nic_bandwidth: Rational = entries.NIC_BANDWIDTH.field()
    pcie: ShortText = entries.PCIE.field()
    changes: TopologyChanges = optional("lost and slow parts of the topology")

    @model_validator(mode="before")
    @classmethod
    def _document_itself(cls, value: Any) -> Any:
        """Accept a topology/1 document itself; pointers into it begin with /document."""
        if isinstance(value, dict) and value.get("schema") == "topology/1":
            return {"document": value}
        return value

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = self.model_fields_set
        if len(given & set(WAYS)) != 1:
            raise ValueError(f"must have exactly one of {', '.join(WAYS)}")
        if "text" not in given and (only := [name for name in TEXT_ONLY if name in given]):
            others = "topology/1, a recipe, a name or an id"
            raise ValueError(f"must have {', '.join(only)} with text only, not with {others}")
        return self

    def reading(self) -> dict[str, Any]:
        """Return the reading options of the request body."""
        return {name: getattr(self, name) for name in OPTIONS if name in self.model_fields_set}


class TopologySource(GraphSource):
    """A topology: exactly one of six members, or a topology/1 document itself."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra=_SHAPE
        | {"dependentRequired": _SHAPE["dependentRequired"] | {"graphs": ["recipe"]}},
    )

    graphs: Annotated[dict[GraphName, GraphSource], Field(min_length=1, max_length=MAX_GRAPHS)] = (
        optional(f"topologies of the names after @ in the recipe, at most {MAX_GRAPHS}")
    )

    @model_validator(mode="after")
    def _graphs_of_a_recipe(self) -> Self:
        if "graphs" in self.model_fields_set and "recipe" not in self.model_fields_set:
            raise ValueError("must have graphs with a recipe only")
        return self
