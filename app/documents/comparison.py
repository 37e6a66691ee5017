"""comparison/1: stored designs, stored schedules, or algorithms on a topology."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Document,
    Exact,
    Identity,
    assumed_field,
    omitted,
)
from topoloom.app.documents.compare_algorithms import (
    ComparedFabric,
    FabricDocument,
    JudgedBy,
    fabric_document,
)
from topoloom.app.documents.schedule import CostFacts, Kept, given_facts
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.schedules.compare.bandwidths import Speed
from topoloom.synth.topology.assumptions import Assumption, assumed_members

if TYPE_CHECKING:
    from topoloom.schedules.simulate import JudgedTime


@dataclass(frozen=True, slots=True)
class ComparedDesigns:
    """Stored designs, in the order of the request."""

    designs: Sequence[Artefact]


@dataclass(frozen=True, slots=True)
class TimedSchedule:
    """A stored schedule with its rates, number of hosts, assumptions, and judged time."""

    id: str
    kept: Kept
    nodes: int
    speed: Speed
    assumed: tuple[Assumption, ...] = ()
    timed: "JudgedTime | None" = None
    judged_by: JudgedBy | None = None


@dataclass(frozen=True, slots=True)
class ComparedSchedules:
    """Stored schedules, in the order of the request."""

    schedules: Sequence[TimedSchedule]


Compared: TypeAlias = ComparedDesigns | ComparedSchedules | ComparedFabric
"""The compared answers."""


class ComparedDesign(Document):
    """A design of a comparison."""

    id: Identity = Field(description="id of the design")
    request: DesignRequest = Field(description="request of the design, with defaults")
    recipe: str = Field(description="recipe of the best topology")
    name: str = Field(description="short name of the topology")
    topology_id: Identity = Field(description="id of the topology")
    steps: int = Field(description="T_L of an allgather on the topology", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather on the topology, in units of M/B")
    seconds: float = Field(description="time of the workload on the topology")
    co_design_seconds: float = Field(
        description="time of the workload if every message size has its fastest algorithm"
    )
    bound_seconds: float = Field(
        description="lower bound of the time for all topologies of these hosts"
    )
    baseline: str = Field(description="fastest baseline on the same hosts")
    baseline_seconds: float = Field(description="time of the workload with the baseline")
    speed_up: float = Field(description="speed-up over the baseline", ge=0)


class ComparedSchedule(CostFacts):
    """A schedule of a comparison."""

    id: Identity = Field(description="id of the schedule")
    algorithm: str = Field(description="algorithm")
    topology_id: Identity = Field(description="id of the topology")
    name: str = Field(description="name of the topology; may be empty")
    assumed: list[AssumptionDocument] = assumed_field()
    nodes: int = Field(description="number of ranks", ge=1)
    algbw: float = Field(description="bytes per time for large data, GB/s", ge=0)
    busbw: float = Field(description="algbw times the factor of nccl-tests, GB/s", ge=0)
    seconds: float = omitted("time for the requested size", ge=0)
    chunks: int = omitted("chunks of each message for that time; 1 for steps", ge=1)
    judged_by: JudgedBy = omitted(
        "source of the time: simulation, or full rounds (a bound) where switches copy or links "
        "share a limit"
    )


class ComparisonDocument(Document):
    """comparison/1."""

    schema_: Literal["comparison/1"] = Field(alias="schema", description="comparison/1")
    id: Identity = Field(description="id of the answer")
    designs: list[ComparedDesign] = omitted("designs, in the order of the request")
    schedules: list[ComparedSchedule] = omitted("schedules, in the order of the request")
    fabric: FabricDocument = omitted("algorithms for a collective on a topology")
    fastest: Identity = omitted(
        "designs, schedules: id of the entry with the least seconds, else with the highest "
        "algbw; the first of equals"
    )


class ComparisonSummary(Document):
    """Summary of a comparison in lists."""

    compared: int = Field(description="number of compared entries", ge=1)
    fastest: Identity = omitted("id of the fastest stored entry")


def _design(artefact: Artefact) -> ComparedDesign:
    document = artefact.document()
    best, bounds = document["best"], document["bounds"]
    point = next(p for p in document["frontier"] if p["topology_id"] == best["topology_id"])
    baseline = min(document["baselines"], key=lambda entry: entry["seconds"])
    return ComparedDesign(
        id=artefact.id,
        request=DesignRequest.model_validate(document["request"]),
        recipe=best["recipe"],
        name=best["name"],
        topology_id=best["topology_id"],
        steps=point["steps"],
        bandwidth=point["bandwidth"],
        seconds=best["seconds"],
        co_design_seconds=document["co_design"]["seconds"],
        bound_seconds=bounds["seconds"],
        baseline=baseline["name"],
        baseline_seconds=baseline["seconds"],
        speed_up=round(baseline["seconds"] / best["seconds"], 6),
    )


def _schedule(one: TimedSchedule) -> ComparedSchedule:
    facts, speed = given_facts(one.kept.facts), one.speed
    members: dict[str, Any] = {n: v for n, v in facts.items() if n in CostFacts.model_fields}
    if one.timed is not None:
        members["seconds"] = float(one.timed.seconds)
        members |= {"chunks": one.timed.chunks, "judged_by": one.judged_by}
    return ComparedSchedule(
        id=one.id,
        algorithm=one.kept.algorithm,
        topology_id=one.kept.subject.id,
        name=one.kept.subject.name,
        **assumed_members(one.assumed),
        nodes=one.nodes,
        algbw=_gigabytes(speed.algbw),
        busbw=_gigabytes(speed.busbw),
        **members,
    )


def _gigabytes(rate: Fraction) -> float:
    return round(float(rate / 10**9), 6)


def _encode(answer: Compared, identity: str) -> Computed:
    if isinstance(answer, ComparedFabric):
        fabric = fabric_document(answer).given()
        document = {"schema": "comparison/1", "id": identity, "fabric": fabric}
        return Computed.json(document, ComparisonSummary(compared=len(fabric["ways"])).given())
    if isinstance(answer, ComparedDesigns):
        rows = [_design(artefact).given() for artefact in answer.designs]
        fastest, name = min(rows, key=lambda row: row["seconds"]), "designs"
        for row, artefact in zip(rows, answer.designs, strict=True):
            row["request"] = artefact.document()["request"]
    else:
        rows, name = [_schedule(one).given() for one in answer.schedules], "schedules"
        fastest = min(rows, key=lambda row: (row.get("seconds", 0), -row["algbw"]))
    document = {"schema": "comparison/1", "id": identity, name: rows, "fastest": fastest["id"]}
    summary = ComparisonSummary(compared=len(rows), fastest=fastest["id"])
    return Computed.json(document, summary.given())


COMPARISON = Kind("comparison", _encode)
