"""cost/1: the exact cost of collectives on a topology by breadth-first broadcast."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AboutTopology,
    Document,
    Exact,
    Identity,
    PassCost,
    Subject,
    cost_of,
    given_members,
    omitted,
)
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.synth.evaluation.cost import Links

if TYPE_CHECKING:
    from topoloom.synth.evaluation.measurement import Measurement


@dataclass(frozen=True, slots=True)
class CostAnswer:
    """The cost of a topology; for a changed topology, also of the healthy topology."""

    subject: Subject
    found: "Measurement"
    healthy: "CostAnswer | None" = None


class HealthyCost(Document):
    """The cost of the topology before its changes."""

    topology_id: Identity = Field(description="id of the healthy topology")
    name: str = Field(description="name of the topology")
    degree: int = Field(description="ports of each host", ge=1)
    steps: int = Field(description="steps of an allgather", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B")
    transpose: PassCost = Field(description="cost of a reduce-scatter")


class CostDocument(AboutTopology[Literal["cost/1"]]):
    """cost/1: the exact cost of an allgather, and of a reduce-scatter."""

    nodes: int = Field(description="number of hosts", ge=1)
    degree: int = Field(description="ports of each host", ge=1)
    links: Links = Field(description="bidirectional if every link has a reverse link")
    steps: int = Field(description="T_L of an allgather, in units of the hop latency", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B, exact")
    transpose: PassCost = Field(
        description="cost of a reduce-scatter: the same on the transposed graph"
    )
    bounds: PassCost = Field(
        description="lower bounds for all topologies of this size with this kind of links"
    )
    healthy: HealthyCost = omitted("changed topology: the cost before the changes")


class CostSummary(Document):
    """Summary of a cost in lists."""

    name: str = Field(description="name of the topology; may be empty")
    steps: int = Field(description="T_L of an allgather", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B")


def of(answer: CostAnswer, identity: str) -> CostDocument:
    """Return the cost/1 document of a measured topology."""
    subject, found = answer.subject, answer.found
    healthy = None if answer.healthy is None else _healthy(answer.healthy)
    return CostDocument(
        schema="cost/1",
        id=identity,
        **subject.members(),
        nodes=found.nodes,
        degree=found.degree,
        links=found.links,
        steps=found.cost.steps,
        bandwidth=str(found.cost.bandwidth),
        transpose=PassCost.of(found.transpose),
        bounds=PassCost.of(found.bounds),
        **given_members(healthy=healthy),
    )


def _healthy(answer: CostAnswer) -> HealthyCost:
    return HealthyCost(
        topology_id=answer.subject.id,
        name=answer.subject.name,
        degree=answer.found.degree,
        steps=answer.found.cost.steps,
        bandwidth=str(answer.found.cost.bandwidth),
        transpose=PassCost.of(answer.found.transpose),
    )


def value_of(document: Mapping[str, Any]) -> CostAnswer:
    """Return the answer of a cost/1 document, without `healthy`."""
    from topoloom.synth.evaluation.measurement import Measurement

    found = Measurement(
        document["nodes"],
        document["degree"],
        Links(document["links"]),
        cost_of(document),
        cost_of(document["transpose"]),
        cost_of(document["bounds"]),
    )
    return CostAnswer(Subject.from_document(document), found)


def _encode(answer: CostAnswer, identity: str) -> Computed:
    cost = answer.found.cost
    facts = {"name": answer.subject.name, "steps": cost.steps, "bandwidth": str(cost.bandwidth)}
    return Computed.json(of(answer, identity).given(), facts)


def _decode(artefact: Artefact) -> CostAnswer:
    return value_of(artefact.document())


COST = Kind("cost", _encode, _decode)
