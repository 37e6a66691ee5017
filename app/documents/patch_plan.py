"""patch-plan/1: which port to plug where, and the work order for people.

`synth.wiring.plans.document_writer` writes it; the model here says what is in it.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import (
    AssumptionDocument,
    Digest,
    Document,
    Exact,
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
    """The panels, and who is cabled to them."""

    layout: Literal["per-port", "single"] = Field(
        description="one panel for each port of the hosts, or one for all"
    )
    hosts: int = Field(description="hosts that are cabled", ge=1)
    lanes: int = Field(description="ports of each host that are cabled", ge=1)


class PlantDocument(Document):
    """The plant that was given."""

    name: str = Field(description="its name; empty if it has none")
    digest: Digest = Field(description="of the plant/1 document without name and cross-connects")
    assumed: list[AssumptionDocument] = omitted("what the text of the plant does not state")


class BaseState(Document):
    """The state of a panel that the plan was made from."""

    digest: Digest = Field(description="of the canonical JSON list of the pairs, sorted by A port")
    pairs: int = Field(description="number of plugged pairs", ge=0)


class DeviceDocument(Document):
    """A panel."""

    id: str = Field(description="name of the panel")
    a_ports: int = Field(description="ports on its A side, where hosts send", ge=1)
    b_ports: int = Field(
        description="ports on its B side, where hosts receive; 0 where any two are joined", ge=0
    )


class Endpoint(Document):
    """A port of a host."""

    node: Node = Field(description="id of the node")
    host: str = omitted("on a given plant: the host that the node sits on")
    port: int | str = Field(description="its port, from 0, or its name on a given plant")


class PortDocument(Document):
    """What sits on a port of a panel."""

    device: str = Field(description="the panel")
    port: str = Field(description="the panel's port, such as 3A")
    side: Literal["A", "B"] = Field(description="A: the host sends there; B: it receives")
    endpoint: Endpoint = Field(description="the port of the host")
    label: str = Field(description="node:port:tx, node:port:rx or node:port:both")


class Operation(Document):
    """One move, or one check."""

    n: int = Field(description="place in the list, from 1", ge=1)
    op: Literal["remove", "add", "verify"] = Field(description="what is done")
    device: str = Field(description="the panel")
    a: str = Field(description="port on the A side")
    b: str = Field(description="port on the B side")
    link: str = omitted("the link that the pair carries: l and its index in the topology")
    expect: str = omitted("of remove: the pair that must be there")


class Effect(Document):
    """What the kept links alone can do, while all else is dark."""

    links_down: int = Field(description="pairs that are taken away", ge=0)
    capacity_left: Exact = Field(description="share of the topology's capacity on kept links")
    connected: bool = Field(description="whether every node still reaches every other")
    seconds: float = omitted("how long its moves take, by the panels", ge=0)
    hosts_drained: list[str] = omitted("hosts at whose ports something is taken away")
    bandwidth_left: Exact = omitted("share of the topology's best allgather rate that is left")


class Stage(Document):
    """Moves that are made together."""

    id: int = Field(description="from 1", ge=1)
    ops: list[Operation] = Field(description="all removes, then all adds, then their checks")
    undo: list[Operation] = Field(description="the inverse of the moves, in inverse order")
    effect: Effect = Field(description="what is left while the stage runs")


class GoalDocument(Document):
    """What a plan was chosen for, beside its moves."""

    least: Literal["seconds", "drained"] = Field(
        description="seconds: what the moves take in one stage, by the panels; drained: hosts at "
        "which light is taken away"
    )
    value: float = Field(description="what the plan takes of it", ge=0)
    lower_bound: float = Field(description="what no plan can undercut", ge=0)
    gap: float = Field(description="value less lower_bound", ge=0)
    optimal: bool = Field(description="whether no plan takes less; false: not known")


class PlanSummary(Document):
    """How many moves, and how few there could be."""

    moves: int = Field(description="removes and adds together", ge=0)
    removes: int = Field(description="pairs taken away", ge=0)
    adds: int = Field(description="pairs plugged", ge=0)
    kept: int = Field(description="links that stay on the pair they have", ge=0)
    lower_bound: int = Field(description="moves that no plan can undercut", ge=0)
    optimal: bool = Field(description="whether no plan with fewer moves exists; false: not known")
    stages: int = Field(description="number of stages", ge=0)
    seconds: float = omitted("how long all stages take, by the panels", ge=0)
    objective: GoalDocument = omitted("what the plan was chosen for, where that is not moves")


class FinalPair(Document):
    """A plugged pair."""

    a: str = Field(description="port on the A side")
    b: str = Field(description="port on the B side")
    link: str = omitted("the link that the pair carries: l and its index in the topology")
    foreign: bool = omitted("true of pairs of others, which must not be touched")


class FinalState(Document):
    """The state of a panel after the plan."""

    digest: Digest = Field(description="of the pairs, as in base")
    pairs: list[FinalPair] = Field(description="all plugged pairs")


class PlainPlanDocument(Document):
    """patch-plan/1 of a plan that is not stored."""

    schema_: Literal["patch-plan/1"] = Field(alias="schema", description="patch-plan/1")
    plan_id: Digest = Field(description="SHA-256 of the document without this member and id")
    topology_digest: Digest = Field(description="digest of the topology")
    panels: PanelsDocument = omitted("regular panels, and who is cabled to them")
    plant: PlantDocument = omitted("instead: the plant that was given")
    base: dict[str, BaseState] = Field(description="by panel: the state the plan was made from")
    devices: list[DeviceDocument] = Field(description="the panels")
    ports: list[PortDocument] = Field(description="the cabling map of the topology's hosts")
    stages: list[Stage] = Field(description="one, or as many as the limits need, or none")
    summary: PlanSummary = Field(description="how many moves")
    final: dict[str, FinalState] = Field(description="by panel: the state after the plan")


class PatchPlanDocument(PlainPlanDocument):
    """patch-plan/1."""

    id: Identity = Field(description="what the plan is stored under")


class PatchPlanSummary(Document):
    """What lists say of a patch plan."""

    topology_id: Identity = Field(description="what the topology is stored under")
    name: str = Field(description="name of the topology; empty if it has none")
    removes: int = Field(description="pairs taken away", ge=0)
    adds: int = Field(description="pairs plugged", ge=0)
    kept: int = Field(description="links that stay on the pair they have", ge=0)
    lower_bound: int = Field(description="moves that no plan can undercut", ge=0)
    optimal: bool = Field(description="whether no plan with fewer moves exists; false: not known")


def of(answer: PlanAnswer, identity: str) -> dict[str, Any]:
    """Return the patch-plan/1 document with its id."""
    from topoloom.synth.wiring import to_document

    document = to_document(answer.plan, answer.limits, answer.rate)
    schema = document.pop("schema")
    return {"schema": schema, "id": identity, **document}


def text_of(artefact: Artefact, form: str) -> str:
    """Return a stored plan as text: ``json``, or ``csv`` for people."""
    content = artefact.document()[form]
    return content if isinstance(content, str) else compact(content)


def content_of(artefact: Artefact) -> "tuple[dict[str, Any], Plant | None]":
    """Return a stored plan's document, and the plant that was given with the question."""
    from topoloom.synth.wiring.plant import read_plant

    content = artefact.document()
    return content["json"], read_plant(content["plant"]) if "plant" in content else None


def subject_of(artefact: Artefact) -> Subject:
    """Return which topology a stored plan wires."""
    summary = artefact.summary
    digest = artefact.document()["json"]["topology_digest"]
    return Subject(summary["topology_id"], digest, summary["name"])


def script_of(artefact: Artefact) -> "Script":
    """Return what a stored plan says is to be done."""
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
