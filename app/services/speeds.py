"""How fast a stored schedule is, beside the optimum of its topology."""

from fractions import Fraction

from app.artefacts import Artefact
from app.documents.schedule import SCHEDULE
from app.schedule_requests import ExportRequest, ForestRequest, OptimumRequest, ScheduleRequest
from app.services import costs, topologies
from app.services.all_to_all import exchange_on
from app.services.context import Context
from app.services.topologies import StoredTopology
from app.topology_source import TopologySource
from schedules.model import Collective
from schedules.speed import On, Speed
from schedules.speed import speed as speed_of
from synth.topology import Topology

__all__ = ["MAX_COMPARED_NODES", "on_of", "speed"]

MAX_COMPARED_NODES = 256
"""Above, the optimum is not looked for beside a schedule: it may take minutes."""

MAX_COMPARED_ROUTED_NODES = 64
"""The same of all-to-all."""

DEFAULT_ALPHA_US = Fraction(10)

_FREE = frozenset(ForestRequest.model_fields) - {"trees_per_root", "max_gap"}
"""What is asked of the optimum as of the schedule; of any number of trees."""


def speed(
    context: Context, artefact: Artefact, request: ScheduleRequest, on: ExportRequest
) -> Speed:
    """Return how fast a stored schedule is, on hosts of the speed that ``on`` says.

    The optimum is that of `app.services.costs`: of an allreduce, the optima of its two
    passes one after the other; of all-to-all, the bound.
    """
    kept = SCHEDULE.decode(artefact)
    loaded = topologies.load_subject(context, kept.subject)
    return speed_of(
        kept.facts,
        loaded.topology,
        on_of(on, loaded.topology),
        schedule=kept.load,
        best=_best(context, loaded, request),
    )


def on_of(on: ExportRequest, topology: Topology) -> On:
    """Return of what speed hosts are, as far as is said, and how much data is asked about."""
    from schedules.verify.costs import unit_bytes_per_second

    node = None if on.node_gbps is None else Fraction(on.node_gbps)
    alpha_us = DEFAULT_ALPHA_US if on.alpha_us is None else Fraction(on.alpha_us)
    return On(unit_bytes_per_second(topology, node), alpha_us / 10**6, on.bytes)


def _best(context: Context, loaded: StoredTopology, request: ScheduleRequest) -> Fraction | None:
    """Return the algbw that no schedule beats, in units of capacity; None where it is dear."""
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
