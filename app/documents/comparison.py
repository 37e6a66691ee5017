"""comparison/1: stored designs, or schedules, or all ways to run a collective, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

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
    fabric_document,
)
from topoloom.app.documents.schedule import CostFacts, Kept, given_facts
from topoloom.app.requests.designs import DesignRequest
from topoloom.app.store.artifacts import Artefact, Computed, Kind
from topoloom.schedules.compare.bandwidths import Speed
from topoloom.synth.topology.assumptions import assumed_members


@dataclass(frozen=True, slots=True)
class ComparedDesigns:
    """Stored designs, in the order in which they were named."""

    designs: Sequence[Artefact]


@dataclass(frozen=True, slots=True)
class TimedSchedule:
    """A stored schedule, how fast it is, and how many hosts it is for."""

    id: str
    kept: Kept
    nodes: int
    speed: Speed


@dataclass(frozen=True, slots=True)
class ComparedSchedules:
    """Stored schedules, in the order in which they were named."""

    schedules: Sequence[TimedSchedule]


Compared: TypeAlias = ComparedDesigns | ComparedSchedules | ComparedFabric
"""What is put side by side."""


class ComparedDesign(Document):
    """A design, in short, beside others."""

    id: Identity = Field(description="what the design is stored under")
    request: DesignRequest = Field(description="its question, defaults filled in")
    recipe: str = Field(description="how the best topology is made")
    name: str = Field(description="its short name")
    topology_id: Identity = Field(description="what it is stored under")
    steps: int = Field(description="T_L of an allgather there", ge=0)
    bandwidth: Exact = Field(description="T_B of an allgather there, in units of M/B")
    seconds: float = Field(description="time of the workload there")
    co_design_seconds: float = Field(
        description="time of the workload when every message size has its fastest algorithm"
    )
    bound_seconds: float = Field(description="what no topology of its hosts can beat")
    baseline: str = Field(description="the fastest of today's baselines on the same hosts")
    baseline_seconds: float = Field(description="its time of the workload")
    speed_up: float = Field(description="so many times as fast as that baseline", ge=0)


class ComparedSchedule(CostFacts):
    """A schedule, in short, beside others."""

    id: Identity = Field(description="what the schedule is stored under")
    algorithm: str = Field(description="what made it")
    topology_id: Identity = Field(description="what its topology is stored under")
    name: str = Field(description="name of its topology; empty if it has none")
    assumed: list[AssumptionDocument] = assumed_field()
    nodes: int = Field(description="number of ranks", ge=1)
    algbw: float = Field(description="bytes per time of much data, GB/s", ge=0)
    busbw: float = Field(description="the same times the factor of nccl-tests, GB/s", ge=0)
    seconds: float = omitted(
        "time of the size that was asked for, by the alpha-beta model; where messages or chunks "
        "cost time, as simulated step by step",
        ge=0,
    )


class ComparisonDocument(Document):
    """comparison/1."""

    schema_: Literal["comparison/1"] = Field(alias="schema", description="comparison/1")
    id: Identity = Field(description="what the answer is stored under")
    designs: list[ComparedDesign] = omitted("the designs, in the order of the question")
    schedules: list[ComparedSchedule] = omitted("the schedules, in the order of the question")
    fabric: FabricDocument = omitted("all ways to run a collective on a topology")
    fastest: Identity = omitted(
        "of designs and schedules: the one of least seconds, else of highest algbw; the first of"
        " equals"
    )


class ComparisonSummary(Document):
    """What lists say of a comparison."""

    compared: int = Field(description="how many are side by side", ge=1)
    fastest: Identity = omitted("the fastest of stored ones")


def _design(artefact: Artefact) -> ComparedDesign:
    document = artefact.document()
    best, bounds = document["best"], document["bounds"]
    point = next(p for p in document["frontier"] if p["topology_id"] == best["topology_id"])
    today = min(document["baselines"], key=lambda one: one["seconds"])
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
        baseline=today["name"],
        baseline_seconds=today["seconds"],
        speed_up=round(today["seconds"] / best["seconds"], 6),
    )


def _schedule(one: TimedSchedule) -> ComparedSchedule:
    facts, speed = given_facts(one.kept.facts), one.speed
    members: dict[str, Any] = {n: v for n, v in facts.items() if n in CostFacts.model_fields}
    if speed.seconds is not None:
        members["seconds"] = speed.seconds
    return ComparedSchedule(
        id=one.id,
        algorithm=one.kept.algorithm,
        topology_id=one.kept.subject.id,
        name=one.kept.subject.name,
        **assumed_members(one.kept.subject.assumed),
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
