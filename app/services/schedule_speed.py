"""The speed of a stored schedule, and the optimum of its topology."""

from dataclasses import replace
from fractions import Fraction

from topoloom.app.documents.schedule import SCHEDULE
from topoloom.app.requests.schedules import (
    ExportRequest,
    ForestRequest,
    OptimumRequest,
    ScheduleRequest,
)
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import costs, topologies
from topoloom.app.services.all_to_all import exchange_on
from topoloom.app.services.context import Context
from topoloom.app.services.program_files import ProgramFile
from topoloom.app.services.topologies import StoredTopology
from topoloom.app.store.artifacts import Artefact
from topoloom.schedules.compare.bandwidths import (
    Speed,
    SpeedSettings,
    program_speed,
    simulated_seconds,
)
from topoloom.schedules.compare.bandwidths import schedule_speed as speed_of
from topoloom.schedules.model.schedule import Collective
from topoloom.synth.topology.topology import Topology

MAX_COMPARED_NODES = 256
"""Most nodes for which the speed includes the optimum, which may take minutes."""

MAX_COMPARED_ROUTED_NODES = 64
"""The same limit for all-to-all."""

_FREE = frozenset(ForestRequest.model_fields) - {"trees_per_root", "max_gap"}
"""Options that the optimum shares with the schedule; the number of trees is free."""


def speed(
    context: Context,
    artefact: Artefact,
    request: ScheduleRequest,
    on: ExportRequest,
    written: ProgramFile | None = None,
) -> Speed:
    """Return the speed of a stored schedule on hosts of the speed ``on``.

    With an exported program ``written``, all figures are those of its files.  The time is that of
    `topoloom simulate`, or the lock-step time without a simulation.  The optimum is that of
    `app.services.costs`: for an allreduce, the optima of its two passes in sequence; for
    all-to-all, the bound.
    """
    kept = SCHEDULE.read(artefact)
    loaded = topologies.load_subject(context, kept.subject)
    topology, best = loaded.topology, _best(context, loaded, request)
    asked = on_of(on, topology)
    timed = on.bytes is not None
    topologies.note_speeds(context, topology, on.alpha_us, on.node_gbps, timed=timed)
    if written is not None:
        return program_speed(
            written.traffic(),
            topology,
            asked,
            transcript=lambda: written.transcript(topology),
            facts=kept.facts,
            best=best,
        )
    schedule = kept.load
    simulated = simulated_seconds(schedule(), topology, asked) if on.bytes is not None else None
    if simulated is None:
        return speed_of(kept.facts, topology, asked, schedule=schedule, best=best)
    untimed = replace(asked, size_bytes=None)
    found = speed_of(kept.facts, topology, untimed, schedule=schedule, best=best)
    return replace(found, on=asked, seconds=float(simulated))


def on_of(on: ExportRequest, topology: Topology) -> SpeedSettings:
    """Return the given speed of the hosts, and the size of the data."""
    from topoloom.synth.topology.hops import hop_seconds
    from topoloom.synth.topology.rates import unit_bytes_per_second

    node = None if on.node_gbps is None else Fraction(on.node_gbps)
    unit = unit_bytes_per_second(topology, node)
    alpha_us = None if on.alpha_us is None else Fraction(on.alpha_us)
    return SpeedSettings(unit, hop_seconds(topology, alpha_us), on.bytes)


def _best(context: Context, loaded: StoredTopology, request: ScheduleRequest) -> Fraction | None:
    """Return the optimal algbw in units of capacity; None for too many nodes."""
    routed = request.collective == Collective.ALL_TO_ALL
    most = MAX_COMPARED_ROUTED_NODES if routed else MAX_COMPARED_NODES
    if loaded.topology.node_count > most:
        return None
    if routed:
        found = exchange_on(context, loaded).value.found
        return found.nodes / found.lower
    asked = {"collective": request.collective, **request.canonical_part(_FREE)}
    wanted = OptimumRequest.model_validate(asked)
    return costs.rate(context, TopologySource(id=loaded.id), wanted).algbw
