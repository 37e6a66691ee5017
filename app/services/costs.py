"""Measuring: what collectives cost on a topology, and the best they could."""

from collections.abc import Callable
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

from app.schemas import OptimumRequest, TopologySource
from app.services import all_to_all, topologies
from app.services.context import Context
from app.services.demands import FOREST_ONLY, asked_of, options_of
from app.store import Artefact, Computed
from schedules.errors import NoSchedule
from schedules.model import Collective
from synth.cost import Cost, Links, lower_bound
from synth.errors import ClaimBroken, NotMeasurable
from synth.topology import Topology

if TYPE_CHECKING:
    from schedules.forestcoll import Optimum

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
            "topology_digest": topology.digest,
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

    return context.answer("cost", {"topology_id": loaded.id}, compute)


def optimum(
    context: Context,
    source: TopologySource,
    request: OptimumRequest | None = None,
    *,
    field: str = "",
) -> Artefact:
    """Return the stored optimum/1 document: ForestColl's optimum with a certificate.

    With ``trees_per_root`` it is the best rate of that many trees, and the cut that
    forbids a better one.  With ``max_gap`` that number is the least within this gap; the
    document then also says the gap and the inverse rate of the optimum.  An allreduce has
    the optima of its two passes as ``parts``.  Of all-to-all it is an all-to-all/1 document.
    """
    request = request or OptimumRequest()
    if request.collective == "all-to-all":
        for name in request.canonical_part(FOREST_ONLY):
            raise NoSchedule(f"/{name}", "is not for all-to-all")
        return all_to_all.optimum(context, source, field=field)
    loaded = topologies.load(context, source, field=field)
    topology = loaded.topology
    limit = context.settings.max_optimum_nodes
    context.require_at_most(field or "topology", topology.node_count, limit, "nodes")
    asked = {"topology_id": loaded.id} | asked_of(request, topology)
    if request.collective != "allgather":
        asked["collective"] = request.collective

    def compute(identity: str) -> Computed:
        collective = Collective.of(request.collective)
        found = _optimum(topology, collective, options_of(asked))
        document: dict[str, Any] = {
            "schema": "optimum/1",
            "id": identity,
            "topology_id": loaded.id,
            "topology_digest": topology.digest,
            "name": topology.name,
            "bandwidth_unit": topology.bandwidth_unit,
            "collective": request.collective,
            **{name: asked[name] for name in ("root", "shards", "participants") if name in asked},
            **found,
        }
        if loaded.healthy is not None:
            source = TopologySource(id=loaded.healthy)
            before = optimum(context, source, request, field=field).document()
            document["healthy"] = _beside(before, document)
        summary = {"name": topology.name, "inverse_rate": document["inverse_rate"]}
        return Computed.json(document, summary)

    return context.answer("optimum", asked, compute)


def _before(context: Context, healthy: str) -> dict[str, Any] | None:
    """Return the cost of the healthy topology; None if only the changed one has a cost."""
    try:
        document = measure(context, TopologySource(id=healthy)).document()
    except NotMeasurable:
        return None
    members = ("topology_id", "name", "degree", "steps", "bandwidth", "transpose")
    return {member: document[member] for member in members}


