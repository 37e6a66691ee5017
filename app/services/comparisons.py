"""Comparisons: stored designs, or schedules, side by side."""

from fractions import Fraction

from app.checking_requests import ComparisonRequest
from app.documents.comparison import (
    COMPARISON,
    ComparedDesigns,
    ComparedSchedules,
    TimedSchedule,
)
from app.documents.schedule import SCHEDULE
from app.services import topologies
from app.services.context import Context
from app.services.speeds import DEFAULT_ALPHA_US
from app.store import Artefact
from schedules.speed import On, speed

__all__ = ["create"]


def create(context: Context, request: ComparisonRequest) -> Artefact:
    """Return the stored comparison/1 document of stored designs or schedules."""
    kind = "design" if request.designs is not None else "schedule"
    ids = [context.completed(kind, one) for one in request.designs or request.schedules]
    said = request.canonical_part(("bytes", "alpha_us", "node_gbps", "overhead_us", "chunk_us"))

    def compute() -> ComparedDesigns | ComparedSchedules:
        if request.designs is not None:
            return ComparedDesigns([context.read(kind, one) for one in ids])
        return ComparedSchedules([_timed(context, one, request) for one in ids])

    return context.keep(COMPARISON, {"of": {kind: ids}} | said, compute)


def _timed(context: Context, identity: str, request: ComparisonRequest) -> TimedSchedule:
    from schedules.verify.costs import unit_bytes_per_second

    kept = context.stored(SCHEDULE, identity).value
    topology = topologies.load_subject(context, kept.subject).topology
    node = None if request.node_gbps is None else Fraction(request.node_gbps)
    alpha_us = DEFAULT_ALPHA_US if request.alpha_us is None else Fraction(request.alpha_us)
    on = On(
        unit_bytes_per_second(topology, node),
        alpha_us / 10**6,
        request.bytes,
        Fraction(request.overhead_us or 0) / 10**6,
        Fraction(request.chunk_us or 0) / 10**6,
    )
    found = speed(kept.facts, topology, on, schedule=kept.load)
    return TimedSchedule(identity, kept, len(topology.compute_nodes), found)
