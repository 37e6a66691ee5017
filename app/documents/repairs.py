"""repairs/1: the ways to live with what is dead of a carried-out plan, side by side."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from topoloom.app.documents.base import Digest, Document, Exact, Presented, omitted
from topoloom.app.documents.patch_plan import PlainPlanDocument

if TYPE_CHECKING:
    from fractions import Fraction

    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.operations.repair import Repair
    from topoloom.synth.wiring.plans.stages import Stage

WayName = Literal["re-patch", "spare-ports", "spare-host", "left-out"]


class RateLeft(NamedTuple):
    """The best allgather on what is wired, and its speed as a share of the healthy one's."""

    inverse_rate: "Fraction"
    trees_per_root: int
    share: "Fraction"


class Weighed(NamedTuple):
    """A way out with what it costs; ``rate`` is None where it was not computed."""

    repair: "Repair"
    stages: "tuple[Stage, ...]"
    rate: RateLeft | None


class LeftSchedule(Document):
    """The best allgather schedule on the links that are wired then, by ForestColl."""

    inverse_rate: Exact = Field(description="1/x, as in optimum/1")
    trees_per_root: int = Field(description="trees of each root that reach it", ge=1)
    share: Exact = Field(description="its algbw as a share of the topology's before the faults")


class RepairDocument(Document):
    """One way out."""

    way: WayName = Field(
        description="re-patch: over free ports; spare-ports: over spare ones too; spare-host: dead "
        "hosts, or those with dead ports, are replaced; left-out: what is dead is given up"
    )
    moves: int = Field(description="removes and adds together", ge=0)
    removes: int = Field(description="pairs taken away", ge=0)
    adds: int = Field(description="pairs plugged", ge=0)
    lower_bound: int = Field(description="moves that no plan of this way can undercut", ge=0)
    seconds: float = Field(description="how long the moves take, by the panels", ge=0)
    hosts_drained: int = Field(description="hosts at whose ports something is taken away", ge=0)
    lost_links: int = Field(description="links that are given up", ge=0)
    lost_nodes: int = Field(description="nodes that are given up", ge=0)
    schedule: LeftSchedule = omitted("left out where the hosts are too many to compute it")


class RepairsDocument(Document):
    """repairs/1."""

    schema_: Literal["repairs/1"] = Field(alias="schema", description="repairs/1")
    plan_id: Digest = Field(description="the plan that was carried out")
    repairs: list[RepairDocument] = Field(description="the ways, fewest moves first; maybe none")
    plan: PlainPlanDocument = omitted("the plan of the way that was asked for")
    plant: dict[str, Any] = omitted("with it: the plant/1 document that the plan is on")


def of(
    script: "Script", ways: Iterable[Weighed], nodes: int, chosen: Presented | None = None
) -> Presented:
    """Return the repairs/1 document; ``chosen`` is added to it."""
    rows = [_row(way, nodes) for way in ways]
    return {
        "schema": "repairs/1",
        "plan_id": script.plan_id,
        "repairs": rows,
        **(chosen or {}),
    }


def _row(way: Weighed, nodes: int) -> dict[str, Any]:
    plan = way.repair.plan
    row: dict[str, Any] = {
        "way": way.repair.way.value,
        "moves": plan.moves,
        "removes": len(plan.removes),
        "adds": len(plan.adds),
        "lower_bound": plan.lower_bound,
        "seconds": float(sum(stage.seconds for stage in way.stages)),
        "hosts_drained": len({host for stage in way.stages for host in stage.drained}),
        "lost_links": len(way.repair.lost),
        "lost_nodes": nodes - plan.topology.node_count,
    }
    if way.rate is not None:
        row["schedule"] = {
            "inverse_rate": str(way.rate.inverse_rate),
            "trees_per_root": way.rate.trees_per_root,
            "share": str(way.rate.share),
        }
    return row
