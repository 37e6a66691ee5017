"""How a request names a topology, and what it changes about it."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StrictInt, model_validator

from app.identity import IdPrefix
from app.request_base import Rational, Request, optional

__all__ = ["OPTIONS", "TEXT_ONLY", "GraphSource", "TopologyChanges", "TopologySource"]

MAX_CHANGES = 10_000

MAX_GRAPHS = 16

FormatName = Literal[
    "json",
    "matrix",
    "matrix-market",
    "node-link",
    "graphml",
    "gexf",
    "gml",
    "edgelist",
    "undirected-edgelist",
    "adjlist",
    "undirected-adjlist",
    "multiline-adjlist",
    "graph6",
    "sparse6",
    "digraph6",
    "nccl-xml",
    "nvidia-smi",
    "rocm-smi",
    "amd-smi",
]
WAYS = ("recipe", "fabric", "document", "id", "name", "text")
OPTIONS = (
    *("capacity_attribute", "kind_attribute", "switch_values", "unit"),
    *("link_bandwidth", "nvlink"),
    *("boxes", "network", "oversubscription", "nics", "nic_bandwidth", "pcie"),
)
"""How a text is read: the options of `synth.formats.OPTIONS`, members of the same name."""
TEXT_ONLY = ("format", *OPTIONS)
AttributeName = Annotated[str, Field(min_length=1, max_length=100)]
GraphName = Annotated[str, Field(pattern=r"^[A-Za-z0-9._/-]{1,200}$")]
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


_SHAPE: dict[str, Any] = {
    "oneOf": [{"required": [way]} for way in WAYS],
    "dependentRequired": {name: ["text"] for name in TEXT_ONLY},
    "examples": [{"recipe": "LineGraph(3, Circulant(16, 3, 4))"}],
}


class GraphSource(Request):
    """A graph in a recipe, named in exactly one of six ways, or a topology/1 document itself."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_SHAPE)

    recipe: Annotated[str, Field(min_length=1, max_length=4096)] = optional("recipe text")
    fabric: Annotated[str, Field(min_length=1, max_length=200)] = optional("a known fabric")
    document: dict[str, Any] = optional("a topology/1 document")
    id: IdPrefix = optional("id of a stored topology, or the first 6 or more characters of it")
    name: Annotated[str, Field(min_length=1, max_length=80)] = optional(
        "name of a stored topology, such as the short name of one that was built"
    )
    text: str = optional("a file that describes a fabric, in one of the formats")
    format: FormatName = optional("format of the text; left out, it is told from the text")
    capacity_attribute: AttributeName = optional("attribute of links that is their capacity")
    kind_attribute: AttributeName = optional("attribute of nodes that tells switches")
    switch_values: Annotated[list[AttributeName], Field(min_length=1, max_length=100)] = optional(
        "values of that attribute that mean a switch"
    )
    unit: Annotated[str, Field(min_length=1, max_length=200)] = optional("unit of the capacities")
    link_bandwidth: Rational = optional(
        "GB/s per direction of one link, for the formats nvidia-smi, rocm-smi and amd-smi"
    )
    nvlink: Annotated[str, Field(max_length=100)] = optional(
        "NVLinks in place of what an nccl-xml file says: none, dgx-1v, switch:GBPS, mesh:GBPS "
        "or pairs:GBPS"
    )
    boxes: StrictInt = optional("copies of the box that a dump describes, joined by their NICs")
    network: Annotated[str, Field(max_length=100)] = optional(
        "what joins the boxes: one, rails, rail-only or planes:K"
    )
    oversubscription: Rational = optional(
        "how many times as much enters the leaf switches as goes on from there, at least 1"
    )
    nics: Annotated[str, Field(min_length=1, max_length=10_000)] = optional(
        "names of the NICs that lead to the network, with commas; or, where the dump lists "
        "none, their number"
    )
    nic_bandwidth: Rational = optional("GB/s per direction of every NIC")
    pcie: Literal["auto", "always"] = optional(
        "whether PCIe and sockets are taken in where NVLink or xGMI joins all GPUs"
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
    def _exactly_one(self) -> Self:
        given = self.model_fields_set
        if len(given & set(WAYS)) != 1:
            raise ValueError(f"must name the topology by exactly one of {', '.join(WAYS)}")
        if "text" not in given and (only := [name for name in TEXT_ONLY if name in given]):
            raise ValueError(f"{', '.join(only)} must be left out: for text only")
        return self

    def reading(self) -> dict[str, Any]:
        """Return the options of reading that were sent."""
        return {name: getattr(self, name) for name in OPTIONS if name in self.model_fields_set}


class TopologySource(GraphSource):
    """A topology, named in exactly one of six ways, or a topology/1 document itself."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra=_SHAPE
        | {"dependentRequired": _SHAPE["dependentRequired"] | {"graphs": ["recipe"]}},
    )

    graphs: Annotated[dict[GraphName, GraphSource], Field(min_length=1, max_length=MAX_GRAPHS)] = (
        optional("topologies by the names that stand after @ in the recipe")
    )

    @model_validator(mode="after")
    def _graphs_of_a_recipe(self) -> Self:
        if "graphs" in self.model_fields_set and "recipe" not in self.model_fields_set:
            raise ValueError("graphs must be left out: for a recipe only")
        return self
