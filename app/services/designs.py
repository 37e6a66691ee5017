"""The main job: the best topology for a workload, with all that stands behind it."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from app.schemas import DesignRequest, FrontierRequest, ScheduleRequest, TopologySource
from app.services import all_to_all, schedules, topologies
from app.services.context import Context
from app.services.costs import cost_object
from app.store import Artefact, Computed
from schedules.baselines import Workload, baselines, bound_seconds, seconds
from schedules.model import Collective
from synth.errors import ClaimBroken

if TYPE_CHECKING:
    from synth.search import Frontier, Point

__all__ = ["create", "frontier"]


def frontier(context: Context, request: FrontierRequest) -> Artefact:
    """Return the stored frontier/1 document: the Pareto frontier for these hosts."""
    settings = context.settings
    context.require_at_most("/nodes", request.nodes, settings.max_nodes, "nodes")
    links = request.nodes * request.degree
    context.require_at_most("/degree", links, settings.max_links, "links in all")
    asked = request.canonical()

    def compute(identity: str) -> Computed:
        from synth.cost import Links
        from synth.search import frontier as search

        found = search(
            request.nodes,
            request.degree,
            Links(request.links),
            parallel_links=request.parallel_links,
            vertex_transitive=request.vertex_transitive,
            families=request.families,
            max_steps=request.max_steps,
        )
        document = {
            "schema": "frontier/1",
            "id": identity,
            "request": asked,
            "bounds": cost_object(found.bounds),
            "frontier": [_entry(context, found, point) for point in found.points],
        }
        if request.all_to_all:
            for entry in document["frontier"]:
                entry["all_to_all"] = all_to_all.point(context, entry["topology_id"])
        return Computed.json(document, {"points": len(found.points)})

    return context.store.get_or_compute("frontier", asked, compute)


def create(context: Context, request: DesignRequest) -> Artefact:
    """Return the stored design/1 document that answers a request.

    The best point is the one of least time for the workload; of equals, the one of
    fewer steps, then the one of the shorter recipe.

    Raises
    ------
    ClaimBroken
        The schedule does not cost what was measured: a bug, and no answer.
    """
    found = frontier(context, request.hosts()).document()
    asked = request.canonical()
    workload = _workload(request)

    def compute(identity: str) -> Computed:
        entries = [_timed(entry, workload) for entry in found["frontier"]]
        best = min(entries, key=lambda pair: (pair[0], pair[1]["steps"], _simplicity(pair[1])))
        document = {
            "schema": "design/1",
            "id": identity,
            "request": asked,
            "bounds": _timed_bounds(found["bounds"], workload),
            "frontier": [entry for _, entry in entries],
            "best": _best(context, request, best[1]),
            "baselines": _baselines(request, workload),
        }
        summary = {"recipe": best[1]["recipe"], "seconds": best[1]["seconds"]}
        return Computed.json(document, summary)

    return context.store.get_or_compute("design", asked, compute)


def _entry(context: Context, found: "Frontier", point: "Point") -> dict[str, Any]:
    source = TopologySource(recipe=str(point.recipe))
    artefact = topologies.create(context, source)
    return {
        "recipe": str(point.recipe),
        "nodes": found.nodes,
        "degree": found.degree,
        **cost_object(point.cost),
        "transpose": cost_object(point.transpose),
        "status": point.status(found.bounds),
        "gap": cost_object(point.gap(found.bounds)),
        "topology_id": artefact.id,
    }


def _workload(request: DesignRequest) -> Workload:
    return Workload(
        Collective.of(request.collective),
        request.bytes,
        request.bytes_per_second,
        request.alpha_seconds,
    )


def _collective_cost(entry: dict[str, Any], collective: Collective) -> tuple[int, Fraction]:
    """Allgather costs what G costs, reduce-scatter what the transpose does, allreduce both."""
    used = {
        Collective.ALLGATHER: [entry],
        Collective.REDUCE_SCATTER: [entry["transpose"]],
        Collective.ALLREDUCE: [entry["transpose"], entry],
    }[collective]
    steps = sum(cost["steps"] for cost in used)
    return steps, sum((Fraction(cost["bandwidth"]) for cost in used), Fraction())


def _timed(entry: dict[str, Any], workload: Workload) -> tuple[Fraction, dict[str, Any]]:
    exact = seconds(*_collective_cost(entry, workload.collective), workload)
    identity = entry["topology_id"]
    rest = {name: value for name, value in entry.items() if name != "topology_id"}
    return exact, {**rest, "seconds": float(exact), "topology_id": identity}


def _timed_bounds(bounds: dict[str, Any], workload: Workload) -> dict[str, Any]:
    exact = bound_seconds(bounds["steps"], Fraction(bounds["bandwidth"]), workload)
    return {**bounds, "seconds": float(exact)}


def _simplicity(entry: dict[str, Any]) -> tuple[int, str]:
    return len(entry["recipe"]), entry["recipe"]


def _best(context: Context, request: DesignRequest, entry: dict[str, Any]) -> dict[str, Any]:
    limit = context.settings.max_scheduled_nodes
    best = {name: entry[name] for name in ("recipe", "seconds", "topology_id")}
    if request.nodes > limit:
        reason = f"schedules are generated for at most {limit} nodes here"
        return {**best, "schedule": None, "schedule_left_out": reason}
    wanted = ScheduleRequest(
        topology=TopologySource(id=entry["topology_id"]),
        collective=request.collective,
        algorithm="bfb",
    )
    summary = schedules.create(context, wanted).summary
    _require_cost(summary, *_collective_cost(entry, Collective.of(request.collective)))
    names = ("id", "algorithm", "collective", "steps", "bandwidth", "chunks_per_shard", "parts")
    return {**best, "schedule": {name: summary[name] for name in names if name in summary}}


def _require_cost(summary: dict[str, Any], steps: int, bandwidth: Fraction) -> None:
    """Refuse a schedule whose sends do not cost what was measured on the graph."""
    derived = summary["steps"], Fraction(summary["bandwidth"])
    if derived != (steps, bandwidth):
        raise ClaimBroken(
            "schedule", f"costs {derived[0]} steps and {derived[1]}, not {steps} and {bandwidth}"
        )


def _baselines(request: DesignRequest, workload: Workload) -> list[dict[str, Any]]:
    return [
        {
            "name": entry.name,
            "seconds": float(entry.seconds),
            "steps": entry.steps,
            "chunks": entry.chunks,
        }
        for entry in baselines(request.nodes, request.degree, workload)
    ]
