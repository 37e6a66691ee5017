"""design/1: the best topology for a workload, its schedules, bounds and baselines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.all_to_all import PointExchange, point_exchange
from topoloom.app.documents.base import (
    Document,
    Exact,
    GoalDocument,
    Identity,
    PassCost,
    Stored,
    omitted,
)
from topoloom.app.documents.co_design import CoDesign, TaskDocument, option_members
from topoloom.app.documents.co_design import of as co_design
from topoloom.app.documents.frontier import PointDocument, algorithm_of, point_members
from topoloom.app.documents.schedule import PartFacts, given_facts
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.synth.recipes.recipe import Recipe

if TYPE_CHECKING:
    from topoloom.schedules.baselines import Baseline
    from topoloom.schedules.design import Change, Design, ScheduleInUse
    from topoloom.schedules.routes.routing_choices import AllToAllChoices
    from topoloom.synth.search.frontier import Frontier


@dataclass(frozen=True, slots=True)
class DesignAnswer:
    """A design, and functions from its topologies and schedules to their ids."""

    request: DesignRequest
    design: "Design"
    topology: Callable[[Recipe], Stored]
    schedule: "Callable[[Recipe, ScheduleInUse], str]"


class TimedCost(PassCost):
    """The bounds of one pass, and the time of the workload."""

    seconds: float = Field(
        description="lower bound of the time of the workload in the usual number of passes"
    )


class MovesDocument(Document):
    """Moves from the current wiring to a topology."""

    moves: int | None = Field(
        description="removes plus adds; null if the topology does not fit the plant"
    )
    lower_bound: int = omitted("lower bound of the moves", ge=0)
    kept: int = omitted("links that keep their pair", ge=0)
    optimal: bool = omitted("whether the moves are proven minimal")
    seconds: float = omitted("time of the plan in one stage, from the speeds of the panels", ge=0)
    drained: int = omitted("hosts that lose a link during the work", ge=0)
    objective: GoalDocument = omitted("objective, if other than moves")
    does_not_fit: str = omitted("reason for the absence of a plan")


class TradeOff(Document):
    """A point that no other point beats in both time and objective."""

    recipe: str = Field(description="recipe of the topology")
    name: str = Field(description="short name of the topology")
    topology_id: Identity = Field(description="id of the topology")
    seconds: float = Field(description="time of the workload, the criterion of the best point")
    moves: int = Field(description="moves from the current wiring", ge=0)
    lower_bound: int = Field(description="lower bound of the moves", ge=0)
    rewiring_seconds: float = Field(
        description="time of the moves in one stage, from the speeds of the panels", ge=0
    )
    drained: int = Field(description="hosts that lose a link during the moves", ge=0)
    objective: GoalDocument = omitted("objective, if other than moves")


class PointRouting(Document):
    """The routing of least time for the size of an all-to-all."""

    algorithm: str = Field(description="algorithm of the schedule: shortest-paths or mcf")
    steps: int = Field(description="hops of the longest route", ge=1)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")


class TimedPoint(PointDocument):
    """A point of the frontier, timed."""

    all_to_all: PointExchange = omitted("cost of all-to-all, if the workload has one")
    routing: PointRouting = omitted("fastest routing for the size, if all-to-all is the workload")
    seconds: float = Field(
        description="time of the workload with the schedules of the point; all-to-all with the "
        "fastest routing"
    )
    topology_id: Identity = Field(description="id of the topology")
    rewiring: MovesDocument = omitted("moves from the current wiring, if given")


class BestSchedule(Document):
    """The verified schedule of the best point, with its cost."""

    id: Identity = Field(description="id of the schedule")
    algorithm: str = Field(description="algorithm: bfb or slack; all-to-all: shortest-paths or mcf")
    within_steps: int = omitted("slack: limit of steps per pass", ge=1)
    collective: str = Field(description="collective of the schedule")
    steps: int = Field(description="number of steps, or hops of the longest route", ge=0)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")
    max_chunks: int = omitted("limit of chunks per shard, if chunks cost time", ge=1)
    chunks_per_shard: int = omitted("chunks per shard", ge=1)
    parts: list[PartFacts] = omitted("allreduce: reduce-scatter, then allgather")


class Best(Document):
    """The point with the least time."""

    recipe: str = Field(description="recipe of the topology")
    name: str = Field(description="short name of the topology")
    seconds: float = Field(description="time of the workload on the topology")
    topology_id: Identity = Field(description="id of the topology")
    algorithm: str = Field(description="schedules of the point: bfb or slack")
    within_steps: int = omitted("slack: limit of steps per pass", ge=1)
    schedule: BestSchedule | None = Field(
        description="schedule of a single collective; null if absent"
    )
    schedule_left_out: str = omitted("reason for the absence of a schedule")


class WorkloadDocument(Document):
    """The workload of a design."""

    preset: str = omitted("name of the preset")
    title: str = omitted("title of the preset")
    tasks: list[TaskDocument] = Field(
        description="collectives, with the counts of equal collectives added up"
    )


class BaselineDocument(Document):
    """A baseline on the same hosts."""

    name: str = Field(description="name of the baseline")
    seconds: float = Field(description="time of the workload with the baseline")
    steps: int = Field(description="steps of the whole workload", ge=0)
    chunks: int = Field(description="largest number of chunks", ge=1)
    assumption: str = omitted("equipment beyond cables between the hosts")


class DesignDocument(Document):
    """design/1."""

    schema_: Literal["design/1"] = Field(alias="schema", description="design/1")
    id: Identity = Field(description="id of the answer")
    request: DesignRequest = Field(description="request with defaults")
    workload: WorkloadDocument = Field(description="workload")
    bounds: TimedCost = Field(description="lower bounds for all topologies of these hosts")
    frontier: list[TimedPoint] = Field(description="Pareto frontier, sorted by steps")
    trade_off: list[TradeOff] = omitted(
        "nondominated points in time and objective, fastest first, if the current wiring is given"
    )
    best: Best = Field(
        description="point with the least time within the given limits, with its schedule"
    )
    co_design: CoDesign = Field(
        description="topology with the least time if every message size has its fastest algorithm"
    )
    baselines: list[BaselineDocument] = Field(description="baselines on the same hosts")
    assumed: list[BaselineDocument] = Field(
        default=[], description="baselines with assumptions beyond cables"
    )


class DesignSummary(Document):
    """Summary of a design in lists."""

    recipe: str = Field(description="recipe of the best topology")
    name: str = Field(description="short name of the topology")
    seconds: float = Field(description="time of the workload on the topology")


def question_of(artefact: Artefact) -> DesignRequest:
    """Return the request of a stored design."""
    return DesignRequest.model_validate(artefact.document()["request"])


def of(answer: DesignAnswer, identity: str) -> dict[str, Any]:
    """Return the design/1 document."""
    from topoloom.synth.search.frontier import Frontier

    design = answer.design
    hosts = design.hosts
    points = tuple(point.measured for point in design.points)
    found = Frontier(hosts.nodes, hosts.degree, hosts.links, design.bounds, points)
    bounds = TimedCost(
        steps=design.bounds.steps,
        bandwidth=str(design.bounds.bandwidth),
        seconds=float(design.bound_seconds),
    )
    return {
        "schema": "design/1",
        "id": identity,
        "request": answer.request.shown(),
        "workload": _workload(design).given(),
        "bounds": bounds.given(),
        "frontier": [_point(answer, found, number).given() for number in range(len(points))],
        **_trade_off(answer),
        "best": _best(answer).given(),
        "co_design": co_design(design, answer.topology, answer.schedule).given(),
        "baselines": [_baseline(one).given() for one in design.baselines],
        "assumed": [_baseline(one).given() for one in design.assumed],
    }


def _baseline(one: "Baseline") -> BaselineDocument:
    more = {"assumption": one.assumption} if one.assumption else {}
    return BaselineDocument(
        name=one.name, seconds=float(one.seconds), steps=one.steps, chunks=one.chunks, **more
    )


def _workload(design: "Design") -> WorkloadDocument:
    work = design.workload
    named: dict[str, Any] = {"preset": work.preset, "title": work.title} if work.preset else {}
    tasks = [
        TaskDocument(collective=one.collective.value, bytes=one.size_bytes, count=one.count)
        for one in work.tasks
    ]
    return WorkloadDocument(**named, tasks=tasks)


def _trade_off(answer: DesignAnswer) -> dict[str, Any]:
    """Return the trade-off of time and moves; empty without a current wiring."""
    from topoloom.schedules.design.rewiring import pareto_front

    design = answer.design
    if not design.changes:
        return {}
    rows = []
    for number in pareto_front(design.times, design.changes, design.weighed):
        recipe = design.points[number].measured.recipe
        stored, change = answer.topology(recipe), design.changes[number]
        assert change.moves is not None
        row = TradeOff(
            recipe=str(recipe),
            name=stored.name,
            topology_id=stored.id,
            seconds=float(design.times[number]),
            moves=change.moves,
            lower_bound=change.lower_bound,
            rewiring_seconds=float(change.seconds),
            drained=change.drained,
            **_goal(change),
        )
        rows.append(row.given())
    return {"trade_off": rows}


def _rewiring(change: "Change") -> MovesDocument:
    if change.moves is None:
        return MovesDocument(moves=None, does_not_fit=change.refused)
    return MovesDocument(
        moves=change.moves,
        lower_bound=change.lower_bound,
        kept=change.kept,
        optimal=change.optimal,
        seconds=float(change.seconds),
        drained=change.drained,
        **_goal(change),
    )


def _goal(change: "Change") -> dict[str, Any]:
    if change.goal is None:
        return {}
    from topoloom.synth.wiring.plans.document_writer import goal_document

    return {"objective": GoalDocument(**goal_document(change.goal))}


def _point(answer: DesignAnswer, found: "Frontier", number: int) -> TimedPoint:
    design = answer.design
    point = design.points[number]
    stored = answer.topology(point.measured.recipe)
    members = point_members(point.measured, found, stored)
    if point.exchange is not None:
        members["all_to_all"] = point_exchange(point.exchange)
        if design.workload.single:
            members["routing"] = _routing(point.exchange, point.choices[0].algorithm)
    if design.changes:
        members["rewiring"] = _rewiring(design.changes[number])
    return TimedPoint(**members, seconds=float(point.usual_seconds), topology_id=stored.id)


def _routing(exchange: "AllToAllChoices", algorithm: str) -> PointRouting:
    way = exchange.ways[0 if algorithm == "shortest-paths" else -1]
    return PointRouting(algorithm=algorithm, steps=way.hops, bandwidth=str(exchange.bandwidth(way)))


def _best(answer: DesignAnswer) -> Best:
    design = answer.design
    recipe = design.best.measured.recipe
    stored = answer.topology(recipe)
    used, left_out = design.schedule, "schedules of a workload are in co_design"
    if used is not None:
        left_out = used.left_out
    more = algorithm_of(design.best.measured)
    if left_out:
        more["schedule_left_out"] = left_out
    return Best(
        recipe=str(recipe),
        name=stored.name,
        seconds=float(design.best_seconds),
        topology_id=stored.id,
        schedule=None if used is None or left_out else _best_schedule(answer, recipe, used),
        **more,
    )


def _best_schedule(answer: DesignAnswer, recipe: Recipe, used: "ScheduleInUse") -> BestSchedule:
    assert used.facts is not None
    names = ("steps", "bandwidth", "chunks_per_shard", "parts")
    facts = given_facts(used.facts)
    more = option_members(used)
    return BestSchedule(
        id=answer.schedule(recipe, used),
        algorithm=used.algorithm,
        collective=used.collective.value,
        **{name: facts[name] for name in names if name in facts},
        **more,
    )


def _encode(answer: DesignAnswer, identity: str) -> Computed:
    document = of(answer, identity)
    summary = {name: document["best"][name] for name in ("recipe", "name", "seconds")}
    return Computed.json(document, summary)


DESIGN = Kind("design", _encode)
