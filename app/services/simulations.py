"""Simulations: the time of a schedule on a fabric of given speed. Computed, not stored."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from app.schemas import SimulationRequest, TopologySource
from app.services import schedules, topologies
from app.services.context import Context
from app.services.costs import rounded
from synth.topology import Topology

if TYPE_CHECKING:
    from schedules.model import Schedule
    from schedules.simulate import Network
    from schedules.transcript import Transcript

__all__ = ["of_document", "of_exported", "of_stored"]


def of_stored(context: Context, identity: str, request: SimulationRequest) -> dict[str, Any]:
    """Return the simulation/1 document of a stored schedule."""
    from schedules.formats.schedule.binary import unpack

    artefact = context.read("schedule", identity)
    source = TopologySource(id=artefact.summary["topology_id"])
    loaded = topologies.load(context, source)
    found = _simulate(unpack(artefact.content), loaded.topology, request)
    return found | {"schedule_id": artefact.id}


def of_document(document: Any, topology: Topology, request: SimulationRequest) -> dict[str, Any]:
    """Return the simulation/1 document of a schedule/1 document.

    Raises
    ------
    InvalidSchedule
        The schedule is not valid on the topology: the first violations are named.
    """
    return _simulate(schedules.read(document, topology), topology, request)


def of_exported(
    form: str,
    files: list[bytes],
    topology: Topology,
    request: SimulationRequest,
    dialect: str | None = None,
) -> dict[str, Any]:
    """Return the simulation/1 document of an exported program, by its messages.

    Raises
    ------
    InvalidProgram
        Its replay says no, it does not fit the topology, or it is a table of NCCL's tuner.
    """
    return _simulate(schedules.read_exported(form, files, topology, dialect), topology, request)


def _simulate(
    schedule: "Schedule | Transcript", topology: Topology, request: SimulationRequest
) -> dict[str, Any]:
    from schedules.simulate import simulate

    found = simulate(
        schedule,
        topology,
        _network(topology, request),
        size_bytes=request.bytes,
        chunks=request.chunks,
        synchronous=request.synchronous,
    )
    busiest = max(range(topology.link_count), key=found.busy_seconds.__getitem__)
    link = topology.links[busiest]
    return {
        "schema": "simulation/1",
        "request": request.canonical(),
        "topology_digest": topology.digest,
        "collective": schedule.collective.value,
        "seconds": float(found.seconds),
        "exact_seconds": str(found.seconds),
        "algbw": rounded(request.bytes / found.seconds / 10**9) if found.seconds else None,
        "chunks": found.chunks,
        "messages": found.messages,
        "events": found.events,
        "utilisation": {
            "busiest": float(found.busiest),
            "mean": float(found.mean),
            "busiest_link": {"index": busiest, "source": link.source, "target": link.target},
        },
    }


def _network(topology: Topology, request: SimulationRequest) -> "Network":
    from schedules.simulate import Network
    from schedules.verify.costs import unit_bytes_per_second

    if request.link_gbps is not None:
        rate = Fraction(request.link_gbps) * 10**9 / 8
    else:
        node = request.node_gbps
        rate = unit_bytes_per_second(topology, None if node is None else Fraction(node))
    return Network(
        Fraction(request.alpha_us) / 10**6,
        rate,
        Fraction(request.overhead_us) / 10**6,
        request.channels,
    )
