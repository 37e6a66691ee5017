"""What the command line shows to people; ``--json`` shows the document instead."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from app.printing.designs import design_table, show_design
from app.printing.facts import show_cost, show_optimum, show_simulation
from app.printing.frontiers import cost_table, frontier_table
from app.printing.sweeps import sweep_table
from app.tabular import Table

__all__ = ["PRINTERS", "TABLES"]

TABLES: Mapping[str, Callable[[dict[str, Any]], Table]] = MappingProxyType(
    {
        "design": design_table,
        "frontier": frontier_table,
        "cost": cost_table,
        "sweep": sweep_table,
    }
)
"""Kind of document -> the table that it is."""

PRINTERS: Mapping[str, Callable[[dict[str, Any]], None]] = MappingProxyType(
    {
        "design": show_design,
        "frontier": lambda document: frontier_table(document).print(),
        "cost": show_cost,
        "optimum": show_optimum,
        "simulation": show_simulation,
        "sweep": lambda document: sweep_table(document).print(),
    }
)
"""Kind of document -> what prints it."""
