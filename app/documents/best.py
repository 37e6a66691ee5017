"""best/1: the best known topologies for some hosts, with sources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Identity, PassCost, given_members, omitted
from topoloom.app.requests.listing import BestRequest

if TYPE_CHECKING:
    from topoloom.schedules.design.known_topologies import RatedTopology


@dataclass(frozen=True, slots=True)
class BestAnswer:
    """The best known topologies, and the document stored by a requested search."""

    request: BestRequest
    rated: "Sequence[RatedTopology]"
    searched: tuple[str, str] | None = None


class SourceDocument(Document):
    """The source of a known topology."""

    kind: Literal["atlas", "design", "frontier", "cost"] = Field(
        description="the packaged atlas, or a kind of stored document"
    )
    id: Identity = omitted("what the document is stored under")


class CandidateDocument(Document):
    """A known topology that no other known topology of its size dominates."""

    recipe: str = omitted("recipe; absent for a topology from a file")
    name: str = Field(description="short name of the topology; may be empty")
    nodes: int = Field(description="number of hosts", ge=2)
    degree: int = Field(description="ports of each host", ge=1)
    steps: int = Field(description="T_L of an allgather, in units of the hop latency", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B, exact")
    transpose: PassCost = Field(
        description="cost of a reduce-scatter: the same on the transposed graph"
    )
    algorithm: Literal["bfb", "slack"] = Field(
        description="schedules with these costs: bfb, breadth-first broadcast, or slack"
    )
    within_steps: int = omitted(
        "slack: limit of steps per pass, the option steps of its schedules", ge=1
    )
    bounds: PassCost = Field(description="lower bounds for all topologies of this size")
    gap: PassCost = Field(
        description="distance of the worse of both directions from the bounds: steps, and T_B as a "
        "share of its bound"
    )
    seconds: float = omitted("time of the workload with the algorithm", ge=0)
    exact_seconds: Exact = omitted("exact time")
    bound_seconds: float = omitted("time of the workload at the bounds", ge=0)
    topology_id: Identity = omitted("id of the topology, if it is or was stored")
    known_from: list[SourceDocument] = Field(description="sources of the costs")


class BestDocument(Document):
    """best/1."""

    schema_: Literal["best/1"] = Field(alias="schema", description="best/1")
    request: BestRequest = Field(description="request with defaults")
    searched: SourceDocument = omitted("document stored by the requested search")
    candidates: list[CandidateDocument] = Field(
        description="smallest time relative to its bound first; without a workload fewest steps "
        "above the bound, then least T_B; empty if no topology is known"
    )


def of(answer: BestAnswer) -> dict[str, Any]:
    """Return the best/1 document."""
    searched = None if answer.searched is None else _source(*answer.searched)
    document = BestDocument(
        schema="best/1",
        request=answer.request,
        candidates=[_candidate(one) for one in answer.rated],
        **given_members(searched=searched),
    )
    # The request member includes defaults.
    return document.given() | {"request": answer.request.canonical()}


def _candidate(one: "RatedTopology") -> CandidateDocument:
    known = one.known
    more = given_members(
        recipe=known.recipe, topology_id=known.topology_id, within_steps=known.within
    )
    if one.seconds is not None and one.bound_seconds is not None:
        more["seconds"], more["exact_seconds"] = float(one.seconds), str(one.seconds)
        more["bound_seconds"] = float(one.bound_seconds)
    return CandidateDocument(
        name=known.name,
        nodes=known.nodes,
        degree=known.degree,
        steps=known.cost.steps,
        bandwidth=str(known.cost.bandwidth),
        transpose=PassCost.of(known.transpose),
        algorithm=known.algorithm,
        bounds=PassCost.of(one.bounds),
        gap=PassCost.of(one.gap),
        known_from=[_source(kind, identity) for kind, identity in known.sources],
        **more,
    )


def _source(kind: Any, identity: str) -> SourceDocument:
    return SourceDocument(kind=kind, **given_members(id=identity or None))
