"""From a topology to cables: plants of hosts and panels, fewest moves, work orders."""

from topoloom.synth.wiring.ilp.objective import Objective
from topoloom.synth.wiring.plans.document_writer import apply, revert, to_document
from topoloom.synth.wiring.plans.fewest_moves import assign_ports, plan_moves
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plans.work_order import work_order
from topoloom.synth.wiring.plant import (
    Layout,
    Pair,
    Plant,
    Present,
    cross_wired,
    duplex,
    smallest_plant,
    uniform,
)
from topoloom.synth.wiring.plant.current_wiring import read_present
from topoloom.synth.wiring.routes.link_wiring import Wiring, violations

__all__ = [
    "Layout",
    "Objective",
    "Pair",
    "PatchPlan",
    "Plant",
    "Present",
    "Wiring",
    "apply",
    "assign_ports",
    "cross_wired",
    "duplex",
    "plan_moves",
    "read_present",
    "revert",
    "smallest_plant",
    "to_document",
    "uniform",
    "violations",
    "work_order",
]
