"""From a topology to cables: ports on panels, fewest moves, work orders."""

from synth.wiring.assign import assign_ports, violations
from synth.wiring.panels import Layout, Pair, Panels, Wiring

__all__ = ["Layout", "Pair", "Panels", "Wiring", "assign_ports", "violations"]
