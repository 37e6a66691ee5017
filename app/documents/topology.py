"""topology/1: model and storage of a topology document.

The service returns stored text unchanged, without the model: topologies have thousands of hosts.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Digest,
    Document,
    Identity,
    Node,
    assumed_field,
    given_members,
    omitted,
)
from topoloom.app.requests.schedules import ExportRequest
from topoloom.app.store.artifacts import Artefact, Computed, Kind, Listed
from topoloom.schedules.errors import NotExportable
from topoloom.synth.naming.suggestions import one_of
from topoloom.synth.topology.assumptions import (
    Assumption,
    assumed_members,
    assumptions_from_document,
)
from topoloom.synth.topology.latencies import latencies_digest
from topoloom.synth.topology.topology import Topology

LAUNCH_MEDIA_TYPES = {
    "launch": "application/vnd.topoloom.launch+json",
    "mpi-hostfile": "text/x-mpi-hostfile",
    "mpi-rankfile": "text/x-mpi-rankfile",
    "slurm-hostfile": "text/x-slurm-hostfile",
    "torchrun": "text/x-torchrun",
    "kubernetes-pods": "application/x-kubernetes-pods",
    "mlx-hostfile": "application/x-mlx-hostfile",
    "nccl-env": "text/x-nccl-env",
}
"""Format of a launch file -> its media type."""

SIMULATOR_MEDIA_TYPES = {
    "astra-sim": "application/x-astra-sim-network",
    "ns3": "text/x-ns3-topology",
    "simai": "text/x-simai-topology",
    "htsim": "text/x-htsim-topology",
    "phantora": "application/x-phantora-network",
    "infragraph": "application/x-infragraph",
    "infragraph-text": "text/x-infragraph",
}
"""Format of a file for a simulator -> its media type."""

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
    **LAUNCH_MEDIA_TYPES,
    "slurm": "text/x-slurm-topology",
    "slurm-yaml": "application/x-slurm-topology",
    "node-labels": "application/x-kubernetes-nodes",
    "kueue": "application/x-kueue-topology",
    "kai": "application/x-kai-topology",
    **SIMULATOR_MEDIA_TYPES,
}
"""Export formats of a topology -> media types."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A topology, and the id of the healthy topology if the topology has changes."""

    topology: Topology
    healthy: str | None = None


class NodeDocument(Document):
    """A compute node or a switch."""

    id: Node = Field(description="unique id, a text or an integer")
    kind: Literal["compute", "switch"] = Field(
        description="compute node or switch; switches only forward"
    )
    multicast: bool = omitted("switch: can copy and reduce data")


class LinkDocument(Document):
    """A directed link; parallel links are several entries."""

    source: Node = Field(description="id of the sending node")
    target: Node = Field(description="id of the receiving node")
    capacity: int | str = Field(
        description='capacity in bandwidth_unit: a positive integer, or a fraction as text "p/q"'
    )
    latency_us: int | str = omitted(
        'latency in microseconds: an integer from 0, or a fraction as text "p/q"; all links state '
        "a latency, or none does"
    )


class SharedDocument(Document):
    """A capacity limit shared by several links, such as a PCIe switch or a shared NIC."""

    links: list[tuple[Node, Node]] = Field(
        description="source and target of each link; means all parallel links"
    )
    capacity: int | str = Field(description="total capacity, as for a link")


class TopologyDocument(Document):
    """topology/1."""

    schema_: Literal["topology/1"] = Field(alias="schema", description="topology/1")
    id: Identity = Field(description="id of the topology")
    name: str = Field(description="name of the topology; may be empty")
    recipe: str = omitted("recipe of the topology, if any")
    bandwidth_unit: str = Field(description='unit of the capacities, such as "GB/s" or "link"')
    nodes: list[NodeDocument] = Field(description="compute nodes and switches")
    links: list[LinkDocument] = Field(description="directed links")
    shared: list[SharedDocument] = omitted("capacity limits shared by several links")
    assumed: list[AssumptionDocument] = assumed_field()
    notes: list[str] = omitted("the sentences of assumed; deprecated")


class TopologySummary(Document):
    """Summary of a topology in lists."""

    name: str = Field(description="name of the topology; may be empty")
    digest: Digest = Field(description="digest of the topology, independent of its name")
    latencies_digest: Digest = omitted("digest of the latencies of the links, if stated")
    nodes: int = Field(description="number of nodes, including switches", ge=1)
    compute_nodes: int = Field(description="number of compute nodes", ge=0)
    links: int = Field(description="number of directed links", ge=0)
    degree: int = Field(description="required ports per host", ge=0)
    healthy: Identity = omitted("changed topology: id of the healthy topology")
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
    latencies = latencies_digest(topology.latencies) if topology.latencies else None
    return TopologySummary(
        name=topology.labels()["name"],
        digest=topology.digest,
        nodes=topology.node_count,
        compute_nodes=len(topology.compute_nodes),
        links=topology.link_count,
        degree=topology.degree,
        **assumed_members(topology.assumed),
        **given_members(healthy=answer.healthy, latencies_digest=latencies),
    )


def assumed_of(artefact: Artefact) -> tuple[Assumption, ...]:
    """Return the assumptions about the file of a stored topology."""
    return assumptions_from_document(artefact.summary.get("assumed", []))


def digest_of(entry: Listed) -> tuple[str, str]:
    """Return the digests of a listed topology and of its latencies."""
    return entry.summary["digest"], entry.summary.get("latencies_digest", "")


def require_available(form: str, options: ExportRequest) -> None:
    """Raise `NotExportable` for a format other than `FORMATS`, or options that it does not take."""
    if form not in FORMATS:
        raise NotExportable("/format", one_of(form, FORMATS))
    for name in options.canonical() if form not in SIMULATOR_MEDIA_TYPES else ():
        takers = ", ".join(SIMULATOR_MEDIA_TYPES)
        raise NotExportable(f"/{name}", f"is for the formats {takers} only")


def export(artefact: Artefact, form: str, options: ExportRequest) -> str:
    """Return a stored topology in one of `FORMATS`; the options are those of simulators."""
    from topoloom.synth.formats import WRITERS
    from topoloom.synth.recipes.topology_document import topology_from_document

    require_available(form, options)
    if form == "json":
        # The stored text has the id; the writer omits the id.
        return artefact.text()
    topology = topology_from_document(artefact.document(), stored=True)
    if form not in SIMULATOR_MEDIA_TYPES:
        return WRITERS[form](topology)
    from topoloom.synth.formats.cables import LinkModel
    from topoloom.synth.formats.simulators.files import simulator_file

    node = None if options.node_gbps is None else Fraction(options.node_gbps)
    alpha_us = None if options.alpha_us is None else Fraction(options.alpha_us)
    return simulator_file(form, topology, LinkModel(alpha_us, node))


def _encode(answer: Registered, identity: str) -> Computed:
    return Computed.json(of(answer, identity), _summary(answer).given())


def _decode(artefact: Artefact) -> Registered:
    from topoloom.synth.recipes.topology_document import topology_from_document

    document = artefact.document()
    topology = topology_from_document(document, stored=True)
    return Registered(topology, artefact.summary.get("healthy"))


TOPOLOGY = Kind("topology", _encode, _decode)
