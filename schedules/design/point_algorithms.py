"""The algorithms for collectives at a point of the frontier, except trees."""

from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.schedules.baselines import PASSES
from topoloom.schedules.compare.stepped_time_models import Loads, StepPass
from topoloom.schedules.compare.topology_algorithms import Routing, TopologyCosts
from topoloom.schedules.design.request import Speed
from topoloom.schedules.design.sources import Sources
from topoloom.schedules.errors import TooLarge
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.verified_schedule import ScheduleCosts
from topoloom.schedules.workloads.tasks import Workload
from topoloom.synth.evaluation.cost import Cost, optimal_bandwidth
from topoloom.synth.recipes.recipe import (
    Bidirected,
    DegreeExpansion,
    LineGraph,
    Power,
    Product,
    Recipe,
)
from topoloom.synth.search.frontier import Point
from topoloom.synth.search.hosts import Hosts

if TYPE_CHECKING:
    from topoloom.schedules.routes.routing_choices import AllToAllChoices

LIFTED_NODES = 1024
"""Maximum hosts for lifted schedules, which must be generated."""


def point_costs(
    measured: Point,
    exchange: "AllToAllChoices | None",
    hosts: Hosts,
    speed: Speed,
    workload: Workload,
    sources: Sources,
) -> TopologyCosts:
    """Return the algorithms for a workload at a point: steps, lifted schedules, routings.

    >>> from topoloom.schedules.design.sources import Generators
    >>> from topoloom.schedules.workloads.tasks import Task
    >>> work, hosts = Workload((Task(Collective.ALLGATHER, 1),)), Hosts(4, 1)
    >>> speed, ring = Speed(Fraction(1), Fraction(1)), Generators().frontier(hosts).points[0]
    >>> point_costs(ring, None, hosts, speed, work, Generators()).gather
    Cost(steps=3, bandwidth=Fraction(3, 4))
    """
    passes = any(collective in PASSES for collective in workload.collectives)
    return TopologyCosts(
        hosts.nodes,
        measured.cost,
        measured.transpose,
        routings=_routings(exchange) if exchange else (),
        algorithm=measured.algorithm,
        loads=sources.loads(measured) if passes and speed.chunk_seconds else None,
        lifted=_lifted(measured, hosts, sources) if passes else None,
        degree=hosts.degree,
    )


def _lifted(measured: Point, hosts: Hosts, sources: Sources) -> tuple[StepPass, StepPass] | None:
    """Return both passes of a lifted schedule, where they may be better.

    Without dimensions processed one by one, a lifted schedule delivers every shard as early as
    possible, and is no better than breadth-first broadcast.
    """
    nodes, recipe = hosts.nodes, measured.recipe
    worst = max(measured.cost.bandwidth, measured.transpose.bandwidth)
    if nodes > LIFTED_NODES or worst == optimal_bandwidth(nodes) or not _by_dimensions(recipe):
        return None
    try:
        gather, scatter = (
            _pass(sources.schedule(recipe, collective, "lifted"), nodes, hosts.degree)
            for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER)
        )
    except TooLarge:
        return None
    return gather, scatter


def _pass(facts: ScheduleCosts, nodes: int, degree: int) -> StepPass:
    """Return a pass of a schedule with a fixed number of chunks."""
    assert facts.steps is not None and facts.bandwidth is not None
    whole = facts.bandwidth * Fraction(nodes, degree)
    return StepPass(
        Cost(facts.steps, facts.bandwidth), Loads((whole,), facts.chunks_per_shard or 1)
    )


def _by_dimensions(recipe: Recipe) -> bool:
    match recipe:
        case Power() | Product():
            return True
        case LineGraph(_, of) | DegreeExpansion(_, of) | Bidirected(of):
            return _by_dimensions(of)
    return False


def _routings(exchange: "AllToAllChoices") -> tuple[Routing, ...]:
    return tuple(
        Routing(
            "shortest-paths" if way.method == "shortest-paths" and index == 0 else "mcf",
            Cost(way.hops, exchange.bandwidth(way)),
        )
        for index, way in enumerate(exchange.ways)
    )
