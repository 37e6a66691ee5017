"""Route schedules: every pair is served in full, over links that exist; and their loads."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

from schedules.errors import InvalidSchedule
from schedules.model import Collective, Route, RouteSchedule
from schedules.verify.findings import Findings
from synth.topology import Capacity, NodeId, Topology

__all__ = ["check_routes", "route_inverse_rate", "route_phases"]

Hop = tuple[NodeId, NodeId]


def check_routes(
    schedule: RouteSchedule, topology: Topology, findings: Findings, prefix: str = ""
) -> None:
    """Add what is wrong with an all-to-all by routes.

    Notes
    -----
    Every route is a path over links from one rank to another; for every ordered pair of
    ranks the weights add up to ``units_per_pair``.  So all of what a rank has for another
    arrives there, once.  O(hops).
    """
    if schedule.collective is not Collective.ALL_TO_ALL:
        findings.add(f"{prefix}/collective", "routes are for all-to-all only")
    if schedule.units_per_pair < 1:
        findings.add(f"{prefix}/units_per_pair", "must be at least 1")
    ranks = set(schedule.ranks)
    links = {(link.source, link.target) for link in topology.links}
    sums: dict[Hop, int] = defaultdict(int)
    for index, route in enumerate(schedule.routes):
        place = f"{prefix}/routes/{index}"
        problem = _problem(route, ranks, links)
        if problem is None:
            sums[route.path[0], route.path[-1]] += route.weight
        else:
            findings.add(place, problem)
            if not findings.room:
                return
    for source in schedule.ranks:
        for target in schedule.ranks:
            weight = sums.get((source, target), 0)
            if source != target and weight != schedule.units_per_pair:
                findings.add(
                    f"{prefix}/routes",
                    f"the weights from {source!r} to {target!r} must add up to "
                    f"{schedule.units_per_pair}; they make {weight}",
                    rank=target,
                    shard=source,
                )
        if not findings.room:
            return


def route_inverse_rate(schedule: RouteSchedule, topology: Topology) -> Fraction:
    """Return the time in which every rank sends one unit to every other, link by link.

    It is the max over links of (weight crossing it) / (capacity * units_per_pair), in
    1 / (bandwidth unit); with M bytes in every rank's buffer the time is that times M / N.
    Parallel links share their load, so their capacities add.

    Raises
    ------
    InvalidSchedule
        A route runs over no link, or ``units_per_pair`` is not positive.

    Examples
    --------
    >>> pair = Topology(range(2), [(0, 1, 4), (1, 0, 4)])
    >>> routes = (Route((0, 1), 1), Route((1, 0), 1))
    >>> both = RouteSchedule(Collective.ALL_TO_ALL, pair.digest, (0, 1), 1, routes)
    >>> route_inverse_rate(both, pair)
    Fraction(1, 4)
    """
    load: dict[Hop, int] = defaultdict(int)
    for route in schedule.routes:
        for hop in pairwise(route.path):
            load[hop] += route.weight
    return _slowest(load, schedule, topology)


def route_phases(schedule: RouteSchedule, topology: Topology) -> tuple[Fraction, ...]:
    """Return, for k = 1, 2, ..., the time of the k-th messages of all routes at once.

    A message goes from rank to rank, through switches without a stop.  Run one after the
    other the phases are a schedule in steps: nothing is sent on before it has arrived.
    Units and errors as in `route_inverse_rate`.

    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> turns = [(0, 1), (1, 2), (2, 0), (0, 1, 2), (1, 2, 0), (2, 0, 1)]
    >>> routes = tuple(Route(path, 1) for path in turns)
    >>> once = RouteSchedule(Collective.ALL_TO_ALL, ring.digest, (0, 1, 2), 1, routes)
    >>> route_phases(once, ring)
    (Fraction(2, 1), Fraction(1, 1))
    """
    loads: list[dict[Hop, int]] = []
    for route in schedule.routes:
        place = 0
        for hop in pairwise(route.path):
            if place == len(loads):
                loads.append(defaultdict(int))
            loads[place][hop] += route.weight
            place += hop[1] not in topology.switches
    return tuple(_slowest(load, schedule, topology) for load in loads)


def _slowest(load: dict[Hop, int], schedule: RouteSchedule, topology: Topology) -> Fraction:
    if schedule.units_per_pair < 1:
        raise InvalidSchedule("/units_per_pair", "must be at least 1")
    capacity: dict[Hop, Capacity] = defaultdict(int)
    for link in topology.links:
        capacity[link.source, link.target] += link.capacity
    if not load.keys() <= capacity.keys():
        raise InvalidSchedule("/routes", "every hop must run over an existing link")
    rates = (Fraction(weight) / capacity[hop] for hop, weight in load.items())
    return max(rates, default=Fraction(0)) / schedule.units_per_pair


def _problem(route: Route, ranks: set[NodeId], links: set[Hop]) -> str | None:
    """Return the first rule a route breaks, or None."""
    path = route.path
    if route.weight < 1:
        return "the weight must be at least 1"
    if len(path) < 2 or path[0] not in ranks or path[-1] not in ranks:
        return "the path must lead from a rank to another"
    if len(set(path)) < len(path):
        return "the path must not pass a node twice"
    for hop in pairwise(path):
        if hop not in links:
            return f"no link joins {hop[0]!r} to {hop[1]!r}"
    return None
