"""Text output of the command line; ``--json`` prints the document instead."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from topoloom.app.cli.output.designs import design_table, show_design
from topoloom.app.cli.output.evaluations import show_cost, show_optimum, show_simulation
from topoloom.app.cli.output.frontiers import cost_table, frontier_table
from topoloom.app.cli.output.sweeps import sweep_table
from topoloom.app.cli.output.text_table import Table

__all__ = ["PRINTERS", "TABLES"]

TABLES: Mapping[str, Callable[[dict[str, Any]], Table]] = MappingProxyType(
    {
        "design": design_table,
        "frontier": frontier_table,
        "cost": cost_table,
        "sweep": sweep_table,
    }
)
"""Document kind -> constructor of its table."""

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
"""Document kind -> its printer."""
