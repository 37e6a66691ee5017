"""Measuring: what collectives cost on a topology, and the best they could."""

from fractions import Fraction
from typing import Any

from app.schemas import TopologySource
from app.services import topologies
from app.services.context import Context
from app.store import Artefact, Computed
from synth.cost import Cost, Links, lower_bound
from synth.errors import NotMeasurable
from synth.topology import Topology

__all__ = ["cost_object", "measure", "optimum"]


def measure(context: Context, source: TopologySource, *, field: str = "") -> Artefact:
    """Return the stored cost/1 document: the exact cost of G and of its transpose."""
    loaded = topologies.load(context, source, field=field)

    def compute(identity: str) -> Computed:
        from synth.measure import measure_both

        topology = loaded.topology
        cost, transpose = measure_both(topology)
        facts = {"steps": cost.steps, "bandwidth": str(cost.bandwidth)}
        document: dict[str, Any] = {
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
        if loaded.healthy is not None and (before := _before(context, loaded.healthy)):
            document["healthy"] = before
        return Computed.json(document, {"name": topology.name, **facts})

    return context.store.get_or_compute("cost", {"topology": loaded.id}, compute)


def optimum(
    context: Context,
    source: TopologySource,
    trees_per_root: int | None = None,
    *,
    field: str = "",
) -> Artefact:
    """Return the stored optimum/1 document: ForestColl's optimum with a certificate.

    With ``trees_per_root`` it is the best rate of that many trees, and the cut that
    forbids a better one.
    """
    loaded = topologies.load(context, source, field=field)
    topology = loaded.topology
    limit = context.settings.max_optimum_nodes
    context.require_at_most(field or "topology", topology.node_count, limit, "nodes")

    def compute(identity: str) -> Computed:
        from schedules.forestcoll import optimum as find

        found = find(topology, trees_per_root)
        document: dict[str, Any] = {
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
        if loaded.healthy is not None:
            source = TopologySource(id=loaded.healthy)
            before = optimum(context, source, trees_per_root, field=field).document()
            document["healthy"] = _beside(before, found.algbw)
        summary = {"name": topology.name, "inverse_rate": str(found.inverse_rate)}
        return Computed.json(document, summary)

    asked: dict[str, Any] = {"topology": loaded.id}
    if trees_per_root is not None:
        asked["trees_per_root"] = trees_per_root
    return context.store.get_or_compute("optimum", asked, compute)


def _before(context: Context, healthy: str) -> dict[str, Any] | None:
    """Return the cost of the healthy topology; None if only the changed one has a cost."""
    try:
        document = measure(context, TopologySource(id=healthy)).document()
    except NotMeasurable:
        return None
    members = ("topology_id", "name", "degree", "steps", "bandwidth", "transpose")
    return {member: document[member] for member in members}


def _beside(before: dict[str, Any], algbw: Fraction) -> dict[str, Any]:
    """Return the optimum of the healthy topology, and the share of it that is left."""
    members = ("topology_id", "name", "nodes", "inverse_rate", "trees_per_root", "algbw")
    healthy = before["nodes"] / Fraction(before["inverse_rate"])
    return {member: before[member] for member in members} | {"ratio": str(algbw / healthy)}


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
