"""group-schedule/1: the stored schedules of process groups that run at once."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    Digest,
    Document,
    Exact,
    Identity,
    Node,
    Presented,
    Subject,
    omitted,
    rounded,
)
from topoloom.app.store.artifacts import Artefact

if TYPE_CHECKING:
    from topoloom.schedules.groups.traffic import GroupTraffic
    from topoloom.schedules.simulate import Network, Simulation


@dataclass(frozen=True, slots=True)
class JointSchedules:
    """Stored schedules of the groups of every kind, their joint time and their simulation.

    ``time`` is in bytes per unit of capacity, for sizes of 1 byte where no size is given; then
    ``simulation`` is None.
    """

    subject: Subject
    bandwidth_unit: str
    traffic: "tuple[GroupTraffic, ...]"
    stored: tuple[tuple[Artefact, ...], ...]
    time: Fraction
    network: "Network"
    simulation: "Simulation | None"


class GroupRowDocument(Document):
    """A group and its schedule."""

    hosts: list[Node] = Field(description="hosts of the group, in rank order")
    schedule_id: Identity = Field(description="id of the stored schedule")


class ScheduledKindDocument(Document):
    """The groups of a kind."""

    kind: str = Field(description="dimension, or dimensions joined by +; hosts for lists of hosts")
    collective: str = Field(description="collective of every group")
    bytes: int = omitted("bytes of every group", ge=1)
    algbw: Exact = Field(description="rate of every group with all groups at once")
    groups: list[GroupRowDocument] = Field(description="groups, by number")


class GroupScheduleDocument(Document):
    """group-schedule/1."""

    schema_: Literal["group-schedule/1"] = Field(alias="schema", description="group-schedule/1")
    topology_id: Identity = Field(description="id of the topology")
    topology_digest: Digest = Field(description="digest of the topology")
    name: str = Field(description="name of the topology; may be empty")
    bandwidth_unit: str = Field(description="unit of capacities and algbw")
    kinds: list[ScheduledKindDocument] = Field(description="kinds of groups; all run at once")
    seconds: float = omitted("simulated time until all groups end, if sizes are given", ge=0)
    chunks: int = omitted("pieces of every message in the simulation", ge=1)
    alpha_us: float = omitted(
        "latency of a hop in the simulation, microseconds; absent where each link has its own", ge=0
    )
    unit_gbps: float = omitted("rate of one unit of capacity in the simulation, Gbit/s", ge=0)


def of(found: JointSchedules) -> Presented:
    """Return the group-schedule/1 document."""
    subject = found.subject
    more: dict[str, Any] = {}
    if found.simulation is not None:
        network = found.network
        more = {
            "seconds": float(found.simulation.seconds),
            "chunks": found.simulation.chunks,
            "unit_gbps": rounded(Fraction(network.unit_bytes_per_second) * 8 / 10**9),
        }
        if network.alpha_seconds is not None:
            more["alpha_us"] = rounded(network.alpha_seconds * 10**6)
    kinds = [
        ScheduledKindDocument(
            kind=one.kind,
            collective=one.collective.value,
            **({"bytes": one.size_bytes} if found.simulation is not None else {}),
            algbw=str(one.size_bytes / found.time),
            groups=[
                GroupRowDocument(hosts=list(hosts), schedule_id=artefact.id)
                for hosts, artefact in zip(one.groups, stored, strict=True)
            ],
        )
        for one, stored in zip(found.traffic, found.stored, strict=True)
    ]
    document = GroupScheduleDocument(
        schema="group-schedule/1",
        topology_id=subject.id,
        topology_digest=subject.digest,
        name=subject.name,
        bandwidth_unit=found.bandwidth_unit,
        kinds=kinds,
        **more,
    )
    return document.given()
