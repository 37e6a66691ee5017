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
    given_members,
    omitted,
)
from topoloom.app.requests.designs import FrontierRequest
from topoloom.app.store.artifacts import Artefact, Asked, Computed, Kind
from topoloom.synth.evaluation.cost import Links

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices
    from topoloom.synth.search.frontier import Frontier, Point
    from topoloom.synth.search.hosts import Hosts


@dataclass(frozen=True, slots=True)
class FrontierAnswer:
    """A frontier with the stored topology and optional all-to-all cost of each point."""

    asked: Asked
    found: "Frontier"
    stored: tuple[Stored, ...]
    exchanges: "tuple[AllToAllChoices, ...]" = ()


class PointDocument(Document):
    """A topology of the frontier with its measured cost."""

    recipe: str = Field(description="recipe of the topology")
    name: str = Field(description="short name of the topology")
    nodes: int = Field(description="number of hosts", ge=2)
    degree: int = Field(description="ports of each host", ge=1)
    steps: int = Field(description="T_L of an allgather, in units of the hop latency", ge=1)
    bandwidth: Exact = Field(description="T_B of an allgather, in units of M/B, exact")
    transpose: PassCost = Field(
        description="cost of a reduce-scatter: the same on the transposed graph"
    )
    algorithm: Literal["bfb", "slack"] = Field(
        description="schedules with this cost: bfb, breadth-first broadcast; slack, slack schedules"
    )
    within_steps: int = omitted(
        "slack: limit of steps per pass, the option steps of its schedules", ge=1
    )
    status: Literal["optimal", "steps-optimal", "bandwidth-optimal", "best-known"] = Field(
        description="bounds that the worse of both directions meets"
    )
    gap: PassCost = Field(
        description="distance of the worse of both directions from the bounds: steps, and T_B as a "
        "share of its bound"
    )


class FrontierPoint(PointDocument):
    """A point of frontier/1."""

    topology_id: Identity = Field(description="id of the topology")
    all_to_all: PointExchange = omitted("cost of all-to-all, if requested")


class FrontierDocument(Document):
    """frontier/1: nondominated points, sorted by steps."""

    schema_: Literal["frontier/1"] = Field(alias="schema", description="frontier/1")
    id: Identity = Field(description="id of the answer")
    request: FrontierRequest = Field(description="request with defaults")
    bounds: PassCost = Field(description="lower bounds for all topologies of these hosts")
    frontier: list[FrontierPoint] = Field(description="points, sorted by steps")


class FrontierSummary(Document):
    """Summary of a frontier in lists."""

    points: int = Field(description="number of topologies", ge=1)


def frontier_key(hosts: "Hosts", *, all_to_all: bool = False) -> dict[str, Any]:
    """Return the frontier request for some hosts as plain JSON, the key of its answer.

    >>> from topoloom.synth.search.hosts import Hosts
    >>> asked = frontier_key(Hosts(12, 4, max_steps=3))
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
    found: "Frontier", point: "Point", stored: Stored, exchange: "AllToAllChoices | None"
) -> FrontierPoint:
    members = point_members(point, found, stored)
    members["topology_id"] = stored.id
    if exchange is not None:
        members["all_to_all"] = point_exchange(exchange)
    return FrontierPoint(**members)


def point_members(point: "Point", found: "Frontier", stored: Stored) -> dict[str, Any]:
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
    """Return the members that identify the schedules of a point."""
    return given_members(algorithm=point.algorithm, within_steps=point.within)


def value_of(document: Mapping[str, Any]) -> FrontierAnswer:
    """Return the frontier of a frontier/1 document, without all-to-all."""
    from topoloom.synth.recipes.recipe import parse
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
