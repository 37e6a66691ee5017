"""How methods name the operations of the OpenAPI document that they ask for."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

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
}
"""What stored documents are called in the names of operations, one and many."""


def operation(*names: str) -> Callable[[T], T]:
    """Say which operations of the OpenAPI document a method asks for, by their ids."""

    def named(method: T) -> T:
        method.__dict__["operations"] = names
        return method

    return named


def of_kinds(verb: str, noun: str = "") -> list[str]:
    """Return the names of one operation on documents of every kind."""
    return [f"{verb}{kind}{noun}" for kind in KINDS]


def place(*parts: str) -> str:
    """Return the path of parts that may hold any characters."""
    return "/".join(("/v1", *(quote(part, safe="") for part in parts)))


def worded(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query whose names are words of Python's own without the underscores behind.

    >>> worded({"from_": "1KiB"})
    {'from': '1KiB'}
    """
    return {name.rstrip("_"): value for name, value in question.items()}


def part(text: str) -> str:
    """Return a text as a part of a path."""
    return quote(text, safe="")
