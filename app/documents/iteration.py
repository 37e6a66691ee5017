"""iteration/1: the time of a training iteration, its phases, topologies and placement."""

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Identity, omitted, rounded
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.store.artifacts import Computed, Kind

if TYPE_CHECKING:
    from topoloom.schedules.iterations.best_topology import PlacedIteration
    from topoloom.schedules.iterations.iteration_design import IterationDesign


class PhaseDocument(Document):
    """All operations of a kind, in the stage where they take longest."""

    kind: str = Field(description="forward, backward, or what communications serve")
    stage: int = Field(description="pipeline stage where the phase takes longest", ge=0)
    count: int = Field(description="operations in this stage", ge=1)
    bytes: float = Field(description="data sizes of one group, in all", ge=0)
    seconds: float = Field(description="durations in all", ge=0)
    alone_seconds: float = Field(description="durations if no link were shared", ge=0)
    exposed_seconds: float = Field(
        description="time that the iteration saves if the phase takes no time"
    )


class TopologyRowDocument(Document):
    """An iteration on a topology, with the best placement that was tried."""

    topology: str = Field(description="recipe, or the name of a baseline")
    source: str = Field(description="frontier, torus, blocks of hosts, given, or baseline")
    assumption: str = omitted("hardware beyond cables")
    parallel: str = Field(description="sizes in the order of ranks")
    seconds: float = Field(description="time of the iteration", ge=0)
    exposed_share: float = Field(description="share that is exposed communication")


class GainDocument(Document):
    """The iteration with 10 % more of a resource; of latency, with 10 % less."""

    resource: str = Field(description="computation, latency, links inside hosts, or cables")
    seconds: float = Field(description="time of the iteration", ge=0)
    saved: float = Field(description="saved share of the time")


class HostDocument(Document):
    """The ranks of a host: the coordinates of the first and of the last, by dimension."""

    host: str = Field(description="host")
    coordinates: dict[str, list[int]] = Field(
        description="by dimension: coordinate of the first and of the last rank"
    )


class IterationDocument(Document):
    """iteration/1."""

    schema_: Literal["iteration/1"] = Field(alias="schema", description="iteration/1")
    id: Identity = Field(description="id of the iteration")
    request: IterationRequest = Field(description="request with defaults")
    ranks: int = Field(description="accelerators", ge=1)
    seconds: float = Field(description="time of the iteration on the best topology", ge=0)
    exact_seconds: Exact = Field(description="exact time")
    compute_seconds: float = Field(description="computation of the stage with the most", ge=0)
    bubble_seconds: float = Field(
        description="time in which this stage waits for others, if communication took no time"
    )
    exposed_seconds: float = Field(description="time that communication adds")
    exposed_share: float = Field(description="share of the iteration that communication adds")
    limit: str = Field(description="resource of which 10 % more saves the most time")
    best: TopologyRowDocument = Field(description="best topology and placement")
    phases: list[PhaseDocument] = Field(description="phases of the best iteration")
    topologies: list[TopologyRowDocument] = Field(description="topologies, fastest first")
    baselines: list[TopologyRowDocument] = Field(description="torus, rings, and a switch")
    gains: list[GainDocument] = Field(description="sensitivity, largest gain first")
    placement: list[HostDocument] = Field(description="hosts in the order of ranks")
    notes: list[str] = Field(description="what the request does not state")


class IterationSummary(Document):
    """Summary of an iteration in lists."""

    name: str = Field(description="topology of least time")
    seconds: float = Field(description="time of the iteration", ge=0)
    exposed_share: float = Field(description="share that is exposed communication")


class IterationAnswer(NamedTuple):
    """A request and its answer."""

    request: IterationRequest
    found: "IterationDesign"


def of(request: IterationRequest, found: "IterationDesign", identity: str) -> dict[str, Any]:
    """Return the iteration/1 document."""
    best = found.best
    one, placement = best.iteration, best.placement
    columns = placement.coordinates
    hosts = [
        HostDocument(
            host=str(host),
            coordinates={
                name: [int(column[low]), int(column[low + placement.accelerators - 1])]
                for name, column in columns.items()
            },
        )
        for low, host in enumerate_by(placement.hosts, placement.accelerators)
    ]
    document = IterationDocument(
        schema="iteration/1",
        id=identity,
        request=request,
        ranks=one.job.ranks,
        seconds=float(one.seconds),
        exact_seconds=str(one.seconds),
        compute_seconds=float(one.compute_seconds),
        bubble_seconds=float(one.bubble_seconds),
        exposed_seconds=float(one.exposed_seconds),
        exposed_share=rounded(one.exposed_share),
        limit=found.limit.resource,
        best=_row(best),
        phases=[
            PhaseDocument(
                kind=phase.kind,
                stage=phase.stage,
                count=phase.count,
                bytes=float(phase.bytes),
                seconds=float(phase.seconds),
                alone_seconds=float(phase.alone_seconds),
                exposed_seconds=float(phase.exposed_seconds),
            )
            for phase in one.phases
        ],
        topologies=[_row(each) for each in found.topologies],
        baselines=[_row(each) for each in found.baselines],
        gains=[
            GainDocument(
                resource=gain.resource, seconds=float(gain.seconds), saved=rounded(gain.saved)
            )
            for gain in found.gains
        ],
        placement=hosts,
        notes=list(found.notes),
    )
    return document.given() | {"request": request.canonical()}


def enumerate_by(hosts: tuple[object, ...], step: int) -> list[tuple[int, object]]:
    """Return every host with the number of its first rank.

    >>> enumerate_by(("a", "b"), 8)
    [(0, 'a'), (8, 'b')]
    """
    return [(number * step, host) for number, host in enumerate(hosts)]


def _row(one: "PlacedIteration") -> TopologyRowDocument:
    more = {"assumption": one.candidate.assumption} if one.candidate.assumption else {}
    return TopologyRowDocument(
        topology=one.candidate.name,
        source=one.candidate.source,
        parallel=str(one.placement.processes),
        seconds=float(one.seconds),
        exposed_share=rounded(one.iteration.exposed_share),
        **more,
    )


def _encode(answer: IterationAnswer, identity: str) -> Computed:
    document = of(*answer, identity)
    summary = IterationSummary(
        name=document["best"]["topology"],
        seconds=document["seconds"],
        exposed_share=document["exposed_share"],
    )
    return Computed.json(document, summary.given())


ITERATION = Kind("iteration", _encode)
