"""The main job: the best topology for a workload, with all that stands behind it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from app.schemas import DesignRequest, FrontierRequest, ScheduleRequest, TopologySource
from app.services import all_to_all, codesign, schedules, topologies
from app.services.context import Context
from app.services.costs import cost_object
from app.services.workloads import Job, job_of
from app.store import Artefact, Computed
from schedules.model import Collective
from schedules.workloads.tasks import Task
from synth.cost import Cost
from synth.errors import ClaimBroken

if TYPE_CHECKING:
    from synth.search import Frontier, Point

__all__ = ["collective_cost", "create", "frontier"]


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

    return context.answer("frontier", asked, compute)


def create(context: Context, request: DesignRequest) -> Artefact:
    """Return the stored design/1 document that answers a request.

    ``seconds`` of a point is the time of the whole workload by BFB, and of its all-to-alls
    by their fastest routing; the co-design takes the fastest algorithm for every message
    size.  The best point is the one of least ``seconds`` for one collective, that of the
    co-design for a workload; of equals, the one of fewer steps, then the one of the
    shorter recipe.

    Raises
    ------
    ClaimBroken
        The schedule does not cost what was measured: a bug, and no answer.
    """
    job = job_of(request)
    found = frontier(context, request.hosts()).document()
    asked = request.canonical()

    def compute(identity: str) -> Computed:
        bounds = Cost(found["bounds"]["steps"], Fraction(found["bounds"]["bandwidth"]))
        points = [_point(context, entry, job) for entry in found["frontier"]]
        best = min(points, key=lambda point: (point.seconds, *_simplicity(point.entry)))
        fastest = min(points, key=lambda point: (point.plan.seconds, *_simplicity(point.entry)))
        document = {
            "schema": "design/1",
            "id": identity,
            "request": asked,
            "workload": _workload(job),
            "bounds": {**found["bounds"], "seconds": float(job.bound_seconds(bounds))},
            "frontier": [point.entry for point in points],
            "best": _best(context, job, best if request.collective else fastest),
            "co_design": {
                **codesign.described(context, fastest.plan, job, bounds),
                "points": [
                    {"topology_id": plan.entry["topology_id"], "seconds": float(plan.seconds)}
                    for plan in (point.plan for point in points)
                ],
            },
            "baselines": job.baselines(),
        }
        summary = {name: document["best"][name] for name in ("recipe", "seconds")}
        return Computed.json(document, summary)

    return context.answer("design", asked, compute)


def _entry(context: Context, found: "Frontier", point: "Point") -> dict[str, Any]:
    source = TopologySource(recipe=str(point.recipe))
    artefact = topologies.create(context, source)
    return {
        "name": artefact.summary["name"],
        "recipe": str(point.recipe),
        "nodes": found.nodes,
        "degree": found.degree,
        **cost_object(point.cost),
        "transpose": cost_object(point.transpose),
        "status": point.status(found.bounds),
        "gap": cost_object(point.gap(found.bounds)),
        "topology_id": artefact.id,
    }


@dataclass(frozen=True, slots=True)
class _Point:
    """A point of the frontier, with its time by one algorithm and its plan by size."""

    entry: dict[str, Any]
    seconds: Fraction
    plan: codesign.Planned


def _point(context: Context, entry: dict[str, Any], job: Job) -> _Point:
    plan = codesign.plan(context, entry, job)
    plain = sum((_plain(plan, task) * task.count for task in job.tasks), Fraction(0))
    rest = {name: value for name, value in entry.items() if name != "topology_id"}
    timed = {**rest, "seconds": float(plain), "topology_id": entry["topology_id"]}
    return _Point(timed, plain, plan)


def _plain(plan: codesign.Planned, task: Task) -> Fraction:
    """Return the time of a task by BFB, or, of all-to-all, by the fastest routing."""
    ways = plan.ways[task.collective]
    usual = [way for way in ways if way.name == "bfb"] or ways
    return min(way.seconds(task.size_bytes) for way in usual)


def _workload(job: Job) -> dict[str, Any]:
    named = {"preset": job.request.preset, "title": job.title} if job.title else {}
    return named | {
        "tasks": [
            {"collective": str(task.collective), "bytes": task.size_bytes, "count": task.count}
            for task in job.tasks
        ]
    }


def _simplicity(entry: dict[str, Any]) -> tuple[int, int, str]:
    return entry["steps"], len(entry["recipe"]), entry["recipe"]


def _best(context: Context, job: Job, point: _Point) -> dict[str, Any]:
    """Return the best point; for one collective with its schedule."""
    entry, request = point.entry, job.request
    best = {name: entry[name] for name in ("recipe", "seconds", "topology_id")}
    if request.collective is None:
        reason = "schedules of a workload are in co_design"
        best["seconds"] = float(point.plan.seconds)
        return {**best, "schedule": None, "schedule_left_out": reason}
    collective = job.tasks[0].collective
    exchange = collective is Collective.ALL_TO_ALL
    limit = context.settings.max_routed_nodes if exchange else context.settings.max_scheduled_nodes
    if request.nodes > limit:
        reason = f"schedules are generated for at most {limit} nodes here"
        return {**best, "schedule": None, "schedule_left_out": reason}
    wanted = ScheduleRequest(
        topology=TopologySource(id=entry["topology_id"]),
        collective=request.collective,
        algorithm="mcf" if exchange else "bfb",
    )
    summary = schedules.create(context, wanted).summary
    if not exchange:
        _require_cost(summary, *collective_cost(entry, collective))
    names = ("id", "algorithm", "collective", "steps", "bandwidth", "chunks_per_shard", "parts")
    return {**best, "schedule": {name: summary[name] for name in names if name in summary}}


def collective_cost(entry: dict[str, Any], collective: Collective) -> tuple[int, Fraction]:
    """Return the steps and the bandwidth that a collective takes at a point of a frontier/1.

    An allgather costs what G costs, a reduce-scatter what the transpose does, an allreduce
    both.
    """
    used = {
        Collective.ALLGATHER: [entry],
        Collective.REDUCE_SCATTER: [entry["transpose"]],
        Collective.ALLREDUCE: [entry["transpose"], entry],
    }[collective]
    steps = sum(cost["steps"] for cost in used)
    return steps, sum((Fraction(cost["bandwidth"]) for cost in used), Fraction())


def _require_cost(summary: dict[str, Any], steps: int, bandwidth: Fraction) -> None:
    """Refuse a schedule whose sends do not cost what was measured on the graph."""
    derived = summary["steps"], Fraction(summary["bandwidth"])
    if derived != (steps, bandwidth):
        raise ClaimBroken(
            "schedule", f"costs {derived[0]} steps and {derived[1]}, not {steps} and {bandwidth}"
        )
