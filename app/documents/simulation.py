"""simulation/1: the simulated time of a schedule on a fabric of given speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Digest,
    Document,
    Exact,
    Identity,
    Node,
    Presented,
    assumed_field,
    given_members,
    omitted,
    rounded,
)
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.app.store.artifacts import Computed, Kind
from topoloom.schedules.model.schedule import Schedule
from topoloom.synth.topology.assumptions import assumed_members
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.model.transcript import Transcript
    from topoloom.schedules.simulate.run_messages import Simulation


@dataclass(frozen=True, slots=True)
class Simulated:
    """A finished simulation/1 document, and the name of its topology."""

    name: str
    document: Presented


class SimulationSummary(Document):
    """Summary of a simulation in lists."""

    name: str = Field(description="name of the topology; may be empty")
    collective: str = Field(description="collective of the schedule")
    seconds: float = Field(description="time until the last message arrives", ge=0)


class BusiestLink(Document):
    """The link with the longest busy time."""

    index: int = Field(description="index of the link in the topology, from 0", ge=0)
    source: Node = Field(description="sending node")
    target: Node = Field(description="receiving node")


class Utilisation(Document):
    """Share of the time in which links carry data."""

    busiest: float = Field(description="share of the busiest link, 0 to 1", ge=0)
    mean: float = Field(description="mean share of all links, 0 to 1", ge=0)
    busiest_link: BusiestLink = Field(description="the busiest link")


class SimulationDocument(Document):
    """simulation/1."""

    schema_: Literal["simulation/1"] = Field(alias="schema", description="simulation/1")
    request: SimulationRequest = Field(description="request with defaults")
    topology_digest: Digest = Field(description="digest of the topology")
    assumed: list[AssumptionDocument] = assumed_field()
    collective: str = Field(description="collective of the schedule")
    seconds: float = Field(description="time until the last message arrives", ge=0)
    exact_seconds: Exact = Field(description="exact time")
    algbw: float | None = Field(description="bytes per second, GB/s; null if the time is 0")
    algbw_large: float = omitted(
        "the same for large data, GB/s, as topoloom schedule prints: without latency; links are "
        "never idle between slices of the data, or, in steps, until the busiest link is done"
    )
    chunks: int = Field(description="chunks per message", ge=1)
    messages: int = Field(description="messages from rank to rank", ge=0)
    events: int = Field(description="number of link transmissions", ge=0)
    utilisation: Utilisation = Field(description="utilization of the links")
    schedule_id: Identity = omitted("id of the schedule")
    notes: list[str] = omitted(
        "file: dialect of the reading, if relevant, and content that no runtime reads; "
        "limits of the simulation"
    )
    id: Identity = omitted("id of the answer, if stored")


def of(
    found: "Simulation",
    schedule: "Schedule | Transcript",
    topology: Topology,
    request: SimulationRequest,
    identity: str | None = None,
    *,
    bytes_per_second: Fraction | None = None,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the simulation/1 document.

    ``identity`` is the id of a stored schedule; ``bytes_per_second`` is the algbw for large data.
    """
    busiest = max(range(topology.link_count), key=found.busy_seconds.__getitem__)
    link = topology.links[busiest]
    seconds = found.seconds
    assumed = (*topology.assumed, *request.speed_assumptions(topology))
    large = None if bytes_per_second is None else rounded(bytes_per_second / 10**9)
    document = SimulationDocument(
        schema="simulation/1",
        request=request,
        topology_digest=topology.digest,
        **assumed_members(assumed),
        collective=schedule.collective.value,
        seconds=float(seconds),
        exact_seconds=str(seconds),
        algbw=rounded(request.bytes / seconds / 10**9) if seconds else None,
        chunks=found.chunks,
        messages=found.messages,
        events=found.events,
        utilisation=Utilisation(
            busiest=float(found.busiest),
            mean=float(found.mean),
            busiest_link=BusiestLink(index=busiest, source=link.source, target=link.target),
        ),
        **given_members(schedule_id=identity, algbw_large=large, notes=list(notes) or None),
    )
    # The request member includes defaults.
    return document.given() | {"request": request.canonical()}


def _encode(answer: Simulated, identity: str) -> Computed:
    document = {**answer.document, "id": identity}
    members = {name: document[name] for name in ("collective", "seconds")}
    return Computed.json(document, SimulationSummary(name=answer.name, **members).given())


SIMULATION = Kind("simulation", _encode)
