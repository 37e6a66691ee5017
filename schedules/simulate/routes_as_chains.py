"""Routes as trees: a route is a tree that is a chain, so clocks of trees also serve routes."""

from topoloom.schedules.model.schedule import Collective, Route, RouteSchedule, Tree, TreeSchedule
from topoloom.synth.topology.topology import NodeId


def routes_as_chains(schedule: RouteSchedule, switches: frozenset[NodeId]) -> TreeSchedule:
    """Return one chain for each route, with edges that end at ranks.

    The chains are no spanning trees: only code that processes trees edge by edge accepts them.
    Their weights over ``trees_per_root`` are shares of M / N, as those of routes.

    >>> routes = (Route((0, "s", 1, 2), 3),)
    >>> schedule = RouteSchedule(Collective.ALL_TO_ALL, "sha256:0", (0, 1, 2), 3, routes)
    >>> routes_as_chains(schedule, frozenset("s")).trees
    (Tree(root=0, weight=3, edges=((0, 's', 1), (1, 2))),)
    """
    trees = tuple(
        Tree(route.path[0], route.weight, _edges(route, switches)) for route in schedule.routes
    )
    return TreeSchedule(
        Collective.ALLGATHER, schedule.topology, schedule.ranks, schedule.units_per_pair, trees
    )


def _edges(route: Route, switches: frozenset[NodeId]) -> tuple[tuple[NodeId, ...], ...]:
    edges: list[tuple[NodeId, ...]] = []
    edge: tuple[NodeId, ...] = route.path[:1]
    for node in route.path[1:]:
        edge = (*edge, node)
        if node not in switches:
            edges.append(edge)
            edge = (node,)
    return tuple(edges)
