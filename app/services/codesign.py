"""One topology for a job, and for every message size the fastest way to use it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from app.schemas import DesignRequest, ScheduleRequest, TopologySource
from app.services import schedules, topologies
from app.services.context import Context
from app.services.workloads import Job
from schedules.baselines import PASSES, Workload
from schedules.codesign import ONE_SHOT, Offer, Routing, candidates
from schedules.errors import TooLarge
from schedules.model import Collective
from schedules.switch_over import Candidate, ranges
from schedules.workloads.tasks import Task
from synth.cost import Cost, optimal_bandwidth

if TYPE_CHECKING:
    from schedules.simulate import Lockstep

__all__ = ["FOREST_NODES", "Planned", "described", "plan"]

FOREST_NODES = 128
"""Up to so many hosts ForestColl's trees are looked at; they are packed for that."""

LARGEST_BYTES = 1 << 30
"""Trees are cut as finely as pays for so many bytes, or for the largest task."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What runs a task: a candidate, in how many pieces and rounds, and how long once."""

    task: Task
    algorithm: str
    chunks: int
    rounds: int
    seconds: Fraction


@dataclass(frozen=True, slots=True)
class Planned:
    """A topology and what runs on it; ``ways`` are the candidates of each collective."""

    entry: dict[str, Any]
    seconds: Fraction
    chosen: tuple[Chosen, ...]
    ways: dict[Collective, tuple[Candidate, ...]]


def plan(context: Context, entry: dict[str, Any], job: Job) -> Planned:
    """Return the fastest way to run every task on the topology of a frontier's entry."""
    offer = _offer(context, entry, job)
    ways = {}
    for collective in job.collectives:
        work = job.work(Task(collective, 1))
        ways[collective] = candidates(offer, work, max(LARGEST_BYTES, job.largest_bytes))
    chosen = tuple(_fastest(task, ways[task.collective], job.work(task)) for task in job.tasks)
    total = sum((one.seconds * one.task.count for one in chosen), Fraction(0))
    return Planned(entry, total, chosen, ways)


def described(context: Context, planned: Planned, job: Job, bounds: Cost) -> dict[str, Any]:
    """Return the co-design as it travels, with a verified schedule for everything used."""
    floors = {task: job.floor_seconds(task, bounds) for task in job.tasks}
    least = sum((floors[task] * task.count for task in job.tasks), Fraction(0))
    return {
        "recipe": planned.entry["recipe"],
        "topology_id": planned.entry["topology_id"],
        "seconds": float(planned.seconds),
        "floor_seconds": float(least),
        "tasks": [_task(one, floors[one.task]) for one in planned.chosen],
        "switch_over": [
            {"collective": collective.value, "from_bytes": part.first_bytes, "algorithm": part.name}
            for collective, ways in planned.ways.items()
            for part in ranges(ways)
        ],
        "schedules": _schedules(context, planned, job.request),
    }


def _offer(context: Context, entry: dict[str, Any], job: Job) -> Offer:
    forth, back = entry, entry["transpose"]
    gather, scatter = (Cost(one["steps"], Fraction(one["bandwidth"])) for one in (forth, back))
    routings = entry["all_to_all"]["routings"] if "all_to_all" in entry else ()
    trees = None
    worst = max(gather.bandwidth, scatter.bandwidth)
    passes = any(collective in PASSES for collective in job.collectives)
    # Where both reach the optimal bandwidth no pipeline can beat them.
    if passes and worst > optimal_bandwidth(entry["nodes"]) and entry["nodes"] <= FOREST_NODES:
        trees = (
            _trees(context, entry, job.request, Collective.ALLGATHER),
            _trees(context, entry, job.request, Collective.REDUCE_SCATTER),
        )
    return Offer(
        entry["nodes"],
        gather,
        scatter,
        trees,
        tuple(
            Routing(
                "shortest-paths" if one["method"] == "shortest-paths" and index == 0 else "mcf",
                Cost(one["steps"], Fraction(one["bandwidth"])),
            )
            for index, one in enumerate(routings)
        ),
    )


def _trees(
    context: Context, entry: dict[str, Any], request: DesignRequest, collective: Collective
) -> "Lockstep":
    """Return ForestColl's trees for one byte in lock step."""
    from schedules.formats.schedule.binary import unpack
    from schedules.model import TreeSchedule
    from schedules.simulate import Network, lockstep
    from schedules.verify.costs import node_capacity

    source = TopologySource(id=entry["topology_id"])
    asked = ScheduleRequest(topology=source, collective=collective.value, algorithm="forestcoll")
    schedule = unpack(schedules.create(context, asked).content)
    assert isinstance(schedule, TreeSchedule)
    topology = topologies.load(context, source).topology
    rate = request.bytes_per_second / node_capacity(topology)
    return lockstep(schedule, topology, Network(request.alpha_seconds, rate), size_bytes=1)


def _fastest(task: Task, ways: tuple[Candidate, ...], work: Workload) -> Chosen:
    best = min(ways, key=lambda way: way.seconds(task.size_bytes))
    line = best.best(task.size_bytes)
    rounds = int(line.fixed_seconds / work.alpha_seconds)
    return Chosen(task, best.name, line.chunks, rounds, line.seconds(task.size_bytes))


def _task(chosen: Chosen, floor: Fraction) -> dict[str, Any]:
    return {
        "collective": chosen.task.collective.value,
        "bytes": chosen.task.size_bytes,
        "count": chosen.task.count,
        "algorithm": chosen.algorithm,
        "chunks": chosen.chunks,
        "steps": chosen.rounds,
        "seconds": float(chosen.seconds),
        "floor_seconds": float(floor),
    }


def _schedules(context: Context, planned: Planned, request: DesignRequest) -> list[dict[str, Any]]:
    """Return a verified schedule, or why there is none, for every algorithm in use."""
    used = dict.fromkeys((one.task.collective, one.algorithm) for one in planned.chosen)
    return [
        {"collective": collective.value, "algorithm": algorithm}
        | _schedule(context, planned.entry, collective, algorithm)
        for collective, algorithm in used
    ]


def _schedule(
    context: Context, entry: dict[str, Any], collective: Collective, algorithm: str
) -> dict[str, Any]:
    # In one pass every rank gathers all contributions: an allgather of N times the bytes.
    runs = Collective.ALLGATHER if algorithm == ONE_SHOT else collective
    asked = ScheduleRequest.model_validate(
        {
            "topology": {"id": entry["topology_id"]},
            "collective": runs.value,
            "algorithm": "bfb" if algorithm == ONE_SHOT else algorithm,
        }
    )
    try:
        return {"runs": runs.value, "id": schedules.create(context, asked).id}
    except TooLarge as limit:
        return {"runs": runs.value, "id": None, "left_out": limit.rule}
