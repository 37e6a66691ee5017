"""design/1: the best topology for a workload, what runs on it, and what stands behind it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.all_to_all import PointExchange, point_exchange
from topoloom.app.documents.base import Document, Exact, Identity, PassCost, Stored, omitted
from topoloom.app.documents.co_design import CoDesign, TaskDocument, said_of
from topoloom.app.documents.co_design import of as co_design
from topoloom.app.documents.frontier import PointDocument, algorithm_of, measured
from topoloom.app.documents.patch_plan import GoalDocument
from topoloom.app.documents.schedule import PartFacts, given_facts
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.synth.recipes.recipe import Recipe

if TYPE_CHECKING:
    from topoloom.schedules.baselines import Baseline
    from topoloom.schedules.design import Change, Design, Used
    from topoloom.synth.search.frontier import Frontier


@dataclass(frozen=True, slots=True)
class DesignAnswer:
    """A design, and what its topologies and schedules are stored under."""

    request: DesignRequest
    design: "Design"
    topology: Callable[[Recipe], Stored]
    schedule: "Callable[[Recipe, Used], str]"


class TimedCost(PassCost):
    """The bounds of one pass, and the time of the workload."""

    seconds: float = Field(
        description="time of the workload that no topology can beat in as many passes as usual"
    )


class MovesDocument(Document):
    """How a topology is reached from today's wiring."""

    moves: int | None = Field(
        description="removes and adds together; null where it does not fit the plant"
    )
    lower_bound: int = omitted("moves that no plan can undercut", ge=0)
    kept: int = omitted("links that stay on the pair they have", ge=0)
    optimal: bool = omitted("whether no plan with fewer moves exists; false: not known")
    seconds: float = omitted("what the plan takes in one stage, by the panels", ge=0)
    drained: int = omitted("hosts at which it takes light away", ge=0)
    objective: GoalDocument = omitted("what is weighed, where that is not moves")
    does_not_fit: str = omitted("why there is no plan")


class TradeOff(Document):
    """A topology that no other point of the frontier beats in time and in what is weighed."""

    recipe: str = Field(description="how the topology is made")
    name: str = Field(description="its short name")
    topology_id: Identity = Field(description="what the topology is stored under")
    seconds: float = Field(description="time of the workload, as the best is chosen by")
    moves: int = Field(description="moves from today's wiring", ge=0)
    lower_bound: int = Field(description="moves that no plan can undercut", ge=0)
    rewiring_seconds: float = Field(
        description="what the moves take in one stage, by the panels", ge=0
    )
    drained: int = Field(description="hosts at which the moves take light away", ge=0)
    objective: GoalDocument = omitted("what is weighed, where that is not moves")


class TimedPoint(PointDocument):
    """A point of the frontier, timed."""

    all_to_all: PointExchange = omitted("what all-to-all takes there, where it is run")
    seconds: float = Field(
        description="time of the workload in these steps, of its all-to-alls by their fastest "
        "routing"
    )
    topology_id: Identity = Field(description="what the topology is stored under")
    rewiring: MovesDocument = omitted("how it is reached from today's wiring, where that is given")


class BestSchedule(Document):
    """The verified schedule of the best point, and what its sends cost."""

    id: Identity = Field(description="what the schedule is stored under")
    algorithm: str = Field(description="what made it: bfb or slack, or mcf for all-to-all")
    within_steps: int = omitted("slack: within how many steps of each pass", ge=1)
    collective: str = Field(description="what it carries out")
    steps: int = Field(description="number of steps, or most hops of a route", ge=0)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")
    max_chunks: int = omitted("where chunks cost time: at most so many a shard", ge=1)
    chunks_per_shard: int = omitted("into how many chunks each shard is cut", ge=1)
    parts: list[PartFacts] = omitted("of an allreduce: reduce-scatter, then allgather")


class Best(Document):
    """The point of least time."""

    recipe: str = Field(description="how the topology is made")
    name: str = Field(description="its short name")
    seconds: float = Field(description="time of the workload there")
    topology_id: Identity = Field(description="what the topology is stored under")
    algorithm: str = Field(description="of the point: bfb or slack")
    within_steps: int = omitted("of the point: within how many steps of each pass", ge=1)
    schedule: BestSchedule | None = Field(
        description="of a single collective; null where it is left out"
    )
    schedule_left_out: str = omitted("why there is no schedule")


class WorkloadDocument(Document):
    """What is run."""

    preset: str = omitted("name of the preset")
    title: str = omitted("what the preset is")
    tasks: list[TaskDocument] = Field(description="the collectives, equal ones counted together")


class BaselineDocument(Document):
    """What is run today on the same hosts."""

    name: str = Field(description="which baseline")
    seconds: float = Field(description="its time of the workload")
    steps: int = Field(description="its steps, of the whole workload", ge=0)
    chunks: int = Field(description="into how many chunks it cuts at most", ge=1)
    assumption: str = omitted("what it has beyond cables between the hosts")


class DesignDocument(Document):
    """design/1."""

    schema_: Literal["design/1"] = Field(alias="schema", description="design/1")
    id: Identity = Field(description="what the answer is stored under")
    request: DesignRequest = Field(description="the question, defaults filled in")
    workload: WorkloadDocument = Field(description="what is run")
    bounds: TimedCost = Field(description="what no topology of these hosts can undercut")
    frontier: list[TimedPoint] = Field(description="the Pareto frontier, sorted by steps")
    trade_off: list[TradeOff] = omitted(
        "the points that no other beats in time and in what is weighed, fastest first, where "
        "today's wiring is given"
    )
    best: Best = Field(
        description="the point of least time, within the limits that are given, with its schedule"
    )
    co_design: CoDesign = Field(
        description="the topology of least time when every message size has its algorithm"
    )
    baselines: list[BaselineDocument] = Field(description="what the same hosts take today")
    assumed: list[BaselineDocument] = Field(
        default=[], description="what they would take with more than cables, as each assumes"
    )


class DesignSummary(Document):
    """What lists say of a design."""

    recipe: str = Field(description="recipe of the best topology")
    name: str = Field(description="its short name")
    seconds: float = Field(description="time of the workload there")


def question_of(artefact: Artefact) -> DesignRequest:
    """Return the question that a stored design answers."""
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
        "request": answer.request.canonical(),
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
    """Return time against moves; nothing where today's wiring is not given."""
    from topoloom.schedules.design.rewiring import not_beaten

    design = answer.design
    if not design.changes:
        return {}
    rows = []
    for number in not_beaten(design.times, design.changes, design.weighed):
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
    members = measured(point.measured, found, stored)
    if point.exchange is not None:
        members["all_to_all"] = point_exchange(point.exchange)
    if design.changes:
        members["rewiring"] = _rewiring(design.changes[number])
    return TimedPoint(**members, seconds=float(point.usual_seconds), topology_id=stored.id)


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


def _best_schedule(answer: DesignAnswer, recipe: Recipe, used: "Used") -> BestSchedule:
    assert used.facts is not None
    names = ("steps", "bandwidth", "chunks_per_shard", "parts")
    facts = given_facts(used.facts)
    more = said_of(used)
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
