"""topology/1: a graph as it is stored, with the id that names it.

Stored text is handed out as it is: a topology of thousands of hosts passes through no
model.  The model says what is in it.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Digest,
    Document,
    Identity,
    Node,
    assumed_field,
    omitted,
)
from topoloom.app.store.artifacts import Artefact, Computed, Kind, Listed
from topoloom.schedules.errors import NotExportable
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.assumptions import (
    Assumption,
    assumed_members,
    assumptions_from_document,
)
from topoloom.synth.topology.topology import Topology

__all__ = [
    "FORMATS",
    "TOPOLOGY",
    "Registered",
    "TopologyDocument",
    "TopologySummary",
    "assumed_of",
    "digest_of",
    "export",
    "of",
    "require_available",
]


FORMATS = {
    "json": "application/json",
    "graphml": "application/graphml+xml",
    "dot": "text/vnd.graphviz",
    "edgelist": "text/plain",
    "gexf": "application/gexf+xml",
    "gml": "text/x-gml",
    "node-link": "application/vnd.node-link+json",
    "adjlist": "text/x-adjlist",
    "matrix-market": "text/x-matrix-market",
    "graph6": "text/x-graph6",
    "sparse6": "text/x-sparse6",
    "digraph6": "text/x-digraph6",
}
"""The formats a topology comes in, and their media types."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A topology, and the id of the one that it was before parts were lost or slow."""

    topology: Topology
    healthy: str | None = None


class NodeDocument(Document):
    """A compute node or a switch."""

    id: Node = Field(description="unique; a text or an integer")
    kind: Literal["compute", "switch"] = Field(description="switches only forward")
    multicast: bool = omitted("of a switch: it can also copy, and add up")


class LinkDocument(Document):
    """A directed link; parallel links are several entries."""

    source: Node = Field(description="id of the node that sends")
    target: Node = Field(description="id of the node that receives")
    capacity: int | str = Field(
        description='in bandwidth_unit: a positive integer, or a fraction as text "p/q"'
    )


class SharedDocument(Document):
    """A limit that several links have together, as a PCIe switch or a shared network card."""

    links: list[tuple[Node, Node]] = Field(
        description="source and target of each; all parallel links of the pair"
    )
    capacity: int | str = Field(description="of all of them together, as that of a link")


class TopologyDocument(Document):
    """topology/1."""

    schema_: Literal["topology/1"] = Field(alias="schema", description="topology/1")
    id: Identity = Field(description="what the topology is stored under")
    name: str = Field(description="for people; may be empty")
    recipe: str = omitted("how it was made, where a recipe says so")
    bandwidth_unit: str = Field(description='unit of the capacities, such as "GB/s" or "link"')
    nodes: list[NodeDocument] = Field(description="compute nodes and switches")
    links: list[LinkDocument] = Field(description="directed links")
    shared: list[SharedDocument] = omitted("limits that several links have together")
    assumed: list[AssumptionDocument] = assumed_field()
    notes: list[str] = omitted("the sentences of assumed; deprecated")


class TopologySummary(Document):
    """What lists say of a topology."""

    name: str = Field(description="for people; may be empty")
    digest: Digest = Field(description="what the topology is, without its name")
    nodes: int = Field(description="number of nodes, switches included", ge=1)
    compute_nodes: int = Field(description="number of compute nodes", ge=0)
    links: int = Field(description="number of directed links", ge=0)
    degree: int = Field(description="ports a host needs", ge=0)
    healthy: Identity = omitted("of a topology made by changes: id of the one before them")
    assumed: list[AssumptionDocument] = assumed_field()


def of(answer: Registered, identity: str) -> dict[str, Any]:
    """Return the topology/1 document with its id."""
    document = answer.topology.to_document()
    schema = document.pop("schema")
    more = (
        {"notes": [one.text for one in answer.topology.assumed]} if document.get("assumed") else {}
    )
    return {"schema": schema, "id": identity, **document, **more}


def _summary(answer: Registered) -> TopologySummary:
    topology = answer.topology
    more: dict[str, Any] = {} if answer.healthy is None else {"healthy": answer.healthy}
    more |= assumed_members(topology.assumed)
    return TopologySummary(
        name=topology.labels()["name"],
        digest=topology.digest,
        nodes=topology.node_count,
        compute_nodes=len(topology.compute_nodes),
        links=topology.link_count,
        degree=topology.degree,
        **more,
    )


def assumed_of(artefact: Artefact) -> tuple[Assumption, ...]:
    """Return what was assumed in reading the file of a stored topology."""
    return assumptions_from_document(artefact.summary.get("assumed", []))


def digest_of(entry: Listed) -> str:
    """Return what a listed topology is, without its name."""
    return entry.summary["digest"]


def require_available(form: str) -> None:
    """Raise `NotExportable` unless topologies come in this format."""
    if form not in FORMATS:
        raise NotExportable("/format", one_of(form, FORMATS))


def export(artefact: Artefact, form: str) -> str:
    """Return a stored topology in one of `FORMATS`."""
    from topoloom.synth.formats import WRITERS
    from topoloom.synth.recipes.topology_document import topology_from_document

    require_available(form)
    if form == "json":
        # As stored: with the id, unlike what the writer makes.
        return artefact.text()
    return WRITERS[form](topology_from_document(artefact.document()))


def _encode(answer: Registered, identity: str) -> Computed:
    return Computed.json(of(answer, identity), _summary(answer).given())


def _decode(artefact: Artefact) -> Registered:
    from topoloom.synth.recipes.topology_document import topology_from_document

    document = artefact.document()
    topology = topology_from_document(document)
    return Registered(topology, artefact.summary.get("healthy"))


TOPOLOGY = Kind("topology", _encode, _decode)
