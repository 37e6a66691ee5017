"""repairs/1: repairs of a wired plan with dead parts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import Field

from topoloom.app.documents.base import Digest, Document, Exact, Presented, omitted, renamed_to
from topoloom.app.documents.patch_plan import PlainPlanDocument
from topoloom.app.requests.options.patch_plans import RepairName

if TYPE_CHECKING:
    from fractions import Fraction

    from topoloom.synth.wiring.devices import Script
    from topoloom.synth.wiring.operations.repair import Repair
    from topoloom.synth.wiring.plans.stages import Stage


class RateLeft(NamedTuple):
    """The best allgather on the remaining links, and its speed as a share of the healthy speed."""

    inverse_rate: "Fraction"
    trees_per_root: int
    share: "Fraction"


class Weighed(NamedTuple):
    """A repair with its cost; ``rate`` is None if not computed."""

    repair: "Repair"
    stages: "tuple[Stage, ...]"
    rate: RateLeft | None


class LeftSchedule(Document):
    """The best allgather schedule after the repair, by ForestColl."""

    inverse_rate: Exact = Field(description="inverse rate, as in optimum/1")
    trees_per_root: int = Field(description="trees per root at this rate", ge=1)
    share: Exact = Field(description="algbw as a share of the algbw before the faults")


class RepairDocument(Document):
    """A repair."""

    repair: RepairName = Field(
        description="re-patch: use free ports; spare-ports: use spare ports also; spare-host: "
        "replace hosts that are dead or have dead ports; left-out: drop the dead parts"
    )
    way: RepairName = renamed_to("repair")
    moves: int = Field(description="removes plus adds", ge=0)
    removes: int = Field(description="removed pairs", ge=0)
    adds: int = Field(description="added pairs", ge=0)
    lower_bound: int = Field(description="lower bound of the moves of this repair", ge=0)
    seconds: float = Field(description="time of the moves, from the speeds of the panels", ge=0)
    hosts_drained: int = Field(description="hosts that lose a pair", ge=0)
    lost_links: int = Field(description="dropped links", ge=0)
    lost_nodes: int = Field(description="dropped nodes", ge=0)
    schedule: LeftSchedule = omitted("best schedule after the repair; absent for too many hosts")


class RepairsDocument(Document):
    """repairs/1."""

    schema_: Literal["repairs/1"] = Field(alias="schema", description="repairs/1")
    plan_id: Digest = Field(description="digest of the wired plan")
    repairs: list[RepairDocument] = Field(description="repairs, fewest moves first; may be empty")
    plan: PlainPlanDocument = omitted("plan of the requested repair")
    plant: dict[str, Any] = omitted("plant/1 document of that plan")


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
        "repair": way.repair.way.value,
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
