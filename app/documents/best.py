"""best/1: the best topologies that are known for some hosts, and where they are known from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Identity, PassCost, omitted
from topoloom.app.requests.listing import BestRequest

if TYPE_CHECKING:
    from topoloom.schedules.design.known_topologies import Rated


@dataclass(frozen=True, slots=True)
class BestAnswer:
    """The best of what is known, and which document a search that was asked for has stored."""

    request: BestRequest
    rated: "Sequence[Rated]"
    searched: tuple[str, str] | None = None


class SourceDocument(Document):
    """Where a topology is known from."""

    kind: Literal["atlas", "design", "frontier", "cost"] = Field(
        description="the atlas that comes with the package, or a kind of stored document"
    )
    id: Identity = omitted("what the document is stored under")


class CandidateDocument(Document):
    """A known topology that no other known one of its size dominates."""

    recipe: str = omitted("how it is made; left out of a graph that somebody brought")
    name: str = Field(description="its short name; may be empty")
    nodes: int = Field(description="number of hosts", ge=2)
    degree: int = Field(description="ports of each host", ge=1)
    steps: int = Field(description="T_L of an allgather, in units of the hop latency", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B, exact")
    transpose: PassCost = Field(
        description="the same on the transposed graph: the cost of a reduce-scatter"
    )
    algorithm: Literal["bfb", "slack"] = Field(
        description="what has these costs: breadth-first broadcast, or labels"
    )
    within_steps: int = omitted(
        "slack: within how many steps of each pass; the option steps of its schedules", ge=1
    )
    bounds: PassCost = Field(description="what no topology of its size can undercut")
    gap: PassCost = Field(
        description="by how many steps, and by what share of the bound on bandwidth, the worse "
        "of both directions misses the bounds"
    )
    seconds: float = omitted("time of the workload by its algorithm", ge=0)
    exact_seconds: Exact = omitted("the same, exact")
    bound_seconds: float = omitted("time of the workload at the bounds", ge=0)
    topology_id: Identity = omitted("what it is stored under, where it is or was stored")
    known_from: list[SourceDocument] = Field(description="where its costs are known from")


class BestDocument(Document):
    """best/1."""

    schema_: Literal["best/1"] = Field(alias="schema", description="best/1")
    request: BestRequest = Field(description="the question, defaults filled in")
    searched: SourceDocument = omitted("what the search that was asked for has stored")
    candidates: list[CandidateDocument] = Field(
        description="the least time above its bound first; without a workload the fewest steps "
        "above the bound, then the least bandwidth; empty where nothing is known"
    )


def of(answer: BestAnswer) -> dict[str, Any]:
    """Return the best/1 document."""
    more: dict[str, Any] = {}
    if answer.searched is not None:
        more["searched"] = _source(*answer.searched)
    document = BestDocument(
        schema="best/1",
        request=answer.request,
        candidates=[_candidate(one) for one in answer.rated],
        **more,
    )
    # The request with its defaults filled in, which it was not given.
    return document.given() | {"request": answer.request.canonical()}


def _candidate(one: "Rated") -> CandidateDocument:
    known = one.known
    more: dict[str, Any] = {}
    if known.recipe is not None:
        more["recipe"] = known.recipe
    if known.topology_id is not None:
        more["topology_id"] = known.topology_id
    if known.within is not None:
        more["within_steps"] = known.within
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
    return SourceDocument(kind=kind, **({"id": identity} if identity else {}))
