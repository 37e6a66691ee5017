"""all-to-all/1: the rate of an all-to-all, with exact bounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.base import AboutTopology, Document, Exact, Subject, rounded
from topoloom.app.store.artifacts import Artefact, Computed, Kind

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices


@dataclass(frozen=True, slots=True)
class ExchangeAnswer:
    """The cost of an all-to-all on a topology, with the unit of the capacities."""

    subject: Subject
    bandwidth_unit: str
    found: "AllToAllChoices"


class RoutingDocument(Document):
    """A routing of an all-to-all."""

    method: str = Field(description="method: linear-program or shortest-paths")
    steps: int = Field(description="hops of the longest route", ge=1)
    bandwidth: Exact = Field(description="T_B in units of M/B, exact")


class PointExchange(Document):
    """All-to-all cost of a frontier point."""

    bandwidth: Exact = Field(description="T_B of the fastest routing, in units of M/B")
    bound: Exact = Field(description="lower bound of T_B on this topology")
    proved: bool = Field(description="whether T_B equals the bound and is optimal")
    routings: list[RoutingDocument] = Field(
        description="the routing with the fewest hops, then the fastest for large data if different"
    )


class AllToAllDocument(AboutTopology[Literal["all-to-all/1"]]):
    """all-to-all/1: the best all-to-all found for a topology, and a bound."""

    collective: Literal["all-to-all"] = Field(description="all-to-all")
    bandwidth_unit: str = Field(description="unit of capacities and algbw")
    nodes: int = Field(description="number of compute nodes", ge=2)
    inverse_rate: Exact = Field(
        description="time for every node to send one unit to every other, in 1 / bandwidth_unit"
    )
    lower_bound: Exact = Field(description="lower bound of the inverse rate, in the same unit")
    bandwidth_bound: Exact = Field(description="lower bound of T_B, in units of M/B")
    proved: bool = Field(description="whether inverse_rate meets the bound")
    gap: float = Field(description="upper bound of the distance from the optimum, as a share", ge=0)
    algbw: float = Field(description="data of all nodes per time, in bandwidth_unit", ge=0)
    routings: list[RoutingDocument] = Field(
        description="the routing with the fewest hops, then the fastest for large data if different"
    )


def of(answer: ExchangeAnswer, identity: str) -> AllToAllDocument:
    """Return the all-to-all/1 document."""
    subject, found = answer.subject, answer.found
    return AllToAllDocument(
        schema="all-to-all/1",
        id=identity,
        **subject.members(),
        collective="all-to-all",
        bandwidth_unit=answer.bandwidth_unit,
        nodes=found.nodes,
        inverse_rate=str(found.best.inverse_rate),
        lower_bound=str(found.lower),
        bandwidth_bound=str(found.bandwidth_bound),
        proved=found.proved,
        gap=round(float(found.gap), 9),
        algbw=rounded(found.algbw),
        routings=_routings(found),
    )


def point_exchange(found: "AllToAllChoices") -> PointExchange:
    """Return the all-to-all cost of a frontier point."""
    return PointExchange(
        bandwidth=str(found.bandwidth(found.best)),
        bound=str(found.bandwidth_bound),
        proved=found.proved,
        routings=_routings(found),
    )


def value_of(document: Mapping[str, Any]) -> ExchangeAnswer:
    """Return the answer of an all-to-all/1 document."""
    from topoloom.schedules.routes.routing_choices import AllToAllChoices, RoutingChoice

    lower = Fraction(document["lower_bound"])
    unit = Fraction(document["bandwidth_bound"]) / lower
    ways = tuple(
        RoutingChoice(one["method"], one["steps"], Fraction(one["bandwidth"]) / unit)
        for one in document["routings"]
    )
    found = AllToAllChoices(document["nodes"], lower, unit, ways)
    return ExchangeAnswer(Subject.from_document(document), document["bandwidth_unit"], found)


def _routings(found: "AllToAllChoices") -> list[RoutingDocument]:
    return [
        RoutingDocument(method=way.method, steps=way.hops, bandwidth=str(found.bandwidth(way)))
        for way in found.ways
    ]


def _encode(answer: ExchangeAnswer, identity: str) -> Computed:
    rate = str(answer.found.best.inverse_rate)
    summary = {"name": answer.subject.name, "inverse_rate": rate}
    return Computed.json(of(answer, identity).given(), summary)


def _decode(artefact: Artefact) -> ExchangeAnswer:
    return value_of(artefact.document())


ALL_TO_ALL = Kind("optimum", _encode, _decode)
"""Stored in the table of optima, with the other collectives."""
