"""simulation/1: the time of a schedule on a fabric of given speed, message by message."""

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
    """A finished simulation/1 document, and which topology it is about."""

    name: str
    document: Presented


class SimulationSummary(Document):
    """What lists say of a simulation."""

    name: str = Field(description="name of the topology; empty if it has none")
    collective: str = Field(description="what the schedule carries out")
    seconds: float = Field(description="until the last message has arrived", ge=0)


class BusiestLink(Document):
    """The link that carried data for the longest time."""

    index: int = Field(description="place among the topology's links, from 0", ge=0)
    source: Node = Field(description="node that sends")
    target: Node = Field(description="node that receives")


class Utilisation(Document):
    """For which share of the time links carried data."""

    busiest: float = Field(description="share of the busiest link, 0 to 1", ge=0)
    mean: float = Field(description="mean share of all links, 0 to 1", ge=0)
    busiest_link: BusiestLink = Field(description="the busiest link")


class SimulationDocument(Document):
    """simulation/1."""

    schema_: Literal["simulation/1"] = Field(alias="schema", description="simulation/1")
    request: SimulationRequest = Field(description="the question, defaults filled in")
    topology_digest: Digest = Field(description="digest of the topology")
    assumed: list[AssumptionDocument] = assumed_field()
    collective: str = Field(description="what the schedule carries out")
    seconds: float = Field(description="until the last message has arrived", ge=0)
    exact_seconds: Exact = Field(description="the same, exact")
    algbw: float | None = Field(description="bytes over seconds, GB/s; null if no time passes")
    algbw_large: float = omitted(
        "the same for much data, GB/s: latency does not count, and links are never idle while "
        "slices of the data follow one another, or, in steps, until the busiest link is done; "
        "what topoloom schedule prints as algbw"
    )
    chunks: int = Field(description="into how many pieces each message was cut", ge=1)
    messages: int = Field(description="messages from rank to rank", ge=0)
    events: int = Field(description="how often a piece was put on a link", ge=0)
    utilisation: Utilisation = Field(description="how busy links were")
    schedule_id: Identity = omitted("what the schedule is stored under")
    notes: list[str] = omitted(
        "of a file: as which dialect it is read, where that matters, and what no run-time reads; "
        "what the simulation leaves out"
    )
    id: Identity = omitted("what the answer is stored under, where it is")


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
    """Return the simulation/1 document; ``identity`` is that of a stored schedule.

    ``bytes_per_second`` is the algbw for much data.
    """
    busiest = max(range(topology.link_count), key=found.busy_seconds.__getitem__)
    link = topology.links[busiest]
    seconds = found.seconds
    more: dict[str, Any] = {} if identity is None else {"schedule_id": identity}
    if bytes_per_second is not None:
        more["algbw_large"] = rounded(bytes_per_second / 10**9)
    if notes:
        more["notes"] = list(notes)
    document = SimulationDocument(
        schema="simulation/1",
        request=request,
        topology_digest=topology.digest,
        **assumed_members(topology.assumed),
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
        **more,
    )
    # The request with its defaults filled in, which it was not given.
    return document.given() | {"request": request.canonical()}


def _encode(answer: Simulated, identity: str) -> Computed:
    document = {**answer.document, "id": identity}
    said = {name: document[name] for name in ("collective", "seconds")}
    return Computed.json(document, SimulationSummary(name=answer.name, **said).given())


SIMULATION = Kind("simulation", _encode)