def _beside(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the optimum of the healthy topology, and the share of its algbw that is left."""
    was, now = (
        Fraction(found["data"]) / Fraction(found["inverse_rate"]) for found in (before, after)
    )
    members = ("topology_id", "name", "nodes", "inverse_rate", "algbw")
    return {member: before[member] for member in members} | {"ratio": str(now / was)}


def _optimum(topology: Topology, collective: Collective, options: dict[str, Any]) -> dict[str, Any]:
    """Return what is optimal of one collective, in the members of optimum/1."""
    from schedules.collectives import require_root
    from schedules.forestcoll import optimum as find

    require_root(collective, options.get("root"), options.get("shards"))
    if collective is not Collective.ALLREDUCE:
        return _one_pass(topology, collective, find, options)
    parts: list[dict[str, Any]] = [
        {"collective": str(part)} | _one_pass(topology, part, find, options)
        for part in (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    ]
    inverse = sum((Fraction(part["inverse_rate"]) for part in parts), Fraction())
    common: dict[str, Any] = {name: parts[0][name] for name in ("nodes", "data")}
    return common | {
        "inverse_rate": str(inverse),
        "algbw": rounded(common["data"] / inverse),
        "parts": parts,
        **_together(topology, options.get("participants"), common["data"], inverse),
    }


def _together(
    topology: Topology, participants: Any, data: int, inverse: Fraction
) -> dict[str, Any]:
    """Return how fast both passes of an allreduce could be at once, and how far off this is."""
    from schedules.errors import TooLarge
    from schedules.forestcoll.allreduce import allreduce_bound

    try:
        bound = allreduce_bound(topology, participants)
    except TooLarge as error:
        return {"bound_left_out": error.rule}
    least = data / bound.rate
    facts: dict[str, Any] = {
        "inverse_rate": str(least),
        "algbw": rounded(bound.rate),
        "gap": str(inverse / least - 1),
        "exact": bound.feasible == bound.rate,
    }
    if bound.feasible < bound.rate:
        facts["feasible_algbw"] = rounded(bound.feasible)
    return {"bound": facts}


def _one_pass(
    topology: Topology,
    collective: Collective,
    find: Callable[..., "Optimum"],
    options: dict[str, Any],
) -> dict[str, Any]:
    found = find(topology, inward=not collective.outward, **options)
    _require_proof(topology, collective, found, options)
    facts: dict[str, Any] = {
        "nodes": found.compute_nodes,
        "data": found.data,
        "inverse_rate": str(found.inverse_rate),
        "trees_per_root": found.trees_per_root,
        "unit_bandwidth": str(found.unit_bandwidth),
        "algbw": rounded(found.algbw),
        "bottleneck": _bottleneck(topology, found, collective.outward),
    }
    if "max_gap" in options:
        facts |= {
            "max_gap": str(options["max_gap"]),
            "gap": str(found.gap),
            "optimal_inverse_rate": str(found.inverse_rate / (1 + found.gap)),
        }
    return facts


def _require_proof(
    topology: Topology, collective: Collective, found: "Optimum", options: dict[str, Any]
) -> None:
    """Raise `ClaimBroken` unless the links around the bottleneck alone allow nothing better."""
    from schedules.verify.cuts import cut_inverse_rate

    ranks = options.get("participants") or topology.compute_nodes
    shards = options.get("shards") or dict.fromkeys(ranks, 1)
    if "root" in options:
        shards = {options["root"]: 1}
    common = gcd(*shards.values())
    sizes = {rank: shards.get(rank, 0) // common for rank in ranks}
    counted = "trees_per_root" in options or "max_gap" in options
    proven = cut_inverse_rate(
        topology,
        found.bottleneck,
        sizes,
        trees_per_root=found.trees_per_root if counted else None,
        inward=not collective.outward,
    )
    if proven != found.inverse_rate:
        raise ClaimBroken("optimum", f"the cut proves {proven}, not {found.inverse_rate}")


def cost_object(cost: Cost) -> dict[str, Any]:
    """Return steps and bandwidth as they travel."""
    return {"steps": cost.steps, "bandwidth": str(cost.bandwidth)}


def rounded(value: Fraction) -> float:
    """Return a number for people: four decimals."""
    return round(float(value), 4)


def _links(topology: Topology) -> Links:
    return Links.BIDIRECTIONAL if topology.is_bidirectional else Links.UNIDIRECTIONAL


def _bottleneck(topology: Topology, found: "Optimum", outward: bool) -> dict[str, Any]:
    from schedules.crossing import crossings, parts

    return {
        "nodes": [node for node in topology.nodes if node in found.bottleneck],
        "compute_inside": found.compute_inside,
        "data_inside": found.data_inside,
        "exit_capacity" if outward else "entry_capacity": str(found.exit_capacity),
        "boxes": [
            {
                "box": part.box,
                "compute": list(part.compute),
                "missing": list(part.missing),
                "switches": list(part.switches),
            }
            for part in parts(topology, found.bottleneck)
        ],
        "links": [
            {
                "sources": list(group.sources),
                "targets": list(group.targets),
                "count": group.count,
                "capacity": str(group.capacity),
            }
            for group in crossings(topology, found.bottleneck, inward=not outward)
        ],
    }
