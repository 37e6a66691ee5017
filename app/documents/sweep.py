"""sweep/1: one row for every question of a sweep, with its figures or why there are none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import Document, Exact, Identity, Node, omitted
from topoloom.app.requests.options.sweeps_and_jobs import PartName
from topoloom.app.requests.sweeps import SweepName
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Kind

if TYPE_CHECKING:
    from topoloom.schedules.optimum.single_faults import FaultKind


@dataclass(frozen=True, slots=True)
class Part:
    """One question of a sweep: of which hosts, or after which fault; and its answer.

    ``rule`` says why there is no answer.
    """

    nodes: int | None = None
    degree: int | None = None
    fault: "FaultKind | None" = None
    answer: Artefact | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True)
class SweepAnswer:
    """What was asked, as a key, and every part in the order of the questions."""

    asked: Asked
    parts: Sequence[Part]


class SweepPoint(Document):
    """A point of a frontier, in short."""

    name: str = Field(description="short name of the topology")
    steps: int = Field(description="T_L in units of the hop latency: number of steps", ge=0)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")
    topology_id: Identity = Field(description="what the topology is stored under")


class SweepRowDocument(Document):
    """One question and its answer; of a question without answer, the reason."""

    nodes: int = omitted("sizes, time: number of hosts", ge=2)
    degree: int = omitted("sizes, time: ports of each host", ge=1)
    part: PartName = omitted("faults: what is lost: all links between two nodes, or a node")
    link: list[Node] = omitted("faults: the two nodes between which all links are lost")
    node: Node = omitted("faults: the host or switch that is lost")
    alike: int = omitted("faults: how many faults leave the same, this one counted", ge=1)
    answer_id: Identity = omitted("what the whole answer is stored under")
    points: list[SweepPoint] = omitted("sizes: the frontier, sorted by steps")
    name: str = omitted("time: short name of the best topology")
    topology_id: Identity = omitted("what the topology is stored under")
    seconds: float = omitted("time: time of the workload on the best topology")
    bound_seconds: float = omitted("time: what no topology of these hosts can undercut")
    inverse_rate: Exact = omitted("faults: time of a unit of data, exact")
    algbw: float = omitted("faults: algorithm bandwidth, in the unit of the topology")
    left: Exact = omitted("faults: share of the algbw without fault that is left")
    problem: str = omitted("why there is no answer")


class SweepDocument(Document):
    """sweep/1: the rows in the order of the questions."""

    schema_: Literal["sweep/1"] = Field(alias="schema", description="sweep/1")
    id: Identity = Field(description="what the answer is stored under")
    over: SweepName = Field(description="what the questions differ in")
    topology_id: Identity = omitted("faults: what the topology is stored under")
    lost: list[PartName] = omitted("faults: which parts are lost, one at a time")
    question: dict[str, Any] = Field(description="the rest of every question, defaults filled in")
    rows: list[SweepRowDocument] = Field(description="one for every question")


class SweepSummary(Document):
    """What a sweep says, in short."""

    over: SweepName = Field(description="what the questions differ in")
    rows: int = Field(description="how many questions", ge=1)
    without_answer: int = Field(description="how many of them have none", ge=0)


def over_of(document: Mapping[str, Any]) -> SweepName:
    """Return what the questions of a sweep/1 document differ in."""
    return document["over"]


def _row(part: Part) -> SweepRowDocument:
    """Return a part as a row."""
    place: dict[str, Any] = {"nodes": part.nodes, "degree": part.degree}
    if part.fault is not None:
        kind, lost, alike = part.fault
        what = {"link": list(lost)} if kind == "link" else {"node": lost[0]}
        place = {"part": kind, "alike": alike, **what}
    if part.answer is None:
        return SweepRowDocument(**place, problem=part.rule)
    figures = _FIGURES[part.answer.kind](part.answer.document())
    return SweepRowDocument(**place, answer_id=part.answer.id, **figures)


def _frontier(document: Mapping[str, Any]) -> dict[str, Any]:
    names = ("name", "steps", "bandwidth", "topology_id")
    points = [SweepPoint(**{name: point[name] for name in names}) for point in document["frontier"]]
    return {"points": points}


def _design(document: Mapping[str, Any]) -> dict[str, Any]:
    best = document["best"]
    figures = {name: best[name] for name in ("name", "topology_id", "seconds")}
    return {**figures, "bound_seconds": document["bounds"]["seconds"]}


def _optimum(document: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: document[name] for name in ("topology_id", "inverse_rate", "algbw")}
    return {**figures, "left": document["healthy"]["ratio"]}


_FIGURES = {"frontier": _frontier, "design": _design, "optimum": _optimum}


def _encode(answer: SweepAnswer, identity: str) -> Computed:
    head = {
        name: answer.asked[name] for name in ("over", "topology_id", "lost") if name in answer.asked
    }
    rows = [_row(part) for part in answer.parts]
    document = SweepDocument(
        schema="sweep/1", id=identity, **head, question=answer.asked["question"], rows=rows
    )
    missing = sum(part.answer is None for part in answer.parts)
    summary = SweepSummary(over=answer.asked["over"], rows=len(rows), without_answer=missing)
    return Computed.json(document.given(), summary.given())


SWEEP = Kind("sweep", _encode)
