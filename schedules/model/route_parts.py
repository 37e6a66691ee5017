"""All-to-all routes as rank-to-rank paths, each with the part of the block it carries."""

from collections.abc import Iterator
from typing import NamedTuple

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import RouteSchedule


class RoutePart(NamedTuple):
    """Units [first, past) of the block from ``stops[0]`` to ``stops[-1]``, and all ranks passed."""

    stops: tuple[int, ...]
    first: int
    past: int


def route_parts(schedule: RouteSchedule) -> Iterator[RoutePart]:
    """Yield the part that each route carries, in units of 1 / ``units_per_pair`` of a block.

    Stops exclude switches.  The routes of a pair divide its block in their order.
    O(hops) time in all.

    Raises:
        InvalidSchedule: A route does not join two ranks, or the routes of a pair exceed its block.

    >>> from topoloom.schedules.model.schedule import Collective, Route
    >>> ways = (Route((0, 1), 2), Route((0, "switch", 2, 1), 1))
    >>> schedule = RouteSchedule(Collective.ALL_TO_ALL, "sha256:0", (0, 1, 2), 3, ways)
    >>> [(part.stops, part.first, part.past) for part in route_parts(schedule)]
    [((0, 1), 0, 2), ((0, 2, 1), 2, 3)]
    """
    rank = {node: index for index, node in enumerate(schedule.ranks)}
    served: dict[tuple[int, int], int] = {}
    for at, route in enumerate(schedule.routes):
        path = route.path
        stops = tuple(rank[node] for node in path if node in rank)
        if len(stops) < 2 or path[0] not in rank or path[-1] not in rank:
            raise InvalidSchedule(f"/routes/{at}/path", "must lead from one rank to another")
        pair = stops[0], stops[-1]
        first = served.get(pair, 0)
        past = served[pair] = first + route.weight
        if past > schedule.units_per_pair:
            raise InvalidSchedule(f"/routes/{at}/weight", "must fit the units of its pair")
        yield RoutePart(stops, first, past)
