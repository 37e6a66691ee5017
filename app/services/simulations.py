"""Simulations: the time of a schedule on a fabric of a given speed."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topoloom.app.documents.base import Presented
from topoloom.app.documents.simulation import SIMULATION, Simulated, of
from topoloom.app.requests.evaluations import TimedScheduleRequest
from topoloom.app.requests.schedules import SimulationRequest
from topoloom.app.services import schedules, topologies
from topoloom.app.services.context import Context
from topoloom.app.services.program_files import ProgramFile
from topoloom.app.services.submitted_schedules import submitted_schedule
from topoloom.app.store.artifacts import Artefact
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.schedules.formats.inspection.rank_traffic import Traffic
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.schedules.model.transcript import Transcript

_UNSHARED = "the simulation sends each copy by itself, where multicast switches copy and add up"


def create(context: Context, request: TimedScheduleRequest) -> Artefact:
    """Return the stored simulation/1 document of a stored or submitted schedule."""
    found = submitted_schedule(context, request)
    topology = found.loaded.topology
    asked = request.simulation().on(topology)
    topologies.note_speeds(context, topology, asked.alpha_us, asked.node_gbps, asked.link_gbps)

    def compute() -> Simulated:
        schedule, notes, traffic = found.read(), found.remarks(), found.traffic()
        document = _simulated(schedule, topology, asked, found.stored_id, notes, traffic)
        return Simulated(topology.name, document)

    return context.answer(
        SIMULATION, {**found.asked, "simulation": asked.canonical()}, compute
    ).artefact


def of_document(document: Any, topology: Topology, request: SimulationRequest) -> Presented:
    """Return the simulation/1 document of a schedule/1 document.

    Raises:
        InvalidSchedule: The schedule is not valid on the topology; the error names the first
            violations.
    """
    return _simulated(schedules.read(document, topology), topology, request.on(topology))


def of_program(
    program: ProgramFile, topology: Topology, request: SimulationRequest, option: str
) -> Presented:
    """Return the simulation/1 document of the messages of an exported program.

    ``option`` is the user-facing name of the option that changes the dialect.

    Raises:
        InvalidProgram: The replay fails, the program does not fit the topology, or the file is an
            NCCL tuner table.
    """
    sent, notes, asked = program.transcript(topology), program.remarks(option), request.on(topology)
    return _simulated(sent, topology, asked, notes=notes, traffic=program.traffic())


def _simulated(
    schedule: "Schedule | Transcript",
    topology: Topology,
    request: SimulationRequest,
    identity: str | None = None,
    notes: Sequence[str] = (),
    traffic: "Traffic | None" = None,
) -> Presented:
    from topoloom.schedules.simulate import simulate

    network = request.network(topology)
    found = simulate(
        schedule,
        topology,
        network,
        size_bytes=request.bytes,
        chunks=request.chunks,
        synchronous=request.synchronous,
    )
    rate, left_out = _large(schedule if traffic is None else traffic, topology)
    large = None if rate is None else rate * network.unit_bytes_per_second
    told = [*notes, *([_UNSHARED] if left_out else [])]
    return of(found, schedule, topology, request, identity, bytes_per_second=large, notes=told)


def _large(
    schedule: "Schedule | Transcript | Traffic", topology: Topology
) -> tuple[Fraction | None, bool]:
    """Return the algbw for large data, and whether switches copy or reduce data for it."""
    from topoloom.schedules.compare.bandwidths import algorithm_bandwidth
    from topoloom.schedules.formats.inspection.rank_traffic import Traffic, traffic_rate
    from topoloom.schedules.generate.make_and_verify import schedule_costs
    from topoloom.schedules.model.transcript import Transcript

    if isinstance(schedule, Traffic):
        copied = bool(topology.multicast) and any(sent.shared >= 0 for sent in schedule.sent)
        return traffic_rate(schedule, topology), copied
    if isinstance(schedule, Transcript):
        return None, False
    found = schedule_costs(schedule, topology)
    saved = found.multicast
    copied = saved is not None and saved.crossings != saved.crossings_unshared
    sends = bool(found.bandwidth or found.inverse_rate)
    return (algorithm_bandwidth(found, topology) if sends else None), copied
