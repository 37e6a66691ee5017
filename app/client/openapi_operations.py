"""Links between client methods and the operations of the OpenAPI document."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from topoloom.app.client.arguments import part

T = TypeVar("T", bound=Callable[..., Any])

KINDS = {
    "Design": "Designs",
    "Topology": "Topologies",
    "Schedule": "Schedules",
    "PatchPlan": "PatchPlans",
    "Frontier": "Frontiers",
    "Cost": "Costs",
    "Optimum": "Optima",
    "Verification": "Verifications",
    "Simulation": "Simulations",
    "Comparison": "Comparisons",
    "Plot": "Plots",
    "Sweep": "Sweeps",
    "Iteration": "Iterations",
    "BoxDesign": "BoxDesigns",
}
"""Document kind in names of operations: singular -> plural."""


def operation(*names: str) -> Callable[[T], T]:
    """Mark a method with the ids of its operations in the OpenAPI document."""

    def mark(method: T) -> T:
        method.__dict__["operations"] = names
        return method

    return mark


def of_kinds(verb: str, noun: str = "") -> list[str]:
    """Return the operation ids of a verb for every kind of document."""
    return [f"{verb}{kind}{noun}" for kind in KINDS]


def place(*parts: str) -> str:
    """Return the path of parts with arbitrary characters."""
    return "/".join(("/v1", *map(part, parts)))


def without_underscores(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query without the trailing underscores of Python keywords.

    >>> without_underscores({"from_": "1KiB"})
    {'from': '1KiB'}
    """
    return {name.rstrip("_"): value for name, value in question.items()}
