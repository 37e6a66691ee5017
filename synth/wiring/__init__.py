"""From a topology to cables: plants of hosts and panels, fewest moves, work orders."""

from synth.wiring.document import apply, revert, to_document
from synth.wiring.moves import assign_ports, plan_moves
from synth.wiring.objective import Objective
from synth.wiring.patch_plan import PatchPlan
from synth.wiring.plant import Layout, Pair, Plant, Present, cross_wired, duplex, sized, uniform
from synth.wiring.present import read_present, read_present_csv
from synth.wiring.wiring import Wiring, violations
from synth.wiring.work_order import work_order

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
    "read_present_csv",
    "revert",
    "sized",
    "to_document",
    "uniform",
    "violations",
    "work_order",
]
