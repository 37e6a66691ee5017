"""Routes hop by hop: which part of whose block crosses which ranks, in which order."""

from collections.abc import Iterator
from typing import NamedTuple

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import RouteSchedule

__all__ = ["Part", "parts_of_routes"]


class Part(NamedTuple):
    """Units [first, past) of what ``stops[0]`` has for ``stops[-1]``, and all ranks on the way."""

    stops: tuple[int, ...]
    first: int
    past: int


def parts_of_routes(schedule: RouteSchedule) -> Iterator[Part]:
    """Yield what each route carries, in units of 1 / ``units_per_pair`` of a block.

    Switches are left out of the stops.  The routes of a pair share its block in their order.
    O(hops) time in all.

    Raises
    ------
    InvalidSchedule
        A route does not lead from one rank to another, or a pair has routes of too much weight.

    Examples
    --------
    >>> from topoloom.schedules.model.schedule import Collective, Route
    >>> ways = (Route((0, 1), 2), Route((0, "switch", 2, 1), 1))
    >>> schedule = RouteSchedule(Collective.ALL_TO_ALL, "sha256:0", (0, 1, 2), 3, ways)
    >>> [(part.stops, part.first, part.past) for part in parts_of_routes(schedule)]
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
            raise InvalidSchedule(f"/routes/{at}/weight", "must leave what the pair has whole")
        yield Part(stops, first, past)
