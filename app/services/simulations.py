"""Simulations: the time of a schedule on a fabric of given speed."""

from typing import TYPE_CHECKING, Any

from app.artefacts import Artefact
from app.checking_requests import TimedScheduleRequest
from app.documents.base import Presented
from app.documents.questions import network_of
from app.documents.schedule import SCHEDULE
from app.documents.simulation import SIMULATION, Simulated, of
from app.schedule_requests import SimulationRequest
from app.services import schedules, topologies
from app.services.context import Context
from app.services.given_schedules import given
from synth.topology import Topology

if TYPE_CHECKING:
    from schedules.model import Schedule
    from schedules.transcript import Transcript

__all__ = ["create", "of_document", "of_exported", "of_stored"]


def create(context: Context, request: TimedScheduleRequest) -> Artefact:
    """Return the stored simulation/1 document of a schedule, stored or sent along."""
    found, asked = given(context, request), request.simulation()
    topology = found.loaded.topology

    def compute() -> Simulated:
        return Simulated(topology.name, _simulated(found.read(), topology, asked, found.stored_id))

    return context.keep(SIMULATION, {**found.asked, "simulation": asked.canonical()}, compute)


def of_stored(context: Context, identity: str, request: SimulationRequest) -> Presented:
    """Return the simulation/1 document of a stored schedule."""
    kept = context.stored(SCHEDULE, identity)
    topology = topologies.load_subject(context, kept.value.subject).topology
    return _simulated(kept.value.load(), topology, request, kept.id)


def of_document(document: Any, topology: Topology, request: SimulationRequest) -> Presented:
    """Return the simulation/1 document of a schedule/1 document.

    Raises
    ------
    InvalidSchedule
        The schedule is not valid on the topology: the first violations are named.
    """
    return _simulated(schedules.read(document, topology), topology, request)


def of_exported(
    form: str,
    files: list[bytes],
    topology: Topology,
    request: SimulationRequest,
    said: schedules.Options | None = None,
) -> Presented:
    """Return the simulation/1 document of an exported program, by its messages.

    Raises
    ------
    InvalidProgram
        Its replay says no, it does not fit the topology, or it is a table of NCCL's tuner.
    """
    return _simulated(schedules.read_exported(form, files, topology, said), topology, request)


def _simulated(
    schedule: "Schedule | Transcript",
    topology: Topology,
    request: SimulationRequest,
    identity: str | None = None,
) -> Presented:
    from schedules.simulate import simulate

    found = simulate(
        schedule,
        topology,
        network_of(request, topology),
        size_bytes=request.bytes,
        chunks=request.chunks,
        synchronous=request.synchronous,
    )
    return of(found, schedule, topology, request, identity)
