"""How fast a stored schedule is: its bandwidths, how far off the optimum, its time for a size."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from app.schemas import (
    ExportRequest,
    ForestRequest,
    OptimumRequest,
    ScheduleRequest,
    TopologySource,
)
from app.services import costs, topologies
from app.services.context import Context
from app.store import Artefact
from schedules.model import Collective

if TYPE_CHECKING:
    from synth.topology import Topology

__all__ = ["MAX_COMPARED_NODES", "Speed", "speed"]

MAX_COMPARED_NODES = 256
"""Above, the optimum is not looked for beside a schedule: it may take minutes."""
MAX_COMPARED_ROUTED_NODES = 64
DEFAULT_ALPHA_US = Fraction(10)


@dataclass(frozen=True, slots=True)
class Speed:
    """Rates of much data in bytes/s; ``gap`` is how much longer than the optimum it takes.

    ``busbw`` is algbw times what nccl-tests multiply it by: the rate at which hosts must
    send.  ``gap`` is None where the optimum was not looked for.  ``seconds`` is the time
    of ``size_bytes``, if that was asked, by the alpha-beta model of the schedule alone.
    """

    algbw: Fraction
    busbw: Fraction
    gap: Fraction | None
    alpha_us: Fraction
    size_bytes: int | None = None
    seconds: float | None = None


def speed(
    context: Context, artefact: Artefact, request: ScheduleRequest, on: ExportRequest
) -> Speed:
    """Return how fast a stored schedule is, on hosts of the speed that ``on`` says.

    The optimum is that of `app.services.costs.optimum`: of an allreduce, the optima of its
    two passes one after the other; of all-to-all, the bound.
    """
    from schedules.formats.schedule.binary import unpack
    from schedules.simulate.estimates import estimate
    from schedules.verify.costs import unit_bytes_per_second

    source = TopologySource(id=artefact.summary["topology_id"])
    topology = topologies.load(context, source).topology
    node = None if on.node_gbps is None else Fraction(on.node_gbps)
    unit = unit_bytes_per_second(topology, node)
    alpha_us = DEFAULT_ALPHA_US if on.alpha_us is None else Fraction(on.alpha_us)
    collective = Collective.of(request.collective)
    rate = _rate(artefact.summary, topology)
    best = _best_rate(context, source, topology, request)
    seconds = None
    if on.bytes is not None:
        found = estimate(
            unpack(artefact.content),
            topology,
            size_bytes=on.bytes,
            alpha_seconds=float(alpha_us / 10**6),
            unit_bytes_per_second=float(unit),
        )
        seconds = found.seconds
    return Speed(
        rate * unit,
        rate * unit * _bus_factor(collective, _ranks(artefact.summary, topology)),
        None if best is None else best / rate - 1,
        alpha_us,
        on.bytes,
        seconds,
    )


def _rate(summary: dict[str, Any], topology: "Topology") -> Fraction:
    """Return algbw in units of capacity: M over its time on the wire."""
    from schedules.verify.costs import node_capacity

    if "data" in summary:
        return summary["data"] / Fraction(summary["inverse_rate"])
    return node_capacity(topology) / Fraction(summary["bandwidth"])


def _best_rate(
    context: Context, source: TopologySource, topology: "Topology", request: ScheduleRequest
) -> Fraction | None:
    routed = request.collective == "all-to-all"
    if topology.node_count > (MAX_COMPARED_ROUTED_NODES if routed else MAX_COMPARED_NODES):
        return None
    free = set(ForestRequest.model_fields) - {"trees_per_root", "max_gap"}
    asked = {"collective": request.collective} | request.canonical_part(free)
    document = costs.optimum(context, source, OptimumRequest.model_validate(asked)).document()
    if routed:
        return document["nodes"] / Fraction(document["lower_bound"])
    return document["data"] / Fraction(document["inverse_rate"])


def _ranks(summary: dict[str, Any], topology: "Topology") -> int:
    return summary.get("ranks") or len(topology.compute_nodes)


def _bus_factor(collective: Collective, ranks: int) -> Fraction:
    """Return what nccl-tests multiply algbw by, to compare collectives and sizes."""
    if collective.has_root:
        return Fraction(1)
    passes = 2 if collective is Collective.ALLREDUCE else 1
    return Fraction(passes * (ranks - 1), ranks)
