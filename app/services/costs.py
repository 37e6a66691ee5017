"""Measuring: what collectives cost on a topology, and the best they could."""

from fractions import Fraction
from typing import Any

from app.schemas import TopologySource
from app.services import all_to_all, topologies
from app.services.context import Context
from app.store import Artefact, Computed
from schedules.errors import NoSchedule
from synth.cost import Cost, Links, lower_bound
from synth.topology import Topology

__all__ = ["OPTIMA", "cost_object", "measure", "optimum"]

OPTIMA = ("allgather", "all-to-all")
"""The collectives whose optimum is known."""


def measure(context: Context, source: TopologySource, *, field: str = "") -> Artefact:
    """Return the stored cost/1 document: the exact cost of G and of its transpose."""
    loaded = topologies.load(context, source, field=field)

    def compute(identity: str) -> Computed:
        from synth.measure import measure_both

        topology = loaded.topology
        cost, transpose = measure_both(topology)
        facts = {"steps": cost.steps, "bandwidth": str(cost.bandwidth)}
        document = {
            "schema": "cost/1",
            "id": identity,
            "topology_id": loaded.id,
            "topology": topology.digest,
            "name": topology.name,
            "nodes": topology.node_count,
            "degree": topology.degree,
            "links": _links(topology).value,
            **facts,
            "transpose": cost_object(transpose),
            "bounds": cost_object(
                lower_bound(topology.node_count, topology.degree, _links(topology))
            ),
        }
        return Computed.json(document, {"name": topology.name, **facts})

    return context.store.get_or_compute("cost", {"topology": loaded.id}, compute)


def optimum(
    context: Context,
    source: TopologySource,
    trees_per_root: int | None = None,
    *,
    field: str = "",
    collective: str = "allgather",
) -> Artefact:
    """Return the stored optimum/1 document: ForestColl's optimum with a certificate.

    With ``trees_per_root`` it is the best rate of that many trees, and the cut that
    forbids a better one.  Of all-to-all it is an all-to-all/1 document.
    """
    if collective not in OPTIMA:
        raise NoSchedule("/collective", f"must be one of {', '.join(OPTIMA)}; not {collective!r}")
    if collective == "all-to-all":
        if trees_per_root is not None:
            raise NoSchedule("/trees_per_root", "is for allgather only")
        return all_to_all.optimum(context, source, field=field)
    loaded = topologies.load(context, source, field=field)
    topology = loaded.topology
    limit = context.settings.max_optimum_nodes
    context.require_at_most(field or "topology", topology.node_count, limit, "nodes")

    def compute(identity: str) -> Computed:
        from schedules.forestcoll import optimum as find

        found = find(topology, trees_per_root)
        document = {
            "schema": "optimum/1",
            "id": identity,
            "topology_id": loaded.id,
            "topology": topology.digest,
            "name": topology.name,
            "bandwidth_unit": topology.bandwidth_unit,
            "nodes": found.compute_nodes,
            "inverse_rate": str(found.inverse_rate),
            "trees_per_root": found.trees_per_root,
            "unit_bandwidth": str(found.unit_bandwidth),
            "algbw": rounded(found.algbw),
            "bottleneck": _bottleneck(topology, found),
        }
        summary = {"name": topology.name, "inverse_rate": str(found.inverse_rate)}
        return Computed.json(document, summary)

    asked: dict[str, Any] = {"topology": loaded.id}
    if trees_per_root is not None:
        asked["trees_per_root"] = trees_per_root
    return context.store.get_or_compute("optimum", asked, compute)


def cost_object(cost: Cost) -> dict[str, Any]:
    """Return steps and bandwidth as they travel."""
    return {"steps": cost.steps, "bandwidth": str(cost.bandwidth)}


def rounded(value: Fraction) -> float:
    """Return a number for people: four decimals."""
    return round(float(value), 4)


def _links(topology: Topology) -> Links:
    return Links.BIDIRECTIONAL if topology.is_bidirectional else Links.UNIDIRECTIONAL


def _bottleneck(topology: Topology, found: Any) -> dict[str, Any] | None:
    if found.bottleneck is None:
        return None
    return {
        "nodes": [node for node in topology.nodes if node in found.bottleneck],
        "compute_inside": found.compute_inside,
        "exit_capacity": str(found.exit_capacity),
    }
