"""patch-plan/1: model of a plan of moves, and its storage with the work order.

`synth.wiring.plans.document_writer` writes the document.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Digest,
    Document,
    Exact,
    GoalDocument,
    Identity,
    Node,
    Subject,
    omitted,
)
from topoloom.app.store.artifacts import Artefact, Computed, Kind, compact

if TYPE_CHECKING:
    from topoloom.synth.wiring import PatchPlan, Plant
    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.plans.document_writer import Rate
    from topoloom.synth.wiring.plans.stages import Limits


@dataclass(frozen=True, slots=True)
class PlanAnswer:
    """A plan of moves for the wiring of a stored topology."""

    subject: Subject
    plan: "PatchPlan"
    limits: "Limits"
    rate: "Rate | None" = None


class PanelsDocument(Document):
    """Regular panels, and the hosts cabled to them."""

    layout: Literal["per-port", "single"] = Field(
        description="per-port: one panel for each port of a host; single: one panel for all ports"
    )
    hosts: int = Field(description="number of cabled hosts", ge=1)
    lanes: int = Field(description="number of cabled ports per host", ge=1)


class PlantDocument(Document):
    """The plant of the request."""

    name: str = Field(description="name of the plant; may be empty")
    digest: Digest = Field(
        description="digest of the plant/1 document without name and cross-connects"
    )
    assumed: list[AssumptionDocument] = omitted(
        "facts that the text of the plant does not state, with assumed values"
    )


class BaseState(Document):
    """The initial state of a panel."""

    digest: Digest = Field(
        description="digest of the canonical JSON list of the pairs, sorted by A port"
    )
    pairs: int = Field(description="number of plugged pairs", ge=0)


class DeviceDocument(Document):
    """A panel."""

    id: str = Field(description="name of the panel")
    a_ports: int = Field(description="ports on the A side, where hosts send", ge=1)
    b_ports: int = Field(
        description="ports on the B side, where hosts receive; 0 if the panel joins any two ports",
        ge=0,
    )


class Endpoint(Document):
    """A port of a host."""

    node: Node = Field(description="id of the node")
    host: str = omitted("with a plant: host of the node")
    port: int | str = Field(description="port number from 0, or port name of the plant")


class PortDocument(Document):
    """The host port at a panel port."""

    device: str = Field(description="name of the panel")
    port: str = Field(description="panel port, such as 3A")
    side: Literal["A", "B"] = Field(description="A: the host sends; B: the host receives")
    endpoint: Endpoint = Field(description="host port")
    label: str = Field(description="node:port:tx, node:port:rx or node:port:both")


class Operation(Document):
    """One move, or one check."""

    n: int = Field(description="index in the list, from 1", ge=1)
    op: Literal["remove", "add", "verify"] = Field(description="kind of the operation")
    device: str = Field(description="name of the panel")
    a: str = Field(description="port on the A side")
    b: str = Field(description="port on the B side")
    link: str = omitted("link on the pair: l and its index in the topology")
    expect: str = omitted("remove: pair that must be plugged")


class Effect(Document):
    """Capacity during a stage: kept links only."""

    links_down: int = Field(description="removed links, each with all its pairs", ge=0)
    capacity_left: Exact = Field(description="share of the topology's capacity on kept links")
    connected: bool = Field(description="whether every node reaches every other")
    seconds: float = omitted("time of the moves, from the speeds of the panels", ge=0)
    hosts_drained: list[str] = omitted("hosts that lose a pair")
    bandwidth_left: Exact = omitted("remaining share of the topology's best allgather rate")


class Stage(Document):
    """Moves of one stage."""

    id: int = Field(description="number of the stage, from 1", ge=1)
    ops: list[Operation] = Field(description="removes, then adds, then checks")
    undo: list[Operation] = Field(description="inverse moves, in reverse order")
    effect: Effect = Field(description="capacity during the stage")


class SparePortDocument(Document):
    """Moves if every host had one more port, on one more panel; the hosts of the nodes stay."""

    moves: int = Field(description="moves of a plan with the port", ge=0)
    lower_bound: int = Field(description="lower bound of the moves with the port", ge=0)


class PlanSummary(Document):
    """Number of moves, and their lower bound."""

    moves: int = Field(description="removes plus adds", ge=0)
    removes: int = Field(description="removed pairs", ge=0)
    adds: int = Field(description="added pairs", ge=0)
    kept: int = Field(description="links that keep their pair", ge=0)
    lower_bound: int = Field(description="lower bound of the moves", ge=0)
    optimal: bool = Field(description="whether the moves are proven minimal")
    stages: int = Field(description="number of stages", ge=0)
    seconds: float = omitted("time of all stages, from the speeds of the panels", ge=0)
    objective: GoalDocument = omitted("objective, if other than moves")
    with_spare_port: SparePortDocument = omitted(
        "moves with one more port at every host, if all ports are in use and the port saves moves"
    )


class FinalPair(Document):
    """A plugged pair."""

    a: str = Field(description="port on the A side")
    b: str = Field(description="port on the B side")
    link: str = omitted("link on the pair: l and its index in the topology")
    foreign: bool = omitted("true for pairs of other users, which must stay")


class FinalState(Document):
    """The state of a panel after the plan."""

    digest: Digest = Field(description="digest of the pairs, as in base")
    pairs: list[FinalPair] = Field(description="all plugged pairs")


class PlainPlanDocument(Document):
    """patch-plan/1 of a plan without an id."""

    schema_: Literal["patch-plan/1"] = Field(alias="schema", description="patch-plan/1")
    plan_id: Digest = Field(description="SHA-256 of the document without this member and id")
    topology_digest: Digest = Field(description="digest of the topology")
    panels: PanelsDocument = omitted("regular panels, and the hosts cabled to them")
    plant: PlantDocument = omitted("plant of the request, instead of panels")
    base: dict[str, BaseState] = Field(description="panel id -> initial state")
    devices: list[DeviceDocument] = Field(description="panels")
    ports: list[PortDocument] = Field(description="host ports at the panel ports")
    stages: list[Stage] = Field(description="stages; one, more if the limits require it, or none")
    summary: PlanSummary = Field(description="number of moves and lower bound")
    final: dict[str, FinalState] = Field(description="panel id -> final state")


class PatchPlanDocument(PlainPlanDocument):
    """patch-plan/1."""

    id: Identity = Field(description="id of the plan")


class PatchPlanSummary(Document):
    """Summary of a patch plan in lists."""

    topology_id: Identity = Field(description="id of the topology")
    name: str = Field(description="name of the topology; may be empty")
    removes: int = Field(description="removed pairs", ge=0)
    adds: int = Field(description="added pairs", ge=0)
    kept: int = Field(description="links that keep their pair", ge=0)
    lower_bound: int = Field(description="lower bound of the moves", ge=0)
    optimal: bool = Field(description="whether the moves are proven minimal")


def of(answer: PlanAnswer, identity: str) -> dict[str, Any]:
    """Return the patch-plan/1 document with its id."""
    from topoloom.synth.wiring import to_document

    document = to_document(answer.plan, answer.limits, answer.rate)
    schema = document.pop("schema")
    return {"schema": schema, "id": identity, **document}


def text_of(artefact: Artefact, form: str) -> str:
    """Return a stored plan as text: ``json``, or ``csv``, the work order."""
    content = artefact.document()[form]
    return content if isinstance(content, str) else compact(content)


def content_of(artefact: Artefact) -> "tuple[dict[str, Any], Plant | None]":
    """Return the document of a stored plan, and the plant of its request."""
    from topoloom.synth.wiring.plant import read_plant

    content = artefact.document()
    return content["json"], read_plant(content["plant"]) if "plant" in content else None


def subject_of(artefact: Artefact) -> Subject:
    """Return the topology of a stored plan."""
    summary = artefact.summary
    digest = artefact.document()["json"]["topology_digest"]
    return Subject(summary["topology_id"], digest, summary["name"])


def script_of(artefact: Artefact) -> "Script":
    """Return the moves of a stored plan."""
    from topoloom.synth.wiring.devices import read_script

    return read_script(*content_of(artefact))


def _encode(answer: PlanAnswer, identity: str) -> Computed:
    from topoloom.synth.wiring import work_order
    from topoloom.synth.wiring.plant import plant_document

    plan = answer.plan
    summary = PatchPlanSummary(
        topology_id=answer.subject.id,
        name=answer.subject.name,
        removes=len(plan.removes),
        adds=len(plan.adds),
        kept=plan.kept,
        lower_bound=plan.lower_bound,
        optimal=plan.optimal,
    )
    content = {"json": of(answer, identity), "csv": work_order(plan, answer.limits)}
    if plan.plant.uniform is None:
        content["plant"] = plant_document(plan.plant)
    return Computed.json(content, summary.given())


PATCH_PLAN = Kind("patch-plan", _encode)
