"""frontier/1: the Pareto frontier of latency and bandwidth for some hosts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from topoloom.app.documents.all_to_all import PointExchange, point_exchange
from topoloom.app.documents.base import (
    Document,
    Exact,
    Identity,
    PassCost,
    Stored,
    cost_of,
    omitted,
)
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Kind
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.recipe import parse

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import Exchange
    from topoloom.synth.search.frontier import Frontier, Point
    from topoloom.synth.search.hosts import Hosts


@dataclass(frozen=True, slots=True)
class FrontierAnswer:
    """A frontier; for every point its stored topology, and all-to-all where it was asked for."""

    asked: Asked
    found: "Frontier"
    stored: tuple[Stored, ...]
    exchanges: "tuple[Exchange, ...]" = ()


class PointDocument(Document):
    """A topology of the frontier, measured on the built graph."""

    recipe: str = Field(description="how the topology is made; the text identifies it")
    name: str = Field(description="its short name")
    nodes: int = Field(description="number of hosts", ge=2)
    degree: int = Field(description="ports of each host", ge=1)
    steps: int = Field(description="T_L of an allgather, in units of the hop latency", ge=1)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B, exact")
    transpose: PassCost = Field(
        description="the same on the transposed graph: the cost of a reduce-scatter"
    )
    algorithm: Literal["bfb", "slack"] = Field(
        description="what has this cost: bfb, breadth-first broadcast; slack, labels"
    )
    within_steps: int = omitted(
        "slack: within how many steps of each pass; the option steps of its schedules", ge=1
    )
    status: Literal["optimal", "steps-optimal", "bandwidth-optimal", "best-known"] = Field(
        description="which bounds the worse of both directions meets"
    )
    gap: PassCost = Field(
        description="by how many steps, and by what share of the bound on bandwidth, the worse "
        "of both directions misses the bounds"
    )


class FrontierPoint(PointDocument):
    """A point of frontier/1."""

    topology_id: Identity = Field(description="what the topology is stored under")
    all_to_all: PointExchange = omitted("what all-to-all takes there, where it was asked for")


class FrontierDocument(Document):
    """frontier/1: sorted by steps, without dominated points."""

    schema_: Literal["frontier/1"] = Field(alias="schema", description="frontier/1")
    id: Identity = Field(description="what the answer is stored under")
    request: FrontierRequest = Field(description="the question, defaults filled in")
    bounds: PassCost = Field(description="what no topology of these hosts can undercut")
    frontier: list[FrontierPoint] = Field(description="the points, sorted by steps")


class FrontierSummary(Document):
    """What lists say of a frontier."""

    points: int = Field(description="how many topologies it has", ge=1)


def asked_of(hosts: "Hosts", *, all_to_all: bool = False) -> dict[str, Any]:
    """Return the question for the frontier of some hosts as plain JSON, the key of its answer.

    >>> from topoloom.synth.search.hosts import Hosts
    >>> asked = asked_of(Hosts(12, 4, max_steps=3))
    >>> asked == FrontierRequest(nodes=12, degree=4, max_steps=3).canonical()
    True
    """
    asked = {
        "nodes": hosts.nodes,
        "degree": hosts.degree,
        "links": hosts.links.value,
        "parallel_links": hosts.parallel_links,
        "vertex_transitive": hosts.vertex_transitive,
        "families": None if hosts.families is None else sorted(set(hosts.families)),
        "bases": sorted({str(base) for base in hosts.bases}) or None,
        "max_steps": hosts.max_steps,
        "schedule": hosts.schedule,
        "all_to_all": all_to_all or None,
    }
    return {name: value for name, value in asked.items() if value is not None}


def of(answer: FrontierAnswer, identity: str) -> dict[str, Any]:
    """Return the frontier/1 document."""
    found = answer.found
    exchanges = answer.exchanges or (None,) * len(found.points)
    rows = zip(found.points, answer.stored, exchanges, strict=True)
    return {
        "schema": "frontier/1",
        "id": identity,
        "request": answer.asked,
        "bounds": PassCost.of(found.bounds).given(),
        "frontier": [
            _point(found, point, stored, exchange).given() for point, stored, exchange in rows
        ],
    }


def _point(
    found: "Frontier", point: "Point", stored: Stored, exchange: "Exchange | None"
) -> FrontierPoint:
    members = measured(point, found, stored)
    members["topology_id"] = stored.id
    if exchange is not None:
        members["all_to_all"] = point_exchange(exchange)
    return FrontierPoint(**members)


def measured(point: "Point", found: "Frontier", stored: Stored) -> dict[str, Any]:
    """Return the members of `PointDocument` for a point of a frontier."""
    return {
        "recipe": str(point.recipe),
        "name": stored.name,
        "nodes": found.nodes,
        "degree": found.degree,
        "steps": point.cost.steps,
        "bandwidth": str(point.cost.bandwidth),
        "transpose": PassCost.of(point.transpose),
        **algorithm_of(point),
        "status": point.status(found.bounds),
        "gap": PassCost.of(point.gap(found.bounds)),
    }


def algorithm_of(point: "Point") -> dict[str, Any]:
    """Return the members that say what has the cost of a point."""
    within = {} if point.within is None else {"within_steps": point.within}
    return {"algorithm": point.algorithm, **within}


def value_of(document: Mapping[str, Any]) -> FrontierAnswer:
    """Return the frontier that a frontier/1 document tells of, without all-to-all."""
    from topoloom.synth.search.frontier import Frontier, Point

    asked = document["request"]
    points = tuple(
        Point(
            parse(entry["recipe"]),
            cost_of(entry),
            cost_of(entry["transpose"]),
            entry.get("within_steps"),
        )
        for entry in document["frontier"]
    )
    stored = tuple(Stored(entry["topology_id"], entry["name"]) for entry in document["frontier"])
    bounds = cost_of(document["bounds"])
    found = Frontier(asked["nodes"], asked["degree"], Links(asked["links"]), bounds, points)
    return FrontierAnswer(asked, found, stored)


def _encode(answer: FrontierAnswer, identity: str) -> Computed:
    return Computed.json(of(answer, identity), {"points": len(answer.found.points)})


def _decode(artefact: Artefact) -> FrontierAnswer:
    return value_of(artefact.document())


FRONTIER = Kind("frontier", _encode, _decode)
