"""sweep/1: one row per request of a sweep, with figures or the reason of their absence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Identity, Node, omitted, renamed_to
from topoloom.app.requests.options.sweeps_and_jobs import PartName
from topoloom.app.requests.renamed import both_names
from topoloom.app.requests.sweeps import SweepKind, SweepRequest
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Kind

if TYPE_CHECKING:
    from topoloom.schedules.optimum.single_faults import FaultKind


@dataclass(frozen=True, slots=True)
class SweepPart:
    """One request of a sweep, by hosts or by fault, with its answer.

    ``job`` and ``topology`` belong to an iteration: the job, and the topology if the sweep gives
    some.  Without an answer, ``rule`` is the reason.
    """

    job: str = ""
    topology: str = ""
    nodes: int | None = None
    degree: int | None = None
    fault: "FaultKind | None" = None
    answer: Artefact | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """The request of a sweep as a key, and its parts in order."""

    asked: Asked
    parts: Sequence[SweepPart]


class SweepPoint(Document):
    """A point of a frontier, abbreviated."""

    name: str = Field(description="short name of the topology")
    steps: int = Field(description="T_L in units of the hop latency: number of steps", ge=0)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")
    topology_id: Identity = Field(description="id of the topology")


class SweepRowDocument(Document):
    """One request with its answer, or with the reason of its absence."""

    job: str = omitted("iteration: name of the preset or of the model")
    nodes: int = omitted("sizes, workload, iteration: number of hosts", ge=2)
    degree: int = omitted("sizes, workload, iteration: ports of each host", ge=1)
    part: PartName = omitted(
        "fault-analysis: kind of the lost part: all links between two nodes, or a node"
    )
    link: list[Node] = omitted("fault-analysis: the two nodes of the lost links")
    node: Node = omitted("fault-analysis: the lost host or switch")
    equivalent_faults: int = omitted(
        "fault-analysis: number of equivalent faults, including this fault", ge=1
    )
    alike: int = renamed_to("equivalent_faults")
    answer_id: Identity = omitted("id of the complete answer")
    points: list[SweepPoint] = omitted("sizes: the frontier, sorted by steps")
    name: str = omitted(
        "workload: short name of the best topology; iteration: recipe of the topology"
    )
    topology_id: Identity = omitted("id of the topology")
    seconds: float = omitted("workload, iteration: time on the best or given topology")
    parallel: str = omitted("iteration: sizes of parallelism in the order of ranks")
    exposed_share: float = omitted("iteration: share that is exposed communication")
    limit: str = omitted("iteration: resource of which 10 % more saves the most time")
    torus_seconds: float = omitted("iteration: time on the fastest torus")
    rings_seconds: float = omitted("iteration: time on rings on all ports")
    switch_seconds: float = omitted("iteration: time on an ideal switch")
    bound_seconds: float = omitted("workload: lower bound for all topologies of these hosts")
    inverse_rate: Exact = omitted("fault-analysis: time of a unit of data, exact")
    algbw: float = omitted("fault-analysis: algorithm bandwidth, in the unit of the topology")
    left: Exact = omitted("fault-analysis: remaining share of the healthy algbw")
    problem: str = omitted("reason for the absence of an answer")


class SweepDocument(Document):
    """sweep/1: rows in the order of the requests."""

    schema_: Literal["sweep/1"] = Field(alias="schema", description="sweep/1")
    id: Identity = Field(description="id of the answer")
    kind: SweepKind = omitted("what differs between the requests; absent in stored documents")
    topology_id: Identity = omitted("fault-analysis: id of the topology")
    lost: list[PartName] = omitted("fault-analysis: kinds of lost parts, one part at a time")
    template: dict[str, Any] = omitted("other members of each request, with defaults")
    over: str = renamed_to("kind")
    question: dict[str, Any] = renamed_to("template")
    rows: list[SweepRowDocument] = Field(description="one row per request")
    notes: list[str] = omitted("iteration: what the requests do not state")


class SweepSummary(Document):
    """Summary of a sweep in lists."""

    kind: SweepKind = omitted("what differs between the requests; absent in stored documents")
    over: str = renamed_to("kind")
    rows: int = Field(description="number of requests", ge=1)
    without_answer: int = Field(description="number of requests without an answer", ge=0)


def kind_of(document: Mapping[str, Any]) -> SweepKind:
    """Return the kind of a sweep/1 document."""
    return both_names(document, SweepRequest.former)["kind"]


def _row(part: SweepPart) -> SweepRowDocument:
    """Return a part as a row."""
    place: dict[str, Any] = {"nodes": part.nodes, "degree": part.degree}
    if part.job:
        place |= {"job": part.job} | ({"name": part.topology} if part.topology else {})
    if part.fault is not None:
        kind, lost, alike = part.fault
        part_id = {"link": list(lost)} if kind == "link" else {"node": lost[0]}
        place = {"part": kind, "equivalent_faults": alike, "alike": alike, **part_id}
    if part.answer is None:
        return SweepRowDocument(**place, problem=part.rule)
    figures = _FIGURES[part.answer.kind](part.answer.document())
    return SweepRowDocument(**place | figures, answer_id=part.answer.id)


def _notes(parts: Sequence[SweepPart]) -> list[str]:
    """Return the notes of all answers, each once."""
    answers = (part.answer.document() for part in parts if part.answer is not None)
    return list(dict.fromkeys(note for answer in answers for note in answer["notes"]))


def _frontier(document: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "steps", "bandwidth", "topology_id")
    points = [SweepPoint(**{name: point[name] for name in names}) for point in document["frontier"]]
    return {"points": points}


def _design(document: Mapping[str, Any]) -> dict[str, Any]:
    best = document["best"]
    figures = {name: best[name] for name in ("name", "topology_id", "seconds")}
    return {**figures, "bound_seconds": document["bounds"]["seconds"]}


def _iteration(document: Mapping[str, Any]) -> dict[str, Any]:
    best = document["best"]
    found = {name: best[name] for name in ("seconds", "parallel", "exposed_share")}
    for kind in ("torus", "rings", "switch"):
        beside = document["baselines"]
        times = [row["seconds"] for row in beside if kind in row["topology"].split()]
        found |= {f"{kind}_seconds": min(times)} if times else {}
    return {**found, "name": best["topology"], "limit": document["limit"]}


def _optimum(document: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: document[name] for name in ("topology_id", "inverse_rate", "algbw")}
    return {**figures, "left": document["healthy"]["ratio"]}


_FIGURES = {
    "frontier": _frontier,
    "design": _design,
    "iteration": _iteration,
    "optimum": _optimum,
}


def _encode(answer: SweepAnswer, identity: str) -> Computed:
    asked = both_names(answer.asked, SweepRequest.former)
    axes = ("nodes", "degrees", "jobs", "topologies")
    head = {name: asked[name] for name in asked if name not in axes}
    rows = [_row(part) for part in answer.parts]
    if asked["kind"] == "iteration":
        head["notes"] = _notes(answer.parts)
    document = SweepDocument(schema="sweep/1", id=identity, **head, rows=rows)
    missing = sum(part.answer is None for part in answer.parts)
    summary = SweepSummary(
        kind=asked["kind"], over=asked["over"], rows=len(rows), without_answer=missing
    )
    return Computed.json(document.given(), summary.given())


SWEEP = Kind("sweep", _encode)
