"""From a topology to cables: ports on panels, fewest moves, work orders."""

from synth.wiring.assign import assign_ports, violations
from synth.wiring.document import apply, revert, to_document
from synth.wiring.moves import PatchPlan, plan_moves
from synth.wiring.panels import Layout, Pair, Panels, Wiring
from synth.wiring.present import Present, read_present, read_present_csv
from synth.wiring.work_order import work_order

__all__ = [
    "Layout",
    "Pair",
    "Panels",
    "PatchPlan",
    "Present",
    "Wiring",
    "apply",
    "assign_ports",
    "plan_moves",
    "read_present",
    "read_present_csv",
    "revert",
    "to_document",
    "violations",
    "work_order",
]
